"""Distributions against enumeration of all outputs, for every structure."""

import copy
import itertools
import os
import pickle
import subprocess
import sys

import enumeration as e
import numpy as np
import pytest

import dsp


def draw(r, style, *shape):
    if style == "ties":
        return r.integers(-1, 2, shape).astype(np.float32)
    x = r.normal(size=shape).astype(np.float32) * (6 if style == "sharp" else 1)
    if style == "invalid":
        x[r.random(shape) < 0.3] = [np.nan, np.inf, -1e31][r.integers(3)]
    if style == "masked":
        x[r.random(shape) < 0.15] = [-np.inf, -1e30, -1e4][r.integers(3)]
    return x


STYLES = ["normal", "sharp", "ties", "masked"]


def linear_chain(r, style):
    T, Y = 5, 3
    steps = bool(r.integers(2))
    node, edge = draw(r, style, 3, T, Y), draw(r, style, *((3, T, Y, Y) if steps else (Y, Y)))
    start, end = (draw(r, style, Y) if r.integers(2) else None for _ in range(2))
    lengths = np.array([T, int(r.integers(0, T)), 1])
    d = dsp.LinearChain(node, edge, lengths=lengths, start=start, end=end)

    def outputs(b):
        for y in e.labels(lengths[b], Y):
            u = [np.zeros((T, Y)), np.zeros((T, Y, Y) if steps else (Y, Y))]
            for t, l in enumerate(y):
                u[0][t, l] += 1
                if t:
                    u[1][(t, y[t - 1], l) if steps else (y[t - 1], l)] += 1
            s = e.chain_score(node[b], edge[b] if steps else edge, y)
            for x, t in (start, 0), (end, -1):
                if x is not None:
                    u.append(np.zeros(Y))
                    if len(y):
                        s += float(x[y[t]])
                        u[-1][y[t]] += 1
            yield pad(y, T), s, u

    return d, outputs


def pad(y, T):
    return np.concatenate([y, np.full(T - len(y), -1)]).astype(np.int64)


def second_order_chain(r, style):
    T, Y = 4, 2
    node, edge, triple = draw(r, style, 2, T, Y), draw(r, style, Y, Y), draw(r, style, Y, Y, Y)
    lengths = np.array([T, 2])
    d = dsp.SecondOrderChain(node, edge, triple, lengths=lengths)

    def outputs(b):
        for y in e.labels(lengths[b], Y):
            u = [np.zeros((T, Y)), np.zeros((Y, Y)), np.zeros((Y, Y, Y))]
            for t, l in enumerate(y):
                u[0][t, l] += 1
            for a, c in zip(y, y[1:]):
                u[1][a, c] += 1
            for x in zip(y, y[1:], y[2:]):
                u[2][x] += 1
            yield pad(y, T), e.chain_score(node[b], edge, y) + e.triple_score(triple, y), u

    return d, outputs


def semi_markov(r, style):
    T, L, Y = 4, 3, 2
    steps = bool(r.integers(2))
    segment, transition = draw(r, style, 2, T, L, Y), draw(r, style, *((2, T, Y, Y) if steps else (Y, Y)))
    node = draw(r, style, 2, T, 2 * Y) if r.integers(2) else None
    length = draw(r, style, L, Y) if r.integers(2) else None
    lengths = np.array([T, 2])
    d = dsp.SemiMarkov(segment, transition, node, length, lengths)

    def outputs(b):
        for segments in e.segmentations(lengths[b], L, Y):
            tags = dsp.tags(segments, T)
            assert dsp.segments(tags) == segments
            u = [np.zeros((T, L, Y)), np.zeros((T, Y, Y) if steps else (Y, Y))]
            u += [np.zeros((T, 2 * Y))] if node is not None else []
            u += [np.zeros((L, Y))] if length is not None else []
            s = 0.0
            for first, last, y in segments:
                s += float(segment[b, last, last - first, y])
                u[0][last, last - first, y] += 1
                if node is not None:
                    for t in range(first, last + 1):
                        s += float(node[b, t, tags[t]])
                        u[2][t, tags[t]] += 1
                if length is not None:
                    s += float(length[last - first, y])
                    u[-1][last - first, y] += 1
            for (_, _, a), (t, _, c) in zip(segments, segments[1:]):
                s += float(transition[b, t, a, c] if steps else transition[a, c])
                u[1][(t, a, c) if steps else (a, c)] += 1
            yield tags, s, u

    return d, outputs


def tree(r, style, projective, multiroot, labelled, columns):
    n, R = 4, 2
    wide = n + 1 if columns else n
    arc = draw(r, style, 2, n, wide)
    label = draw(r, style, 2, n, wide, R) if labelled else None
    lengths = np.array([n, 3])
    d = dsp.DependencyTree(arc, label, lengths=lengths, projective=projective, multiroot=multiroot)

    def outputs(b):
        m = lengths[b]
        for heads in e.trees(m, projective, multiroot):
            at = [(w, h if columns else (w if h == 0 else h - 1)) for w, h in enumerate(heads)]
            for relations in itertools.product(range(R if labelled else 1), repeat=m):
                u = [np.zeros((n, wide))] + ([np.zeros((n, wide, R))] if labelled else [])
                s = 0.0
                for x, rel in zip(at, relations):
                    s += float(arc[b][x])
                    u[0][x] += 1
                    if labelled:
                        s += float(label[b][x][rel])
                        u[1][x][rel] += 1
                y = pad(np.array(heads), n)
                yield ((y, pad(np.array(relations), n)) if labelled else y), s, u

    return d, outputs


def constituents(r, style):
    n, R = 4, 2
    label, span = draw(r, style, 2, n, n, R + 1), draw(r, style, 2, n, n) if r.integers(2) else None
    lengths = np.array([n, 2])
    d = dsp.Constituents(label, span, lengths)

    def outputs(b):
        for t in e.bracketings(0, lengths[b] - 1, R):
            y, s, u = np.zeros((n, n), np.int64), 0.0, [np.zeros((n, n, R + 1))] + ([np.zeros((n, n))] if span is not None else [])
            for i, j, l in e.chart_spans(t, lengths[b]):
                if l:
                    y[i, j] = l
                s += float(label[b, i, j, l]) + (float(span[b, i, j]) if span is not None else 0)
                u[0][i, j, l] += 1
                if span is not None:
                    u[1][i, j] += 1
            yield y, s, u

    return d, outputs


def grammars(r, style):
    n, N, M = 3, 2, 2
    S, own = N + M, r.integers(2)
    terminal = draw(r, style, 2, n, M)
    rule, root = (draw(r, style, 2, N, S, S), draw(r, style, 2, N)) if own else (draw(r, style, N, S, S), draw(r, style, N))
    span, lengths = draw(r, style, 2, n, n, N) if r.integers(2) else None, np.array([n, 1 + r.integers(2)])
    d = dsp.PCFG(terminal, rule, root, span, lengths)

    def outputs(b):
        rules, roots = (rule[b], root[b]) if own else (rule, root)
        for t in e.derivations(0, lengths[b] - 1, N, M):
            y, u = np.zeros((n, n), np.int64), [np.zeros((n, M)), np.zeros((N, S, S)), np.zeros(N)]
            s, spans = 0.0, np.zeros((n, n, N))
            for (i, j), x in t.items():
                y[i, j] = 1 + (x - N if i == j else x)
                if i == j:
                    s, u[0][i, x - N] = s + float(terminal[b, i, x - N]), 1
                    continue
                k = next(k for k in range(i, j) if (i, k) in t and (k + 1, j) in t)
                at = (x, t[i, k], t[k + 1, j])
                s, spans[i, j, x] = s + float(rules[at]) + (float(span[b, i, j, x]) if span is not None else 0), 1
                u[1][at] += 1
            if lengths[b] > 1:
                top = t[0, lengths[b] - 1]
                s, u[2][top] = s + float(roots[top]), 1
            yield y, s, u + ([spans] if span is not None else [])

    return d, outputs


def monotone(r, style):
    n, m = 3, 4
    moves = bool(r.integers(2))
    pair, step = draw(r, style, 2, n, m), draw(r, style, 2, n, m, 3) if moves else draw(r, style, 2, n, 2) if r.integers(2) else None
    source, target = np.array([n, 2]), np.array([m, 3])
    d = dsp.Monotone(pair, step, source, target)

    def outputs(b):
        for path in e.paths(source[b], target[b]):
            y, s, u = np.zeros((n, m), bool), 0.0, [np.zeros((n, m))] + ([np.zeros(step.shape[1:])] if step is not None else [])
            for k, (i, j) in enumerate(path):
                y[i, j] = True
                s += float(pair[b, i, j])
                u[0][i, j] += 1
                if moves and k:
                    move = {(1, 0): 0, (1, 1): 1, (0, 1): 2}[i - path[k - 1][0], j - path[k - 1][1]]
                    s += float(step[b, i, j, move])
                    u[1][i, j, move] += 1
                elif step is not None and k and path[k - 1][0] < i:
                    diagonal = int(path[k - 1][1] < j)
                    s += float(step[b, i, diagonal])
                    u[1][i, diagonal] += 1
            yield y, s, u

    return d, outputs


def graph(r, style):
    V, Y = 4, 2
    ends = np.array([[0, 1], [1, 2], [3, 2], [3, 0], [0, 2]])
    shared = bool(r.integers(2))
    node, edge = draw(r, style, 2, V, Y), draw(r, style, *((5, Y, Y) if shared else (2, 5, Y, Y)))
    d = dsp.Graph(node, edge, ends)

    def outputs(b):
        for y in e.labels(V, Y):
            u = [np.zeros((V, Y)), np.zeros((5, Y, Y))]
            s = sum(float(node[b, v, l]) for v, l in enumerate(y))
            for k, (v, w) in enumerate(ends):
                s += float((edge if shared else edge[b])[k, y[v], y[w]])
                u[1][k, y[v], y[w]] += 1
            for v, l in enumerate(y):
                u[0][v, l] += 1
            yield y, s, u

    return d, outputs


def frames(r, style):
    T, C, blank = 4, 3, int(r.integers(3))
    frame, lengths = draw(r, style, 2, T, C), np.array([T, 3])
    d = dsp.CTC(frame, lengths, blank)

    def outputs(b):
        for y in e.labels(lengths[b], C):
            u = [np.zeros((T, C))]
            for t, l in enumerate(y):
                u[0][t, l] += 1
            yield pad(y, T), sum(float(frame[b, t, l]) for t, l in enumerate(y)), u

    return d, outputs


CASES = {"linear chain": linear_chain, "second-order chain": second_order_chain, "semi-Markov": semi_markov, "constituents": constituents,
         "grammar": grammars, "monotone": monotone, "graph": graph, "frames": frames}
for projective, multiroot, labelled, columns in itertools.product([False, True], repeat=4):
    name = " ".join(["projective" if projective else "all", "several" if multiroot else "one"] + ["labelled"] * labelled + ["columns"] * columns)
    CASES["tree " + name] = lambda r, style, a=(projective, multiroot, labelled, columns): tree(r, style, *a)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b)) if isinstance(a, tuple) else np.array_equal(a, b)


def key(y):
    return tuple(x.tobytes() for x in y) if isinstance(y, tuple) else y.tobytes()


def of(y, *at):
    return tuple(x[at] for x in y) if isinstance(y, tuple) else y[at]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", CASES)
def test_enumeration(name, style):
    for seed in range(4):
        r = np.random.default_rng([seed, len(name), STYLES.index(style)])
        d, outputs = CASES[name](r, style)
        k = 4
        best, scores = d.topk(k)
        u, z, top, entropy = d.marginals, d.log_partition, d.max, d.entropy
        drawn = None
        if np.isneginf(z).any():
            with pytest.raises(dsp.Error, match=f"of example {np.isneginf(z).argmax()}: its potentials forbid all of its outputs"):
                d.sample(3, seed)
        else:
            drawn = d.sample(3, seed)
        for b in range(d.batch_size):
            every = list(outputs(b))
            s = np.array([x[1] for x in every])
            size = max(1, np.abs(s[np.isfinite(s)]).max(initial=0))
            near = dict(rtol=0, atol=1e-5 * size if size < 1e3 else 1e-6 * size)
            np.testing.assert_allclose(z[b], e.log_sum(s), **near)
            np.testing.assert_allclose(top[b], s.max(), **near)
            ranked = np.sort(s[s > -np.inf])[::-1][:k]
            np.testing.assert_allclose(scores[:len(ranked), b], ranked, **near)
            assert (scores[len(ranked):, b] == -np.inf).all()
            found = {key(y): score for y, score, _ in every}
            for j in range(len(ranked)):
                np.testing.assert_allclose(found[key(of(best, j, b))], scores[j, b], **near)
            if len(ranked) > 1:
                assert len({key(of(best, j, b)) for j in range(len(ranked))}) == len(ranked)
            if s.max() == -np.inf:
                continue
            np.testing.assert_allclose(found[key(of(d.argmax, b))], s.max(), **near)
            for j in range(0 if drawn is None else 3):
                assert found[key(of(drawn, j, b))] > -np.inf
            p = np.exp(s - s.max())
            p /= p.sum()
            want = [sum(w * x[2][i] for w, x in zip(p, every) if w) for i in range(len(u))]
            for got, expected in zip(u, want):
                np.testing.assert_allclose(got[b], expected, rtol=0, atol=2e-5 if size < 1e3 else 1e-3)
            np.testing.assert_allclose(entropy[b], -(p[p > 0] * np.log(p[p > 0])).sum(), rtol=0, atol=2e-5 * size if size < 1e3 else 1e-6 * size)


@pytest.mark.parametrize("name", CASES)
def test_hessian_products(name):
    """Products with the Hessian are covariances of what outputs use with what they score along the direction."""
    for seed in range(3):
        r = np.random.default_rng([seed, len(name)])
        d, outputs = CASES[name](r, "normal")
        direction = [r.standard_normal(x.shape).astype(np.float32) for x in d._arrays]
        if name in ("graph", "frames") or name.startswith("tree all"):
            with pytest.raises(dsp.Error, match="has no products with the Hessian"):
                d.hessian_product(*direction)
            continue
        got = d.hessian_product(*direction)
        for b in range(d.batch_size):
            every = list(outputs(b))
            p = np.exp([s - e.log_sum([x[1] for x in every]) for _, s, _ in every])
            shared = [g.shape == (d.batch_size,) + x.shape for g, x in zip(got, d._arrays)]
            along = np.array([sum((u * (c if s else c[b])).sum() for u, c, s in zip(x[2], direction, shared)) for x in every])
            along -= p @ along
            for i, g in enumerate(got):
                np.testing.assert_allclose(g[b], sum(w * a * x[2][i] for w, a, x in zip(p, along, every)), rtol=0, atol=3e-5)
    with pytest.raises(dsp.Error, match="direction of the shapes"):
        d.hessian_product(direction[0][:, :1], *direction[1:])


@pytest.mark.parametrize("name", CASES)
def test_score_and_nll(name):
    d, outputs = CASES[name](np.random.default_rng(7), "normal")
    every = [list(outputs(b)) for b in range(d.batch_size)]
    r = np.random.default_rng(8)
    chosen = [x[r.integers(len(x))] for x in every]
    y = tuple(np.stack(x) for x in zip(*[c[0] for c in chosen])) if isinstance(chosen[0][0], tuple) else np.stack([c[0] for c in chosen])
    s = np.array([c[1] for c in chosen])
    z = np.array([e.log_sum([x[1] for x in all_]) for all_ in every])
    np.testing.assert_allclose(d.score(y), s, atol=1e-5)
    np.testing.assert_allclose(d.nll(y), z - s, atol=2e-5)
    np.testing.assert_allclose(d.log_prob(y), s - z, atol=2e-5)
    assert (d.nll(y) >= 0).all()


@pytest.mark.parametrize("name", ["linear chain", "tree projective one", "tree all several", "semi-Markov", "constituents", "grammar", "graph"])
def test_samples(name):
    """Samples have the probabilities of their outputs: no cell is further off than five standard deviations."""
    d, outputs = CASES[name](np.random.default_rng(3), "normal")
    n, b = 4000, 0
    drawn = d.sample(n, seed=5)
    every = list(outputs(b))
    p = {key(y): np.exp(s) for y, s, _ in every}
    total = sum(p.values())
    counts = {}
    for j in range(n):
        k = key(of(drawn, j, b))
        counts[k] = counts.get(k, 0) + 1
    for k, w in p.items():
        q = w / total
        assert abs(counts.get(k, 0) - n * q) <= 5 * np.sqrt(n * q * (1 - q)) + 1


def test_equal_scores_of_positions():
    """Scores of their own that are the same at every position are those that positions share: their gradients sum to the shared one."""
    r = np.random.default_rng(5)
    segment, transition = draw(r, "normal", 3, 20, 4, 9), draw(r, "normal", 9, 9)
    lengths = [20, 7, 0]
    p = dsp.SemiMarkov(segment, transition, lengths=lengths)
    q = dsp.SemiMarkov(segment, np.broadcast_to(transition, (3, 20, 9, 9)), lengths=lengths)
    alike(p, q)
    np.testing.assert_allclose(q.marginals[0], p.marginals[0], atol=1e-6)
    np.testing.assert_allclose(q.marginals[1].sum(1), p.marginals[1], atol=1e-5)
    assert (q.marginals[1][:, 0] == 0).all()
    pair, step = draw(r, "normal", 3, 12, 9), draw(r, "normal", 3, 12, 2)
    every = np.concatenate([np.broadcast_to(step[:, :, None], (3, 12, 9, 2)), np.zeros((3, 12, 9, 1), np.float32)], 3)
    p, q = (dsp.Monotone(pair, x, [12, 5, 0], [9, 9, 4]) for x in (step, every))
    alike(p, q)
    np.testing.assert_allclose(q.marginals[0], p.marginals[0], atol=1e-6)
    np.testing.assert_allclose(q.marginals[1][..., :2].sum(2), p.marginals[1], atol=1e-5)
    assert (q.marginals[1][:, 0, 0] == 0).all() and (q.marginals[1][..., 2] > 0).any()


def alike(p, q):
    """Two distributions over the same outputs answer alike, but for their marginals."""
    for a, b in zip((p.log_partition, p.max, p.entropy, *p.topk(5)), (q.log_partition, q.max, q.entropy, *q.topk(5))):
        np.testing.assert_allclose(b, a, atol=1e-4)
    np.testing.assert_allclose(p.nll(q.sample(1, 3)[0]), q.nll(p.sample(1, 3)[0]), atol=1e-4)


def test_kl():
    r = np.random.default_rng(0)
    p = dsp.LinearChain(draw(r, "normal", 2, 4, 3), draw(r, "normal", 3, 3))
    q = dsp.LinearChain(draw(r, "normal", 2, 4, 3), draw(r, "normal", 3, 3))
    for b in range(2):
        s = [np.array([e.chain_score(x._arrays[0][b], x._arrays[1], y) for y in e.labels(4, 3)]) for x in (p, q)]
        lp, lq = (x - e.log_sum(x) for x in s)
        np.testing.assert_allclose(p.kl(q)[b], (np.exp(lp) * (lp - lq)).sum(), atol=1e-5)
    assert (p.kl(p) < 1e-5).all()


def test_matching():
    r = np.random.default_rng(1)
    pair, unmatched = draw(r, "normal", 3, 3, 4), draw(r, "normal", 3, 3)
    for un in (None, unmatched):
        d = dsp.Matching(pair, un)
        for b in range(3):
            s = []
            for y in itertools.product(range(-1, 4), repeat=3):
                taken = [j for j in y if j >= 0]
                if len(set(taken)) == len(taken) and (un is not None or len(taken) == 3):
                    s.append(sum(float(pair[b, i, j]) if j >= 0 else float(un[b, i]) for i, j in enumerate(y)))
            np.testing.assert_allclose(d.max[b], max(s), atol=1e-5)
            np.testing.assert_allclose(d.topk(5)[1][:, b], sorted(s)[::-1][:5], atol=1e-5)
        np.testing.assert_allclose(d.score(d.argmax), d.max, atol=1e-5)
    with pytest.raises(dsp.Error, match="P-complete"):
        d.log_partition


def test_reading():
    """−log of the probability to read targets is that of all labelings that read so."""
    for blank in range(3):
        r = np.random.default_rng(blank)
        frame = draw(r, "normal", 2, 4, 3)
        symbols = [c for c in range(3) if c != blank]
        d = dsp.CTC(frame, [4, 3], blank)
        targets, n = np.array([[symbols[0], symbols[1]], [symbols[1], 0]]), [2, 1]
        got = d.read_nll(targets, n)
        flat = d.read_nll(np.concatenate([t[:m] for t, m in zip(targets, n)]), n)
        for b, T in enumerate([4, 3]):
            every = [(y, sum(float(frame[b, t, l]) for t, l in enumerate(y))) for y in e.labels(T, 3)]
            read = [s for y, s in every if e.reading(y, blank) == tuple(targets[b, :n[b]])]
            want = e.log_sum([s for _, s in every]) - e.log_sum(read)
            np.testing.assert_allclose([got[b], flat[b]], want, atol=1e-5)
        assert d.read(d.argmax) == [list(e.reading([l for l in y if l >= 0], blank)) for y in d.argmax]
    assert np.isinf(dsp.CTC(frame[:, :1]).read_nll([[1, 2], [1, 2]], [2, 2])).all()


def test_holes():
    """Positions that a mask leaves out do not exist."""
    r = np.random.default_rng(2)
    node, edge = draw(r, "normal", 2, 5, 3), draw(r, "normal", 3, 3)
    mask = np.array([[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]], bool)
    d = dsp.LinearChain(node, edge, mask=mask)
    for b in range(2):
        alone = dsp.LinearChain(node[b:b + 1, mask[b]], edge)
        np.testing.assert_allclose(d.log_partition[b], alone.log_partition[0], atol=1e-6)
        assert np.array_equal(d.argmax[b, mask[b]], alone.argmax[0]) and (d.argmax[b, ~mask[b]] == -1).all()


def test_nan_and_infinity():
    node = np.zeros((3, 2, 2), np.float32)
    node[1, 0, 0] = np.nan
    node[2] = -np.inf
    d = dsp.LinearChain(node, np.zeros((2, 2), np.float32))
    z = d.log_partition
    assert np.isnan(z[1]) and z[2] == -np.inf and np.isfinite(z[0])
    assert np.isnan(d.marginals[0][1]).all() and (d.marginals[0][2] == 0).all()
    nll = d.nll(np.zeros((3, 2), int))
    assert np.isnan(nll[1]) and nll[2] == np.inf


def _matching(r, style):
    return dsp.Matching(draw(r, style, 2, 3, 3), draw(r, style, 2, 3)), None


@pytest.mark.parametrize("name", [*CASES, "matching"])
def test_answers_of_nan(name):
    """Of potentials that are no numbers every answer is NaN. The best output is an output nevertheless: score refuses what is none."""
    r = np.random.default_rng(7)
    for _ in range(3):
        d, _ = CASES.get(name, _matching)(r, "invalid")
        if name == "linear chain" and d._arrays[1].ndim == 4:
            d._arrays[1][:, 0] = 0  # steps into position 0, which there are none of
        form, wrong = d._layout.batch.form, np.isnan(d.max)
        assert wrong.any() and not np.isinf(d.max).any()
        d.score(d.argmax)
        if form.ranks:
            y, scores = d.topk(2)
            assert np.array_equal(np.isnan(scores[0]), wrong) and np.isneginf(scores[1][wrong]).all()
            d.score(tuple(x[0] for x in y) if isinstance(y, tuple) else y[0])
        if form.sums:
            answers = [d.log_partition, d.nll(d.argmax), d.log_prob(d.argmax), d.entropy, d.kl(d)]
            assert all(np.array_equal(np.isnan(x), wrong) for x in answers)
            batch, ones = d._layout.batch, [np.ones_like(x) for x in d._values]
            for u in batch.exp(d._values)[1], *([batch.hessian(d._values, ones)] if form.hessian else []):
                for x, rows in zip(u, batch.rows):  # one after the other, or one for each example
                    of = np.repeat(wrong, 1 if rows is None else np.diff(rows))
                    assert np.array_equal(np.isnan(x).all(1), of) and np.array_equal(np.isnan(x).any(1), of)
        if form.draws:
            with pytest.raises(dsp.Error, match=f"drawn of example {wrong.argmax()}: its potentials are not all numbers"):
                d.sample(2)


def test_marginals_of_a_batch():
    """A sequence of arrays in one piece of memory."""
    d = dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4)))
    u = d._layout.batch.exp(d._values)[1]
    assert [x.shape for x in u] == [(6, 4), (2, 16)] and len(u) == 2
    u[0][0, 0] = 7
    assert u.numbers[0] == 7 and np.array_equal(u[-1], u[1]) and np.allclose(u[1].sum(1), 2)
    assert all(np.array_equal(x, y) for x, y in zip(u, pickle.loads(pickle.dumps(u))))
    with pytest.raises(IndexError):
        u[2]


def test_repr():
    assert repr(dsp.Matching(np.zeros((2, 3, 4)), np.zeros((2, 3)))) == "Matching of 2 examples, potentials [2, 3, 4], [2, 3]"


def test_samples_of_what_is_forbidden():
    node = np.zeros((3, 2, 2), np.float32)
    node[1, 1] = -np.inf
    edge = np.zeros((2, 2), np.float32)
    with pytest.raises(dsp.Error, match="drawn of example 1: its potentials forbid all of its outputs"):
        dsp.LinearChain(node, edge).sample()
    y = dsp.LinearChain(node, edge, lengths=[2, 1, 0]).sample(3)
    assert y.shape == (3, 3, 2) and (y[:, 1, 1] == -1).all() and (y[:, 2] == -1).all()


@pytest.mark.parametrize("make, words", [
    (lambda: dsp.LinearChain(np.zeros((2, 3)), np.zeros((2, 2))), r"node has the shape \(2, 3\), expected \[B, T, Y\]; add the batch: node\[None\]"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((2, 2))), r"edge has the shape \(2, 2\), expected \[4, 4\]"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4)), lengths=[3, 4]), "lengths from 3 to 4, expected 0 to 3"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4)), lengths=[3]), r"lengths of the shape \(1,\), expected \(2,\)"),
    (lambda: dsp.LinearChain([[[0, 1]]], np.zeros((2, 2))), "node is a list, expected an array"),
    (lambda: dsp.LinearChain(np.zeros((1, 3, 2)), [[0, 1], [1, 0]], lengths=[2]), "edge is a list, expected an array"),
    (lambda: dsp.Graph(np.zeros((1, 2, 2)), [[[0, 1], [1, 0]]], [[0, 1]]), "edge is a list, expected an array"),
    (lambda: dsp.LinearChain(np.zeros((1, 3, 2), complex), np.zeros((2, 2))).max, r"of the shape \(1, 3, 2\) are complex"),
    (lambda: dsp.LinearChain(np.zeros((1, 3, 2), complex), np.zeros((2, 2)), lengths=[2]).max, r"of the shape \(1, 3, 2\) are complex"),
    (lambda: dsp.Constituents(np.zeros((1, 2, 3, 4))), r"label has the shape \(1, 2, 3, 4\), expected \[B, 2, 2, 1\+R\]"),
    (lambda: dsp.Matching(np.zeros((1, 2, 2))).log_partition, "a complete matching has no sums over outputs .* #P-complete"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4))).sample(-1), "-1 samples"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4))).topk(-2), "-2 best outputs"),
    (lambda: dsp.set_threads("2"), "'2' threads, expected a whole number"),
    (lambda: dsp.set_threads(0), "0 threads, expected at least 1"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4)), mask=np.ones((3, 2))), "mask of the shape"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4)), lengths=[3, 1.5]), "lengths are not whole numbers: 1.5"),
    (lambda: dsp.LinearChain(np.zeros((1, 2, 4)), np.zeros((4, 4))).nll([[0, 2.5]]), "labels are not whole numbers: 2.5"),
    (lambda: dsp.DependencyTree(np.zeros((1, 2, 2))).nll([[0, np.nan]]), "heads are not whole numbers: nan"),
    (lambda: dsp.Constituents(np.zeros((1, 2, 2, 3))).nll([[[0, 1.5], [0, 0]]]), "labels of charts are not whole numbers: 1.5"),
    (lambda: dsp.CTC(np.zeros((1, 3, 3))).read_nll([[0.5]], [1]), "targets are not whole numbers: 0.5"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4))).nll(np.full((2, 3), 4)), "label 4 at place 0, expected 0 to 3"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4))).nll(np.zeros((3, 2))), "labels of the shape"),
    (lambda: dsp.DependencyTree(np.zeros((1, 3, 3))).nll([[2, 1, 0]]), "cycle"),
    (lambda: dsp.DependencyTree(np.zeros((1, 3, 3))).nll([[0, 0, 1]]), "2 roots"),
    (lambda: dsp.DependencyTree(np.zeros((1, 4, 4))).nll([[3, 4, 0, 3]]), "not projective"),
    (lambda: dsp.DependencyTree(np.zeros((1, 3, 5))), r"expected \[B, 3, 3\] or \[B, 3, 4\]"),
    (lambda: dsp.SemiMarkov(np.zeros((1, 3, 2, 2)), np.zeros((2, 2))).nll([[0, 1, 1]]), "no segments of at most 2"),
    (lambda: dsp.Graph(np.zeros((1, 2, 2)), np.zeros((1, 1, 2, 2)), [[0, 2]]), "edge 0 joins variables 0 and 2"),
    (lambda: dsp.CTC(np.zeros((1, 3, 3))).read_nll([[0]], [1]), "target 0, expected 0 to 2 without the blank, 0"),
    (lambda: dsp.CTC(np.zeros((1, 3, 3)), blank=3), "blank 3"),
    (lambda: dsp.Matching(np.zeros((1, 2, 2))).score([[1, 1]]), "same target"),
    (lambda: dsp.LinearChain(np.zeros((2, 3, 4)), np.zeros((4, 4))).topk(0), "0 best outputs"),
    (lambda: dsp.Form("chains", labels=2), "structure \"chains\", expected one of"),
    (lambda: dsp.Form("chain", labels=0), "labels is 0"),
    (lambda: dsp.Form("chain", labels=2, tags=3), "no setting \"tags\""),
    (lambda: dsp.Form("chain", labels="two"), "settings of a structure"),
])
def test_messages(make, words):
    with pytest.raises(dsp.Error, match=words):
        make()


def test_packed():
    """Form and Batch take packed arrays, and check them."""
    o = dsp.offsets([2, 3])
    b = dsp.Batch(dsp.Form("chain", labels=2), o, [o, None])
    node, edge = np.arange(10, dtype=np.float32).reshape(5, 2), np.zeros((1, 4), np.float32)
    y, value = b.max([node, edge])
    assert y.tolist() == [1] * 5 and value.tolist() == [1 + 3, 5 + 7 + 9]
    again = pickle.loads(pickle.dumps(b))
    assert np.array_equal(again.exp([node, edge])[0], b.exp([node, edge])[0])
    for values, words in (([node], "1 parts, expected 2"), ([node.astype(float), edge], "float32"), ([node[:4], edge], "8 numbers, expected 10"),
                          ([node.T, edge], "contiguous")):
        with pytest.raises(dsp.Error, match=words):
            b.max(values)
    with pytest.raises(dsp.Error, match="offsets of outputs fall"):
        dsp.Batch(dsp.Form("chain", labels=2), [0, 3, 2], [o, None])
    with pytest.raises(dsp.Error, match="temperature"):
        b.exp([node, edge], mu=0)
    np.testing.assert_allclose(b.exp([node, edge], mu=1e-3)[0], value, atol=1e-2)


def test_threads():
    r = np.random.default_rng(0)
    node, edge = draw(r, "normal", 40, 30, 20), draw(r, "normal", 20, 20)
    try:
        answers = []
        for n in (1, 2, 7):
            dsp.set_threads(n)
            d = dsp.LinearChain(node, edge)
            answers.append((d.log_partition, d.marginals[0], d.argmax))
        for other in answers[1:]:
            for a, b in zip(answers[0], other):
                assert np.array_equal(a, b)
    finally:
        dsp.set_threads(1)


@pytest.mark.parametrize("given", ["abc", "0", "-1", "1.5"])
def test_threads_of_the_environment(given):
    run = subprocess.run([sys.executable, "-c", "import dsp"], capture_output=True, text=True, env={**os.environ, "DSP_THREADS": given})
    assert f"Error: DSP_THREADS is {given!r}, expected a whole number from 1" in run.stderr


def test_settings_of_numpy_are_settings():
    arc = np.random.default_rng(5).normal(size=(1, 4, 4)).astype(np.float32)
    for projective in (True, False, True):
        want = dsp.DependencyTree(arc, projective=projective).log_partition
        assert dsp.DependencyTree(arc, projective=np.bool_(projective)).log_partition == want
    assert dsp.DependencyTree(arc).log_partition != dsp.DependencyTree(arc, projective=np.False_).log_partition


@pytest.mark.parametrize("again", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])
def test_a_distribution_that_was_asked_travels(again):
    r = np.random.default_rng(5)
    chain = dsp.LinearChain(r.normal(size=(2, 4, 3)), r.normal(size=(3, 3)))
    graph = dsp.Graph(r.normal(size=(2, 4, 2)), r.normal(size=(3, 2, 2)), np.array([[0, 1], [1, 2], [2, 3]]))
    for d in chain, graph:
        want = d.entropy
        np.testing.assert_array_equal(again(d).entropy, want)

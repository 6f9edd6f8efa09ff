"""Every output of small instances with its score, from the definitions: what distributions are compared with."""

import itertools

import numpy as np


def labels(T, Y):
    return [np.array(y, np.int64) for y in itertools.product(range(Y), repeat=T)]


def chain_score(node, edge, y):
    s = sum(float(node[t, l]) for t, l in enumerate(y))
    for t in range(1, len(y)):
        s += float(edge[t, y[t - 1], y[t]] if edge.ndim == 3 else edge[y[t - 1], y[t]])
    return s


def triple_score(triple, y):
    return sum(float(triple[a, b, c]) for a, b, c in zip(y, y[1:], y[2:]))


def segmentations(T, L, Y):
    """Lists of (first, last, label)."""
    if T == 0:
        yield []
        return
    for l in range(1, min(L, T) + 1):
        for rest in segmentations(T - l, L, Y):
            for y in range(Y):
                yield rest + [(T - l, T - 1, y)]


def is_projective(heads):
    arcs = [(min(h, d + 1), max(h, d + 1)) for d, h in enumerate(heads)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def trees(n, projective, multiroot):
    """Tuples of heads, 0 for the root."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if n and (heads.count(0) < 1 or heads.count(0) > 1 and not multiroot):
            continue
        if any(h == d + 1 for d, h in enumerate(heads)):
            continue
        for d in range(n):
            seen, at = set(), d + 1
            while at and at not in seen:
                seen.add(at)
                at = heads[at - 1]
            if at:
                break
        else:
            if not projective or is_projective(heads):
                yield heads


def bracketings(i, j, R):
    """Labelled trees over words i to j whose top span has a label, each a dict from spans to labels from 1."""
    for label in range(1, R + 1):
        if i == j:
            yield {(i, j): label}
            continue
        for children in child_lists(i, j, R, j - 1):
            tree = {(i, j): label}
            for c in children:
                tree.update(c)
            yield tree


def child_lists(i, j, R, most):
    """Ways to divide words i to j among children, words without a label and trees, of which the first ends at word most or before."""
    if i > j:
        yield []
        return
    for k in range(i, most + 1):
        firsts = list(bracketings(i, k, R)) + ([{}] if k == i else [])
        for first in firsts:
            for rest in child_lists(k + 1, j, R, j):
                yield [first] + rest


def chart_spans(tree, n):
    """All spans (i, j, label) of the tree, binary from the left; 0 for spans without a label."""
    spans = [(i, j, l) for (i, j), l in tree.items()]

    def children(i, j):
        at, out = i, []
        while at <= j:
            inside = [(a, b) for (a, b) in tree if a == at and b <= j and (a, b) != (i, j)]
            last = max([b for _, b in inside], default=at)
            out.append((at, last))
            at = last + 1
        return out

    for (i, j) in list(tree):
        if i == j:
            continue
        parts = children(i, j)
        for first, last in parts:
            if first == last and (first, last) not in tree:
                spans.append((first, last, 0))
        for m in range(1, len(parts) - 1):
            spans.append((i, parts[m][1], 0))
    return spans


def derivations(i, j, N, M):
    """Binary trees over words i to j, each a dict from spans to symbols: nonterminals from 0, after them preterminals."""
    if i == j:
        for p in range(M):
            yield {(i, i): N + p}
        return
    for a in range(N):
        for k in range(i, j):
            for left in derivations(i, k, N, M):
                for right in derivations(k + 1, j, N, M):
                    yield {(i, j): a, **left, **right}


def paths(n, m):
    """Lists of pairs from (0, 0) to (n−1, m−1)."""
    def go(i, j):
        if (i, j) == (n - 1, m - 1):
            yield [(i, j)]
            return
        for a, b in (0, 1), (1, 0), (1, 1):
            if i + a < n and j + b < m:
                for rest in go(i + a, j + b):
                    yield [(i, j)] + rest

    return go(0, 0) if n and m else iter([[]])


def reading(y, blank=0):
    out, last = [], blank
    for l in y:
        if l != last and l != blank:
            out.append(int(l))
        last = l
    return tuple(out)


def log_sum(scores):
    scores = np.asarray(scores, float)
    top = scores.max(initial=-np.inf)
    return top if np.isinf(top) else top + np.log(np.exp(scores - top).sum())

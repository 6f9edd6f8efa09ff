"""dsp.jax: values and gradients under jit, grad and vmap are those of the NumPy classes."""

import functools

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import dsp
import dsp.jax as D


def potentials(*shapes):
    r = np.random.default_rng(0)
    return [r.normal(size=s).astype(np.float32) for s in shapes]


CASES = {
    "linear chain": (lambda m, n, e, s: m.LinearChain(n, e, lengths=[4, 2], start=s), [(2, 4, 3), (3, 3), (3,)]),
    "tree": (lambda m, a, l: m.DependencyTree(a, l, lengths=[4, 3], projective=False), [(2, 4, 5), (2, 4, 5, 2)]),
    "segments": (lambda m, s, t: m.SemiMarkov(s, t), [(2, 4, 2, 2), (2, 2)]),
    "frames": (lambda m, f: m.CTC(f, lengths=[4, 3], blank=1), [(2, 4, 3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    make, shapes = CASES[name]
    x = potentials(*shapes)
    plain = make(dsp, *x)
    weights = np.array([1, -2], np.float32)

    def f(*x):
        return (make(D, *x).log_partition * weights).sum()

    value, gradients = jax.jit(jax.value_and_grad(f, argnums=tuple(range(len(x)))))(*x)
    np.testing.assert_allclose(value, (plain.log_partition * weights).sum(), rtol=1e-5)
    for g, u, array in zip(gradients, plain.marginals, x):
        scaled = u * weights.reshape((-1,) + (1,) * (u.ndim - 1))
        np.testing.assert_allclose(g, scaled.sum(0) if u.ndim > array.ndim else scaled, atol=1e-5)
    y = plain.argmax
    loss = jax.jit(lambda y, *x: make(D, *x).nll(y))(y, *x)
    np.testing.assert_allclose(loss, plain.nll(y), atol=1e-5)
    step = jax.grad(lambda *x: make(D, *x).nll(y).sum(), argnums=0)(*x)
    eps = 1e-2
    d = np.random.default_rng(1).normal(size=x[0].shape).astype(np.float32)
    up, down = (make(dsp, x[0] + s * eps * d, *x[1:]).nll(y).sum() for s in (1, -1))
    np.testing.assert_allclose((np.asarray(step) * d).sum(), (up - down) / (2 * eps), atol=2e-2)


CHARTS = {
    "linear chain": (lambda m, n, e, s, t: m.LinearChain(n, e, lengths=[4, 2], start=s, end=t), [(2, 4, 3), (3, 3), (3,), (3,)]),
    "steps of their own": (lambda m, n, e: m.LinearChain(n, e, mask=np.array([[1, 1, 0, 1], [0, 1, 1, 1]])), [(2, 4, 3), (2, 4, 3, 3)]),
    "second order": (lambda m, n, e, t: m.SecondOrderChain(n, e, t, lengths=[4, 3]), [(2, 4, 2), (2, 2), (2, 2, 2)]),
    "segments": (lambda m, s, t: m.SemiMarkov(s, t, lengths=[4, 3]), [(2, 4, 2, 2), (2, 2)]),
    "segments with steps": (lambda m, s, t: m.SemiMarkov(s, t, lengths=[4, 3]), [(2, 4, 2, 2), (2, 4, 2, 2)]),
    "projective trees": (lambda m, a, l: m.DependencyTree(a, l, lengths=[4, 3]), [(2, 4, 5), (2, 4, 5, 2)]),
    "several roots": (lambda m, a: m.DependencyTree(a, multiroot=True), [(2, 3, 3)]),
    "constituents": (lambda m, x: m.Constituents(x, lengths=[4, 2]), [(2, 4, 4, 3)]),
    "grammar": (lambda m, t, r, o: m.PCFG(t, r, o, lengths=[4, 3]), [(2, 4, 2), (2, 4, 4), (2,)]),
    "grammars of examples": (lambda m, t, r, o: m.PCFG(t, r, o), [(2, 3, 2), (2, 2, 4, 4), (2, 2)]),
    "monotone": (lambda m, p, s: m.Monotone(p, s, lengths=[3, 2]), [(2, 3, 4), (2, 3, 2)]),
    "monotone with moves": (lambda m, p, s: m.Monotone(p, s, lengths=[3, 2]), [(2, 3, 4), (2, 3, 4, 3)]),
}


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("loss", ["log_partition", "nll"])
def test_second_derivatives(name, loss):
    make, shapes = CHARTS[name]
    x = potentials(*shapes)
    d = [np.random.default_rng(7 + k).normal(size=s).astype(np.float32) for k, s in enumerate(shapes)]
    y = make(dsp, *x).argmax

    def f(*x):
        p = make(D, *x)
        value = p.nll(y) if loss == "nll" else p.log_partition
        return (value ** 2).sum()  # so that the gradient's factor depends on the potentials, too

    gradient = jax.grad(f, argnums=tuple(range(len(x))))

    def along(*x):
        return sum((g * v).sum() for g, v in zip(gradient(*x), d))

    eps = 2e-2
    product = jax.jit(jax.grad(along, argnums=tuple(range(len(x)))))(*x)
    at = {k: gradient(*(a + k * eps * v for a, v in zip(x, d))) for k in (-2, -1, 1, 2)}
    for k, got in enumerate(product):  # differences of fourth order
        want = (8 * (at[1][k] - at[-1][k]) - (at[2][k] - at[-2][k])) / (12 * eps)
        np.testing.assert_allclose(got, want, atol=2e-3 * max(1, float(abs(want).max())))


@pytest.mark.parametrize("name", [*CHARTS, "frames"])
def test_gradients_of_scores_and_marginals(name):
    """They are those of dsp.torch, which are held against differences; twice for scores, whose gradients are scaled by a function of the scores."""
    torch = pytest.importorskip("torch")
    import dsp.torch as T

    make, shapes = {**CHARTS, **CASES}[name]
    x = potentials(*shapes)
    d = [np.random.default_rng(9).normal(size=u.shape).astype(np.float32) for u in make(dsp, *x).marginals]
    y = make(dsp, *x).argmax
    asked = [lambda m, *x: (make(m, *x).max ** 2).sum(), lambda m, *x: (make(m, *x).score(y) ** 2).sum()]
    if name != "frames":
        asked.append(lambda m, *x: sum((u * (v if m is D else torch.from_numpy(v))).sum() for u, v in zip(make(m, *x).marginals, d)))
    every = tuple(range(len(x)))
    for k, ask in enumerate(asked):
        t = [torch.from_numpy(a).requires_grad_() for a in x]
        value = ask(T, *t)
        want = torch.autograd.grad(value, t, create_graph=k < 2)
        got_value, got = jax.jit(jax.value_and_grad(functools.partial(ask, D), argnums=every))(*x)
        np.testing.assert_allclose(got_value, value.item(), rtol=1e-5)
        for a, b in zip(got, want):
            np.testing.assert_allclose(a, b.detach(), atol=1e-5)
        if k < 2:
            squares = jax.grad(lambda *x: sum((g ** 2).sum() for g in jax.grad(functools.partial(ask, D), argnums=every)(*x)), argnums=every)(*x)
            for a, b in zip(squares, torch.autograd.grad(sum((g ** 2).sum() for g in want), t)):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [*CHARTS, "frames"])
def test_gradients_of_topk_entropy_and_kl(name):
    """They are those of dsp.torch, which are held against differences, under jit and grad. Those of topk are the same twice."""
    torch = pytest.importorskip("torch")
    import dsp.torch as T

    make, shapes = {**CHARTS, **CASES}[name]
    n = len(shapes)
    x = potentials(*shapes, *shapes)
    asked = [lambda m, *x: (make(m, *x[:n]).topk(3)[1][:2] ** 2).sum()]
    if name != "frames":
        asked.append(lambda m, *x: (make(m, *x[:n]).entropy ** 2).sum())
        asked.append(lambda m, *x: (make(m, *x[:n]).kl(make(m, *x[n:])) ** 2).sum())
    every = tuple(range(2 * n))
    for k, ask in enumerate(asked):
        t = [torch.from_numpy(a).requires_grad_() for a in x]
        value = ask(T, *t)
        want = torch.autograd.grad(value, t, allow_unused=True, create_graph=k == 0)
        got_value, got = jax.jit(jax.value_and_grad(functools.partial(ask, D), argnums=every))(*x)
        np.testing.assert_allclose(got_value, value.item(), rtol=1e-5)
        for a, b in zip(got, want):
            np.testing.assert_allclose(a, 0 if b is None else b.detach(), atol=2e-5)
    x = x[:n]
    want = torch.autograd.grad(sum((g ** 2).sum() for g in torch.autograd.grad(asked[0](T, *t), t[:n], create_graph=True)), t[:n])
    squares = jax.grad(lambda *x: sum((g ** 2).sum() for g in jax.grad(functools.partial(asked[0], D), argnums=every[:n])(*x)), argnums=every[:n])(*x)
    for a, b in zip(squares, want):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_vmap_of_topk_entropy_and_kl():
    node, edge = potentials((3, 2, 4, 3), (3, 3))
    p = [dsp.LinearChain(n, edge) for n in node]
    q = lambda n: D.LinearChain(-n, edge)
    y, scores = jax.vmap(lambda n: D.LinearChain(n, edge).topk(2))(node)
    entropy, kl = jax.vmap(lambda n: (D.LinearChain(n, edge).entropy, D.LinearChain(n, edge).kl(q(n))))(node)
    gradients = jax.vmap(jax.grad(lambda n: D.LinearChain(n, edge).entropy.sum() + D.LinearChain(n, edge).topk(2)[1].sum()))(node)
    for k, d in enumerate(p):
        assert np.array_equal(y[k], d.topk(2)[0])
        np.testing.assert_allclose(scores[k], d.topk(2)[1], rtol=1e-5)
        np.testing.assert_allclose(entropy[k], d.entropy, rtol=1e-5)
        np.testing.assert_allclose(kl[k], d.kl(dsp.LinearChain(-node[k], edge)), rtol=1e-5)
        alone = jax.grad(lambda n: D.LinearChain(n, edge).entropy.sum() + D.LinearChain(n, edge).topk(2)[1].sum())(node[k])
        np.testing.assert_allclose(gradients[k], alone, atol=1e-6)


def test_traced():
    """All answers are those of known arrays under jit, also where gradients are taken; contents must be known."""
    arc, label, node, edge = potentials((2, 4, 5), (2, 4, 5, 2), (2, 4, 3), (3, 3))
    for make, x in (lambda *x: D.DependencyTree(*x), (arc, label)), (lambda *x: D.LinearChain(*x, lengths=[4, 2]), (node, edge)):
        for ask in (lambda p: p.argmax, lambda p: p.topk(3), lambda p: p.sample(4, seed=2), lambda p: p.hessian_product(*x)):
            for a, b in zip(jax.tree.leaves(jax.jit(lambda *x: ask(make(*x)))(*x)), jax.tree.leaves(ask(make(*x))), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5)
    best = jax.grad(lambda n: D.LinearChain(n, edge).score(D.LinearChain(n, edge).argmax).sum())(node)
    np.testing.assert_array_equal(best, jax.grad(lambda n: D.LinearChain(n, edge).max.sum())(node))
    none = D.LinearChain(jax.numpy.zeros((1, 1, 2)), jax.numpy.zeros((2, 2)))  # which has two outputs
    assert np.isneginf(jax.jit(lambda n: D.LinearChain(n, none._arrays[1]).topk(3)[1])(none._arrays[0])[2, 0])
    with pytest.raises(dsp.Error, match="lengths, masks, edges and targets must be known"):
        jax.jit(lambda n, m: D.LinearChain(n, edge, lengths=m).log_partition)(node, np.array([4, 2]))


def test_no_further_derivatives():
    tree, = potentials((1, 3, 3))
    chain = potentials((1, 3, 2), (2, 2))

    def twice(f, *x):
        return jax.grad(lambda x0: (jax.grad(f)(x0, *x[1:]) ** 2).sum())(x[0])

    with pytest.raises(dsp.Error, match="no second derivatives .* non-projective tree"):
        twice(lambda a: D.DependencyTree(a, projective=False).log_partition.sum(), tree)
    with pytest.raises(dsp.Error, match="no third derivatives"):
        jax.grad(lambda n: twice(lambda n, e: D.LinearChain(n, e).log_partition.sum(), n, chain[1]).sum())(chain[0])
    with pytest.raises(dsp.Error, match="no gradient of marginals of a non-projective tree"):
        jax.grad(lambda a: D.DependencyTree(a, projective=False).marginals[0].sum())(tree)
    with pytest.raises(dsp.Error, match="no gradient of entropy and kl of a non-projective tree"):
        jax.grad(lambda a: D.DependencyTree(a, projective=False).entropy.sum())(tree)
    with pytest.raises(dsp.Error, match="no second derivatives of entropy and kl"):
        twice(lambda n: D.LinearChain(n, chain[1]).entropy.sum(), chain[0])
    with pytest.raises(dsp.Error, match="no gradient of hessian_product"):
        jax.grad(lambda n: D.LinearChain(n, chain[1]).hessian_product(*chain)[0].sum())(chain[0])
    with pytest.raises(dsp.Error, match="no second derivatives of marginals"):
        twice(lambda n: (D.LinearChain(n, chain[1]).marginals[0] ** 2).sum(), chain[0])
    with pytest.raises(dsp.Error, match="a bound here"):
        jax.grad(lambda n: D.Graph(n, np.zeros((1, 2, 2, 2), np.float32), [[0, 1], [1, 2]], inference="relaxed").max.sum())(chain[0])


def test_reading_and_vmap():
    frame, = potentials((3, 2, 4, 3))
    targets, n = np.array([[1, 2], [2, 0]]), np.array([2, 1])
    got = jax.vmap(lambda f: D.CTC(f).read_nll(targets, n))(frame)
    for k in range(3):
        np.testing.assert_allclose(got[k], dsp.CTC(frame[k]).read_nll(targets, n), atol=1e-5)
    assert np.array_equal(D.CTC(jax.numpy.asarray(frame[0])).argmax, dsp.CTC(frame[0]).argmax)

"""dsp.jax: values and gradients under jit, grad and vmap are those of the NumPy classes."""

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


def test_reading_and_vmap():
    frame, = potentials((3, 2, 4, 3))
    targets, n = np.array([[1, 2], [2, 0]]), np.array([2, 1])
    got = jax.vmap(lambda f: D.CTC(f).read_nll(targets, n))(frame)
    for k in range(3):
        np.testing.assert_allclose(got[k], dsp.CTC(frame[k]).read_nll(targets, n), atol=1e-5)
    assert np.array_equal(D.CTC(jax.numpy.asarray(frame[0])).argmax, dsp.CTC(frame[0]).argmax)

"""Distributions over structures for JAX: the classes of the module dsp, whose answers have gradients under jit, vmap and grad.

The library is called on the host (jax.pure_callback), so lengths and masks must be known when a function is traced; potentials and outputs need not
be. Answers are float32. log_partition, log_prob and nll have gradients. Differentiating twice in reverse mode, as jax.jacrev(jax.grad(f)) does, is exact
where a structure answers hessian_product, and an error elsewhere; it takes longer: products with the Hessian are computed in float64. There marginals,
entropy and kl have a gradient, too. That of score, and the subgradient of max and of scores of topk, is what outputs use. jax.hessian
differentiates forwards, which callbacks cannot.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from . import distributions
from .batch import Error, once

__all__ = ["CTC", "Constituents", "DependencyTree", "Error", "Graph", "LinearChain", "Matching", "Monotone", "PCFG", "SecondOrderChain",
           "SemiMarkov"]


def _shapes(layout, gradients):
    B = layout.batch.examples
    value = jax.ShapeDtypeStruct((B,), np.float32)
    if not gradients:
        return value
    return value, tuple(jax.ShapeDtypeStruct(((B,) + shape) if tied else shape, np.float32) for shape, tied in _sources(layout))


def _sources(layout):
    """The shape of each of the user's arrays, and whether examples share it."""
    shared = {part.source for part in layout.parts if part.tied}
    return [(shape, k in shared) for k, shape in enumerate(layout.shapes)]


def _answer(layout, gradients, y, arrays):
    """On the host: the values, and for each array its gradient, which has one for each example where examples share the array."""
    values = layout.rows([np.asarray(x) for x in arrays])
    if y is not None:
        value, u = layout.batch.loss(values, layout.encode(y))
    else:
        value, u = layout.batch.exp(values, marginals=gradients)
    value = value.astype(np.float32)
    return (value, tuple(layout.spread(u))) if gradients else value


def _call(layout, gradients, y, arrays, answer=_answer):
    ask = functools.partial(_host, answer, layout, gradients, y is not None)
    given = arrays if y is None else (y, *arrays)
    return jax.pure_callback(ask, _shapes(layout, gradients), *given, vmap_method="sequential")


def _host(answer, layout, gradients, has_y, *given):
    y, arrays = None, given
    if has_y:
        y, *arrays = given
        y = tuple(np.asarray(x) for x in y) if isinstance(y, tuple) else np.asarray(y)
    return answer(layout, gradients, y, arrays)


# A derivative of each of these functions is the next one, so that grad of grad is exact: jax.custom_vjp stands between JAX and every callback.


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _log_partition(layout, y, *arrays):
    return _call(layout, False, y, arrays)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _with_marginals(layout, y, *arrays):
    """The values with marginals, through which no gradient flows: _pullback knows how they depend on the arrays."""
    return _call(layout, True, y, arrays)


def _forward(layout, y, *arrays):
    value, u = _with_marginals(layout, y, *arrays)
    return value, (u, arrays, y)


def _forward_with(layout, y, *arrays):
    value, u = _with_marginals(layout, y, *arrays)
    return (value, u), (u, arrays, y)


def _backward(layout, saved, g):
    u, arrays, y = saved
    return (jax.tree.map(lambda _: None, y), *_pullback(layout, g, arrays, u))


_log_partition.defvjp(_forward, _backward)
_with_marginals.defvjp(_forward_with, lambda layout, saved, g: _backward(layout, saved, g[0]))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _pullback(layout, g, arrays, u):
    """The gradients by the arrays, for a gradient g [B] of the values."""
    return _scaled(layout, g, arrays, u)


def _scaled(layout, g, arrays, u):
    out = []
    for x, like, (shape, tied) in zip(u, arrays, _sources(layout)):
        scaled = jnp.tensordot(g, x, 1) if tied else x * _column(g, shape)
        out.append(scaled.astype(like.dtype))
    return tuple(out)


def _column(g, shape):
    return g.reshape((-1,) + (1,) * (len(shape) - 1))


def _pullback_backward(layout, saved, directions):
    if not layout.batch.form.hessian:
        raise Error(f"dsp has no second derivatives of log_partition and nll of a {layout.batch.form.structure}")
    g, arrays, u = saved
    by_g = 0
    for x, d, (shape, tied) in zip(u, directions, _sources(layout)):
        d = d.astype(np.float32)
        by_g += jnp.tensordot(x, d, len(shape)) if tied else (x * d).sum(range(1, len(shape)))
    return by_g.astype(g.dtype), _second(layout, g, arrays, directions), None


_pullback.defvjp(lambda layout, g, arrays, u: (_pullback(layout, g, arrays, u), (g, arrays, u)), _pullback_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _second(layout, g, arrays, directions):
    """g times the Hessian's product with directions, in the shapes of the arrays."""
    shapes = tuple(jax.ShapeDtypeStruct(shape, np.float32) for shape in layout.shapes)
    product = jax.pure_callback(functools.partial(_host_second, layout), shapes, g, arrays, directions, vmap_method="sequential")
    return tuple(x.astype(like.dtype) for x, like in zip(product, arrays))


def _host_second(layout, g, arrays, directions):
    values, d = (layout.rows([np.asarray(x) for x in some]) for some in (arrays, directions))
    return tuple(layout.spread(layout.batch.hessian(values, d), np.asarray(g)))


def _no_third(layout, saved, g):
    raise Error("dsp has no third derivatives of log_partition and nll")


_second.defvjp(lambda layout, *given: (_second(layout, *given), None), _no_third)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _scores(layout, y, *arrays):
    """The scores of outputs y, or the best ones where y is None."""
    return _call(layout, False, y, arrays, _host_scores)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _with_used(layout, y, *arrays):
    """_scores with what the outputs use, which is constant: but where the best outputs change, where it jumps."""
    return _call(layout, True, y, arrays, _host_scores)


def _host_scores(layout, used, y, arrays):
    values, best = layout.rows([np.asarray(x) for x in arrays]), None
    if y is None:
        y, value = layout.batch.max(values)
        best = value
    else:
        y = layout.encode(y)
        value = layout.batch.score(values, y)
    value = value.astype(np.float32)
    return (value, tuple(layout.spread(layout.batch.indicator(y, best)))) if used else value


def _scores_backward(layout, saved, g):
    u, arrays, y = saved
    if y is None and not layout.batch.form.exact:
        raise Error(f"max of a {layout.batch.form.structure} is a bound here, which has no gradient: take score(argmax)")
    return (jax.tree.map(lambda _: None, y), *_scaled(layout, g, arrays, u))


def _scores_forward(layout, y, *arrays):
    value, u = _with_used(layout, y, *arrays)
    return value, (u, arrays, y)


def _with_used_forward(layout, y, *arrays):
    value, u = _with_used(layout, y, *arrays)
    return (value, u), (u, arrays, y)


_scores.defvjp(_scores_forward, _scores_backward)
_with_used.defvjp(_with_used_forward, lambda layout, saved, g: _scores_backward(layout, saved, g[0]))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _marginals(layout, *arrays):
    return _with_marginals(layout, None, *arrays)[1]


def _marginals_backward(layout, arrays, directions):
    if not layout.batch.form.hessian:
        raise Error(f"dsp has no gradient of marginals of a {layout.batch.form.structure}")
    return _marginals_gradient(layout, arrays, directions)


_marginals.defvjp(lambda layout, *arrays: (_marginals(layout, *arrays), arrays), _marginals_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _marginals_gradient(layout, arrays, directions):
    """The sum over examples of their Hessians' products with directions of their own, in the shapes of the arrays."""
    shapes = tuple(jax.ShapeDtypeStruct(shape, np.float32) for shape in layout.shapes)
    product = jax.pure_callback(functools.partial(_host_marginals_gradient, layout), shapes, arrays, directions, vmap_method="sequential")
    return tuple(x.astype(like.dtype) for x, like in zip(product, arrays))


def _host_marginals_gradient(layout, arrays, directions):
    values, d = layout.rows([np.asarray(x) for x in arrays]), layout.own_rows([np.asarray(x) for x in directions])
    return tuple(layout.spread(layout.batch.hessian(values, d, own=True), np.ones(layout.batch.examples, np.float32)))


def _no_second(layout, saved, g):
    raise Error("dsp has no second derivatives of marginals")


_marginals_gradient.defvjp(lambda layout, *given: (_marginals_gradient(layout, *given), None), _no_second)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _ranked(layout, k, *arrays):
    """The k best outputs, and their scores."""
    return _best(layout, k, False, arrays)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _ranked_with_used(layout, k, *arrays):
    """_ranked, with what each of the outputs uses."""
    return _best(layout, k, True, arrays)


def _best(layout, k, used, arrays):
    def host(*arrays):
        p = _known(layout, arrays)
        y, scores = p.topk(k)
        answer = _like(written, y), scores.astype(np.float32)
        if not used:
            return answer
        each = [layout.spread(layout.batch.indicator(layout.encode(jax.tree.map(lambda x: x[j], y)), scores[j])) for j in range(k)]
        return answer, tuple(np.stack(x) for x in zip(*each))

    written, (value, marginals) = _written(layout, k), _shapes(layout, True)
    shapes = written, _leading(k, value)
    if used:
        shapes = shapes, jax.tree.map(functools.partial(_leading, k), marginals)
    return jax.pure_callback(host, shapes, *arrays, vmap_method="sequential")


def _ranked_forward(layout, k, *arrays):
    answer, u = _ranked_with_used(layout, k, *arrays)
    return answer, (u, arrays)


def _ranked_with_used_forward(layout, k, *arrays):
    answer, u = _ranked_with_used(layout, k, *arrays)
    return (answer, u), (u, arrays)


def _ranked_backward(layout, k, saved, g):
    (u, arrays), (_, by_scores) = saved, g
    each = [_scaled(layout, by_scores[j], arrays, [x[j] for x in u]) for j in range(k)]
    return jax.tree.map(lambda *x: sum(x), *each) if each else tuple(map(jnp.zeros_like, arrays))


_ranked.defvjp(_ranked_forward, _ranked_backward)
_ranked_with_used.defvjp(_ranked_with_used_forward, lambda layout, k, saved, g: _ranked_backward(layout, k, saved, g[0]))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _divergence(layout, p, q):
    """KL(p‖q) of potentials p and q, or the entropy of p where q is empty."""
    def host(p, q):
        p = _known(layout, p)
        return (p.kl(_known(layout, q)) if q else p.entropy).astype(np.float32)

    return jax.pure_callback(host, _shapes(layout, False), p, q, vmap_method="sequential")


def _divergence_backward(layout, saved, g):
    if not layout.batch.form.hessian:
        raise Error(f"dsp has no gradient of entropy and kl of a {layout.batch.form.structure}")
    return _divergence_gradient(layout, g, *saved)


_divergence.defvjp(lambda layout, p, q: (_divergence(layout, p, q), (p, q)), _divergence_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _divergence_gradient(layout, g, p, q):
    """The gradients of _divergence by p and by q, for a gradient g [B] of it."""
    def host(g, *both):
        values = [_known(layout, x)._values for x in both if x]
        every = [tuple(layout.spread(u, np.asarray(g))) for u in layout.divergence_gradients(*values)]
        return (*every, ()) if len(every) == 1 else tuple(every)

    shapes = tuple(jax.ShapeDtypeStruct(shape, np.float32) for shape in layout.shapes)
    gradients = jax.pure_callback(host, (shapes, shapes if q else ()), g, p, q, vmap_method="sequential")
    return jax.tree.map(lambda x, like: x.astype(like.dtype), gradients, (p, q))


def _no_second_divergence(layout, saved, g):
    raise Error("dsp has no second derivatives of entropy and kl")


_divergence_gradient.defvjp(lambda layout, *given: (_divergence_gradient(layout, *given), None), _no_second_divergence)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _product(layout, arrays, direction):
    """The derivatives of the marginals along a direction, in the shapes of marginals."""
    def host(arrays, direction):
        return _known(layout, arrays).hessian_product(*map(np.asarray, direction))

    return jax.pure_callback(host, _shapes(layout, True)[1], arrays, direction, vmap_method="sequential")


def _no_gradient(layout, saved, g):
    raise Error("dsp has no gradient of hessian_product")


_product.defvjp(lambda layout, *given: (_product(layout, *given), None), _no_gradient)


def _known(layout, arrays):
    """On the host: the distribution of arrays that are known there."""
    return distributions.Distribution(layout, tuple(np.asarray(x) for x in arrays))


def _leading(n, shape):
    return jax.ShapeDtypeStruct((n, *shape.shape), shape.dtype)


def _written(layout, *leading):
    """The shapes and types of outputs."""
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct((*leading, *x.shape), jax.dtypes.canonicalize_dtype(x.dtype)),
                        layout.decode(np.zeros(layout.batch.numbers, np.int32)))


def _like(shapes, y):
    return jax.tree.map(lambda x, like: x.astype(like.dtype), y, shapes)


def _outputs(layout, arrays, ask, *leading):
    """Outputs that ask answers about a distribution whose arrays are not known yet."""
    shapes = _written(layout, *leading)
    return jax.pure_callback(lambda *arrays: _like(shapes, ask(_known(layout, arrays))), shapes, *map(jax.lax.stop_gradient, arrays),
                             vmap_method="sequential")


class _Arrays(distributions.Distribution):
    @property
    def _traced(self):
        return any(isinstance(x, jax.core.Tracer) for x in self._arrays)

    @property
    def argmax(self):
        return _outputs(self._layout, self._arrays, lambda p: p.argmax) if self._traced else super().argmax

    @property
    def max(self):
        return _scores(self._layout, None, *self._arrays)

    def score(self, y):
        return _scores(self._layout, y, *self._arrays)

    def topk(self, k):
        return _ranked(self._layout, k, *self._arrays) if self._traced else super().topk(k)

    def sample(self, n=1, seed=0):
        if not self._traced:
            return super().sample(n, seed)
        return _outputs(self._layout, self._arrays, lambda p: p.sample(n, seed), n)

    @property
    def marginals(self):
        return _marginals(self._layout, *self._arrays)

    @once
    def log_partition(self):
        return _log_partition(self._layout, None, *self._arrays)

    def nll(self, y):
        return _log_partition(self._layout, y, *self._arrays)

    @property
    def entropy(self):
        return _divergence(self._layout, self._arrays, ())

    def kl(self, q):
        self._same_outputs(q)
        return _divergence(self._layout, self._arrays, q._arrays)

    def hessian_product(self, *direction):
        self._fits(direction)
        return _product(self._layout, self._arrays, direction)


class LinearChain(_Arrays, distributions.LinearChain):
    __doc__ = distributions.LinearChain.__doc__


class SecondOrderChain(_Arrays, distributions.SecondOrderChain):
    __doc__ = distributions.SecondOrderChain.__doc__


class SemiMarkov(_Arrays, distributions.SemiMarkov):
    __doc__ = distributions.SemiMarkov.__doc__


class DependencyTree(_Arrays, distributions.DependencyTree):
    __doc__ = distributions.DependencyTree.__doc__


class Constituents(_Arrays, distributions.Constituents):
    __doc__ = distributions.Constituents.__doc__


class PCFG(_Arrays, distributions.PCFG):
    __doc__ = distributions.PCFG.__doc__


class Monotone(_Arrays, distributions.Monotone):
    __doc__ = distributions.Monotone.__doc__


class Matching(_Arrays, distributions.Matching):
    __doc__ = distributions.Matching.__doc__


class Graph(_Arrays, distributions.Graph):
    __doc__ = distributions.Graph.__doc__


class CTC(_Arrays, distributions.CTC):
    __doc__ = distributions.CTC.__doc__

    def read_nll(self, targets, target_lengths=None):
        """−log of the probability that frames read as targets [B], which must be known when the function is traced."""
        return _log_partition(self._reading(targets, target_lengths), None, *self._arrays)

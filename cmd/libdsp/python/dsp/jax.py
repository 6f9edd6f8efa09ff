"""Distributions over structures for JAX: the classes of the module dsp, whose log_partition, log_prob and nll have gradients under jit and grad.

The library is called on the host (jax.pure_callback), so lengths and masks must be known when a function is traced; potentials and outputs need not
be. Answers are float32. Gradients have no derivatives of their own. What has no gradient (argmax, topk, sample, entropy, …) needs concrete arrays.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from . import distributions
from .batch import Error

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
    shared = {part.source for part in layout.parts if part.tied} | {a.source for a in layout.added}
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


def _call(layout, gradients, y, arrays):
    ask = functools.partial(_host, layout, gradients, y is not None)
    given = arrays if y is None else (y, *arrays)
    return jax.pure_callback(ask, _shapes(layout, gradients), *given, vmap_method="sequential")


def _host(layout, gradients, has_y, *given):
    y, arrays = None, given
    if has_y:
        y, *arrays = given
        y = tuple(np.asarray(x) for x in y) if isinstance(y, tuple) else np.asarray(y)
    return _answer(layout, gradients, y, arrays)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _log_partition(layout, y, *arrays):
    return _call(layout, False, y, arrays)


def _forward(layout, y, *arrays):
    value, u = _call(layout, True, y, arrays)
    return value, (u, [jnp.zeros(0, x.dtype) for x in arrays], y)


def _backward(layout, saved, g):
    u, kinds, y = saved
    out = []
    for x, like, (shape, tied) in zip(u, kinds, _sources(layout)):
        scaled = jnp.tensordot(g, x, 1) if tied else x * g.reshape((-1,) + (1,) * (len(shape) - 1))
        out.append(scaled.astype(like.dtype))
    return (jax.tree.map(lambda _: None, y), *out)


_log_partition.defvjp(_forward, _backward)


class _Arrays(distributions.Distribution):
    @functools.cached_property
    def log_partition(self):
        return _log_partition(self._layout, None, *self._arrays)

    def nll(self, y):
        return _log_partition(self._layout, y, *self._arrays)


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
        read = _log_partition(self._reading(targets, target_lengths), None, *self._arrays)
        return jnp.maximum(0, self.log_partition - read)

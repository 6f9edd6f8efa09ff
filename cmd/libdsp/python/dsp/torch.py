"""Distributions over structures for PyTorch: the classes of the module dsp with tensors, whose answers have gradients.

Potentials may be of any floating-point type and on any device; dsp computes in float32, and answers in float64 if a
potential is float64, else in float32. It computes on the CPU, but for log_partition, nll, log_prob and the best outputs of
LinearChain(node, edge) and DependencyTree(arc, label) with square arcs, without lengths and masks: see dsp.cuda.
(torch.autograd.gradcheck needs eps=1e-3 and atol=1e-3, since potentials are rounded to float32.)

log_partition, nll and log_prob have a gradient that comes with the value, in one call. Differentiating them twice is exact
where a structure answers hessian_product; it takes longer, since products with the Hessian are computed in float64. There
marginals, entropy and kl have a gradient, too. score has one, and max and the scores of topk have a subgradient: what the
outputs use. Other derivatives are an error. torch.func.grad, jacrev and vmap work; vmap asks about one slice after the
other, which takes longer than a batch.

torch.compile, also with fullgraph=True, and torch.export keep all calls in their graphs as operators, but for CRF.decode,
whose lists no graph has, and what stands under grad and jacrev of torch.func. A graph gives first derivatives only.

CRF has the interface of pytorch-crf: `from dsp.torch import CRF` in place of `from torchcrf import CRF`. to_onnx exports a network with its decoding.
"""

import contextlib
import inspect
import io

import numpy as np
import torch
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from . import _operators as operators
from . import cuda, distributions, layouts, model
from .batch import Error, _addresses, get_threads, once, set_threads

__all__ = ["CRF", "CTC", "Constituents", "DependencyTree", "Error", "Graph", "LinearChain", "Matching", "Monotone", "PCFG", "SecondOrderChain", "SemiMarkov",
           "ctc_loss", "get_threads", "segments", "set_threads", "tags", "to_onnx"]

segments, tags = distributions.segments, distributions.tags


def _numbers(tensor):
    if not torch.is_tensor(tensor):
        raise Error(f"potentials of dsp.torch are tensors, found {type(tensor).__name__}: the classes of dsp take arrays")
    x = tensor.detach()
    if x.dtype is not torch.float32 or not x.is_cpu:
        if x.is_complex():
            raise Error(f"potentials of the shape {tuple(x.shape)} are complex, expected real numbers")
        x = x.to("cpu", torch.float32)
    return x.numpy()


def _rows(layout, kinds, tensors):
    """The values of the parts: the addresses of the tensors themselves where they are as the library wants them."""
    if kinds is None and layout.direct:
        for x in tensors:
            if not x.is_contiguous():
                break
        else:
            return _addresses[len(tensors)](*[x.data_ptr() for x in tensors])
    return layout.rows([_numbers(x) for x in tensors])


def _answer(layout, kinds, y, wanted, tensors):
    """log Σ exp(score) [B], or −log p(y) if outputs y are given; and the gradient by each part, if it is wanted."""
    if kinds is not None and _there(layout, tensors):
        values, B = _on_gpu(tensors), layout.batch.examples
        value = _empty((B,), torch.float64, tensors[0].device)
        u = None
        if wanted or y is not None:
            u = [_empty(shape, torch.float32, tensors[0].device) for shape in layout.batch._shapes]
        if y is not None:
            cuda.loss(layout.batch, values, y, value, u)
        else:
            cuda.exp(layout.batch, values, value, u)
        return value, u
    values = _rows(layout, kinds, tensors)
    if y is not None:
        return layout.batch.loss(values, y)
    return layout.batch.exp(values, marginals=wanted)


def _there(layout, tensors):
    """Whether the library answers in the memory of the GPU where the potentials are."""
    first = tensors[0]
    return (torch.is_tensor(first) and first.is_cuda and all(x.device == first.device for x in tensors)
            and layout.direct and 0 not in layout.shapes[0] and cuda.answers(layout.batch.form))


def _on_gpu(tensors):
    values = [x.detach().to(torch.float32).contiguous() for x in tensors]
    return [x.clone() if x.data_ptr() % 16 else x for x in values]  # a view that begins within an allocation


def _empty(shape, dtype, device):
    return torch.empty(shape, dtype=dtype, device=device)


def _pullback(layout, kinds, g, u, sign=1):
    """The gradients by the user's tensors, for a gradient g [B] of sign times the values."""
    if kinds is not None and torch.is_tensor(u[0]):  # on a GPU
        g = sign * g.detach().to(torch.float32)
        every = [(g @ x).reshape(shape) if part.tied else x.reshape(shape) * g.reshape(-1, *(1,) * (len(shape) - 1))
                 for x, part, shape in zip(u, layout.parts, layout.shapes)]
        return tuple(every if kinds is None else [x.to(device, dtype) for x, (dtype, device) in zip(every, kinds)])
    g = layouts.host(g)
    every = [torch.from_numpy(x) for x in layout.spread(u, g if sign > 0 else -g)]
    return tuple(every if kinds is None else [x.to(device, dtype) for x, (dtype, device) in zip(every, kinds)])


def _tensor(x):
    return x if torch.is_tensor(x) else torch.from_numpy(x)


def _kinds(tensors):
    """The types and devices of tensors; None where they are those of the answers of the library, as is usual."""
    if not all(map(torch.is_tensor, tensors)):  # _numbers refuses them
        return [(None, None)] * len(tensors)
    for x in tensors:
        if x.dtype is not torch.float32 or not x.is_cpu:
            return [(x.dtype, x.device) for x in tensors]
    return None


def _given(value, kinds):
    """A value of the library, float64, as potentials of these types and devices are answered."""
    if kinds is None:
        return torch.from_numpy(value.astype(np.float32))
    return _tensor(value).to(kinds[0][1], _precision(kinds))


class _LogPartition(torch.autograd.Function):
    """sign times _answer, with its gradient."""

    @staticmethod
    def forward(ctx, layout, y, sign, *tensors):
        kinds = _kinds(tensors)
        value, ctx.u = _answer(layout, kinds, y, True in ctx.needs_input_grad, tensors)
        ctx.layout, ctx.kinds, ctx.sign = layout, kinds, sign
        ctx.save_for_backward(*tensors)  # for _Pullback
        return _given(value if sign > 0 else -value, kinds)

    @staticmethod
    def backward(ctx, g):
        if torch.is_grad_enabled():  # create_graph
            return (None, None, None, *_Pullback.apply(ctx.layout, ctx.kinds, ctx.sign * g, *ctx.saved_tensors, *map(_tensor, ctx.u)))
        return (None, None, None, *_pullback(ctx.layout, ctx.kinds, g, ctx.u, ctx.sign))


class _Sliced(torch.autograd.Function):
    """A function that torch.vmap asks about one slice after the other."""

    @classmethod
    def vmap(cls, info, in_dims, *arguments):
        answers = [cls.apply(*[_slice(x, dim, i) for x, dim in zip(arguments, in_dims)]) for i in range(info.batch_size)]
        return tuple(map(torch.stack, zip(*answers))), (0,) * len(answers[0])


def _slice(x, dim, i):
    if isinstance(x, tuple):
        return tuple(_slice(part, d, i) for part, d in zip(x, dim))
    return x.select(dim, i) if torch.is_tensor(x) and dim is not None else x


class _Functional(_Sliced):
    """_LogPartition in the style that torch.func needs, which takes 0.1 ms longer: marginals are outputs of their own."""

    @staticmethod
    def forward(layout, y, *tensors):
        kinds = _kinds(tensors)
        value, u = _answer(layout, kinds, None if y is None else layout.encode(y), True, tensors)
        return (_given(value, kinds), *map(_tensor, u))

    @staticmethod
    def setup_context(ctx, inputs, output):
        layout, _, *tensors = inputs
        ctx.layout, ctx.kinds = layout, _kinds(tensors)
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *output[1:])

    @staticmethod
    def backward(ctx, g, *_):
        if g is None:
            return (None,) * (2 + len(ctx.layout.shapes))
        return (None, None, *_Pullback.apply(ctx.layout, ctx.kinds, g, *ctx.saved_tensors))


class _Pullback(_Sliced):
    """The gradient as a function of g and the potentials."""

    @staticmethod
    def forward(layout, kinds, g, *saved):
        return _pullback(layout, kinds, g, [x if x.is_cuda else x.numpy() for x in saved[len(layout.shapes):]])

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, ctx.kinds, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, *directions):
        if not ctx.layout.batch.form.hessian:
            raise Error(f"dsp has no second derivatives of log_partition and nll of a {ctx.layout.batch.form.structure}")
        by_g, *by_potentials = _Second.apply(ctx.layout, ctx.kinds, directions, *ctx.saved_tensors)
        return (None, None, by_g, *by_potentials, *(None,) * (len(ctx.saved_tensors) - 1 - len(ctx.layout.shapes)))


class _Second(_Sliced):
    """What _Pullback pulls back, given the gradients by its results: ⟨u, direction⟩ for g [B], and g times the Hessian's product with the
    direction for the potentials."""

    @staticmethod
    def forward(layout, kinds, directions, g, *saved):
        values = layout.rows([_numbers(x) for x in saved[:len(layout.shapes)]])
        d = layout.rows([_numbers(x) for x in directions])
        by_g = layout.dot([_numbers(x) for x in saved[len(layout.shapes):]], d)
        return (torch.from_numpy(by_g).to(g), *_pullback(layout, kinds, g, layout.batch.hessian(values, d)))

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise Error("dsp has no third derivatives of log_partition and nll")


class _Divergence(torch.autograd.Function):
    """KL(p‖q) [B], float64, of the potentials of two distributions, or the entropy of one, with its gradient by products with the Hessian."""

    @staticmethod
    def forward(layout, *tensors):
        p, q = _both(layout, tensors)
        return torch.from_numpy(layout.batch.entropy(p) if q is None else layout.batch.kl(p, q))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, g):
        _has_hessian(ctx.layout, "entropy and kl")
        return (None, *_DivergenceGradient.apply(ctx.layout, g, *ctx.saved_tensors))


class _DivergenceGradient(torch.autograd.Function):
    """What _Divergence pulls back. It has no derivative itself: to differentiate it is an error, not 0."""

    @staticmethod
    def forward(layout, g, *tensors):
        p, q = _both(layout, tensors)
        n = len(layout.shapes)
        each = zip((tensors[:n], tensors[n:]), layout.divergence_gradients(p, q))
        return tuple(x for some, u in each for x in _pullback(layout, _kinds(some), g, u))

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise Error("dsp has no second derivatives of entropy and kl")


class _Score(_Sliced):
    """The scores of a user's outputs y [B], or the best ones where y is None, with what _Used needs. best: what Batch.max
    answered, or None."""

    @staticmethod
    def forward(layout, y, best, *tensors):
        kinds = _kinds(tensors)
        if y is None:
            y, value = layout.batch.max(_rows(layout, kinds, tensors)) if best is None else best
            usable = value
        else:
            y = layout.encode(y)
            value, usable = layout.batch.score(_rows(layout, kinds, tensors), y), np.zeros(layout.batch.examples)
        return _given(value, kinds), torch.from_numpy(np.array(y, np.int32)), torch.from_numpy(usable)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, y, _, *tensors = inputs
        ctx.kinds, ctx.best = _kinds(tensors), y is None
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:])

    @staticmethod
    def backward(ctx, g, *_):
        if ctx.best:
            _exact(ctx.layout)
        return (None, None, None, *_Used.apply(ctx.layout, ctx.kinds, g, *ctx.saved_tensors))


class _Used(_Sliced):
    """g [B] times what outputs y use: the gradient of their scores, and of best scores a subgradient."""

    @staticmethod
    def forward(layout, kinds, g, y, best):
        return _pullback(layout, kinds, g, layout.batch.indicator(y.numpy(), best.numpy()))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, ctx.kinds, g, *saved = inputs
        ctx.g = g.dtype, g.device
        ctx.save_for_backward(*saved)

    @staticmethod
    def backward(ctx, *directions):
        return (None, None, *_Along.apply(ctx.layout, ctx.g, *ctx.saved_tensors, *directions), None, None)


class _Along(_Sliced):
    """The products [B] of what outputs y use with a direction: what _Used pulls back."""

    @staticmethod
    def forward(layout, kind, y, best, *direction):
        u = layout.batch.indicator(y.numpy(), best.numpy())
        along = layout.dot(u, layout.rows([_numbers(x) for x in direction]))
        return (torch.from_numpy(along).to(kind[1], kind[0]),)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, _, y, best, *direction = inputs
        ctx.kinds = _kinds(direction)
        ctx.save_for_backward(y, best)

    @staticmethod
    def backward(ctx, g):
        return (None, None, None, None, *_Used.apply(ctx.layout, ctx.kinds, g, *ctx.saved_tensors))


class _Marginals(_Sliced):
    """Marginals in the shapes of tensors, those of shared ones for each example. u: what they are, if it is known."""

    @staticmethod
    def forward(layout, u, *tensors):
        kinds = _kinds(tensors)
        if u is None:
            u = layout.batch.exp(_rows(layout, kinds, tensors))[1]
        return tuple(_given(x, kinds) for x in layout.spread(u))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.layout, _, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, *directions):
        _has_hessian(ctx.layout, "marginals")
        return (None, None, *_MarginalsGradient.apply(ctx.layout, *directions, *ctx.saved_tensors))


class _MarginalsGradient(_Sliced):
    """What _Marginals pulls back: the sum over examples of their Hessians' products with directions of their own. It has no
    derivative itself."""

    @staticmethod
    def forward(layout, *both):
        n = len(layout.shapes)
        directions, tensors = both[:n], both[n:]
        values = layout.rows([_numbers(x) for x in tensors])
        product = layout.batch.hessian(values, layout.own_rows([_numbers(x) for x in directions]), own=True)
        return _pullback(layout, _kinds(tensors), torch.ones(layout.batch.examples), product)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_):
        raise Error("dsp has no second derivatives of marginals")


class _Constant(_Sliced):
    """A tensor whose derivative by others is an error, not 0."""

    @staticmethod
    def forward(what, x, *tensors):
        return (x.view_as(x),)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.what = inputs[0]

    @staticmethod
    def backward(ctx, g):
        raise Error(f"dsp has no gradient of {ctx.what}")


def _both(layout, tensors):
    """The values of the parts of one distribution, and of another or None."""
    n = len(layout.shapes)
    values = [layout.rows([_numbers(x) for x in some]) for some in (tensors[:n], tensors[n:]) if some]
    return values[0], values[1] if len(values) > 1 else None


def _precision(kinds):
    """The type of answers: that of numbers of the highest precision among potentials, at least float32."""
    return torch.float64 if kinds is not None and any(dtype is torch.float64 for dtype, _ in kinds) else torch.float32


def _exact(layout):
    if not layout.batch.form.exact:
        raise Error(f"max of a {layout.batch.form.structure} is a bound here, which has no gradient: take score(argmax)")


def _has_hessian(layout, what):
    if not layout.batch.form.hessian:
        raise Error(f"dsp has no gradient of {what} of a {layout.batch.form.structure}")


def _ranked(layout, y, scores):
    """The outputs y of topk, as the library has them, each with its scores."""
    every = [tuple(x[j] for x in y) if isinstance(y, tuple) else y[j] for j in range(len(scores))]
    return [(layout.encode(x), _numbers(s)) for x, s in zip(every, scores)]


@torch.compiler.disable
def _uncompiled(layout, y, tensors, sign):
    """_log_partition under torch.func, or of a distribution that was made before a program was traced."""
    if torch._C._are_functorch_transforms_active():
        return sign * _Functional.apply(layout, y, *tensors)[0]
    return _log_partition(layout, y, tensors, sign)


def _log_partition(layout, y, tensors, sign=1):
    """sign times log Σ exp(score) [B], or times −log p(y) if a user's outputs y are given."""
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return _uncompiled(layout, y, tensors, sign)
    return _LogPartition.apply(layout, None if y is None else layout.encode(y), sign, *tensors)


@torch.compiler.disable
def _divergence(layout, tensors):
    return _Divergence.apply(layout, *tensors).to(tensors[0].device, _precision(_kinds(tensors)))


def _differentiable(tensors):
    if torch._C._are_functorch_transforms_active():
        return True
    return torch.is_grad_enabled() and any(torch.is_tensor(x) and x.requires_grad for x in tensors)


@torch.compiler.disable
def _scores(layout, y, best, tensors):
    return _Score.apply(layout, y, best, *tensors)[0]


@torch.compiler.disable
def _marginals(layout, u, tensors):
    return _Marginals.apply(layout, u, *tensors)


class _Tensors(distributions.Distribution):
    """What tensors change: answers are tensors, some have gradients, and traced programs ask operators."""

    _layouts = operators.Layouts

    @property
    def _traced(self):
        return type(self._layout) is operators.Traced

    @property
    def batch_size(self):
        return self._layout.examples if self._traced else super().batch_size

    @once
    def _values(self):
        return self._layout.rows([_numbers(x) for x in self._arrays])

    @once
    def _best(self):
        if _there(self._layout, self._arrays):
            return cuda.max(self._layout.batch, _on_gpu(self._arrays))
        return self._layout.batch.max(self._values)

    def _give(self, x):
        x = torch.from_numpy(x)
        if x.is_floating_point():
            x = x.to(_precision(_kinds(self._arrays)))
        return x.to(self._arrays[0].device)

    @once
    def log_partition(self):
        if self._traced:
            return operators.ask("log_partition", self._layout)[0]
        return _log_partition(self._layout, None, self._arrays)

    def nll(self, y):
        if self._traced:
            return operators.ask("nll", self._layout, y)[0]
        return _log_partition(self._layout, y, self._arrays)

    def log_prob(self, y):
        if self._traced:
            return -operators.ask("nll", self._layout, y)[0]
        return _log_partition(self._layout, y, self._arrays, -1)

    @property
    def marginals(self):
        if self._traced:
            return tuple(operators.ask("log_partition", self._layout, gradients=True)[1:])
        if not _differentiable(self._arrays):
            return super().marginals
        return _marginals(self._layout, None if torch._C._are_functorch_transforms_active() else self._sums[1], self._arrays)

    @property
    def argmax(self):
        if self._traced:
            return operators.outputs(operators.ask("max", self._layout, gradients=False), self._layout)
        return super().argmax

    @property
    def max(self):
        if self._traced:
            return operators.ask("max", self._layout)[0]
        if not _differentiable(self._arrays):
            return super().max
        return _scores(self._layout, None, None if torch._C._are_functorch_transforms_active() else self._best, self._arrays)

    def score(self, y):
        if self._traced:
            return operators.ask("score", self._layout, y)[0]
        if not _differentiable(self._arrays):
            return super().score(y)
        return _scores(self._layout, y, None, self._arrays)

    def topk(self, k):
        if self._traced:
            answers = operators.ask("topk", self._layout, numbers=[k])
            return operators.outputs(answers, self._layout), answers[0]
        y, scores = super().topk(k)
        if _differentiable(self._arrays):
            scores = torch.stack([_scores(self._layout, None, best, self._arrays) for best in _ranked(self._layout, y, scores)])
        return y, scores

    def sample(self, n=1, seed=0):
        if self._traced:
            return operators.outputs(operators.ask("sample", self._layout, numbers=[n, seed]), self._layout)
        return super().sample(n, seed)

    def hessian_product(self, *direction):
        if self._traced:
            return tuple(operators.ask("hessian_product", self._layout, direction))
        product, of = super().hessian_product(*direction), (*self._arrays, *direction)
        return tuple(_Constant.apply("hessian_product", x, *of)[0] for x in product) if _differentiable(of) else product

    @property
    def entropy(self):
        if self._traced:
            return operators.ask("entropy", self._layout)[0]
        return _divergence(self._layout, self._arrays)

    def kl(self, q):
        if self._traced:
            return operators.ask("kl", self._layout, other=q._layout)[0]
        self._same_outputs(q)
        return _divergence(self._layout, (*self._arrays, *q._arrays))


def _padded(x, lengths):
    """A tensor [B, T, …] and its lengths, if they come as a PackedSequence of torch.nn.utils.rnn."""
    if not isinstance(x, PackedSequence):
        return x, lengths
    if lengths is not None:
        raise Error("lengths and a PackedSequence, which has its own: expected one of them")
    return pad_packed_sequence(x, batch_first=True)


class LinearChain(_Tensors, distributions.LinearChain):
    __doc__ = distributions.LinearChain.__doc__ + " node may be a PackedSequence; outputs are padded."

    def __init__(self, node, edge, lengths=None, mask=None, start=None, end=None):
        node, lengths = _padded(node, lengths)
        super().__init__(node, edge, lengths, mask, start, end)


class SecondOrderChain(_Tensors, distributions.SecondOrderChain):
    __doc__ = distributions.SecondOrderChain.__doc__


class SemiMarkov(_Tensors, distributions.SemiMarkov):
    __doc__ = distributions.SemiMarkov.__doc__


class DependencyTree(_Tensors, distributions.DependencyTree):
    __doc__ = distributions.DependencyTree.__doc__


class Constituents(_Tensors, distributions.Constituents):
    __doc__ = distributions.Constituents.__doc__


class PCFG(_Tensors, distributions.PCFG):
    __doc__ = distributions.PCFG.__doc__


class Monotone(_Tensors, distributions.Monotone):
    __doc__ = distributions.Monotone.__doc__


class Matching(_Tensors, distributions.Matching):
    __doc__ = distributions.Matching.__doc__


class Graph(_Tensors, distributions.Graph):
    __doc__ = distributions.Graph.__doc__


class CTC(_Tensors, distributions.CTC):
    __doc__ = distributions.CTC.__doc__ + " frame may be a PackedSequence."

    def __init__(self, frame, lengths=None, blank=0):
        frame, lengths = _padded(frame, lengths)
        super().__init__(frame, lengths, blank)

    def read_nll(self, targets, target_lengths=None):
        """−log of the probability that frames read as targets [B]: symbols [B, S], or all in a row, with target_lengths [B]. It is +∞ where frames
        are too few, and its gradient there is that of log_partition."""
        if self._traced:
            return operators.ask("log_partition", self._reading(targets, target_lengths))[0]
        return _log_partition(self._reading(targets, target_lengths), None, self._arrays)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """torch.nn.functional.ctc_loss with the same arguments: log_probs [T, B, C], or [T, C] of one line. Scores need not be normalised."""
    alone = log_probs.dim() == 2
    if alone:
        log_probs, targets = log_probs[:, None], targets.reshape(1, -1)
    lengths, target_lengths = torch.as_tensor(input_lengths).reshape(-1), torch.as_tensor(target_lengths).reshape(-1)
    loss = CTC(log_probs.transpose(0, 1), lengths, blank).read_nll(targets, target_lengths)
    if zero_infinity:
        loss = torch.where(torch.isinf(loss), torch.zeros_like(loss), loss)
    if reduction == "mean":
        return (loss / target_lengths.clamp(min=1).to(loss)).mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss[0] if alone else loss


class CRF(torch.nn.Module):
    """A linear-chain CRF with the parameters, arguments, state and messages of pytorch-crf's class.

    num_tags: Y. batch_first: whether batches come first, [B, T, …] and not [T, B, …]. any_mask: whether masks may begin with 0; without it
    a mask has to begin with 1, as in pytorch-crf. Positions that a mask leaves out, also in the middle, do not exist.

    Parameters: start_transitions [Y], end_transitions [Y], transitions [Y, Y] from row to column.
    """

    def __init__(self, num_tags, batch_first=False, any_mask=False):
        if num_tags <= 0:
            raise ValueError(f"invalid number of tags: {num_tags}")
        super().__init__()
        self.num_tags, self.batch_first, self.any_mask = num_tags, batch_first, any_mask
        self.start_transitions = torch.nn.Parameter(torch.empty(num_tags))
        self.end_transitions = torch.nn.Parameter(torch.empty(num_tags))
        self.transitions = torch.nn.Parameter(torch.empty(num_tags, num_tags))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws all transitions uniformly between −0.1 and 0.1."""
        for p in (self.start_transitions, self.end_transitions, self.transitions):
            torch.nn.init.uniform_(p, -0.1, 0.1)

    def __repr__(self):
        return f"{self.__class__.__name__}(num_tags={self.num_tags})"

    def distribution(self, emissions, mask=None):
        """The LinearChain of emissions [T, B, Y] ([B, T, Y] with batch_first) and a mask [T, B]: marginals, entropy, topk and the like. Its labels are
        [B, T]."""
        mask = self._checked(emissions, None, mask)
        if not self.batch_first:
            emissions, mask = emissions.transpose(0, 1), None if mask is None else mask.T
        return self._chain(emissions, mask)

    def forward(self, emissions, tags, mask=None, reduction="sum"):
        """The log-likelihood of tags [T, B] ([B, T] with batch_first): [B], or its "sum", "mean", or mean per token, "token_mean"."""
        if reduction not in ("none", "sum", "mean", "token_mean"):
            raise ValueError(f"invalid reduction: {reduction}")
        mask = self._checked(emissions, tags, mask, reduction == "token_mean")
        if not self.batch_first:
            emissions, tags, mask = emissions.transpose(0, 1), tags.transpose(0, 1), None if mask is None else mask.T
        likelihood = self._chain(emissions, mask).log_prob(tags)
        if reduction == "none":
            return likelihood
        if reduction == "sum":
            return likelihood.sum()
        if reduction == "mean":
            return likelihood.mean()
        if torch.compiler.is_compiling():
            return likelihood.sum() / (tags.numel() if mask is None else mask.sum())
        return likelihood.sum() / (tags.numel() if mask is None else float(mask.sum()))

    def decode(self, emissions, mask=None):
        """The best tags of every sequence, a list of lists: in graphs of torch.compile take distribution(…).argmax."""
        if torch.compiler.is_compiling():
            return _decode(self, emissions, mask)
        chain = self.distribution(emissions, mask)
        y, o = chain._best[0].tolist(), chain._layout.batch.outputs.tolist()
        return [y[lo:hi] for lo, hi in zip(o, o[1:])]

    def marginals(self, emissions, mask=None):
        """The probability of every tag at every position, in the shape of emissions."""
        u = self.distribution(emissions, mask).marginals[0]
        return u if self.batch_first else u.transpose(0, 1)

    def _chain(self, emissions, mask):
        return LinearChain(emissions, self.transitions, None, mask, self.start_transitions, self.end_transitions)

    def _checked(self, emissions, tags, mask, some=False):
        """The mask, on the host, after its and all shapes have been checked. some: whether it must have a true position."""
        if not torch.is_tensor(emissions):
            raise ValueError(f"emissions are a {type(emissions).__name__}, expected a tensor; of a PackedSequence take pad_packed_sequence, and a mask")
        shape = emissions.shape
        if len(shape) != 3:
            raise ValueError(f"emissions must have dimension of 3, got {len(shape)}")
        if shape[2] != self.num_tags:
            raise ValueError(f"expected last dimension of emissions is {self.num_tags}, got {shape[2]}")
        if tags is not None and shape[:2] != tags.shape:
            raise ValueError(f"the first two dimensions of emissions and tags must match, got {tuple(shape[:2])} and {tuple(tags.shape)}")
        if mask is None:
            return None
        compiling = torch.compiler.is_compiling()
        if not compiling:
            mask = layouts.host(mask)
        if shape[:2] != mask.shape:
            raise ValueError(f"the first two dimensions of emissions and mask must match, got {tuple(shape[:2])} and {tuple(mask.shape)}")
        if compiling:
            return torch.ops.dsp.checked_mask(mask, self.batch_first, self.any_mask, some)
        _check_mask(mask, self.batch_first, self.any_mask, some)
        return mask


def _check_mask(mask, batch_first, any_mask, some):
    if not any_mask and mask.size:
        first = mask[:, 0] if batch_first else mask[0]
        if not first.all():
            raise ValueError("mask of the first timestep must all be on")
    if some and not mask.any():
        raise ValueError("token_mean of no tokens: the mask is false everywhere")


@torch.compiler.disable
def _decode(crf, emissions, mask):
    return crf.decode(emissions, mask)


class _Batched(torch.nn.Module):
    """A network whose potentials have batches first."""

    def __init__(self, network, batch_first):
        super().__init__()
        self.network, self.batch_first = network, batch_first

    def forward(self, *inputs):
        x = self.network(*inputs)
        return x if self.batch_first else x.transpose(0, 1)


def to_onnx(network, structure, args, path=None, *, mask="mask", marginals=False, **options):
    """Exports a network and the decoding of its chains as one ONNX graph (opset 18), and returns it; path: a file to write it to, too.

    structure: a CRF, of whose emissions network(*args) gives [B, T, Y] ([T, B, Y] without batch_first); or the class LinearChain, whose node [B, T, Y]
    and edge, [Y, Y] or [B, T, Y, Y], it gives. Other structures have no graph, which is an error. args: a tuple of example tensors.

    The graph reads the inputs of the network and a mask, bool, [B, T] or [T, B] as the emissions, which may have holes; if an input of the network has the
    name given by mask, it is that one. The outputs are labels [B, T], int64, −1 where the mask is false; score [B]; and, on request, marginals [B, T, Y]:
    batches come first. Ties go as in decode.

    In inputs that begin with the sizes of the example's batch, [B, T, …] or [T, B, …], both are free, named batch and time; in others that begin with B,
    such as lengths, B is; all other sizes stay those of the example. B and T of the example are at least 2, and differ. options are those of
    torch.onnx.export: input_names in place of those of network.forward, dynamic_shapes in place of these rules, or dynamo=False for the older
    exporter with its dynamic_axes.

    The network is exported as in eval mode. It needs torch 2.5 or later, and the packages onnx and onnxscript.
    """
    crf = structure if isinstance(structure, CRF) else None
    if crf is None and structure is not LinearChain:
        name = structure.__name__ if isinstance(structure, type) else type(structure).__name__
        raise Error(f"{name} has no decoding graph in ONNX, only CRF and LinearChain have: export the network alone, and decode its potentials with dsp")
    try:
        import onnx
        import onnxscript  # noqa: F401, what torch.onnx.export needs
    except ImportError as e:
        raise ImportError(f"dsp.torch.to_onnx needs {e.name}: pip install onnx onnxscript") from None
    args = args if isinstance(args, tuple) else (args,)
    batched = _Batched(network, crf is None or crf.batch_first)
    with _evaluating(batched), torch.no_grad():
        potentials = batched(*args)
    potentials = (potentials,) if crf else potentials
    if len(potentials) != (1 if crf else 2):
        raise Error(f"the network gives {len(potentials)} tensors, expected node and edge")
    B, T, Y = potentials[0].shape
    if crf and Y != crf.num_tags:
        raise Error(f"the network gives emissions of {Y} tags, and the CRF has {crf.num_tags}")
    per_position = crf is None and potentials[1].dim() == 4
    names = ["dsp/node", "dsp/edge"][:len(potentials)]
    options = {"opset_version": 18, "dynamo": True, "verbose": False, "input_names": _parameters(network, len(args)), **options, "output_names": names}
    if options["dynamo"] and "dynamic_shapes" not in options:
        options["dynamic_shapes"] = (_free_sizes(args, B, T, batched.batch_first),)
    with _evaluating(batched):
        network = _exported(batched, args, options)
    version = max(x.version for x in network.opset_import if not x.domain)
    if version < 18:
        raise Error(f"opset {version}, expected 18 or later")

    # The decoder's inputs have the names of what the network puts out, so the joined graph is the nodes of both.
    graph, decoder = network.graph, onnx.load_from_string(model.decoder(Y, per_position, marginals)).graph
    constants = {"start": torch.zeros(Y), "end": torch.zeros(Y)}
    if crf:
        constants = {"start": crf.start_transitions, "end": crf.end_transitions, "edge": crf.transitions}
    graph.initializer.extend(onnx.numpy_helper.from_array(_numbers(x), "dsp/" + name) for name, x in constants.items())
    if mask not in [x.name for x in graph.input]:
        sizes = ["batch", "time"] if batched.batch_first else ["time", "batch"]
        graph.input.append(onnx.helper.make_tensor_value_info(mask, onnx.TensorProto.BOOL, sizes))
    kept = "dsp/mask" if batched.batch_first else "dsp/mask_of_times"
    graph.node.append(onnx.helper.make_node("Cast", [mask], [kept], to=onnx.TensorProto.BOOL))
    if not batched.batch_first:
        graph.node.append(onnx.helper.make_node("Transpose", [kept], ["dsp/mask"], perm=[1, 0]))
    graph.node.extend(decoder.node)
    graph.initializer.extend(decoder.initializer)
    del graph.output[:]
    graph.output.extend(decoder.output)
    onnx.checker.check_model(network)
    if path is not None:
        onnx.save(network, path)
    return network


def _parameters(network, n):
    """The names of the network's first n parameters; none if they have no names of their own."""
    parameters = list(inspect.signature(network.forward).parameters.values())[:n]
    named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return named if len(named) == n else None


@contextlib.contextmanager
def _evaluating(network):
    """A network in eval mode, and afterwards in the mode that each of its modules had."""
    modes = [(m, m.training) for m in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for m, mode in modes:
            m.training = mode


def _free_sizes(args, B, T, batch_first):
    """The free sizes of each input for torch.export: see to_onnx."""
    if min(B, T) < 2 or B == T:
        raise Error(f"an example of {B} sequences of {T} positions, expected two numbers that differ, and at least 2")
    batch, time = torch.export.Dim("batch"), torch.export.Dim("time")
    first, free = ((B, T), (batch, time)) if batch_first else ((T, B), (time, batch))
    return tuple(dict(enumerate(free)) if tuple(x.shape[:2]) == first else {0: batch} if x.dim() and x.shape[0] == B else {} for x in args)


def _exported(network, args, options):
    """The ONNX model of torch.onnx.export."""
    import onnx
    if options["dynamo"]:
        return torch.onnx.export(network, args, **options).model_proto
    file = io.BytesIO()
    torch.onnx.export(network, args, file, **options)
    return onnx.load_from_string(file.getvalue())

"""Questions to distributions as operators of PyTorch, dsp::ask and dsp::pull: torch.compile and torch.export keep them in
their graphs, since they cannot follow Python into the library.

While a program is traced shapes may be symbols, and contents are not known. So a distribution then has no layout, but a
Traced: which function of layouts makes it, of what. Operators get this as text, with p for a potential, c for a tensor of
other contents, and settings as they are: "linear_chain p p c - - -". When the graph runs, the layout is made as always.

Outside of traced programs nothing of this is used: calling an operator takes longer than calling Python.
"""

import functools
import inspect

import torch

from . import layouts
from . import torch as layers
from .batch import Error

if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"dsp.torch needs torch 2.5 or later, found {torch.__version__}")

_CONTENTS = {"lengths", "mask", "target_lengths", "targets", "ends"}
_SETTINGS = {"projective", "multiroot", "blank", "inference"}
_AXES = {"edge": 4, "start": 2, "end": 2, "triple": 4, "transition": 4, "length": 3, "rule": 4, "root": 2}  # unless examples share them


class Traced:
    """What a function of layouts is called with in a traced program."""

    def __init__(self, of, potentials, contents):
        self.of, self.potentials, self.contents = of, potentials, contents

    @property
    def examples(self):
        return self.potentials[0].shape[0]


def _traceable(make):
    function, names = make.__name__, list(inspect.signature(make).parameters)

    def layout(*arguments):
        if not torch.compiler.is_compiling():
            return make(*arguments)
        words, potentials, contents = [function], [], []
        for name, x in zip(names, arguments):
            if x is None:
                words.append("-")
            elif name in _SETTINGS:
                words.append(str(x))
            elif name in _CONTENTS:
                words.append("c")
                contents.append(torch.as_tensor(x))
            else:
                if not torch.is_tensor(x):
                    raise Error(f"{name} is a {type(x).__name__}, expected a tensor")
                words.append("p")
                potentials.append(x)
        return Traced(" ".join(words), potentials, contents)

    return staticmethod(layout)


class Layouts:
    """The functions of layouts, which give a Traced in traced programs."""

    linear_chain, second_order_chain, semi_markov = map(_traceable, (layouts.linear_chain, layouts.second_order_chain, layouts.semi_markov))
    dependency_tree, constituents, pcfg = map(_traceable, (layouts.dependency_tree, layouts.constituents, layouts.pcfg))
    monotone, matching, graph, frames = map(_traceable, (layouts.monotone, layouts.matching, layouts.graph, layouts.frames))


def ask(question, layout, y=(), numbers=(), gradients=None, other=None):
    """The answers of dsp::ask about a Traced. y: outputs, or a direction; gradients: whether they are wanted, if not where
    autograd needs them; other: the Traced of kl's q."""
    of, potentials, contents = layout.of, layout.potentials, layout.contents
    if other is not None:
        of, potentials, contents = of + " | " + other.of, potentials + other.potentials, contents + other.contents
    if gradients is None:
        slices = torch._C._are_functorch_transforms_active()  # of vmap, which do not say whether the whole has a gradient
        gradients = torch.is_grad_enabled() and (slices or any([x.requires_grad for x in potentials]))
    if not gradients:
        potentials = [x.detach() for x in potentials]
    y = [torch.as_tensor(x) for x in (y if isinstance(y, tuple) else (y,))]
    return torch.ops.dsp.ask(of, question, potentials, contents, y, list(numbers), gradients)


def outputs(answers, layout):
    """The outputs among answers of the questions max, topk and sample, the last of them: labelled trees have two."""
    n = _written(layout.of)
    return answers[-1] if n == 1 else tuple(answers[-n:])


def _written(of):
    return 2 if of.startswith("dependency_tree p p") else 1


@functools.lru_cache(None)
def _parsed(of):
    """(function of layouts, its arguments' names, their words), of one or two distributions."""
    every = []
    for text in of.split(" | "):
        name, *words = text.split(" ")
        make = getattr(layouts, name)
        every.append((make, list(inspect.signature(make).parameters), words))
    return every


def outside(distribution):
    """A distribution with a layout, of one that was made in a traced program that has been left."""
    layout = distribution._layout
    if type(layout) is not Traced:
        return distribution
    known = _distributions(layout.of, layout.potentials, layout.contents)[0]._layout
    return layers._Tensors(known, tuple(layout.potentials))


def _setting(word):
    return int(word) if word.lstrip("-").isdecimal() else {"True": True, "False": False}.get(word, word)


def _distributions(of, potentials, contents):
    """The distributions of an operator's arguments, now that these are known."""
    potentials, contents, every = iter(potentials), iter(contents), []
    for make, _, words in _parsed(of):
        arguments = [next(potentials).detach() if w == "p" else next(contents) if w == "c" else None if w == "-" else _setting(w)
                     for w in words]
        layout = make(*arguments)
        every.append(layers._Tensors(layout, tuple(x for x, w in zip(arguments, words) if w == "p")))
    return every


_SUMS, _GRADED = ("log_partition", "nll"), ("log_partition", "nll", "score", "max", "topk")

_LIBRARY = torch.library.Library("dsp", "DEF")
_LIBRARY.define("ask(str of, str question, Tensor[] potentials, Tensor[] contents, Tensor[] y, SymInt[] numbers, bool gradients) -> Tensor[]",
                tags=torch.Tag.pt2_compliant_tag)
_LIBRARY.define("pull(str of, str question, Tensor[] potentials, Tensor[] contents, Tensor[] directions) -> Tensor[]",
                tags=torch.Tag.pt2_compliant_tag)
_LIBRARY.define("checked_mask(Tensor mask, bool batch_first, bool any_mask, bool some) -> Tensor", tags=torch.Tag.pt2_compliant_tag)


def _ask(of, question, potentials, contents, y, numbers, gradients):
    """What the question's method of a distribution answers; where gradients are wanted the derivative by each of the
    potentials follows, for each example also where these share it; and after max and topk outputs.

    Questions are log_partition, nll, max, score, topk, sample, entropy, kl and hessian_product."""
    with torch.no_grad():
        p, *others = _distributions(of, potentials, contents)
        layout, tensors = p._layout, p._arrays
        kinds = layers._kinds([x for q in (p, *others) for x in q._arrays])
        y = tuple(y) if len(y) > 1 else y[0] if y else None
        if question in _SUMS:
            value, u = layers._answer(layout, kinds, None if y is None else layout.encode(y), gradients, tensors)
            return _fresh(p, kinds, [value, *(_spread(layout, u) if gradients else ())])
        if question == "hessian_product":
            return _fresh(p, kinds, p.hessian_product(*(y if isinstance(y, tuple) else (y,))))
        if question in ("entropy", "kl"):
            return _fresh(p, kinds, [p.kl(*others) if others else p.entropy])
        if question == "sample":
            drawn = p.sample(*numbers)
            return _fresh(p, kinds, drawn if isinstance(drawn, tuple) else (drawn,))
        return _scores(p, kinds, question, y, numbers, gradients)


def _scores(p, kinds, question, y, numbers, gradients):
    """_ask of score, max and topk: gradients are what the outputs use."""
    layout, written = p._layout, ()
    if question == "score":
        value, every = p.score(y), [(layout.encode(y), None)]
    elif question == "max":
        if gradients:
            layers._exact(layout)
        value, written, every = p.max, p.argmax, [p._best]
    else:
        written, value = p.topk(*numbers)
        every = layers._ranked(layout, written, value)
    used = ()
    if gradients:
        used = [_spread(layout, layout.batch.indicator(y, best)) for y, best in every]
        used = [torch.stack(x) for x in zip(*used)] if question == "topk" else used[0]
    return _fresh(p, kinds, [value, *used, *(written if isinstance(written, tuple) else (written,) * (question != "score"))])


def _spread(layout, u):
    """Marginals as tensors in the shapes of potentials, those of shared ones for each example."""
    if torch.is_tensor(u[0]):  # on a GPU
        return [x.reshape((-1, *shape)[part.tied ^ 1:]) for x, part, shape in zip(u, layout.parts, layout.shapes)]
    return [torch.from_numpy(x) for x in layout.spread(u)]


def _fresh(p, kinds, answers):
    """Answers that share no memory, with the types and on the device that fake ones have."""
    out = []
    for x in map(layers._tensor, answers):
        x = x.to(p._arrays[0].device, layers._precision(kinds) if x.is_floating_point() else x.dtype, copy=True)
        out.append(x.contiguous())
    return out


def _fake_ask(of, question, potentials, contents, y, numbers, gradients):
    """Tensors like the answers of _ask."""
    _, names, words = _parsed(of)[0]
    names = [name for name, w in zip(names, words) if w == "p"]
    first = potentials[0]
    B, n, *_ = (*first.shape, 0, 0)  # of too few axes _ask says what it expects
    precision = torch.float64 if any(x.dtype is torch.float64 for x in potentials) else torch.float32

    def new(*shape, dtype=precision):
        return first.new_empty(shape, dtype=dtype)

    each = [tuple(x.shape) if x.dim() >= _AXES.get(name, 0) else (B, *x.shape) for name, x in zip(names, potentials)]
    several = tuple(numbers[:1]) if question in ("topk", "sample") else ()
    answers = [] if question in ("sample", "hessian_product") else [new(*several, B)]
    if question == "hessian_product" or gradients and question in _GRADED:
        answers += [new(*several, *shape) for shape in each]
    if question in ("max", "topk", "sample"):
        charts = of.startswith(("constituents", "pcfg", "monotone"))
        shape = first.shape if of.startswith("monotone") else (B, n, n) if charts else (B, n)
        answers += [new(*several, *shape, dtype=torch.bool if of.startswith("monotone") else torch.int64) for _ in range(_written(of))]
    return answers


def _pull(of, question, potentials, contents, directions):
    """The derivatives by potentials, for derivatives by answers of ask: by the one value of entropy and kl, by the
    marginals that stand behind sums."""
    with torch.no_grad():
        p, *others = _distributions(of, potentials, contents)
        layout, tensors = p._layout, (*p._arrays, *(x for q in others for x in q._arrays))
        if not any(d.count_nonzero() for d in directions):  # answers that a graph gives, but nobody differentiates
            pulled = [torch.zeros_like(x) for x in tensors]
        elif question == "hessian_product":
            raise Error("dsp has no gradient of hessian_product")
        elif question in _SUMS:
            layers._has_hessian(layout, "marginals")
            pulled = layers._MarginalsGradient.forward(layout, *directions, *tensors)
        else:
            layers._has_hessian(layout, "entropy and kl")
            pulled = layers._DivergenceGradient.forward(layout, *directions, *tensors)
        return [x.to(like.device, like.dtype, copy=True).contiguous() for x, like in zip(pulled, tensors)]


def _fake_pull(of, question, potentials, contents, directions):
    return [x.new_empty(x.shape) for x in potentials]


def _keep(ctx, inputs, output):
    ctx.of, ctx.question, potentials, contents, y, numbers, gradients = inputs
    ctx.set_materialize_grads(False)
    ctx.sizes, ctx.by_numbers = (len(potentials), len(contents), len(y)), None if numbers else []  # as PyTorch counts lists
    u = output[1:1 + len(potentials)] if gradients and ctx.question in _GRADED else []
    ctx.save_for_backward(*potentials, *contents, *u)


def _backward(ctx, g):
    n, m, k = ctx.sizes
    saved = ctx.saved_tensors
    potentials, contents, u = list(saved[:n]), list(saved[n:n + m]), saved[n + m:]
    by_potentials = [None] * n
    if ctx.question not in _GRADED:
        by_potentials = torch.ops.dsp.pull(ctx.of, ctx.question, potentials, contents, [x for x in g if x is not None])
    elif g[0] is not None:
        by_potentials = [_scaled(g[0], x, like) for x, like in zip(u, potentials)]
    directions = g[1:1 + n] if ctx.question in _SUMS else []
    if any(d is not None for d in directions):
        directions = [torch.zeros_like(x) if d is None else d for x, d in zip(u, directions)]
        pulled = torch.ops.dsp.pull(ctx.of, ctx.question, potentials, contents, directions)
        by_potentials = [x if b is None else b + x for b, x in zip(by_potentials, pulled)]
    return None, None, list(by_potentials), [None] * m, [None] * k, ctx.by_numbers, None


def _scaled(g, u, like):
    """g [B] times u [B, …], or of topk [k, B] times [k, B, …]: summed over the best outputs, and over examples if these share the potentials."""
    axes = u.dim() - like.dim()
    shared = axes == g.dim()
    x = torch.tensordot(g, u, axes) if shared else u * g.reshape(g.shape + (1,) * (u.dim() - g.dim()))
    return (x if shared or not axes else x.sum(0)).to(like.device, like.dtype)


def _no_further(ctx, g):
    raise Error(f"dsp has no second derivatives of {'marginals' if ctx.question in _SUMS else 'entropy and kl'}")


def _keep_question(ctx, inputs, output):
    ctx.question = inputs[1]


def _checked_mask(mask, batch_first, any_mask, some):
    layers._check_mask(layouts.host(mask), batch_first, any_mask, some)
    return mask.clone()


def _by_slices(operator):
    """How torch.vmap asks: about one slice after the other."""
    def rule(info, in_dims, *arguments):
        def slices(x, dim, i):
            if isinstance(x, (list, tuple)):
                return [slices(y, d, i) for y, d in zip(x, dim)] if dim is not None else x
            return x.select(dim, i) if torch.is_tensor(x) and dim is not None else x

        every = [operator(*[slices(x, dim, i) for x, dim in zip(arguments, in_dims)]) for i in range(info.batch_size)]
        if torch.is_tensor(every[0]):
            return torch.stack(every), 0
        return [torch.stack(x) for x in zip(*every)], [0] * len(every[0])

    return rule


for _name, _real, _fake in ("ask", _ask, _fake_ask), ("pull", _pull, _fake_pull), ("checked_mask", _checked_mask, lambda mask, *_: torch.empty_like(mask)):
    _LIBRARY.impl(_name, _real, "CompositeExplicitAutograd")
    torch.library.register_fake("dsp::" + _name, _fake, lib=_LIBRARY)
    torch.library.register_vmap("dsp::" + _name, _by_slices(getattr(torch.ops.dsp, _name)), lib=_LIBRARY)
torch.library.register_autograd("dsp::ask", _backward, setup_context=_keep, lib=_LIBRARY)
torch.library.register_autograd("dsp::pull", _no_further, setup_context=_keep_question, lib=_LIBRARY)

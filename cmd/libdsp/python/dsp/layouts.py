"""How padded arrays become batches: which rows of a user's array are the rows of a part, and how outputs are written.

A layout depends on shapes, lengths and masks alone, so it is made once and kept. NumPy, PyTorch and JAX share layouts.
"""

import functools
import inspect

import numpy as np

from .batch import Batch, Error, Fitting, Form, Marginals, offsets, once


_FLOAT = np.dtype(np.float32)


class Part:
    """Where the rows of a part lie in a user's array.

    source: the number of the user's array, or None for a part whose potentials are constant zeros. index: int64 rows of that array, reshaped to
    [rows, width]; None: all of them in order. columns: the columns of the part in a row; None: all in order. tied: one row that all examples share.
    words: of trees of as many words each, whose root is column 0 in the user's array, and on the diagonal in the part; None: not.
    """

    def __init__(self, source, width, index=None, tied=False, zeros=None, columns=None, words=None):
        self.source, self.width, self.index, self.tied, self.columns, self.words = source, width, index, tied, columns, words
        self.zeros = None if zeros is None else np.zeros((zeros, width), np.float32)


class Layout:
    """A batch whose potentials come from a user's arrays of the given shapes."""

    def __init__(self, batch, parts, shapes, encode, decode):
        self.batch, self.parts, self.shapes = batch, parts, shapes
        self.encode, self.decode = encode, decode  # a user's outputs to int32 [numbers], and back from outputs of one or of several examples

    @once
    def counts(self):
        """Rows per example of each part, or an int where all have as many."""
        every = []
        for o in self.batch.rows:
            n = None if o is None else np.diff(o)
            every.append(int(n[0]) if n is not None and len(n) and (n == n[0]).all() else n)
        return every

    @once
    def direct(self):
        """Whether the values of the parts are the user's arrays as they are, one after the other."""
        def whole(k, p):
            return p.source == k and p.index is None and p.columns is None and not p.words

        return all(whole(k, p) for k, p in enumerate(self.parts))

    @once
    def alone(self):
        """Whether there is one example, whose marginals are the values' rows."""
        return self.direct and self.batch.examples == 1

    def rows(self, arrays):
        """The values of the parts, float32, of a user's arrays."""
        if self.direct:
            return Fitting(self.batch.asked, [np.ascontiguousarray(x if x.dtype is _FLOAT else _real(x), _FLOAT) for x in arrays])
        values = []
        for part in self.parts:
            if part.source is None:
                values.append(part.zeros)
                continue
            x = arrays[part.source]
            if x.dtype is not _FLOAT:
                x = _real(x).astype(_FLOAT)
            if part.words:
                values.append(_with_diagonal(x, part.words, part.width))
                continue
            x = x.reshape(-1, part.width)
            if part.index is not None:
                x = x.take(part.index, 0)
            if part.columns is not None:
                x = x[:, part.columns]
            values.append(np.ascontiguousarray(x))
        return Fitting(self.batch.asked, values)

    def own_rows(self, arrays):
        """The rows of a direction of each example's own, of arrays in the shapes that spread gives marginals."""
        rows = list(self.rows(arrays))
        for k, part in enumerate(self.parts):
            if part.tied and part.source is None:
                rows[k] = np.zeros((self.batch.examples, part.width), np.float32)
        return rows

    def dot(self, u, values):
        """⟨u, values⟩ of each example, float64 [B], for marginals u and values of the parts."""
        B = self.batch.examples
        out = np.zeros(B)
        for x, v, o in zip(u, values, self.batch.rows):
            if o is None:
                out += x.astype(np.float64) @ v.reshape(-1)
            else:
                each = np.einsum("ij,ij->i", x.astype(np.float64), v.reshape(x.shape))
                out += np.bincount(np.repeat(np.arange(B), np.diff(o)), each, B)
        return out

    def divergence_gradients(self, p, q=None):
        """The derivatives of the entropy of values p by p, or of KL(p‖q) by p and by q, in the form of marginals."""
        with np.errstate(invalid="ignore"):  # −∞ less −∞, of what neither allows
            direction = [np.where(np.isneginf(x), np.float32(0), -x if q is None else x - y) for x, y in zip(p, q or p)]
        by_p = self.batch.hessian(p, direction)
        if q is None:
            return (by_p,)
        return by_p, [y - x for x, y in zip(self.batch.exp(p)[1], self.batch.exp(q)[1])]

    def spread(self, u, scale=None):
        """Marginals, times a number per example, in the shapes of a user's arrays. Those of a tied part are summed over examples if there is a scale,
        and else have a first axis of examples."""
        if scale is not None and scale.dtype != _FLOAT:
            scale = scale.astype(_FLOAT)
        if self.alone and scale is not None and type(u) is Marginals:
            return u.scaled(scale, self.shapes)
        out = [None] * len(self.shapes)
        for x, part, count in zip(u, self.parts, self.counts):
            if part.source is None:
                continue
            shape = self.shapes[part.source]
            if part.tied:
                if scale is not None:
                    out[part.source] = (x * scale if len(scale) == 1 else scale @ x).reshape(shape)
                else:
                    out[part.source] = x.reshape((-1,) + shape)
                continue
            if part.words:
                out[part.source] = _without_diagonal(x, part.words, part.width, scale).reshape(shape)
                continue
            if scale is not None:
                if len(scale) == 1:  # numbers are quicker than rows of one
                    x = x * scale
                elif isinstance(count, int):
                    x = x.reshape(len(scale), count * part.width) * scale[:, None]
                    if part.columns is not None or part.index is not None:
                        x = x.reshape(-1, part.width)
                else:
                    x = x * np.repeat(scale, count)[:, None]
            if part.columns is not None:
                x = x[:, np.argsort(part.columns)]
            if part.index is not None:
                all_rows = np.zeros((int(np.prod(shape)) // part.width, part.width), np.float32)
                if part.width == 1:
                    all_rows[:, 0][part.index] = x[:, 0]
                else:
                    all_rows[part.index] = x
                x = all_rows
            out[part.source] = x.reshape(shape)
        return out


def _real(x):
    if x.dtype.kind == "c":
        raise Error(f"potentials of the shape {x.shape} are complex, expected real numbers")
    return x


def _with_diagonal(x, n, width):
    """The rows of trees of n words, with the root on the diagonal, of an array with the root in column 0."""
    x = x.reshape(-1, n, n + 1, width)
    rows = np.empty((len(x), n, n, width), np.float32)
    rows[:] = x[:, :, 1:]
    rows.reshape(-1, n * n, width)[:, ::n + 1] = x[:, :, 0]
    return rows.reshape(-1, width)


def _without_diagonal(rows, n, width, scale):
    """What _with_diagonal takes, of its rows times a number per example: zero where it takes nothing."""
    rows = rows.reshape(-1, n, n, width)
    x = np.empty((len(rows), n, n + 1, width), np.float32)
    np.multiply(rows, 1 if scale is None else scale[:, None, None, None], out=x[:, :, 1:])
    flat = x.reshape(len(x), -1, width)
    x[:, :, 0] = flat[:, 1::n + 2]
    flat[:, 1::n + 2] = 0
    return x


def host(x):
    """An array that may be a tensor of another library, on any device."""
    if type(x) is np.ndarray:
        return x
    if hasattr(x, "detach"):
        if x.requires_grad:
            x = x.detach()
        return x.numpy() if x.is_cpu else x.cpu().numpy()
    try:
        return np.asarray(x)
    except TypeError as e:
        if type(e).__name__ == "TracerArrayConversionError":  # of JAX
            raise Error("lengths, masks, edges and targets must be known when a function is traced: give arrays of NumPy, not arguments of "
                        "the function") from None
        raise


def _whole(x, what):
    """An array that may be a tensor, of whole numbers of any type."""
    x = host(x)
    if x.dtype.kind not in "iub" and (x != np.trunc(x)).any():
        raise Error(f"{what} are not whole numbers: {x[x != np.trunc(x)][0]}")
    return x


def _lengths(lengths, B, T, what="lengths"):
    if lengths is None:
        return np.full(B, T, np.int64)
    n = _whole(lengths, what).astype(np.int64)
    if n.shape != (B,):
        raise Error(f"{what} of the shape {n.shape}, expected {(B,)}, one for each example")
    if n.size and (n.min() < 0 or n.max() > T):
        raise Error(f"{what} from {n.min()} to {n.max()}, expected 0 to {T}")
    return n


class Positions:
    """The positions of a padded batch [B, T] that count: the first lengths, or where a mask is true, which may have holes."""

    def __init__(self, B, T, lengths=None, mask=None):
        if lengths is not None and mask is not None:
            raise Error("lengths and a mask, expected one of them")
        if mask is not None:
            mask = host(mask).astype(bool)
            if mask.shape != (B, T):
                raise Error(f"a mask of the shape {mask.shape}, expected {(B, T)}")
            if mask.all():
                mask = None
        elif lengths is not None:
            n = _lengths(lengths, B, T)
            mask = None if (n == T).all() else np.arange(T) < n[:, None]
        self.B, self.T, self.mask = B, T, mask
        self.key = (B, T, None if mask is None else mask.tobytes())

    @once
    def lengths(self):
        return np.full(self.B, self.T, np.int64) if self.mask is None else self.mask.sum(1)

    @once
    def index(self):
        return None if self.mask is None else np.flatnonzero(self.mask.reshape(-1))

    def take(self, y, what="labels"):
        y = _whole(y, what)
        if y.shape != (self.B, self.T):
            raise Error(f"{what} of the shape {y.shape}, expected {(self.B, self.T)}")
        return np.ascontiguousarray(y.reshape(-1) if self.mask is None else y[self.mask], np.int32)

    def pad(self, y):
        """Labels in the shape [B, T], with −1 where nothing counts."""
        if self.mask is None:
            return y.astype(np.int64).reshape(self.B, self.T)
        out = np.full((self.B, self.T), -1, np.int64)
        out[self.mask] = y
        return out


_KEPT = 256
_layouts = {}


def _kept(key, make):
    """The layout of a key, made by make the first time. The oldest of many are forgotten."""
    layout = _layouts.get(key)
    if layout is None:
        layout = make()
        if len(_layouts) >= _KEPT:
            _layouts.pop(next(iter(_layouts)), None)
        _layouts[key] = layout
    return layout


def _known(x):
    """What a layout depends on of an argument: the shape of an array, or a setting, which may be a number of NumPy."""
    shape = getattr(x, "shape", None)
    return x if shape is None else shape or x.item()


def _by_shapes(*contents):
    """Of a function that makes layouts: a layout depends on the shapes of arrays and on settings, and on the content of
    the named arguments. Where these are missing it is looked up by shapes and settings, before anything is checked."""

    def keeping(make):
        names = list(inspect.signature(make).parameters)
        places = [names.index(name) for name in contents]

        @functools.wraps(make)
        def layout(*arguments):
            try:
                for k in places:
                    if k < len(arguments) and arguments[k] is not None:
                        return make(*arguments)
                key = (make, *[x if x is None or x is True or x is False else _known(x) for x in arguments])
                known = _layouts.get(key)
                return _kept(key, lambda: make(*arguments)) if known is None else known
            except (TypeError, AttributeError):
                _no_lists({name: x for name, x in zip(names, arguments) if name not in contents})
                raise

        return layout

    return keeping


def _no_lists(arrays):
    for name, x in arrays.items():
        if isinstance(x, (list, tuple)):
            raise Error(f"{name} is a {type(x).__name__}, expected an array or a tensor") from None


def _shape(x, what, *expected):
    """Checks the shape of an array; a name allows any size."""
    if len(x.shape) != len(expected) or any(type(e) is not str and n != e for n, e in zip(x.shape, expected)):
        batch = f"; add the batch: {what}[None]" if expected[0] == "B" and len(x.shape) == len(expected) - 1 else ""
        raise Error(f"{what} has the shape {tuple(x.shape)}, expected [{', '.join(map(str, expected))}]{batch}")


@_by_shapes("lengths", "mask")
def linear_chain(node, edge, lengths=None, mask=None, start=None, end=None):
    """node [B, T, Y]; edge [Y, Y] from row to column, or [B, T, Y, Y], of which row t scores the step into position t;
    start [Y] and end [Y] of the first and the last label, both optional."""
    _shape(node, "node", "B", "T", "Y")
    B, T, Y = node.shape
    steps = len(edge.shape) == 4
    _shape(edge, "edge", *((B, T, Y, Y) if steps else (Y, Y)))
    for x, what in (start, "start"), (end, "end"):
        if x is not None:
            _shape(x, what, Y)
    at, ends = Positions(B, T, lengths, mask), start is not None or end is not None

    def make():
        o = offsets(at.lengths)
        settings = {name: True for name, is_so in (("per_position", steps), ("ends", ends)) if is_so}
        rows = [o, o if steps else None] + [None, None] * ends
        parts = [Part(0, Y, at.index), Part(1, Y * Y, at.index if steps else None, not steps)]
        shapes = [(B, T, Y), (B, T, Y, Y) if steps else (Y, Y)]
        for x in (start, end) if ends else ():
            if x is None:
                parts.append(Part(None, Y, tied=True, zeros=1))
            else:
                parts.append(Part(len(shapes), Y, tied=True))
                shapes.append((Y,))
        return Layout(Batch(Form("chain", labels=Y, **settings), o, rows), parts, shapes, at.take, at.pad)

    return _kept(("chain", steps, Y, start is not None, end is not None, at.key), make)


@_by_shapes("lengths", "mask")
def second_order_chain(node, edge, triple, lengths=None, mask=None):
    """node [B, T, Y]; edge [Y, Y]; triple [Y, Y, Y], of three labels in a row."""
    _shape(node, "node", "B", "T", "Y")
    B, T, Y = node.shape
    _shape(edge, "edge", Y, Y)
    _shape(triple, "triple", Y, Y, Y)
    at = Positions(B, T, lengths, mask)

    def make():
        o = offsets(at.lengths)
        parts = [Part(0, Y, at.index), Part(1, Y * Y, tied=True), Part(2, Y ** 3, tied=True)]
        return Layout(Batch(Form("second-order chain", labels=Y), o, [o, None, None]), parts, [(B, T, Y), (Y, Y), (Y, Y, Y)], at.take, at.pad)

    return _kept(("second", Y, at.key), make)


@_by_shapes("lengths")
def semi_markov(segment, transition, node=None, length=None, lengths=None):
    """segment [B, T, L, Y] of those that end at t and have 1 + l positions; transition [Y, Y], or [B, T, Y, Y], of which row t scores
    the step to a segment that begins at t; node [B, T, 2·Y] and length [L, Y], both optional."""
    _shape(segment, "segment", "B", "T", "L", "Y")
    B, T, L, Y = segment.shape
    steps = len(transition.shape) == 4
    _shape(transition, "transition", *((B, T, Y, Y) if steps else (Y, Y)))
    if node is not None:
        _shape(node, "node", B, T, 2 * Y)
    if length is not None:
        _shape(length, "length", L, Y)
    at = Positions(B, T, lengths)

    def make():
        n = at.lengths
        o = offsets(n)
        inside = (np.arange(T)[None, :, None] < n[:, None, None]) & (np.arange(L)[None, None] <= np.arange(T)[None, :, None])
        index = np.flatnonzero(inside.reshape(-1))
        rows = offsets(inside.sum((1, 2)))
        shapes = [(B, T, L, Y), (B, T, Y, Y) if steps else (Y, Y)]
        for x, shape in (node, (B, T, 2 * Y)), (length, (L, Y)):
            if x is not None:
                shapes.append(shape)
        place = 2
        parts = []
        if node is not None:
            parts.append(Part(place, 2 * Y, at.index))
            place += 1
        else:
            parts.append(Part(None, 2 * Y, zeros=int(o[-1])))
        parts.append(Part(place, L * Y, tied=True) if length is not None else Part(None, L * Y, tied=True, zeros=1))
        parts += [Part(1, Y * Y, at.index if steps else None, not steps), Part(0, Y, index)]
        form = Form("segmentation", tags=2 * Y, longest=L, whole=True, **({"per_position": True} if steps else {}))
        return Layout(Batch(form, o, [o, None, o if steps else None, rows]), parts, shapes, lambda y: at.take(y, "tags"), at.pad)

    return _kept(("segments", L, Y, steps, node is not None, length is not None, at.key), make)


@_by_shapes("lengths")
def dependency_tree(arc, label=None, lengths=None, projective=True, multiroot=False):
    """arc [B, n, n] from dependent (row) to head (column), the root on the diagonal; or [B, n, n+1] with the root in column 0, so that columns are
    heads as outputs number them. label [B, n, n, R] or [B, n, n+1, R], in the form of arc."""
    _shape(arc, "arc", "B", "n", "n or n+1")
    B, n, columns = arc.shape
    if columns not in (n, n + 1):
        raise Error(f"arc has the shape {tuple(arc.shape)}, expected [B, {n}, {n}] or [B, {n}, {n + 1}]")
    R = 1 if label is None else label.shape[-1]
    if label is not None:
        _shape(label, "label", B, n, columns, "R")
    words = Positions(B, n, lengths)

    def make():
        k = words.lengths
        o = offsets(k * k)
        index = every = None
        if columns == n:
            inside = np.arange(n) < k[:, None]
            both = inside[:, :, None] & inside[:, None, :]
            if not both.all():
                index = np.flatnonzero(both.reshape(-1))
        elif (k == n).all() and n:
            every = n
        else:
            d = np.arange(n)
            head = np.broadcast_to(d[None, :] + 1, (n, n)).copy()
            head[d, d] = 0
            row = d[:, None] * (n + 1) + head  # of a sentence of n words
            index = np.concatenate([b * n * (n + 1) + row[:m, :m].reshape(-1) for b, m in enumerate(k.tolist())] or [np.zeros(0, np.int64)])
        name = "projective tree" if projective else "non-projective tree"
        form = Form(name, labels=R, roots=True) if multiroot else Form(name, labels=R)
        parts = [Part(0, 1, index, words=every), Part(1, R, index, words=every) if label is not None else Part(None, 1, zeros=int(o[-1]))]
        shapes = [(B, n, columns)] + ([(B, n, columns, R)] if label is not None else [])
        where = offsets(2 * k)
        positions = np.arange(int(k.sum())) + np.repeat(offsets(k)[:-1], k)  # of the heads; relations follow those of a sentence

        def encode(y):
            heads, relations = y if isinstance(y, tuple) else (y, None)
            out = np.zeros(int(where[-1]), np.int32)
            out[positions] = words.take(heads, "heads")
            if relations is not None:
                out[positions + np.repeat(k, k)] = words.take(relations, "relations")
            elif label is not None:
                raise Error("heads without relations, expected (heads, relations)")
            return out

        def decode(y):
            heads = words.pad(y[positions])
            return heads if label is None else (heads, words.pad(y[positions + np.repeat(k, k)]))

        return Layout(Batch(form, where, [o, o]), parts, shapes, encode, decode)

    return _kept(("tree", projective, multiroot, columns - n, R, label is not None, words.key), make)


@_by_shapes("lengths")
def constituents(label, span=None, lengths=None):
    """label [B, n, n, 1+R] of the span from word i (row) to word j (column), of which number 0 is for spans without a label; span [B, n, n]."""
    _shape(label, "label", "B", "n", "n", "1+R")
    B, n, _, width = label.shape
    _shape(label, "label", "B", n, n, "1+R")
    if span is not None:
        _shape(span, "span", B, n, n)
    words = Positions(B, n, lengths)

    def make():
        k = words.lengths
        o = offsets(k * k)
        inside = np.arange(n) < k[:, None]
        both = inside[:, :, None] & inside[:, None, :]
        index = None if both.all() else np.flatnonzero(both.reshape(-1))
        parts = [Part(1, 1, index) if span is not None else Part(None, 1, zeros=int(o[-1])), Part(0, width, index)]

        def encode(y):
            y = _whole(y, "labels of charts")
            if y.shape != (B, n, n):
                raise Error(f"charts of the shape {y.shape}, expected {(B, n, n)}")
            return np.ascontiguousarray(y[both], np.int32)

        def decode(y):
            out = np.zeros((B, n, n), np.int64)
            out[both] = y
            return out

        shapes = [(B, n, n, width)] + ([(B, n, n)] if span is not None else [])
        return Layout(Batch(Form("constituent tree", labels=width - 1), o, [o, o]), parts, shapes, encode, decode)

    return _kept(("constituents", width, span is not None, words.key), make)


@_by_shapes("lengths")
def pcfg(terminal, rule, root, span=None, lengths=None):
    """terminal [B, n, M] of preterminals; rule [N, S, S] and root [N] of nonterminals, with S = N + M symbols, or [B, N, S, S] and [B, N];
    span [B, n, n, N] of nonterminals over words i (row) to j (column)."""
    _shape(terminal, "terminal", "B", "n", "M")
    B, n, M = terminal.shape
    own = len(root.shape) == 2
    _shape(root, "root", *((B, "N") if own else ("N",)))
    N = root.shape[-1]
    S = N + M
    _shape(rule, "rule", *((B,) if own else ()), N, S, S)
    if span is not None:
        _shape(span, "span", B, n, n, N)
    words = Positions(B, n, lengths)

    def make():
        k = words.lengths
        o = offsets(k * k)
        inside = np.arange(n) < k[:, None]
        both = inside[:, :, None] & inside[:, None, :]
        index = None if both.all() else np.flatnonzero(both.reshape(-1))
        spans = Part(3, N, index) if span is not None else Part(None, N, zeros=int(o[-1]))
        parts = [spans, Part(0, M, words.index), Part(1, N * S * S, tied=not own), Part(2, N, tied=not own)]

        def encode(y):
            y = _whole(y, "labels of charts")
            if y.shape != (B, n, n):
                raise Error(f"charts of the shape {y.shape}, expected {(B, n, n)}")
            return np.ascontiguousarray(y[both], np.int32)

        def decode(y):
            out = np.zeros((B, n, n), np.int64)
            out[both] = y
            return out

        shapes = [(B, n, M), (B, N, S, S), (B, N)] if own else [(B, n, M), (N, S, S), (N,)]
        rules = np.arange(B + 1) if own else None
        form = Form("PCFG", nonterminals=N, preterminals=M, **({"per_example": True} if own else {}))
        return Layout(Batch(form, o, [o, offsets(k), rules, rules]), parts, shapes + ([(B, n, n, N)] if span is not None else []), encode, decode)

    return _kept(("pcfg", N, M, own, span is not None, words.key), make)


@_by_shapes("lengths", "target_lengths")
def monotone(pair, step=None, lengths=None, target_lengths=None):
    """pair [B, n, m] of source and target items; step [B, n, 2]: ↓ and ↘ to each source item, or [B, n, m, 3]: ↓, ↘ and → to each pair."""
    _shape(pair, "pair", "B", "n", "m")
    B, n, m = pair.shape
    moves = step is not None and len(step.shape) == 4
    if step is not None:
        _shape(step, "step", *((B, n, m, 3) if moves else (B, n, 2)))
    source, target = Positions(B, n, lengths), Positions(B, m, target_lengths)

    def make():
        s, t = source.lengths, target.lengths
        both = (np.arange(n) < s[:, None])[:, :, None] & (np.arange(m) < t[:, None])[:, None, :]
        index = None if both.all() else np.flatnonzero(both.reshape(-1))
        s = np.where(t > 0, s, 0)
        numbers = np.where(s > 0, s + t - 1, 0)
        where, o = offsets(numbers), offsets(s * t)
        in_step = None if (s == n).all() else np.flatnonzero((np.arange(n) < s[:, None]).reshape(-1))
        parts = [Part(0, 1, index), Part(None, 2, zeros=int(s.sum())) if moves or step is None else Part(1, 2, in_step)]
        rows = [o, offsets(s)]
        if moves:
            parts.append(Part(1, 3, index))
            rows.append(o)

        def encode(y):
            y = host(y).astype(bool)
            if y.shape != (B, n, m):
                raise Error(f"paths of the shape {y.shape}, expected {(B, n, m)}")
            out = np.zeros(int(where[-1]), np.int32)
            b, i, j = np.nonzero(y & both)
            out[where[b] + i + j] = i + 1
            return out

        def decode(y):
            out = np.zeros((B, n, m), bool)
            b = np.repeat(np.arange(B), numbers)
            d = np.arange(len(y)) - where[b]
            on = y > 0
            out[b[on], y[on] - 1, d[on] - (y[on] - 1)] = True
            return out

        shapes = [(B, n, m)] + ([(B, n, m, 3) if moves else (B, n, 2)] if step is not None else [])
        form = Form("monotone alignment", **({"moves": True} if moves else {}))
        return Layout(Batch(form, where, rows), parts, shapes, encode, decode)

    return _kept(("monotone", step is not None, moves, source.key, target.key), make)


@_by_shapes("lengths", "target_lengths")
def matching(pair, unmatched=None, lengths=None, target_lengths=None):
    """pair [B, n, m] of sources and targets; unmatched [B, n], the score of a source without a target. Without it every source has one."""
    _shape(pair, "pair", "B", "n", "m")
    B, n, m = pair.shape
    if unmatched is not None:
        _shape(unmatched, "unmatched", B, n)
    source, target = Positions(B, n, lengths), Positions(B, m, target_lengths)

    def make():
        s, t = source.lengths, target.lengths
        both = (np.arange(n) < s[:, None])[:, :, None] & (np.arange(m) < t[:, None])[:, None, :]
        where, o = offsets(s), offsets(s * t)
        parts, rows = [Part(0, 1, None if both.all() else np.flatnonzero(both.reshape(-1)))], [o]
        if unmatched is not None:
            parts.append(Part(1, 1, source.index))
            rows.append(where)
        form = Form("matching" if unmatched is not None else "complete matching")
        shapes = [(B, n, m)] + ([(B, n)] if unmatched is not None else [])

        def encode(y):
            return source.take(y, "targets") + 1

        def decode(y):
            return source.pad(y - 1)

        return Layout(Batch(form, where, rows), parts, shapes, encode, decode)

    return _kept(("matching", unmatched is not None, source.key, target.key), make)


def graph(node, edge, ends, inference="exact"):
    """node [B, V, Y]; edge [B, E, Y, Y], or [E, Y, Y] that all examples share, of the labels of an edge's ends in their order; ends [E, 2], the two
    variables of each edge, counted from 0. All examples have the same graph."""
    _no_lists({"node": node, "edge": edge})
    _shape(node, "node", "B", "V", "Y")
    B, V, Y = node.shape
    ends = np.ascontiguousarray(host(ends), np.int32).reshape(-1, 2)
    E = len(ends)
    shared = len(edge.shape) == 3
    _shape(edge, "edge", *((E, Y, Y) if shared else (B, E, Y, Y)))

    def make():
        # Edges of a graph that share their potentials over examples are types of their own.
        settings = {"edges": "typed", "types": max(1, E)} if shared else {"edges": "own"}
        form = Form("graph", labels=Y, inference=inference, **settings)
        o = offsets([V] * B)
        eo = offsets([E] * B)
        types = np.tile(np.arange(E, dtype=np.int32), B) if shared else None
        batch = Batch(form, o, [o, None if shared else eo], ends=np.tile(ends, (B, 1)), types=types, edge_offsets=eo)
        parts = [Part(0, Y), Part(1, max(1, E) * Y * Y, tied=True) if shared else Part(1, Y * Y)]
        at = Positions(B, V)
        return Layout(batch, parts, [(B, V, Y), (E, Y, Y) if shared else (B, E, Y, Y)], at.take, at.pad)

    if shared and E == 0:
        raise Error("edges that examples share, but no edges: give edge the shape [B, 0, Y, Y]")
    return _kept(("graph", B, V, Y, inference, shared, ends.tobytes()), make)


class Unread:
    """Of the labelings of lines, and those of them that read something: −log of their share of the sum, and its gradient, as exp of a batch."""

    def __init__(self, every, read):
        self._every, self._read = self.asked = every, read
        self.form, self.rows, self.examples = every.form, every.rows, every.examples

    def exp(self, values, marginals=True):
        value, u = self._every.exp(values, marginals=marginals)
        read, v = self._read.exp(values, marginals=marginals)
        if marginals:
            np.subtract(u[0], v[0], out=u[0])
        return np.maximum(0, value - read), u


def frames(frame, lengths=None, blank=0, targets=None, target_lengths=None):
    """frame [B, T, C], of which number blank is the blank. targets [B, S] of other numbers, or all in a row, with target_lengths [B]: of Unread
    labelings that read so."""
    _shape(frame, "frame", "B", "T", "C")
    B, T, C = frame.shape
    if not 0 <= blank < C:
        raise Error(f"blank {blank}, expected 0 to {C - 1}")
    at = Positions(B, T, lengths)
    columns = np.r_[blank, 0:blank, blank + 1:C]  # the library has the blank first
    number = np.argsort(columns)

    def make():
        o = offsets(at.lengths)
        gold = gold_offsets = None
        if targets is not None:
            y = _whole(targets, "targets")
            if y.ndim == 1:
                n = _whole(target_lengths, "target_lengths").astype(np.int64)
                if n.shape != (B,) or n.size and n.min() < 0 or n.sum() != len(y):
                    raise Error(f"{len(y)} targets in a row, expected as many as target_lengths, {n.sum()}")
                gold = y
            else:
                _shape(y, "targets", B, "S")
                n = _lengths(target_lengths, B, y.shape[1], "target_lengths")
                gold = y[np.arange(y.shape[1]) < n[:, None]]
            wrong = (gold < 0) | (gold >= C) | (gold == blank)
            if wrong.any():
                raise Error(f"target {gold[wrong][0]}, expected 0 to {C - 1} without the blank, {blank}")
            gold, gold_offsets = number[gold] - 1, offsets(n)
            if not len(gold):
                gold = np.zeros(1, np.int32)
        batch = Batch(Form("transcript", labels=C), o, [o], gold, gold_offsets)
        if gold is not None:
            batch = Unread(frames(frame, lengths, blank).batch, batch)

        def encode(y):
            y = at.take(y)
            if len(y) and (y.min() < 0 or y.max() >= C):
                raise Error(f"labels from {y.min()} to {y.max()}, expected 0 to {C - 1}")
            return number[y]

        return Layout(batch, [Part(0, C, at.index, columns=columns if blank else None)], [(B, T, C)], encode, lambda y: at.pad(columns[y]))

    return make() if targets is not None else _kept(("frames", C, blank, at.key), make)

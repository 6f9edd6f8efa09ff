"""Questions about batches of potentials as plain arrays, for every structure that dsp knows. Distributions are the comfortable way to ask them."""

import collections.abc
import ctypes
import functools
import json
import os
import weakref

import numpy as np

from . import _library
from ._library import CLayout, Error, Run

__all__ = ["Form", "Batch", "offsets", "set_threads", "get_threads", "Error"]

_FLOAT = np.dtype(np.float32)
_BUDGET = 50_000  # microseconds: a question returns to Python that often, whose main thread then looks at signals


def set_threads(n):
    """Sets how many threads answer a question. The default is DSP_THREADS, or 1. Answers do not depend on it."""
    global _threads
    if not hasattr(n, "__index__"):
        raise Error(f"{n!r} threads, expected a whole number")
    if n < 1:
        raise Error(f"{n} threads, expected at least 1")
    _threads = int(n)


def _of_environment():
    given = os.environ.get("DSP_THREADS") or "1"
    if not given.strip().isdecimal() or int(given) < 1:
        raise Error(f"DSP_THREADS is {given!r}, expected a whole number from 1")
    return int(given)


_threads = _of_environment()


def get_threads():
    """How many threads answer a question."""
    return _threads


def offsets(lengths):
    """Where ragged examples begin: [0, lengths[0], lengths[0] + lengths[1], …], int64 [n + 1]."""
    o = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=o[1:])
    return o


class once:
    """A property that is computed once. functools.cached_property does the same, and up to Python 3.11 waits for a lock."""

    def __init__(self, f):
        self._f, self.__doc__ = f, f.__doc__

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, x, owner=None):
        if x is None:
            return self
        value = x.__dict__[self._name] = self._f(x)
        return value


_addressof, _buffer = ctypes.addressof, ctypes.c_char.from_buffer


def _address(x):
    if x is None:
        return None
    try:
        return _addressof(_buffer(x))
    except (TypeError, ValueError):  # an array that is empty or cannot be written, which takes longer
        return x.__array_interface__["data"][0]


_addresses = [ctypes.c_void_p * n for n in range(8)]  # types are slow to make


def _pointers(arrays):
    """An array of the addresses of arrays, for the library."""
    try:
        return _addresses[len(arrays)](*[_addressof(_buffer(x)) for x in arrays])
    except (TypeError, ValueError):
        return _addresses[len(arrays)](*[_address(x) for x in arrays])


class _Handle:
    """A handle of the library, made again in a process that was forked."""

    def _made(self):
        if self._generation != _library.oracles.generation or self._number is None:
            self._number, self._generation = self._make(), _library.generation()
            weakref.finalize(self, _release, self._number, self._generation).atexit = False
        return self._number

    _number, _generation = None, 0


def _release(number, generation):
    if generation == _library.generation():
        _library.library().dsp_release(number)


class Form(_Handle):
    """A structure with its sizes, such as Form("chain", labels=5).

    Attributes: structure; parts, a list of (name, width, tied), where a tied part has one row that all examples share; sums, ranks, draws:
    whether exp and loss, top, and sample answer; hessian: whether hessian answers; exact: whether answers are exact and not bounds.

    Structures and settings: "chain" (labels, per_position, ends), "second-order chain" (labels), "segmentation" and
    "counted segmentation" (tags, longest, ends, whole, per_position), "transcript" (labels, of which the first is the blank),
    "projective tree", "non-projective tree" and "projective tree with siblings" (labels, roots), "constituent tree"
    (labels), "PCFG" (nonterminals, preterminals, per_example), "matching", "complete matching", "monotone alignment" (moves),
    "choice", "graph" (labels, edges, types, inference), "window" (height, width, limit).
    """

    def __new__(cls, structure, **settings):
        return _form(json.dumps({"structure": structure, **settings}, sort_keys=True))

    def _make(self):
        return self._ask()[0]

    def _ask(self):
        number, text = ctypes.c_int64(), ctypes.c_void_p()
        _library.check(_library.library().dsp_form(self.settings.encode(), ctypes.addressof(number), ctypes.addressof(text)))
        description = json.loads(ctypes.string_at(text.value))
        _library.library().dsp_free(text)
        return number.value, description

    def __reduce__(self):
        return _form, (self.settings,)

    def __repr__(self):
        return f"Form({self.settings})"


@functools.lru_cache(None)
def _form(settings):
    form = object.__new__(Form)
    form.settings, form.structure = settings, json.loads(settings)["structure"]
    form._number, description = form._ask()
    form._generation = _library.generation()
    form.parts = [(p["name"], p["width"], p["tied"]) for p in description["parts"]]
    form.sums, form.exact, form.ranks, form.draws = (description[k] for k in ("sums", "exact", "ranks", "draws"))
    form.hessian = description["hessian"]
    return form


class Fitting(list):
    """Values that were made for some batches, which then need not look at each of them in every call."""

    __slots__ = ("batches", "_known")

    def __init__(self, batches, arrays):
        list.__init__(self, arrays)
        self.batches, self._known = batches, None

    def __reduce__(self):
        return Fitting, (self.batches, list(self))  # addresses are of this process

    def addresses(self):
        """Where the values are; they stay there."""
        if self._known is None:
            self._known = _pointers(self)
        return self._known


class Marginals(collections.abc.Sequence):
    """Float32 arrays [rows, width], one for each part of a batch; of a tied part it has one row for each example. They
    lie in one piece of memory, numbers, and are made when they are looked at."""

    __slots__ = ("numbers", "_shapes", "_places")

    def __init__(self, shapes, places):
        self.numbers, self._shapes, self._places = np.empty(places[-1], _FLOAT), shapes, places

    def __len__(self):
        return len(self._shapes)

    def __getitem__(self, k):
        shape = self._shapes[k]
        at = self._places[k % len(self._shapes)]
        return self.numbers[at:at + shape[0] * shape[1]].reshape(shape)

    def __reduce__(self):
        return list, (list(self),)

    def scaled(self, by, shapes):
        """The arrays times a number, in other shapes."""
        x = self.numbers * by
        return [x[lo:hi].reshape(shape) for lo, hi, shape in zip(self._places, self._places[1:], shapes)]

    def addresses(self):
        """Where the arrays are, for the library."""
        at = _address(self.numbers)
        return _addresses[len(self._shapes)](*[at + 4 * place for place in self._places[:-1]])


class Batch(_Handle):
    """The layout of a batch of B examples, about which any number of questions can be asked.

    outputs: int64 [B+1], where each example's output begins; see offsets. rows: for each part of the form int64 [B+1], where each example's rows
    begin, or None for a tied part. gold and gold_offsets: what transcripts must read, or gold outputs. ends [E, 2], types [E] and edge_offsets
    [B+1]: the edges of graphs, between variables counted from 0 in each example.

    Values are a list of float32 arrays, one for each part, [rows, width] in C order (a tied part has one row). Potentials may be −∞. Those that are
    NaN, +∞ or beyond ±1e30 give NaN as an answer, and count as 0 in the best output.
    """

    def __init__(self, form, outputs, rows, gold=None, gold_offsets=None, ends=None, types=None, edge_offsets=None):
        def array(x, dtype):
            return None if x is None else np.ascontiguousarray(x, dtype)

        self.form, self.outputs = form, array(outputs, np.int64)
        self.rows = [array(o, np.int64) for o in rows]
        self._gold, self._gold_offsets = array(gold, np.int32), array(gold_offsets, np.int64)
        self._ends, self._types, self._edge_offsets = array(ends, np.int32), array(types, np.int32), array(edge_offsets, np.int64)
        if self.outputs.ndim != 1 or len(self.outputs) == 0:
            raise Error(f"offsets of outputs have the shape {self.outputs.shape}, expected one more than there are examples")
        self.examples = len(self.outputs) - 1
        if len(self.rows) != len(form.parts):
            raise Error(f"{len(self.rows)} parts, expected {len(form.parts)}: {[name for name, _, _ in form.parts]}")
        for o in self.rows + [self._gold_offsets, self._edge_offsets]:
            if o is not None and o.shape != self.outputs.shape:
                raise Error(f"offsets of the shape {o.shape}, expected {self.outputs.shape}")
        for of, values, each in (self._gold_offsets, self._gold, 1), (self._edge_offsets, self._ends, 2), (self._edge_offsets, self._types, 1):
            if of is not None and values is not None and of[-1] * each > values.size:
                raise Error(f"offsets end at {of[-1]}, but there are {values.size // each}")
            if of is not None and of[-1] > 0 and values is None and values is not self._types:
                raise Error("offsets without numbers")
        self._number, self._generation = self._make(), _library.generation()
        weakref.finalize(self, _release, self._number, self._generation).atexit = False
        self.asked = (self,)  # the batches that answer
        self.numbers = int(self.outputs[-1])
        self._sizes = [(w if o is None else int(o[-1]) * w) for o, (_, w, _) in zip(self.rows, form.parts)]
        rows = [self.examples if o is None else int(o[-1]) for o in self.rows]
        self._shapes = [(n, w) for n, (_, w, _) in zip(rows, form.parts)]  # of marginals
        self._places = offsets([n * w for n, w in self._shapes]).tolist()

    def _make(self):
        each = _pointers(self.rows)
        c = CLayout(self.examples, _address(self.outputs), ctypes.addressof(each), _address(self._gold), _address(self._gold_offsets),
                    _address(self._ends), _address(self._types), _address(self._edge_offsets))
        number = ctypes.c_int64()
        _library.check(_library.library().dsp_batch(self.form._made(), ctypes.addressof(c), ctypes.addressof(number)))
        return number.value

    def __reduce__(self):
        return Batch, (self.form, self.outputs, self.rows, self._gold, self._gold_offsets, self._ends, self._types, self._edge_offsets)

    def _values(self, values):
        if type(values) is Fitting and self in values.batches:
            return values.addresses()
        if isinstance(values, ctypes.Array):  # addresses: who asks has looked at the arrays, and keeps them alive
            return values
        if len(values) != len(self._sizes):
            raise Error(f"{len(values)} parts, expected {len(self._sizes)}: {[name for name, _, _ in self.form.parts]}")
        for x, size, (name, width, _) in zip(values, self._sizes, self.form.parts):
            if not isinstance(x, np.ndarray) or x.dtype != _FLOAT or not x.flags.c_contiguous:
                raise Error(f"part {name!r}: expected a contiguous float32 array, found {getattr(x, 'dtype', type(x))}")
            if x.size != size:
                raise Error(f"part {name!r} has {x.size} numbers, expected {size}: {size // width} rows of {width}")
        return _pointers(values)

    def _ask(self, question, values, *arguments):
        arrays = self._values(values)
        number, f = self._made(), getattr(_library.library(), question)
        run = Run(_threads, 0, _BUDGET, 0)
        at, there = _addressof(run), _addressof(arrays)
        while True:
            message = f(number, there, at, *arguments)
            if message:
                _library.check(message)
            if run.next >= self.examples:
                return
            run.first = run.next  # signals have been looked at: Ctrl-C ends a long question

    def _outputs(self, y):
        y = np.ascontiguousarray(y, np.int32)
        if y.size != self.numbers:
            raise Error(f"outputs of {y.size} numbers, expected {self.numbers}")
        return y

    def _marginals(self):
        return Marginals(self._shapes, self._places)

    def max(self, values):
        """The best outputs, int32 [numbers], and their scores, float64 [B]: −∞ where there is no output, and an upper bound of the best score if
        the form is not exact."""
        y, value = np.empty(self.numbers, np.int32), np.empty(self.examples)
        self._ask("dsp_max", values, _address(y), _address(value))
        return y, value

    def exp(self, values, mu=1.0, marginals=True):
        """μ·log Σ exp(score/μ) over all outputs, float64 [B], and the marginals: see Marginals."""
        value, u = np.empty(self.examples), self._marginals() if marginals else None
        to = u.addresses() if marginals else None
        self._ask("dsp_exp", values, mu, _address(value), ctypes.addressof(to) if marginals else None)
        return value, u

    def loss(self, values, y):
        """−log p(y), float64 [B], never below 0, and its gradient, in the form of marginals."""
        y, value, u = self._outputs(y), np.empty(self.examples), self._marginals()
        to = u.addresses()
        self._ask("dsp_loss", values, _address(y), _address(value), ctypes.addressof(to))
        return value, u

    def top(self, values, k):
        """The k best outputs: for each example an int32 array [count, length], count at most k, and float64 scores [count]."""
        y, score = np.empty(max(0, k) * self.numbers, np.int32), np.empty((self.examples, max(0, k)))
        count = np.empty(self.examples, np.int64)
        self._ask("dsp_top", values, k, _address(y), _address(score), _address(count))
        return self._lists(y, k, count), [s[:c] for s, c in zip(score, count)]

    def sample(self, values, n, seeds, mu=1.0):
        """n outputs of each example drawn at temperature μ, by a seed per example: int32 arrays [n, length], or [0, length]
        where there is no output or potentials are not valid."""
        seeds = np.ascontiguousarray(seeds, np.uint64)
        if seeds.shape != (self.examples,):
            raise Error(f"seeds of the shape {seeds.shape}, expected {(self.examples,)}")
        y, count = np.empty(max(0, n) * self.numbers, np.int32), np.empty(self.examples, np.int64)
        self._ask("dsp_sample", values, mu, n, _address(seeds), _address(y), _address(count))
        return self._lists(y, n, count)

    def _lists(self, y, k, count):
        return [y[k * lo:k * hi].reshape(k, hi - lo)[:c] for lo, hi, c in zip(self.outputs.tolist(), self.outputs[1:].tolist(), count.tolist())]

    def score(self, values, y):
        """The scores of outputs, float64 [B]."""
        y, value = self._outputs(y), np.empty(self.examples)
        self._ask("dsp_score", values, _address(y), _address(value))
        return value

    def hessian(self, values, direction, mu=1.0, own=False):
        """The product of the Hessian of μ·log Σ exp(score/μ) with a direction in the form of values, in the form of marginals: their derivative along
        it. It is computed in float64, without vector kernels, for forms whose hessian is true: slower than exp, and exact but for rounding.
        With own, each example has a direction of its own, in the form of marginals."""
        product, d = self._marginals(), self._own(direction) if own else self._values(direction)
        to = product.addresses()
        self._ask("dsp_hessian", values, mu, ctypes.addressof(d), own, ctypes.addressof(to))
        return product

    def entropy(self, values, mu=1.0):
        """The entropy of the outputs in nats, float64 [B]."""
        value = np.empty(self.examples)
        self._ask("dsp_divergence", values, None, mu, _address(value))
        return value

    def kl(self, values, other, mu=1.0):
        """KL(p‖q) in nats, float64 [B], of the distributions p of values and q of other."""
        value, q = np.empty(self.examples), self._values(other)
        self._ask("dsp_divergence", values, ctypes.addressof(q), mu, _address(value))
        return value

    def indicator(self, y, value=None):
        """How often outputs use each potential, in the form of marginals: the gradient of their scores. With the value that
        max gave beside y it is a subgradient of it: zeros of an example without an output, and NaN of one of NaN."""
        y, u = self._outputs(y), self._marginals()
        value, to = None if value is None else np.ascontiguousarray(value, np.float64), u.addresses()
        if value is not None and value.shape != (self.examples,):
            raise Error(f"values of the shape {value.shape}, expected {(self.examples,)}")
        _library.check(_library.library().dsp_indicator(self._made(), _address(y), _address(value), ctypes.addressof(to)))
        return u

    def _own(self, direction):
        for x, shape, (name, _, _) in zip(direction, self._shapes, self.form.parts):
            if not isinstance(x, np.ndarray) or x.dtype != _FLOAT or not x.flags.c_contiguous or x.size != shape[0] * shape[1]:
                raise Error(f"direction of part {name!r}: expected a contiguous float32 array of the shape {shape}, found "
                            f"{getattr(x, 'dtype', type(x))} of the shape {getattr(x, 'shape', ())}")
        return _pointers(direction)

"""Distributions over structures, for NumPy arrays: p(y) is proportional to exp of the score of y.

Each takes its potentials as padded arrays, of float32 inside; numbers of higher precision are rounded. −∞ forbids. A distribution answers for a
batch of B examples:

    log_partition    log Σ exp(score), float64 [B]
    marginals        its gradient: a tuple of arrays in the shapes of the potentials; of potentials that examples share, one for each example
    score(y), log_prob(y), nll(y)
                     of outputs y, float64 [B]; nll is −log_prob, never below 0, and +∞ where potentials forbid y
    argmax, max      the best outputs, and their scores [B]
    topk(k)          the k best outputs [k, B, …], and their scores [k, B]: −∞ where there are fewer
    sample(n, seed)  n outputs [n, B, …]
    entropy, kl(q)   in nats [B]
    hessian_product(*direction)
                     the derivative of the marginals along a direction, arrays in the shapes of the potentials: the covariance of outputs times it, in
                     the shapes of marginals. Chains, segments, projective trees, constituents, monotone alignments and grammars answer: exactly, in
                     float64, which takes longer than marginals

Where potentials of an example are NaN, +∞ or beyond ±1e30, all its answers are NaN: sums and their derivatives, max,
and the score of the one output that topk has. That output, and argmax, is the best one if these potentials were 0, and
of a chain's ends those that they are added to.
score(y) is the plain sum. sample, whose answers have no scores, refuses such an example, and one whose outputs are all
forbidden.

How an output is written, each class says. What no position of an example owns, padding, is −1 in labels, heads, relations and targets, and 0 in
charts and paths. Errors are dsp.Error, a ValueError.
"""

import operator

import numpy as np

from . import layouts
from .batch import Error, once

__all__ = ["Distribution", "LinearChain", "SecondOrderChain", "SemiMarkov", "DependencyTree", "Constituents", "PCFG", "Monotone", "Matching",
           "Graph", "CTC", "segments", "tags"]


class Distribution:
    """What all structures have in common. arrays are the potentials that were given, in the order of the class's arguments."""

    _layouts = layouts

    def __init__(self, layout, arrays):
        self._layout, self._arrays = layout, arrays

    def __repr__(self):
        return f"{type(self).__name__} of {self.batch_size} examples, potentials {', '.join(str(list(x.shape)) for x in self._arrays)}"

    @once
    def _values(self):
        return self._layout.rows([layouts.host(x) for x in self._arrays])

    def _give(self, x):
        """An answer in the arrays of the distribution's library."""
        return x

    @property
    def batch_size(self):
        """B"""
        return self._layout.batch.examples

    @once
    def _sums(self):
        return self._layout.batch.exp(self._values)

    @once
    def log_partition(self):
        return self._layout.batch.exp(self._values, marginals=False)[0]

    @property
    def marginals(self):
        return tuple(self._give(x) for x in self._layout.spread(self._sums[1]))

    @once
    def _best(self):
        return self._layout.batch.max(self._values)

    @property
    def argmax(self):
        return self._given(self._layout.decode(self._best[0]))

    @property
    def max(self):
        return self._give(self._best[1])

    def score(self, y):
        return self._give(self._layout.batch.score(self._values, self._layout.encode(y)))

    def nll(self, y):
        return self._layout.batch.loss(self._values, self._layout.encode(y))[0]

    def log_prob(self, y):
        return -self.nll(y)

    def topk(self, k):
        if not hasattr(k, "__index__"):
            raise Error(f"{k!r} best outputs, expected a whole number")
        k = operator.index(k)
        every, scores = self._layout.batch.top(self._values, k)
        out = np.full((k, self.batch_size), -np.inf)
        for b, s in enumerate(scores):
            out[:len(s), b] = s
        return self._several(every, k), self._give(out)

    def sample(self, n=1, seed=0):
        for x, what in (n, "samples"), (0 if seed is None else seed, "as a seed"):
            if not hasattr(x, "__index__"):
                raise Error(f"{x!r} {what}, expected a whole number")
        n, seed = operator.index(n), None if seed is None else operator.index(seed)
        seeds = np.random.default_rng(seed).integers(0, 2**63, self.batch_size, dtype=np.uint64)
        every = self._layout.batch.sample(self._values, n, seeds)
        for b, drawn in enumerate(every):
            if len(drawn) == 0 and drawn.shape[1]:
                forbidden = np.isneginf(self._layout.batch.exp(self._values, marginals=False)[0][b])
                why = "forbid all of its outputs" if forbidden else "are not all numbers within ±1e30 or −∞"
                raise Error(f"no output can be drawn of example {b}: its potentials {why}")
        return self._several(every, n)

    def _several(self, every, k):
        """Outputs number 0 to k−1 of all examples. Where an example has fewer, its last one, or zeros, stand in."""
        decoded = []
        for j in range(k):
            rows = [ys[min(j, len(ys) - 1)] if len(ys) else np.zeros(ys.shape[1], np.int32) for ys in every]
            decoded.append(self._layout.decode(np.concatenate(rows) if rows else np.zeros(0, np.int32)))
        if decoded and isinstance(decoded[0], tuple):
            return tuple(self._give(np.stack(x)) for x in zip(*decoded))
        return self._give(np.stack(decoded))

    def _given(self, y):
        return tuple(self._give(x) for x in y) if isinstance(y, tuple) else self._give(y)

    def _fits(self, direction):
        if [tuple(x.shape) for x in direction] != [tuple(x.shape) for x in self._arrays]:
            raise Error(f"a direction of the shapes {[tuple(x.shape) for x in direction]}, expected {[tuple(x.shape) for x in self._arrays]}")

    def hessian_product(self, *direction):
        self._fits(direction)
        d = self._layout.rows([layouts.host(x) for x in direction])
        return tuple(self._give(x) for x in self._layout.spread(self._layout.batch.hessian(self._values, d)))

    @property
    def entropy(self):
        return self._give(self._layout.batch.entropy(self._values))

    def _same_outputs(self, q):
        if q._layout.batch is not self._layout.batch:
            raise Error("KL of distributions over different outputs: expected the same structure, shapes and lengths")

    def kl(self, q):
        self._same_outputs(q)
        return self._give(self._layout.batch.kl(self._values, q._values))


class LinearChain(Distribution):
    """Labels of sequences. node [B, T, Y] scores the labels; edge [Y, Y] scores a label (row) followed by another (column), or [B, T, Y, Y] with a
    table for the step into each position (row 0 has no effect). start [Y] and end [Y] score the first and the last label; both may be missing.
    lengths [B] or a mask [B, T], which may have holes: positions that it leaves out do not exist. Outputs: labels [B, T]."""

    def __init__(self, node, edge, lengths=None, mask=None, start=None, end=None):
        arrays = (node, edge)
        if start is not None or end is not None:
            arrays = tuple([x for x in (node, edge, start, end) if x is not None])
        super().__init__(self._layouts.linear_chain(node, edge, lengths, mask, start, end), arrays)


class SecondOrderChain(Distribution):
    """As LinearChain, with triple [Y, Y, Y], the score of three labels in a row."""

    def __init__(self, node, edge, triple, lengths=None, mask=None):
        super().__init__(self._layouts.second_order_chain(node, edge, triple, lengths, mask), (node, edge, triple))


class SemiMarkov(Distribution):
    """Sequences divided into labelled segments of at most L positions. segment [B, T, L, Y] scores the segment that ends at position t and has 1 + l
    positions; transition [Y, Y] two segments in a row, or [B, T, Y, Y] with a table for each position where the second one begins (row 0 has no
    effect). node [B, T, 2·Y] scores tags, and length [L, Y] lengths; both may be missing.
    Outputs: tags [B, T]; tag 2y begins a segment with label y, and 2y+1 continues it (see segments and tags)."""

    def __init__(self, segment, transition, node=None, length=None, lengths=None):
        arrays = tuple(x for x in (segment, transition, node, length) if x is not None)
        super().__init__(self._layouts.semi_markov(segment, transition, node, length, lengths), arrays)


def segments(tags):
    """The segments (first, last, label) of tags [T]."""
    out = []
    for t, tag in enumerate(int(x) for x in tags):
        if tag < 0:
            break
        if tag % 2 and out and out[-1][2] == tag // 2 and out[-1][1] == t - 1:
            out[-1] = (out[-1][0], t, tag // 2)
        else:
            out.append((t, t, tag // 2))
    return out


def tags(segments, length):
    """The tags [length] of segments (first, last, label)."""
    y = np.full(length, -1, np.int64)
    for first, last, label in segments:
        y[first:last + 1] = 2 * label + 1
        y[first] = 2 * label
    return y


class DependencyTree(Distribution):
    """Dependency trees. arc [B, n, n] scores the arc to a dependent (row) from a head (column), with the root on the diagonal; or [B, n, n+1] with
    the root in column 0 and word k in column k. label [B, n, n, R] or [B, n, n+1, R] scores the relations of arcs. One word has the root as its
    head, or with multiroot at least one.
    Outputs: heads [B, n], 0 for the root and k for word k, counted from 1; with labels (heads, relations)."""

    def __init__(self, arc, label=None, lengths=None, projective=True, multiroot=False):
        layout = self._layouts.dependency_tree(arc, label, lengths, projective, multiroot)
        super().__init__(layout, (arc,) if label is None else (arc, label))


class Constituents(Distribution):
    """Trees of constituents, binary from the left. label [B, n, n, 1+R] scores the labels of the span from word i to word j, of which number 0 is for
    spans without one; span [B, n, n] scores spans. Outputs: charts [B, n, n], 0 for no constituent, else a label from 1."""

    def __init__(self, label, span=None, lengths=None):
        super().__init__(self._layouts.constituents(label, span, lengths), (label,) if span is None else (label, span))


class PCFG(Distribution):
    """Binary trees over words by a weighted grammar of N nonterminals and M preterminals, S = N + M symbols in this order. terminal [B, n, M] scores the
    preterminals of each word; rule [N, S, S] the rules A → B C, and root [N] the nonterminal of all words; those of a grammar per example have a first
    axis B, both. span [B, n, n, N] scores nonterminals over words i to j > i. A sentence of one word has its preterminal alone. Log probabilities
    make it a probabilistic grammar, but any scores will do. Outputs: charts [B, n, n], 0 for no span, else 1 plus a nonterminal for i < j, and 1 plus
    a preterminal for i = j."""

    def __init__(self, terminal, rule, root, span=None, lengths=None):
        super().__init__(self._layouts.pcfg(terminal, rule, root, span, lengths), (terminal, rule, root) + (() if span is None else (span,)))


class Monotone(Distribution):
    """Monotone alignments: paths from pair (0, 0) to the last one by the steps →, ↓ and ↘. pair [B, n, m] scores pairs; step [B, n, 2] scores ↓ and ↘
    to each source item, or [B, n, m, 3] scores ↓, ↘ and → to each pair, for which answers come from the reference in float64, which takes longer.
    Outputs: paths, bool [B, n, m]."""

    def __init__(self, pair, step=None, lengths=None, target_lengths=None):
        super().__init__(self._layouts.monotone(pair, step, lengths, target_lengths), (pair,) if step is None else (pair, step))


class Matching(Distribution):
    """Matchings of n sources with m targets. pair [B, n, m]; unmatched [B, n] scores sources without a target; if it is missing every source has one.
    Sums over matchings are #P-complete, so only argmax, max, topk and score answer. Outputs: targets [B, n], from 0, −1 for none."""

    def __init__(self, pair, unmatched=None, lengths=None, target_lengths=None):
        super().__init__(self._layouts.matching(pair, unmatched, lengths, target_lengths), (pair,) if unmatched is None else (pair, unmatched))


class Graph(Distribution):
    """Labels of the variables of a graph that all examples share. node [B, V, Y]; ends [E, 2], the variables of each edge; edge [B, E, Y, Y], or
    [E, Y, Y] for all examples, scores the labels of the first (row) and the second end. inference "exact" takes forests and graphs of small
    treewidth, "cut" two labels where edges favour equal ones, "relaxed" any graph, with bounds. Outputs: labels [B, V]."""

    def __init__(self, node, edge, ends, inference="exact"):
        super().__init__(self._layouts.graph(node, edge, ends, inference), (node, edge))


class CTC(Distribution):
    """Labels of frames that read as strings of symbols: runs of equal labels count once, and blanks not at all. frame [B, T, C] scores labels;
    blank is the number of the blank. Outputs: labels [B, T]. read_nll(targets, target_lengths) is −log of the probability to read targets."""

    def __init__(self, frame, lengths=None, blank=0):
        self._frame, self._lengths, self._blank = frame, lengths, blank
        super().__init__(self._layouts.frames(frame, lengths, blank), (frame,))

    def _reading(self, targets, target_lengths):
        return self._layouts.frames(self._frame, self._lengths, self._blank, targets, target_lengths)

    def read_nll(self, targets, target_lengths=None):
        """−log of the probability that frames read as targets, float64 [B]: symbols [B, S], or all in a row, with target_lengths [B]."""
        return self._reading(targets, target_lengths).batch.exp(self._values, marginals=False)[0]

    def read(self, labels):
        """What labels [B, T] read as: a list of lists of symbols."""
        out = []
        for row in layouts.host(labels):
            last, symbols = self._blank, []
            for l in row.tolist():
                if l >= 0 and l != last and l != self._blank:
                    symbols.append(l)
                last = l
            out.append(symbols)
        return out

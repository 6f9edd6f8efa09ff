"""Layers of structured prediction side by side: dsp.torch beside pytorch-crf, torch-struct, supar, torch and scipy, forward and backward, by turns.

    pip install build/dsp_structured-*.whl torch scipy pytorch-crf torch-struct && pip install --no-deps supar==1.1.4 nltk dill omegaconf stanza regex
    python bench/layers.py [--threads 1,2] [--rounds 9] [--only WORD]

It prints, as Markdown, for each number of threads, which take turns, dsp's time of a call by the clock, and how many times as long peers take, from
medians. Calls that take longer than a second are measured once for each. A peer that is not installed is left out.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
import torch

import dsp
import dsp.torch as D

warnings.filterwarnings("ignore")


def peer(load):
    try:
        return load()
    except ImportError:
        return None


def pytorch_crf():
    import torchcrf
    return torchcrf


def torch_struct():
    import torch_struct
    return torch_struct


def supar():
    from supar.structs import linearchain, tree
    return linearchain, tree


def scipy():
    from scipy.optimize import linear_sum_assignment
    return linear_sum_assignment


arguments = argparse.ArgumentParser()
arguments.add_argument("--threads", default="1,2", type=lambda text: [int(n) for n in text.split(",")])
arguments.add_argument("--rounds", type=int, default=9)
arguments.add_argument("--only", default="")
a = arguments.parse_args()
torch.manual_seed(0)
crf, struct, su, assign = peer(pytorch_crf), peer(torch_struct), peer(supar), peer(scipy)


def case(name, **calls):
    """Times calls by turns; a call that is None is left out."""
    if a.only not in name:
        return
    calls = {k: f for k, f in calls.items() if f}
    times = {(k, n): [] for k in calls for n in a.threads}
    repeat = {}
    for k, f in calls.items():
        f()
        start = time.perf_counter()
        f()
        repeat[k] = 0.02 / (time.perf_counter() - start + 1e-9)
    for turn in range(a.rounds):
        for n in a.threads:
            torch.set_num_threads(n)
            dsp.set_threads(n)
            for k, f in calls.items():
                if turn and repeat[k] < 0.02:
                    continue
                often = max(1, min(200, int(repeat[k])))
                begun = time.perf_counter()
                for _ in range(often):
                    f()
                times[k, n].append((time.perf_counter() - begun) / often)
    medians = {of: statistics.median(x) for of, x in times.items()}

    def row(k, show):
        return "/".join(show(medians[k, n], medians["dsp", n]) for n in a.threads)

    ours = row("dsp", lambda x, _: f"{x * 1e3:.3f}")
    peers = ", ".join(f"{k} {row(k, lambda x, own: f'{x / own:.1f}' if x < 100 * own else f'{x / own:.0f}')}" for k in calls if k != "dsp")
    print(f"| {name} | {ours} | {peers} |", flush=True)


def gradient(value, *tensors):
    def step():
        for x in tensors:
            x.grad = None
        value().sum().backward()

    return step


def chains(B, T, Y, ragged=False):
    lengths = torch.randint(T // 4, T + 1, (B,)) if ragged else torch.full((B,), T)
    lengths[0] = T
    mask = torch.arange(T) < lengths[:, None]
    e, tags = torch.randn(B, T, Y, requires_grad=True), torch.randint(Y, (B, T))
    ours = D.CRF(Y, batch_first=True)
    name = f"chain {B}×{T}×{Y}{' ragged' if ragged else ''}"
    theirs = crf and crf.CRF(Y, batch_first=True)
    trans = torch.randn(Y, Y, requires_grad=True)
    square = torch.zeros(Y + 1, Y + 1, requires_grad=True)

    def potentials():
        x = trans.t()[None, None].expand(B, T - 1, Y, Y) + e[:, 1:, :, None]
        return torch.cat([x[:, :1] + e[:, :1, None, :], x[:, 1:]], 1)

    case(name + " nll", dsp=gradient(lambda: -ours(e, tags, mask if ragged else None, "none"), e),
         **{"pytorch-crf": crf and gradient(lambda: -theirs(e, tags, mask, "none"), e),
            "supar": su and gradient(lambda: su[0].LinearChainCRF(e, square, lengths).log_partition, e, square),
            "torch-struct": struct and gradient(lambda: struct.LinearChainCRF(potentials(), lengths=lengths).partition, e, trans)})
    x = e.detach()
    case(name + " decode", dsp=lambda: ours.decode(x, mask if ragged else None),
         **{"pytorch-crf": crf and (lambda: theirs.decode(x, mask)),
            "torch-struct": struct and (lambda: struct.LinearChainCRF(potentials().detach(), lengths=lengths).argmax)})


def small(T=3, Y=2):
    """One short chain, beside a function of two tensors that does nothing: what torch itself takes."""
    e, edge, tags = torch.randn(1, T, Y, requires_grad=True), torch.randn(Y, Y, requires_grad=True), torch.randint(Y, (1, T))

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            return torch.empty(1)

        @staticmethod
        def backward(ctx, g):
            return torch.empty_like(e), torch.empty_like(edge)

    case(f"LinearChain 1×{T}×{Y} nll", dsp=gradient(lambda: D.LinearChain(e, edge).nll(tags), e, edge),
         **{"nothing": gradient(lambda: Nothing.apply(e, edge), e, edge)})


def trees(B=64, n=30):
    arc = torch.randn(B, n, n + 1, requires_grad=True)
    s = torch.zeros(B, n + 1, n + 1)
    s[:, 1:] = arc.detach()
    s.requires_grad_()
    square = torch.randn(B, n, n, requires_grad=True)
    case(f"projective trees {B}×{n} log Z", dsp=gradient(lambda: D.DependencyTree(arc).log_partition, arc),
         supar=su and gradient(lambda: su[1].DependencyCRF(s, multiroot=False).log_partition, s),
         **{"torch-struct": struct and gradient(lambda: struct.DependencyCRF(square * 1, multiroot=False).partition, square)})
    case(f"projective trees {B}×{n} several roots", dsp=gradient(lambda: D.DependencyTree(arc, multiroot=True).log_partition, arc),
         supar=su and gradient(lambda: su[1].DependencyCRF(s, multiroot=True).log_partition, s))
    case(f"all trees {B}×{n} log Z", dsp=gradient(lambda: D.DependencyTree(arc, projective=False).log_partition, arc),
         supar=su and gradient(lambda: su[1].MatrixTree(s, multiroot=False).log_partition, s),
         **{"torch-struct": struct and gradient(lambda: struct.NonProjectiveDependencyCRF(square * 1, multiroot=False).partition, square)})
    case(f"projective trees {B}×{n} best", dsp=lambda: D.DependencyTree(arc.detach()).argmax,
         supar=su and (lambda: su[1].DependencyCRF(s.detach(), multiroot=False).argmax))
    case(f"all trees {B}×{n} best", dsp=lambda: D.DependencyTree(arc.detach(), projective=False).argmax,
         supar=su and (lambda: su[1].MatrixTree(s.detach(), multiroot=False).argmax))


def segments(B=16, T=50, L=8, Y=9):
    segment, transition = torch.randn(B, T, L, Y, requires_grad=True), torch.randn(Y, Y, requires_grad=True)

    def theirs():
        s = torch.zeros(B, T, L, Y)
        for k in range(L):
            s[:, :T - k, k] = segment[:, k:, k]
        keep = torch.arange(T)[:, None] + torch.arange(L)[None] < T
        x = torch.where(keep[None, :, :, None, None], s[..., None] + transition.t(), torch.tensor(-1e9))
        return struct.SemiMarkovCRF(torch.cat([torch.full((B, T, 1, Y, Y), -1e9), x], 2)).partition

    case(f"segments {B}×{T}, L={L}, Y={Y}", dsp=gradient(lambda: D.SemiMarkov(segment, transition).log_partition, segment, transition),
         **{"torch-struct": struct and gradient(theirs, segment, transition)})


def ctc(B=64, T=100, C=30):
    x, n = torch.randn(B, T, C, requires_grad=True), torch.randint(5, 30, (B,))
    targets, lengths = torch.randint(1, C, (int(n.sum()),)), torch.full((B,), T)
    case(f"CTC {B}×{T}×{C}", dsp=gradient(lambda: D.CTC(x).read_nll(targets, n), x),
         torch=gradient(lambda: torch.nn.functional.ctc_loss(torch.log_softmax(x, -1).transpose(0, 1), targets, lengths, n, reduction="none"), x))


def constituents(B=16, n=25, R=10):
    label = torch.randn(B, n, n, R + 1)
    label[..., 0] = -torch.inf
    label.requires_grad_()
    s = torch.randn(B, n + 1, n + 1, R, requires_grad=True)
    case(f"constituents {B}×{n}, R={R}", dsp=gradient(lambda: D.Constituents(label).log_partition, label),
         supar=su and gradient(lambda: su[1].ConstituencyCRF(torch.logsumexp(s, -1)).log_partition, s))


def grammar(B=8, n=20, N=10, M=20):
    """A grammar per example, as torch-struct has it."""
    S = N + M
    terminal, rule, root = (torch.randn(*shape, requires_grad=True) for shape in ((B, n, M), (B, N, S, S), (B, N)))
    case(f"PCFG {B}×{n}, {N} + {M} symbols", dsp=gradient(lambda: D.PCFG(terminal, rule, root).log_partition, terminal, rule, root),
         **{"torch-struct": struct and gradient(lambda: struct.SentCFG((terminal, rule, root), torch.full((B,), n)).partition, terminal, rule, root)})


def assignments(B, n):
    """Different problems: of one that is solved again and again, the processor soon predicts every branch."""
    x = np.random.default_rng(0).normal(size=(B, n, n)).astype(np.float32)
    theirs = assign and (lambda: [assign(pair, maximize=True) for pair in x])
    case(f"assignments {B}×{n}", dsp=lambda: dsp.Matching(x).argmax, scipy=theirs)
    if n < 100:  # else a call is nothing beside its work
        case(f"assignments {B}×{n} singly", dsp=lambda: [dsp.Matching(x[b:b + 1]).argmax for b in range(B)], scipy=theirs)


print(f"| | dsp, ms, {'/'.join(map(str, a.threads))} threads | times of peers / dsp's |\n|---|---:|---|")
chains(64, 50, 25)
chains(64, 50, 25, ragged=True)
chains(1, 3, 2)
small()
trees()
segments()
ctc()
constituents()
grammar()
assignments(32, 30)
assignments(8, 200)

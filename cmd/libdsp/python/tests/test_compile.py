"""torch.compile keeps dsp's questions in one graph (fullgraph=True), with the values and gradients of uncompiled calls."""

import functools
import pathlib
import sysconfig

import pytest

torch = pytest.importorskip("torch")

import dsp
import dsp.torch as D

compiled = functools.partial(torch.compile, backend="aot_eager", fullgraph=True)

MASK = torch.tensor([[0, 1, 1, 1], [1, 0, 1, 0]])
MAKERS = {  # how a distribution is made, the shapes of its potentials for a batch of B, and whether it has second derivatives
    "chain": (lambda n, e, s, t: D.LinearChain(n, e, lengths=[4, 2], start=s, end=t), [("B", 4, 3), (3, 3), (3,), (3,)], True),
    "chain with steps": (lambda n, e: D.LinearChain(n, e, mask=MASK), [("B", 4, 3), ("B", 4, 3, 3)], True),
    "second-order chain": (D.SecondOrderChain, [("B", 4, 2), (2, 2), (2, 2, 2)], True),
    "semi-Markov": (lambda s, t, n, l: D.SemiMarkov(s, t, n, l, lengths=torch.tensor([4, 3])), [("B", 4, 2, 2), (2, 2), ("B", 4, 4), (2, 2)], True),
    "semi-Markov with steps": (lambda s, t: D.SemiMarkov(s, t, lengths=torch.tensor([4, 3])), [("B", 4, 2, 2), ("B", 4, 2, 2)], True),
    "labelled tree": (lambda a, l: D.DependencyTree(a, l, lengths=[4, 2]), [("B", 4, 5), ("B", 4, 5, 2)], True),
    "all trees": (lambda a: D.DependencyTree(a, projective=False, multiroot=True), [("B", 4, 4)], False),
    "constituents": (D.Constituents, [("B", 3, 3, 3), ("B", 3, 3)], True),
    "grammar": (lambda t, r, o, s: D.PCFG(t, r, o, s, lengths=[3, 2]), [("B", 3, 2), (2, 4, 4), (2,), ("B", 3, 3, 2)], True),
    "grammar per example": (D.PCFG, [("B", 3, 2), ("B", 1, 3, 3), ("B", 1)], True),
    "monotone": (lambda p, s: D.Monotone(p, s, target_lengths=[3, 2]), [("B", 3, 3), ("B", 3, 2)], True),
    "monotone with moves": (lambda p, s: D.Monotone(p, s, target_lengths=[3, 2]), [("B", 3, 3), ("B", 3, 3, 3)], True),
    "graph": (lambda n, e: D.Graph(n, e, [[0, 1], [1, 2], [2, 0]]), [("B", 3, 2), (3, 2, 2)], False),
    "frames": (lambda f: D.CTC(f, lengths=[4, 3], blank=2), [("B", 4, 3)], False),
}
SUMS = {
    "log_partition": lambda p, y: p.log_partition,
    "nll": lambda p, y: p.nll(y),
    "log_prob": lambda p, y: p.log_prob(y),
    "max": lambda p, y: p.max,
    "score": lambda p, y: p.score(y),
    "topk": lambda p, y: p.topk(3)[1][:2].nan_to_num(0, 0, 0),
}
SECOND = {
    "entropy": lambda p, y: p.entropy,
    "marginals": lambda p, y: torch.cat([(u * (u + 1)).flatten() for u in p.marginals]),
}


def potentials(shapes, B=2, dtype=torch.float32):
    drawn = torch.Generator().manual_seed(B)
    return [torch.randn([B if n == "B" else n for n in s], generator=drawn, dtype=dtype).requires_grad_() for s in shapes]


def flat(y):
    return y if isinstance(y, tuple) else (y,)


def same(f, x):
    """The values and the gradients of f, compiled and not."""
    weights = torch.linspace(-1, 2, 1000)
    answers = []
    for ask in f, compiled(f):
        value = ask(*x)
        scaled = (value.flatten() * weights[:value.numel()].to(value)).sum()
        answers.append((value, *torch.autograd.grad(scaled, x, allow_unused=True)))
    for a, b in zip(*answers):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    assert answers[1][0].grad_fn is not None


@pytest.mark.parametrize("name", MAKERS)
def test_values_and_gradients(name):
    make, shapes, second = MAKERS[name]
    x = potentials(shapes)
    y = make(*x).argmax
    asked = {**SUMS, **SECOND} if second else SUMS

    def every(*x):
        p = make(*x)
        return torch.cat([ask(p, y).flatten() for ask in asked.values()])

    torch._dynamo.reset()
    same(every, x)


@pytest.mark.parametrize("name", MAKERS)
def test_outputs(name):
    make, shapes, _ = MAKERS[name]
    x = potentials(shapes)

    def every(*x):
        p = make(*x)
        return (*flat(p.argmax), *flat(p.topk(4)[0]), *flat(p.sample(3, seed=5)), *p.marginals, *p.hessian_product(*x), p.entropy, p.log_partition)

    def possible(*x):
        p = make(*x)
        return (*flat(p.argmax), *flat(p.topk(4)[0]), *flat(p.sample(3, seed=5)), *p.marginals, p.entropy, p.log_partition)

    torch._dynamo.reset()
    f = every if MAKERS[name][2] else possible
    with torch.no_grad():
        for a, b in zip(f(*x), compiled(f)(*x), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_precisions(dtype):
    torch._dynamo.reset()
    x = potentials([("B", 4, 3), (3, 3)], dtype=dtype)
    same(lambda n, e: D.LinearChain(n, e).log_partition * 2, x)


def test_matching_and_reading():
    torch._dynamo.reset()
    pair, unmatched, frame = potentials([("B", 3, 3), ("B", 3), ("B", 5, 4)])
    same(lambda p, u: D.Matching(p, u).max, (pair, unmatched))
    f = lambda p, u: (D.Matching(p, u).argmax, D.Matching(p).argmax)
    for a, b in zip(f(pair, unmatched), compiled(f)(pair, unmatched)):
        assert torch.equal(a, b)
    targets, n = torch.tensor([[1, 2, 3], [1, 0, 2]]), torch.tensor([2, 1])
    same(lambda f: D.CTC(f, lengths=[5, 4]).read_nll(targets, n), (frame,))
    same(lambda f: D.ctc_loss(f.transpose(0, 1), targets, [5, 4], [2, 1], reduction="none"), (frame,))


def test_divergence():
    torch._dynamo.reset()
    x = potentials([("B", 4, 3), (3, 3), ("B", 4, 3), (3, 3)])
    same(lambda a, b, c, d: D.LinearChain(a, b, lengths=[4, 2]).kl(D.LinearChain(c, d, lengths=[4, 2])), x)
    with pytest.raises(dsp.Error, match="different outputs"):
        compiled(lambda a, b, c, d: D.LinearChain(a, b).kl(D.LinearChain(c, d, lengths=[4, 2])))(*x)
    # q alone is of higher precision: answers have it, as in uncompiled calls.
    fine = [*x[:2], *(t.detach().double().requires_grad_() for t in x[2:])]
    same(lambda a, b, c, d: D.LinearChain(a, b).kl(D.LinearChain(c, d)) * 1, fine)
    q = D.LinearChain(*x[2:])
    for kl in lambda a, b: D.LinearChain(a, b).kl(q), lambda a, b: q.kl(D.LinearChain(a, b)):
        torch.testing.assert_close(torch.compile(kl, backend="aot_eager")(*x[:2]), kl(*x[:2]))


class Tagger(torch.nn.Module):
    def __init__(self, batch_first=True, any_mask=False):
        super().__init__()
        torch.manual_seed(3)
        self.score, self.crf = torch.nn.Linear(4, 3), D.CRF(3, batch_first, any_mask)

    def forward(self, x, y, mask, reduction="sum"):
        return -self.crf(self.score(x), y, mask, reduction)


@pytest.mark.parametrize("reduction", ["sum", "mean", "token_mean", "none"])
@pytest.mark.parametrize("batch_first", [True, False])
def test_a_network_of_any_size(reduction, batch_first):
    """One graph answers for all sizes of batches and lengths, and trains the CRF and the network below."""
    torch._dynamo.reset()
    model, count = Tagger(batch_first), torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    step = torch.compile(model, backend=count, fullgraph=True, dynamic=True)
    for a, b in (2, 5), (3, 7), (6, 4):
        x, y = torch.randn(a, b, 4), torch.randint(3, (a, b))
        mask = torch.rand(a, b) < 0.6
        mask[:, 0] = mask[0] = True
        for given in mask, mask.to(torch.uint8):
            gradients = []
            for f in model, step:
                model.zero_grad()
                loss = f(x, y, given, reduction)
                loss.sum().backward()
                gradients.append([loss.detach(), *(p.grad for p in model.parameters())])
            for g, h in zip(*gradients, strict=True):
                torch.testing.assert_close(g, h, rtol=1e-5, atol=1e-5)
    assert count.frame_count == 2  # one for each type of masks


def test_messages_of_a_crf():
    torch._dynamo.reset()
    x, y = torch.randn(2, 3, 4), torch.zeros(2, 3, dtype=torch.long)
    holes = torch.tensor([[0, 1, 1], [1, 1, 1]]).bool()
    with pytest.raises(ValueError, match="first timestep must all be on"):
        compiled(Tagger())(x, y, holes)
    model = Tagger(any_mask=True)
    torch.testing.assert_close(compiled(model)(x, y, holes), model(x, y, holes))
    with pytest.raises(ValueError, match="token_mean of no tokens"):
        compiled(model)(x, y, holes & False, "token_mean")
    torch.testing.assert_close(compiled(model)(x, y, holes.tolist()), model(x, y, holes))


@pytest.mark.parametrize("message, ask", [
    ("blank -1, expected 0 to 2", lambda x: D.CTC(x, blank=-1).log_partition),
    (r"node has the shape \(3,\)", lambda x: D.LinearChain(x[0, 0], x[0, 0]).argmax),
    (r"node has the shape \(\)", lambda x: D.LinearChain(x[0, 0, 0], x).max),
])
def test_messages_of_a_graph(message, ask):
    """A graph refuses what uncompiled calls refuse, with their messages."""
    torch._dynamo.reset()
    x = torch.zeros(2, 4, 3)
    for f in ask, compiled(ask):
        with pytest.raises(dsp.Error, match=message):
            f(x)


def test_samples_without_a_seed():
    """A graph breaks there, and draws anew in each call."""
    torch._dynamo.reset()
    f = torch.compile(lambda x: D.LinearChain(x + 1, x[0, :3]).sample(9, seed=None), backend="aot_eager")
    first, second = f(torch.zeros(2, 40, 3)), f(torch.zeros(2, 40, 3))
    assert first.shape == (9, 2, 40) and not torch.equal(first, second)


def test_decoding_in_a_graph():
    torch._dynamo.reset()
    model, x = Tagger(), torch.randn(2, 3, 4)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]]).bool()
    best = compiled(lambda x: model.crf.distribution(model.score(x), mask).argmax)(x)
    lists = model.crf.decode(model.score(x), mask)
    assert [row[row >= 0].tolist() for row in best] == lists
    assert torch.compile(lambda x: model.crf.decode(model.score(x), mask), backend="eager")(x) == lists


def test_refused_derivatives():
    torch._dynamo.reset()
    arc, = potentials([("B", 3, 3)])
    with pytest.raises(dsp.Error, match="no gradient of marginals of a non-projective tree"):
        compiled(lambda a: D.DependencyTree(a, projective=False).marginals[0].square())(arc).sum().backward()
    with pytest.raises(dsp.Error, match="no gradient of entropy and kl of a non-projective tree"):
        compiled(lambda a: D.DependencyTree(a, projective=False).entropy)(arc).sum().backward()
    # Marginals that a graph gives and nobody differentiates.
    value, u = compiled(lambda a: (D.DependencyTree(a, projective=False).log_partition, D.DependencyTree(a, projective=False).marginals[0]))(arc)
    value.sum().backward()
    torch.testing.assert_close(arc.grad, u)
    node, edge = potentials([("B", 3, 2), (2, 2)])
    with pytest.raises(dsp.Error, match="no gradient of hessian_product"):
        compiled(lambda n: D.LinearChain(n, edge).hessian_product(n, edge)[0])(node).sum().backward()
    with pytest.raises(dsp.Error, match="a bound here"):
        compiled(lambda n: D.Graph(n, edge.expand(2, 2, 2, 2), [[0, 1], [1, 2]], inference="relaxed").max)(node)


def test_second_derivatives_of_graphs_without_aot():
    torch._dynamo.reset()
    x = potentials([("B", 4, 3), (3, 3)])
    answers = []
    for f in (lambda n, e: D.LinearChain(n, e).log_partition ** 2,), :
        for ask in f[0], torch.compile(f[0], backend="eager", fullgraph=True):
            first = torch.autograd.grad(ask(*x).sum(), x, create_graph=True)
            answers.append(torch.autograd.grad(sum((g ** 2).sum() for g in first), x))
    for a, b in zip(*answers):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_exported():
    """torch.export of a network with a loss of dsp."""
    model, B = Tagger(), torch.export.Dim("B")
    x, y, mask = torch.randn(2, 5, 4), torch.randint(3, (2, 5)), torch.ones(2, 5, dtype=torch.bool)
    program = torch.export.export(model, (x, y, mask), dynamic_shapes=({0: B}, {0: B}, {0: B}, None)[:3])
    x, y = torch.randn(4, 5, 4), torch.randint(3, (4, 5))
    mask = torch.arange(5) < torch.tensor([[5], [3], [1], [2]])
    torch.testing.assert_close(program.module()(x, y, mask), model(x, y, mask))


@pytest.mark.parametrize("name", ["chain", "labelled tree", "frames"])
def test_operators(name):
    """PyTorch's own checks of operators: schemas, fake tensors, and gradients under compilation."""
    make, shapes, _ = MAKERS[name]
    of = {"chain": "linear_chain p p - - p p", "labelled tree": "dependency_tree p p c True False", "frames": "frames p - 1 - -"}[name]
    x = potentials(shapes)
    contents = [torch.tensor([4, 2])] * of.count("c")
    for question in "log_partition", "max":
        torch.library.opcheck(torch.ops.dsp.ask, (of, question, x, contents, [], [], True),
                              test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))


def test_vmap_and_func():
    """vmap stays in the graph, with gradients; under grad of torch.func a graph breaks, since PyTorch's operators do not answer there."""
    torch._dynamo.reset()
    node, edge = torch.randn(3, 2, 4, 3), torch.randn(3, 3)
    got = compiled(torch.func.vmap(lambda n: D.LinearChain(n, edge).nll(torch.ones(2, 4, dtype=torch.long))))(node)
    torch.testing.assert_close(got, torch.stack([D.LinearChain(n, edge).nll(torch.ones(2, 4, dtype=torch.long)) for n in node]))
    for ask in SUMS.values():
        f = torch.func.vmap(lambda n, e: ask(D.LinearChain(n, e), torch.ones(2, 4, dtype=torch.long)))
        each = lambda n, e: torch.stack([ask(D.LinearChain(*x), torch.ones(2, 4, dtype=torch.long)) for x in zip(n, e)])
        x = [node.clone().requires_grad_(), torch.stack([edge, 2 * edge, -edge]).requires_grad_()]
        weights = torch.linspace(1, 2, each(*x).numel())
        for a, b in zip(*(torch.autograd.grad(g(*x).flatten() @ weights, x) for g in (compiled(f), each))):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    gradient = torch.func.grad(lambda n: D.LinearChain(n, edge).log_partition.sum())
    for f in (torch.compile(lambda n: gradient(n) * 2, backend="aot_eager"),
              torch.func.grad(torch.compile(lambda n: D.LinearChain(n, edge).log_partition.sum() * 2, backend="aot_eager"))):
        torch.testing.assert_close(f(node[0]), 2 * D.LinearChain(node[0], edge).marginals[0])


def test_a_graph_that_breaks():
    """A distribution made in one graph answers in the next one and outside of graphs; and one made outside in a graph."""
    torch._dynamo.reset()
    node, edge = potentials([("B", 4, 3), (3, 3)])
    outside = D.LinearChain(node, edge)
    y = outside.argmax

    def answers(p):
        return p.nll(y), p.argmax, p.marginals[0], p.max, p.score(y), p.entropy, p.topk(2)[1], torch.tensor(p.batch_size)

    def broken(n):
        p = D.LinearChain(n, edge)
        torch._dynamo.graph_break()
        return answers(p)

    def printing(n):
        p = D.LinearChain(n, edge)
        print(end="")
        return answers(p)

    for f in broken, printing, lambda n: answers(outside):
        for a, b in zip(torch.compile(f, backend="aot_eager")(node), f(node), strict=True):
            torch.testing.assert_close(a, b)
            assert a.requires_grad == b.requires_grad


def test_inductor():
    pytest.importorskip("torch._inductor")
    from torch._inductor.cpp_builder import get_cpp_compiler
    try:
        get_cpp_compiler()
    except Exception as e:  # of the kind that PyTorch has in this version
        pytest.skip(f"no compiler of C++: {e}")
    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
        pytest.skip("no Python.h, which inductor's code includes")
    torch._dynamo.reset()
    model = Tagger()
    step = torch.compile(model, fullgraph=True, dynamic=True)
    for B in 2, 5:
        x, y, mask = torch.randn(B, 6, 4), torch.randint(3, (B, 6)), torch.arange(6) < torch.randint(1, 7, (B, 1))
        gradients = []
        for f in model, step:
            model.zero_grad()
            loss = f(x, y, mask, "token_mean")
            loss.backward()
            gradients.append([loss.detach(), *(p.grad for p in model.parameters())])
        for g, h in zip(*gradients, strict=True):
            torch.testing.assert_close(g, h, rtol=1e-5, atol=1e-5)

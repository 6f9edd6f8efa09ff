"""dsp.torch: gradients, precisions, masks, and pytorch-crf's interface."""

import copy
import io
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import dsp
import dsp.torch as D

torch.manual_seed(0)
loose = dict(eps=1e-3, atol=2e-3, rtol=1e-3)


def potentials(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


MAKERS = {
    "linear chain": (lambda n, e, s, t: D.LinearChain(n, e, lengths=[4, 2], start=s, end=t), [(2, 4, 3), (3, 3), (3,), (3,)]),
    "linear chain with steps": (lambda n, e: D.LinearChain(n, e, mask=torch.tensor([[0, 1, 1, 1], [1, 0, 1, 0]])), [(2, 4, 3), (2, 4, 3, 3)]),
    "second-order chain": (D.SecondOrderChain, [(2, 4, 2), (2, 2), (2, 2, 2)]),
    "semi-Markov": (lambda s, t, n, l: D.SemiMarkov(s, t, n, l, lengths=[4, 3]), [(2, 4, 2, 2), (2, 2), (2, 4, 4), (2, 2)]),
    "semi-Markov with steps": (lambda s, t, n: D.SemiMarkov(s, t, n, lengths=[4, 3]), [(2, 4, 2, 2), (2, 4, 2, 2), (2, 4, 4)]),
    "tree": (lambda a, l: D.DependencyTree(a, l, lengths=[4, 2]), [(2, 4, 5), (2, 4, 5, 2)]),
    "all trees of several roots": (lambda a: D.DependencyTree(a, projective=False, multiroot=True), [(2, 4, 4)]),
    "constituents": (D.Constituents, [(2, 3, 3, 3), (2, 3, 3)]),
    "grammar": (lambda t, r, o, s: D.PCFG(t, r, o, s, lengths=[3, 2]), [(2, 3, 2), (2, 4, 4), (2,), (2, 3, 3, 2)]),
    "grammar per example": (D.PCFG, [(2, 3, 2), (2, 1, 3, 3), (2, 1)]),
    "monotone": (lambda p, s: D.Monotone(p, s, target_lengths=[3, 2]), [(2, 3, 3), (2, 3, 2)]),
    "monotone with moves": (lambda p, s: D.Monotone(p, s, target_lengths=[3, 2]), [(2, 3, 3), (2, 3, 3, 3)]),
    "graph": (lambda n, e: D.Graph(n, e, [[0, 1], [1, 2], [2, 0]]), [(2, 3, 2), (3, 2, 2)]),
    "frames": (lambda f: D.CTC(f, lengths=[4, 3], blank=2), [(2, 4, 3)]),
}


@pytest.mark.parametrize("name", MAKERS)
def test_gradients(name):
    make, shapes = MAKERS[name]
    x = [potentials(*s) for s in shapes]
    assert torch.autograd.gradcheck(lambda *x: make(*x).log_partition, x, **loose)
    y = make(*x).argmax
    assert torch.autograd.gradcheck(lambda *x: make(*x).nll(y), x, **loose)
    d = make(*x)
    gradients = torch.autograd.grad(d.log_partition.sum(), x)
    for g, u in zip(gradients, d.marginals):
        torch.testing.assert_close(g, u.sum(0) if u.dim() > g.dim() else u, atol=1e-6, rtol=1e-5)
    reference = getattr(dsp, type(d).__name__)
    assert issubclass(type(d), reference)


def test_reading():
    frame = potentials(3, 6, 4)
    targets, n = torch.tensor([[1, 3, 0], [3, 3, 1], [1, 0, 0]]), torch.tensor([2, 3, 1])
    assert torch.autograd.gradcheck(lambda f: D.CTC(f, [6, 5, 2], blank=2).read_nll(targets, n), [frame], **loose)
    single = frame.detach().float()  # which the library reads where it lies
    torch.testing.assert_close(D.CTC(single).read_nll(targets + 1 - (targets > 0).long(), n).double(),
                               D.CTC(frame).read_nll(targets + 1 - (targets > 0).long(), n), atol=1e-5, rtol=1e-5)
    log_probs = frame.log_softmax(-1).transpose(0, 1)
    for blank, t in ((2, targets), (0, targets + 1 - (targets > 0).long())):
        for reduction in ("none", "sum", "mean"):
            ours, theirs = (f(log_probs, t, torch.tensor([6, 5, 2]), n, blank=blank, reduction=reduction)
                            for f in (D.ctc_loss, torch.nn.functional.ctc_loss))
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
            a, b = (torch.autograd.grad(x.sum(), frame, retain_graph=True)[0] for x in (ours, theirs))
            torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("relations", [None, 3])
def test_root_in_column_0(relations):
    """Trees of equal lengths have the same answers and gradients with the root in column 0 and on the diagonal."""
    n, d = 4, np.arange(4)
    shape = (2, n, n + 1) if relations is None else (2, n, n + 1, relations)
    given = [potentials(2, n, n + 1, dtype=torch.float32)] + ([] if relations is None else [potentials(*shape, dtype=torch.float32)])
    head = d[None] + 1 - (d[None] == d[:, None]) * (d[:, None] + 1)
    weights = torch.tensor([1.0, 3.0])

    def answers(parts):
        of = D.DependencyTree(*parts, projective=False)
        return [of.log_partition, *torch.autograd.grad((of.log_partition * weights).sum(), given), of.argmax if relations is None else of.argmax[0]]

    diagonal = [x[:, d[:, None], head] for x in given]
    for x, y in zip(answers(given), answers(diagonal)):
        torch.testing.assert_close(x, y)
    for x, y in zip(D.DependencyTree(*given, projective=False).marginals, D.DependencyTree(*diagonal, projective=False).marginals):
        torch.testing.assert_close(x[:, d[:, None], head], y)
        assert (x[:, d, d + 1] == 0).all()


def test_precisions():
    node, edge = torch.randn(2, 5, 3), torch.randn(3, 3)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        n, e = node.to(dtype).requires_grad_(), edge.to(dtype).requires_grad_()
        z = D.LinearChain(n, e).log_partition
        assert z.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        torch.testing.assert_close(z.float(), D.LinearChain(n.detach().float(), e.detach().float()).log_partition)
        z.sum().backward()
        assert n.grad.dtype == dtype and e.grad.dtype == dtype


def test_strides_and_views():
    node, edge = torch.randn(5, 2, 3), torch.randn(3, 3)
    turned = D.LinearChain(node.transpose(0, 1), edge.t()).log_partition
    torch.testing.assert_close(turned, D.LinearChain(node.transpose(0, 1).contiguous(), edge.t().contiguous()).log_partition)


@pytest.mark.parametrize("make,shared", [
    (D.LinearChain, torch.randn(3, 3)), (D.LinearChain, None), (D.DependencyTree, None),
    (lambda x: D.DependencyTree(x[:, :, :3], lengths=[2] * len(x)), None)])
def test_an_example_alone(make, shared):
    """An example has the same gradient alone as beside another one."""
    steps = make is D.LinearChain and shared is None
    several = torch.randn(*((2, 3, 3, 3) if steps else (2, 3, 4) if shared is None else (2, 3, 3)))
    weight = torch.tensor([3.0, 0.5])

    def gradients(rows):
        x = several[rows].clone().requires_grad_()
        edge = None if shared is None else shared.clone().requires_grad_()
        if make is D.LinearChain:
            d = make(x[:, :, 0], x) if edge is None else make(x, edge)
        else:
            d = make(x)
        (d.log_partition * weight[rows]).sum().backward()
        return x.grad, edge if edge is None else edge.grad

    both, edge = gradients([0, 1])
    alone = [gradients([b]) for b in range(2)]
    torch.testing.assert_close(both, torch.cat([g for g, _ in alone]))
    if edge is not None:
        torch.testing.assert_close(edge, alone[0][1] + alone[1][1])


def test_complex_numbers_are_refused():
    with pytest.raises(dsp.Error, match=r"of the shape \(1, 2, 3\) are complex"):
        D.LinearChain(torch.zeros(1, 2, 3, dtype=torch.complex64), torch.zeros(3, 3)).log_partition


def test_arrays_are_refused():
    node, edge = np.zeros((1, 2, 3)), torch.zeros(3, 3)
    for ask in lambda d: d.log_partition, lambda d: d.argmax, lambda d: d.marginals, lambda d: d.entropy:
        with pytest.raises(dsp.Error, match="potentials of dsp.torch are tensors, found ndarray"):
            ask(D.LinearChain(node, edge))


def test_functional():
    node, edge = torch.randn(2, 4, 3), torch.randn(3, 3)
    f = lambda n: D.LinearChain(n, edge).log_partition.sum()
    torch.testing.assert_close(torch.func.grad(f)(node), D.LinearChain(node, edge).marginals[0])
    g, value = torch.func.grad_and_value(f)(node)
    torch.testing.assert_close(value, f(node))


def test_vmap():
    """Mapped functions answer as a loop over slices does: values, gradients of each example, and derivatives of second order."""
    many, edge = torch.randn(2, 5, 4, 3), torch.randn(3, 3)
    f = lambda n: D.LinearChain(n, edge).log_partition
    torch.testing.assert_close(torch.func.vmap(f, in_dims=1)(many), torch.stack([f(many[:, k]) for k in range(5)]))
    refused = (lambda p: p.argmax, lambda p: p.topk(2)[1], lambda p: p.sample(),
               lambda p: p.hessian_product(*p._arrays)[0])
    for ask in refused:
        with pytest.raises(D.Error, match="no answers under torch.func and torch.vmap"):
            torch.func.vmap(lambda n: ask(D.LinearChain(n, edge)))(many)
    p = D.LinearChain(many[:, 0], edge)
    for ask in lambda n: D.LinearChain(n, edge).entropy, lambda n: D.LinearChain(n, edge).kl(p):
        torch.testing.assert_close(torch.func.vmap(ask, in_dims=1)(many), torch.stack([ask(many[:, k]) for k in range(5)]))
        total = lambda n: ask(n).sum()
        got = torch.func.vmap(torch.func.grad(total), in_dims=1)(many)
        torch.testing.assert_close(got, torch.stack([torch.func.grad(total)(many[:, k]) for k in range(5)]))
    arc, heads = torch.randn(5, 3, 3), torch.tensor([[0, 1, 2], [2, 0, 2], [0, 1, 1], [2, 3, 0], [3, 3, 0]])
    relations, label = torch.randint(2, (5, 3)), torch.randn(5, 3, 3, 2)
    loss = lambda a, l, h, r: D.DependencyTree(a[None], l[None]).nll((h[None], r[None]))[0]
    got = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)))(arc, label, heads, relations)
    for k in range(5):
        want = torch.func.grad(loss, argnums=(0, 1))(arc[k], label[k], heads[k], relations[k])
        torch.testing.assert_close((got[0][k], got[1][k]), want)
    node = torch.randn(1, 3, 2, dtype=torch.float64)
    log_z = lambda n: D.LinearChain(n, edge[:2, :2]).log_partition.sum()
    hessian = torch.func.jacrev(torch.func.jacrev(log_z))(node)
    torch.testing.assert_close(hessian, torch.autograd.functional.hessian(log_z, node))


TWICE = [name for name in MAKERS if name not in ("all trees of several roots", "graph", "frames")]


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives(name):
    make, shapes = MAKERS[name]
    x = [potentials(*s) for s in shapes]
    g = torch.randn(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda *x: make(*x).log_partition, x, grad_outputs=[g], **loose)
    y = make(*x).argmax
    assert torch.autograd.gradgradcheck(lambda *x: make(*x).nll(y), x, **loose)


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_entropy_and_kl(name):
    make, shapes = MAKERS[name]
    x, y = [potentials(*s) for s in shapes], [potentials(*s) for s in shapes]
    assert torch.autograd.gradcheck(lambda *x: make(*x).entropy, x, eps=1e-2, atol=5e-3, rtol=1e-2)
    assert torch.autograd.gradcheck(lambda *z: make(*z[:len(x)]).kl(make(*z[len(x):])), (*x, *y), eps=1e-2, atol=5e-3, rtol=1e-2)


def test_entropy_of_what_is_forbidden():
    node = torch.tensor([[[0.3, float("-inf")], [0.1, -0.4], [0.0, 0.2]]], requires_grad=True)
    edge = torch.zeros(2, 2)
    d = D.LinearChain(node, edge)
    g, = torch.autograd.grad(d.entropy.sum(), node)
    p = torch.softmax(node.detach()[0, 1:], -1)  # labels are independent
    mean = (p * node.detach()[0, 1:]).sum(-1, keepdim=True)
    torch.testing.assert_close(g[0, 1:], -p * (node.detach()[0, 1:] - mean), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(g[0, 0], torch.zeros(2), atol=1e-12, rtol=0)
    torch.testing.assert_close(torch.autograd.grad(d.kl(D.LinearChain(node.detach(), edge)).sum(), node)[0], torch.zeros(1, 3, 2), atol=1e-12, rtol=0)


def test_second_derivatives_of_several_roots():
    arc = potentials(2, 4, 4)
    assert torch.autograd.gradgradcheck(lambda a: D.DependencyTree(a, multiroot=True).log_partition, arc, **loose)


def test_hessian_of_a_function():
    node, edge = torch.randn(1, 3, 2, dtype=torch.float64), torch.randn(2, 2, dtype=torch.float64)
    f = lambda n: D.LinearChain(n, edge).log_partition.sum()
    hessian = torch.autograd.functional.hessian(f, node).reshape(6, 6)
    torch.testing.assert_close(hessian, hessian.T, atol=1e-6, rtol=1e-5)
    products = [D.LinearChain(node, edge).hessian_product(d.reshape(1, 3, 2), torch.zeros(2, 2))[0] for d in torch.eye(6)]
    torch.testing.assert_close(hessian, torch.stack(products).reshape(6, 6).double(), atol=1e-6, rtol=1e-5)
    exact = torch.autograd.functional.hessian(lambda n: _enumerated(n, edge), node).reshape(6, 6)
    torch.testing.assert_close(hessian, exact, atol=1e-5, rtol=1e-5)


def _enumerated(node, edge):
    scores = [sum(node[0, t, y[t]] for t in range(3)) + edge[y[0], y[1]] + edge[y[1], y[2]] for y in itertools.product(range(2), repeat=3)]
    return torch.stack(scores).logsumexp(0)


SCORED = {**MAKERS, "matching": (lambda p, u: D.Matching(p, u, lengths=[3, 2]), [(2, 3, 4), (2, 3)]), "complete matching": (D.Matching, [(2, 3, 3)])}


@pytest.mark.parametrize("name", SCORED)
def test_gradients_of_scores(name):
    """max, score and the scores of topk, whose gradients are what outputs use; and the derivatives of these by the gradients they came from."""
    make, shapes = SCORED[name]
    r, x, gap = torch.Generator().manual_seed(0), [], 0
    while gap < 0.05:  # differences stay on one side of a change of the best outputs
        x = [torch.randn(s, dtype=torch.float64, generator=r, requires_grad=True) for s in shapes]
        y, scores = make(*x).topk(3)
        gap = -scores.detach().diff(dim=0).max()
    second = tuple(part[1] for part in y) if isinstance(y, tuple) else y[1]
    questions = [lambda *x: make(*x).max, lambda *x: make(*x).score(second), lambda *x: make(*x).topk(2)[1]]
    for ask in questions:
        assert torch.autograd.gradcheck(ask, x, **loose)
        g = torch.randn(ask(*x).shape, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradgradcheck(ask, x, grad_outputs=[g], **loose)
    d = make(*x)
    d.argmax, d.max  # which are asked once
    first, again = (torch.autograd.grad(make(*x).max.sum(), x), torch.autograd.grad(d.max.sum(), x))
    assert all(torch.equal(a, b) for a, b in zip(first, again))
    with torch.no_grad():
        assert not any(t.requires_grad for t in (make(*x).max, make(*x).score(second), make(*x).topk(2)[1]))


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_marginals(name):
    make, shapes = MAKERS[name]
    x = [potentials(*s) for s in shapes]
    assert torch.autograd.gradcheck(lambda *x: make(*x).marginals, x, eps=1e-2, atol=2e-3, rtol=2e-3)
    d = make(*x)
    with torch.no_grad():
        plain = make(*x).marginals
    assert all(torch.equal(u, v) and not v.requires_grad for u, v in zip(d.marginals, plain))
    for k in range(len(x)):  # one after the other
        d.marginals[k].sum().backward()


def test_scores_of_what_has_none():
    """Where no output is allowed the best score is −∞, with a gradient of 0, and of potentials that are NaN it is NaN, with its gradient."""
    node = torch.zeros(3, 2, 2)
    node[1, 1], node[2, 0, 0] = -float("inf"), float("nan")
    node.requires_grad_()
    d = D.LinearChain(node, torch.zeros(2, 2))
    for value in d.max, d.topk(5)[1]:
        g, = torch.autograd.grad(value.sum(), node)
        assert g[0].sum() == 2 * (1 if value.dim() == 1 else 4)  # two labels of each output, of which there are four
        assert (g[1] == 0).all() and g[2].isnan().all()
    g, = torch.autograd.grad(d.score(torch.ones(3, 2, dtype=torch.long)).sum(), node)
    assert torch.equal(g, torch.tensor([[[0.0, 1], [0, 1]]] * 3))


def test_a_hinge_loss_trains():
    """max less the score of gold outputs, with the loss in the potentials: gradients reach every potential that both differ in."""
    node, edge = potentials(4, 6, 3, dtype=torch.float32), potentials(3, 3, dtype=torch.float32)
    gold = torch.arange(6).remainder(3).expand(4, 6)
    step = torch.optim.SGD([node, edge], lr=0.3)
    for _ in range(60):
        step.zero_grad()
        wrong = 1 - torch.nn.functional.one_hot(gold, 3)
        loss = (D.LinearChain(node + wrong, edge).max - D.LinearChain(node, edge).score(gold)).sum()
        loss.backward()
        step.step()
    assert loss == 0 and torch.equal(D.LinearChain(node, edge).argmax, gold)


def test_functional_scores_and_marginals():
    node, edge, many = torch.randn(2, 4, 3), torch.randn(3, 3), torch.randn(5, 2, 4, 3)
    y = torch.randint(3, (2, 4))
    for ask in lambda n: D.LinearChain(n, edge).max.sum(), lambda n: D.LinearChain(n, edge).score(y).sum():
        n = node.clone().requires_grad_()
        want, = torch.autograd.grad(ask(n), n)
        torch.testing.assert_close(torch.func.grad(ask)(node), want)
        torch.testing.assert_close(torch.func.vmap(torch.func.grad(ask))(many), torch.stack([torch.func.grad(ask)(n) for n in many]))
    jacobian = torch.func.jacrev(lambda n: D.LinearChain(n, edge).marginals[0])(node)
    hessian = torch.autograd.functional.hessian(lambda n: D.LinearChain(n, edge).log_partition.sum(), node)
    torch.testing.assert_close(jacobian, hessian, atol=1e-6, rtol=1e-5)


def test_derivatives_that_are_refused():
    node = torch.randn(2, 3, 2, requires_grad=True)
    g, = torch.autograd.grad(D.Graph(node, torch.zeros(2, 2, 2), [[0, 1], [1, 2]]).log_partition.sum(), node, create_graph=True)
    with pytest.raises(dsp.Error, match="no second derivatives of log_partition and nll of a graph"):
        g.sum().backward()
    g, = torch.autograd.grad(D.LinearChain(node, torch.zeros(2, 2)).log_partition.sum(), node, create_graph=True)
    h, = torch.autograd.grad((g * torch.randn_like(g)).sum(), node, create_graph=True)
    graph = D.Graph(node, torch.zeros(2, 2, 2), [[0, 1], [1, 2]])
    with pytest.raises(dsp.Error, match="no gradient of entropy and kl of a graph"):
        graph.entropy.sum().backward()
    with pytest.raises(dsp.Error, match="no third derivatives"):
        h.sum().backward()
    with pytest.raises(dsp.Error, match="no gradient of marginals of a graph"):
        graph.marginals[0].sum().backward()
    relaxed = D.Graph(node, torch.zeros(2, 2, 2), [[0, 1], [1, 2]], inference="relaxed")
    relaxed.score(relaxed.argmax).sum().backward()
    with pytest.raises(dsp.Error, match="a bound here, which has no gradient"):
        relaxed.max.sum().backward()
    chain = D.LinearChain(node, torch.zeros(2, 2))
    with pytest.raises(dsp.Error, match="no gradient of hessian_product"):
        chain.hessian_product(torch.randn(2, 3, 2), torch.zeros(2, 2))[0].sum().backward()
    g, = torch.autograd.grad((chain.marginals[0] ** 2).sum(), node, create_graph=True)
    with pytest.raises(dsp.Error, match="no second derivatives of marginals"):
        g.sum().backward()


def test_nan_reaches_the_gradient():
    node = torch.zeros(2, 3, 2)
    node[0, 1, 0] = float("nan")
    node.requires_grad_()
    D.LinearChain(node, torch.zeros(2, 2)).nll(torch.zeros(2, 3, dtype=torch.long)).sum().backward()
    assert node.grad[0].isnan().all() and node.grad[1].isfinite().all()


def test_loss_is_never_negative():
    node = torch.full((4, 30, 5), -40.0)
    node[..., 2] = 40
    assert (D.LinearChain(node, torch.randn(5, 5)).nll(torch.full((4, 30), 2)) >= 0).all()


def test_training():
    """A chain learns which label follows which."""
    node, edge = torch.zeros(8, 10, 4), torch.zeros(4, 4, requires_grad=True)
    y = torch.arange(10).remainder(4).expand(8, 10)
    step = torch.optim.SGD([edge], lr=1.0)
    losses = []
    for _ in range(30):
        step.zero_grad()
        loss = D.LinearChain(node, edge).nll(y).mean()
        loss.backward()
        step.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3 and all(a >= b for a, b in zip(losses, losses[1:]))


@pytest.mark.parametrize("sorted_", [True, False])
def test_packed_sequences(sorted_):
    """A PackedSequence answers as the padded tensor with its lengths, and has its gradients."""
    pack = torch.nn.utils.rnn.pack_padded_sequence
    lengths = torch.tensor([4, 3, 1] if sorted_ else [1, 4, 3])
    node, edge = torch.randn(3, 4, 5, requires_grad=True), torch.randn(5, 5)
    packed, padded = D.LinearChain(pack(node, lengths, True, enforce_sorted=sorted_), edge), D.LinearChain(node, edge, lengths)
    assert torch.equal(packed.argmax, padded.argmax)
    losses = packed.nll(padded.argmax), padded.nll(padded.argmax)
    torch.testing.assert_close(*losses)
    torch.testing.assert_close(*(torch.autograd.grad(x.sum(), node)[0] for x in losses))
    lines = D.CTC(pack(node, lengths, True, enforce_sorted=sorted_), blank=1), D.CTC(node, lengths, 1)
    torch.testing.assert_close(*(x.read_nll(torch.tensor([[2], [3], [0]])) for x in lines))
    with pytest.raises(dsp.Error, match="lengths and a PackedSequence"):
        D.LinearChain(pack(node, lengths, True, enforce_sorted=sorted_), edge, lengths)
    with pytest.raises(ValueError, match="emissions are a PackedSequence"):
        D.CRF(5)(pack(node, lengths, True, enforce_sorted=sorted_), padded.argmax)


def test_numbers_of_outputs():
    p = D.LinearChain(torch.randn(1, 3, 2), torch.randn(2, 2))
    assert p.topk(torch.tensor(2))[1].shape == (2, 1) and torch.equal(p.sample(2, torch.tensor(3)), p.sample(2, 3))
    for ask in lambda: p.topk(2.0), lambda: p.sample((2,)), lambda: p.sample(2, seed=torch.Generator()):
        with pytest.raises(dsp.Error, match="expected a whole number"):
            ask()


def crf(Y=5, **options):
    c = D.CRF(Y, **options)
    with torch.no_grad():
        for p in c.parameters():
            p.normal_()
    return c


def likelihood(c, emissions, tags, mask):
    """By enumeration, of one sequence [T, Y]."""
    import itertools

    kept = [t for t in range(len(tags)) if mask[t]]

    def score(y):
        s = c.start_transitions[y[0]] + c.end_transitions[y[-1]]
        s = s + sum(emissions[t, l] for t, l in zip(kept, y))
        return s + sum(c.transitions[a, b] for a, b in zip(y, y[1:]))

    every = torch.stack([score(y) for y in itertools.product(range(c.num_tags), repeat=len(kept))])
    return score([int(tags[t]) for t in kept]) - every.logsumexp(0)


@pytest.mark.parametrize("batch_first", [False, True])
def test_crf_by_enumeration(batch_first):
    c = crf(3, batch_first=batch_first, any_mask=True).double()
    emissions, tags = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True), torch.randint(3, (2, 4))
    mask = torch.tensor([[0, 1, 0, 1], [1, 1, 1, 1]], dtype=torch.uint8)
    want = torch.stack([likelihood(c, emissions[b], tags[b], mask[b]) for b in range(2)])
    turn = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    got = c(turn(emissions), turn(tags), turn(mask), reduction="none")
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(c(turn(emissions), turn(tags), turn(mask), reduction="token_mean"), want.sum() / 6, atol=1e-5, rtol=1e-5)
    wanted = [emissions, *c.parameters()]
    for a, b in zip(torch.autograd.grad(got.sum(), wanted), torch.autograd.grad(want.sum(), wanted)):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)
    assert [len(y) for y in c.decode(turn(emissions), turn(mask))] == [2, 4]
    torch.testing.assert_close(turn(c.marginals(turn(emissions), turn(mask)))[1].sum(-1), torch.ones(4, dtype=torch.float64))


def test_crf_messages():
    c = D.CRF(3)
    assert repr(c) == "CRF(num_tags=3)" and c.batch_first is False
    assert set(dict(c.named_parameters())) == {"start_transitions", "end_transitions", "transitions"}
    assert all((p.abs() <= 0.1).all() for p in c.parameters())
    e, y = torch.randn(4, 2, 3), torch.zeros(4, 2, dtype=torch.long)
    for call, words in (
        (lambda: D.CRF(0), "invalid number of tags: 0"),
        (lambda: c(e[0], y), "emissions must have dimension of 3, got 2"),
        (lambda: c(e, y[0]), r"the first two dimensions of emissions and tags must match, got \(4, 2\) and \(2,\)"),
        (lambda: c(e[..., :2], y), "expected last dimension of emissions is 3, got 2"),
        (lambda: c(e, y, torch.ones(4, 3)), "the first two dimensions of emissions and mask must match"),
        (lambda: c(e, y, torch.tensor([[0, 1], [1, 1], [1, 1], [1, 1]])), "mask of the first timestep must all be on"),
        (lambda: c(e, y, reduction="foo"), "invalid reduction: foo"),
        (lambda: D.CRF(3, any_mask=True)(e, y, torch.zeros(4, 2), "token_mean"), "token_mean of no tokens"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_crf_of_a_batch():
    """A batch has the answers of its sequences, one by one and with batches first; decode gives numbers of Python."""
    c, turned = crf(4), crf(4, batch_first=True)
    turned.load_state_dict(c.state_dict())
    e, y, n = torch.randn(6, 5, 4), torch.randint(4, (6, 5)), torch.tensor([6, 3, 1, 5, 6])
    mask = (torch.arange(6)[:, None] < n).to(torch.uint8)
    alone = [(e[:k, b:b + 1], y[:k, b:b + 1]) for b, k in enumerate(n.tolist())]
    torch.testing.assert_close(c(e, y, mask, reduction="none"), torch.stack([c(*x) for x in alone]), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(turned(e.transpose(0, 1), y.T, mask.T, reduction="none"), c(e, y, mask, reduction="none"))
    torch.testing.assert_close(c(e, y, mask.fill_(1)), c(e, y))
    mask = torch.arange(6)[:, None] < n
    best = c.decode(e, mask)
    assert best == [c.decode(x)[0] for x, _ in alone] == turned.decode(e.transpose(0, 1), mask.T)
    assert all(type(t) is int for row in best for t in row)
    for call in (lambda: c.decode(e, ~mask), lambda: turned.decode(e.transpose(0, 1), ~mask.T), lambda: c.marginals(e, ~mask)):
        with pytest.raises(ValueError, match="mask of the first timestep must all be on"):
            call()


def test_crf_is_a_module():
    c = crf()
    other = copy.deepcopy(c)
    buffer = io.BytesIO()
    torch.save(c.state_dict(), buffer)
    buffer.seek(0)
    other.load_state_dict(torch.load(buffer))
    e, y = torch.randn(6, 2, 5), torch.randint(5, (6, 2))
    assert torch.equal(c(e, y), other(e, y))


def test_crf_beside_pytorch_crf():
    theirs = pytest.importorskip("torchcrf").CRF
    for seed in range(20):
        torch.manual_seed(seed)
        T, B, Y = int(torch.randint(1, 9, ())), int(torch.randint(1, 5, ())), int(torch.randint(1, 6, ()))
        a = theirs(Y)
        b = D.CRF(Y)
        b.load_state_dict(a.state_dict())
        e1 = torch.randn(T, B, Y, requires_grad=True)
        e2 = e1.detach().clone().requires_grad_()
        y = torch.randint(Y, (T, B))
        mask = torch.arange(T)[:, None] < torch.randint(1, T + 1, (B,))
        for reduction in ("none", "sum", "mean", "token_mean"):
            x1, x2 = a(e1, y, mask, reduction), b(e2, y, mask, reduction)
            torch.testing.assert_close(x1, x2, atol=1e-4, rtol=1e-4)
        x1.sum().backward()
        x2.sum().backward()
        torch.testing.assert_close(e1.grad, e2.grad, atol=1e-4, rtol=1e-4)
        for p, q in zip(a.parameters(), b.parameters()):
            theirs_ = torch.zeros_like(p) if p.grad is None else p.grad
            torch.testing.assert_close(theirs_, q.grad, atol=1e-4, rtol=1e-4)
        assert a.decode(e1, mask) == b.decode(e2, mask)

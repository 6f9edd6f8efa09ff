"""The work of dsp bench --device cuda in PyTorch, in the ways in which people write it.

    python bench/torch_crf.py [--device cuda] [--small] [--check] [--json]

Chains of one length, B=4096, T=64, Y=32: Viterbi with paths and forward-backward with all marginals, as a loop over T like
pytorch-crf's (but it follows the path back by gather, not label by label in Python), as the same loop under torch.compile, and as a
scan over pairs of positions in the log semiring like torch-struct's. Marginals are derivatives of log Z. Dependency trees with relations, B=1024, 32 words,
R=40, by the determinant of a Laplacian. Then an SGD step of an MLP 300→200→25 with a CRF over 65,536 positions: eager, and captured as a CUDA graph.

Times are medians of many repeats after a warm-up, measured by CUDA events. --check compares everything with numpy in float64 on
small chains; --small makes the sizes fit a CPU.
"""

import argparse
import itertools
import json
import statistics
import sys
import time

import numpy as np
import torch


# Log Z of chains: node [B,T,Y], edge [Y,Y] (row: from), mask [B,T] (true inside), all chains have a position.


def log_z_loop(node, edge, mask):
    score = node[:, 0]
    for t in range(1, node.shape[1]):
        following = torch.logsumexp(score[:, :, None] + edge + node[:, t, None, :], dim=1)
        score = torch.where(mask[:, t, None], following, score)
    return torch.logsumexp(score, dim=1)


def log_multiply(a, b):
    """Multiplies matrices in the log semiring: log Σ_k exp(a_ik + b_kj), by an ordinary product after subtracting the maxima. An entry of that
    product that underflows to 0 has no derivative."""
    top_a, top_b = a.amax(-1, keepdim=True).detach(), b.amax(-2, keepdim=True).detach()
    product = torch.matmul(torch.exp(a - top_a), torch.exp(b - top_b))
    return torch.log(product.clamp_min(torch.finfo(product.dtype).tiny)) + top_a + top_b


def log_z_scan(node, edge, mask):
    """Steps are matrices [Y,Y], multiplied in pairs; a step beyond the end of its chain is the identity: 0 on the diagonal, −∞ off it."""
    labels = node.shape[2]
    identity = torch.full((labels, labels), -1e9, device=node.device, dtype=node.dtype).fill_diagonal_(0)
    steps = torch.where(mask[:, 1:, None, None], edge + node[:, 1:, None, :], identity)
    while steps.shape[1] > 1:
        if steps.shape[1] % 2:
            steps = torch.cat([steps, identity.expand(len(steps), 1, labels, labels)], 1)
        steps = log_multiply(steps[:, 0::2], steps[:, 1::2])
    last = node[:, 0]
    if steps.shape[1]:
        last = torch.logsumexp(last[:, :, None] + steps[:, 0], dim=1)
    return torch.logsumexp(last, dim=1)


def viterbi(node, edge, mask):
    """Returns the scores [B] and labels [B,T] of the best outputs; labels beyond the end of a chain repeat its last one."""
    score, back = node[:, 0], []
    stay = torch.arange(node.shape[2], device=node.device).expand(len(node), -1)
    for t in range(1, node.shape[1]):
        following, where = (score[:, :, None] + edge).max(dim=1)
        inside = mask[:, t, None]
        score = torch.where(inside, following + node[:, t], score)
        back.append(torch.where(inside, where, stay))
    value, label = score.max(dim=1)
    path = [label]
    for where in reversed(back):
        label = where.gather(1, label[:, None])[:, 0]
        path.append(label)
    return value, torch.stack(path[::-1], 1)


def gold_score(node, edge, mask, gold):
    inside = mask.to(node.dtype)
    score = (node.gather(2, gold[:, :, None])[:, :, 0] * inside).sum(1)
    return score + (edge[gold[:, :-1], gold[:, 1:]] * inside[:, 1:]).sum(1)


def with_marginals(log_z):
    """Returns a function that gives log Z [B], the node marginals [B,T,Y] and the edge marginals summed over the batch [Y,Y]."""

    def run(node, edge, mask):
        node, edge = node.detach().requires_grad_(), edge.detach().requires_grad_()
        value = log_z(node, edge, mask)
        return value.detach(), *torch.autograd.grad(value.sum(), (node, edge), materialize_grads=True)  # chains of one position use no edge

    return run


def log_z_trees(arc, label):
    """Sums over trees with one root arc (Koo et al. 2007): arc [B,n,n] and label [B,n,n,R] by dependent and head, the root's on the diagonal."""
    score = arc + torch.logsumexp(label, dim=3)
    top = score.max(dim=2, keepdim=True).values
    weight = torch.exp(score - top)
    root = torch.diagonal(weight, dim1=1, dim2=2)
    heads = weight - torch.diag_embed(root)
    laplacian = torch.diag_embed(heads.sum(2)) - heads
    laplacian = torch.cat([root[:, :, None], laplacian[:, :, 1:]], dim=2)
    return torch.linalg.slogdet(laplacian).logabsdet + top.sum((1, 2))


def tree_rows(args, device):
    batch, words, relations = (4, 6, 3) if args.small else (1024, 32, 40)
    generator = torch.Generator().manual_seed(4)
    arc = torch.randn(batch, words, words, generator=generator).to(device).requires_grad_()
    label = torch.randn(batch, words, words, relations, generator=generator).to(device).requires_grad_()

    def run():
        torch.autograd.grad(log_z_trees(arc, label).sum(), (arc, label))

    yield "trees", "eager", run


class Tagger(torch.nn.Module):
    def __init__(self, features, hidden, labels):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(features, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, labels))
        self.edge = torch.nn.Parameter(torch.zeros(labels, labels))

    def forward(self, x, mask, gold):
        node = self.layers(x)
        return (log_z_loop(node, self.edge, mask) - gold_score(node, self.edge, mask, gold)).mean()


class Clock:
    def __init__(self, device, seconds):
        self.cuda, self.seconds = device.type == "cuda", seconds

    def __call__(self, run):
        """Returns the median milliseconds of run, and the number of repeats. Each measurement spans enough runs in a row that the
        host's time to launch the first one does not matter."""
        for _ in range(3):
            once = self.together(run, 1)
        count = int(min(max(1 / max(once, 1e-6), 1), 50))
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < 5 or time.perf_counter() < end and len(times) < 1000:
            times.append(self.together(run, count))
        return statistics.median(times), count * len(times)

    def together(self, run, count):
        if not self.cuda:
            start = time.perf_counter()
            for _ in range(count):
                run()
            return (time.perf_counter() - start) * 1e3 / count
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(count):
            run()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / count


def chains(batch, length, labels, device, ragged=False, dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)
    node = torch.randn(batch, length, labels, generator=generator, dtype=dtype)
    edge = torch.randn(labels, labels, generator=generator, dtype=dtype)
    lengths = torch.randint(1, length + 1, (batch,), generator=generator) if ragged else torch.full((batch,), length)
    mask = torch.arange(length)[None] < lengths[:, None]
    return node.to(device), edge.to(device), mask.to(device)


def oracle_rows(args, device):
    batch, length, labels = (64, 8, 8) if args.small else (4096, 64, 32)
    node, edge, mask = chains(batch, length, labels, device)
    ways = {
        "viterbi": [("loop", viterbi), ("compiled", viterbi)],
        "forward-backward": [
            ("loop", with_marginals(log_z_loop)),
            ("compiled", with_marginals(torch.compile(log_z_loop))),
            ("scan", with_marginals(log_z_scan)),
        ],
    }
    for what, variants in ways.items():
        for how, run in variants:
            if how == "compiled":
                if args.small:
                    continue  # compiling takes too long for a test
                if what == "viterbi":
                    run = torch.compile(run)
            yield what, how, lambda run=run: run(node, edge, mask)


def step_rows(args, device):
    batch, length, features, hidden, labels = (32, 8, 30, 20, 5) if args.small else (1024, 64, 300, 200, 25)
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(batch, length, features, generator=generator).to(device)
    gold = torch.randint(0, labels, (batch, length), generator=generator).to(device)
    mask = torch.ones(batch, length, dtype=torch.bool, device=device)
    torch.manual_seed(3)
    net = Tagger(features, hidden, labels).to(device)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01)

    def step():
        sgd.zero_grad(set_to_none=True)
        net(x, mask, gold).backward()
        sgd.step()

    yield "mlp step", "eager", step
    if device.type != "cuda":
        return
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    sgd.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        net(x, mask, gold).backward()
        sgd.step()
    yield "mlp step", "graph", graph.replay


def reference(node, edge, length):
    """Computes log Z, node marginals, edge marginals, and the best score and labels of one chain with numpy, in float64."""

    def total(x, axis):
        top = x.max(axis, keepdims=True)
        return np.log(np.exp(x - top).sum(axis)) + top.squeeze(axis)

    forward, backward = node[:length].copy(), np.zeros_like(node[:length])
    best, back = node[0], []
    for t in range(1, length):
        forward[t] += total(forward[t - 1][:, None] + edge, 0)
        paths = best[:, None] + edge
        back.append(paths.argmax(0))
        best = paths.max(0) + node[t]
    for t in range(length - 2, -1, -1):
        backward[t] = total(edge + node[t + 1] + backward[t + 1], 1)
    log_z = total(forward[-1], 0)
    pairs = np.zeros_like(edge)
    for t in range(1, length):
        pairs += np.exp(forward[t - 1][:, None] + edge + node[t] + backward[t] - log_z)
    path = [int(best.argmax())]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return log_z, np.exp(forward + backward - log_z), pairs, best.max(), path[::-1]


def check_trees():
    generator = torch.Generator().manual_seed(5)
    for words in (1, 2, 3, 4):
        arc = torch.randn(1, words, words, generator=generator, dtype=torch.float64)
        label = torch.randn(1, words, words, 2, generator=generator, dtype=torch.float64)
        score, total = (arc + torch.logsumexp(label, 3))[0].numpy(), 0.0
        for heads in itertools.product(range(words), repeat=words):  # a word that is its own head is the root
            reached = [d for d in range(words) if heads[d] == d]
            if len(reached) != 1:
                continue
            for h in reached:
                reached += [d for d in range(words) if heads[d] == h and d != h]
            if len(reached) == words:
                total += np.exp(sum(score[d, h] for d, h in enumerate(heads)))
        value = log_z_trees(arc, label).item()
        assert abs(value - np.log(total)) < 1e-9, f"trees of {words} words: log Z {value}, want {np.log(total)}"


def check():
    check_trees()
    for length in (1, 2, 7, 8):
        node, edge, mask = chains(5, length, 4, torch.device("cpu"), ragged=True, dtype=torch.float64)
        want = [reference(n, edge.numpy(), int(m.sum())) for n, m in zip(node.numpy(), mask)]
        value, path = viterbi(node, edge, mask)
        for b, (log_z, marginals, _, best, labels) in enumerate(want):
            assert abs(value[b] - best) < 1e-9, f"Viterbi, T={length}: {value[b]}, want {best}"
            assert path[b, : len(labels)].tolist() == labels, f"Viterbi, T={length}: {path[b]}, want {labels}"
        for name, log_z in (("loop", log_z_loop), ("scan", log_z_scan)):
            values, nodes, pairs = with_marginals(log_z)(node, edge, mask)
            for b, w in enumerate(want):
                assert abs(values[b] - w[0]) < 1e-9, f"{name}, T={length}: log Z {values[b]}, want {w[0]}"
                np.testing.assert_allclose(nodes[b, : len(w[1])], w[1], atol=1e-9, err_msg=name)
                assert not nodes[b, len(w[1]) :].any(), f"{name}, T={length}: marginals beyond the end of a chain"
            np.testing.assert_allclose(pairs, sum(w[2] for w in want), atol=1e-9, err_msg=name)
    print("loop, scan, Viterbi and trees agree with numpy", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU, nothing compiled")
    parser.add_argument("--check", action="store_true", help="compare with numpy first")
    parser.add_argument("--seconds", type=float, default=1, help="seconds to spend on each measurement")
    parser.add_argument("--tf32", action="store_true", help="let matrix products round to TF32")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    device = torch.device(args.device)
    torch.backends.cuda.matmul.allow_tf32 = args.tf32
    if args.check:
        check()
    clock, rows = Clock(device, args.seconds), []
    for part in (oracle_rows, tree_rows, step_rows):
        for what, how, run in part(args, device):
            milliseconds, repeats = clock(run)
            rows.append({"what": what, "how": how, "milliseconds": milliseconds, "repeats": repeats})
            if not args.json:
                print(f"{what:20} {how:10} {milliseconds:10.3f} ms", flush=True)
    if args.json:
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        print(json.dumps({"torch": torch.__version__, "device": name, "rows": rows}))


if __name__ == "__main__":
    main()

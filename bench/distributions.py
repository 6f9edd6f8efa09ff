"""Questions about distributions, answered by dsp, by torch-struct, and by enumeration.

    pip install torch numpy torch-struct
    python bench/distributions.py [--dsp build/dsp] [--threads 1] [--no-times]

Models with little training on random features give random potentials, which dsp exports. Its answers about them are compared with those of
torch-struct in float64, and where outputs are few with enumeration: value (log Z), marginals, entropy, KL of two models, best and K best.
torch-struct is asked only what it answers correctly: chains, and trees with one root (its non-projective trees allow several).
Then it is timed on batches of 32, beside dsp bench.
"""

import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np
import torch
import torch_struct

TOLERANCE = 2e-5
warnings.filterwarnings("ignore", category=UserWarning)


def run(dsp, *args):
    return subprocess.run([dsp, *map(str, args)], check=True, capture_output=True, text=True).stdout


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


class Table:
    """Largest differences, by question and reference."""

    def __init__(self):
        self.most = {}

    def add(self, question, reference, got, want):
        want = want.detach().numpy() if torch.is_tensor(want) else want
        difference = float(np.max(np.abs(np.asarray(got, dtype=float) - np.asarray(want, dtype=float)) / (1 + np.abs(np.asarray(want, dtype=float)))))
        key = question, reference
        self.most[key] = max(self.most.get(key, 0), difference)
        if not difference <= TOLERANCE:
            raise SystemExit(f"{question}: {got} by dsp, {want} by {reference}")

    def show(self):
        for (question, reference), difference in self.most.items():
            print(f"{question:32} {reference:14} {difference:.1e}")


def chain_file(path, r, sequences, length, labels):
    np.savez(path, features=r.normal(size=(sequences * length, labels)).astype(np.float32), lengths=np.full(sequences, length),
             labels=r.integers(0, labels, sequences * length))


def log_potentials(node, edge):
    """Node [B,T,Y] and edge [Y,Y] as torch-struct has them: [B,T-1,Y,Y], to the label of the second last axis."""
    steps = edge.T[None, None] + node[:, 1:, :, None]
    steps = np.repeat(steps, len(node), 0) if len(steps) != len(node) else steps.copy()
    steps[:, 0] += node[:, 0, None, :]
    return torch.tensor(steps)


def enumerated(node, edge, best):
    """log Z, marginals, entropy and the best scores of one chain."""
    length, labels = node.shape
    outputs = list(itertools.product(range(labels), repeat=length))
    scores = np.array([sum(node[t, y] for t, y in enumerate(o)) + sum(edge[a, b] for a, b in zip(o, o[1:])) for o in outputs])
    log_z = scores.max() + math.log(np.exp(scores - scores.max()).sum())
    p = np.exp(scores - log_z)
    marginals = np.zeros((length, labels))
    for o, q in zip(outputs, p):
        marginals[range(length), o] += q
    return log_z, marginals, -(p * np.log(p)).sum(), np.sort(scores)[::-1][:best], p


def chains(dsp, folder, table):
    for name, sequences, length, labels in (("few", 6, 4, 3), ("many", 8, 30, 10)):
        theta, models, data = [], [], os.path.join(folder, f"{name}.npz")
        chain_file(data, np.random.default_rng(1), sequences, length, labels)
        for k in range(2):
            train, model, out = os.path.join(folder, f"{name}{k}.train.npz"), os.path.join(folder, name + str(k)), os.path.join(folder, f"{name}{k}.npz")
            chain_file(train, np.random.default_rng(2 + k), 20, length, labels)
            run(dsp, "train", "--task", "tag", "--train", train, "--net", "linear", "--loss", "crf", "--reg", 0.01, "--passes", 20, "--out", model, "--quiet")
            run(dsp, "export", "--model", model, "--data", data, "--to", out)
            f = np.load(out)
            theta.append((f["node"].astype(float).reshape(sequences, length, labels), f["edge"].astype(float)))
            models.append(model)
        answers = objects(run(dsp, "predict", "--model", models[0], "--input", data, "--marginals", "--entropy", "--nbest", 5, "--json"))
        kl = json.loads(run(dsp, "eval", "--model", models[0], "--data", data, "--against", models[1], "--kl", "--json").splitlines()[-1])["against"]["divergence"]
        p, q = (torch_struct.LinearChainCRF(log_potentials(*t)) for t in theta)
        log_z = np.array([a["score"] - math.log(a["probability"]) for a in answers])
        scores = np.array([[n["score"] for n in a["nbest"]] for a in answers])
        arcs = p.marginals.detach().numpy()  # [B,T-1,Y,Y], to the label of the second last axis
        node = np.concatenate([arcs[:, :1].sum(-2), arcs.sum(-1)], 1)
        about = f"chains, T={length}, Y={labels}: "
        for question, got, want in (
            ("value", log_z, p.partition), ("marginals", [a["marginals"] for a in answers], node), ("entropy", [a["entropy"] for a in answers], p.entropy),
            ("KL", kl["kl"], (p.cross_entropy(q) - p.entropy).mean()), ("best", scores[:, 0], p.max), ("5 best", scores, p.kmax(5).T),
        ):
            table.add(about + question, "torch-struct", got, want)
        if labels**length > 1000:
            continue
        total = 0
        for b, a in enumerate(answers):
            value, marginals, entropy, best, share = enumerated(theta[0][0][b], theta[0][1], 5)
            other = enumerated(theta[1][0][b], theta[1][1], 5)[4]
            total += (share * np.log(share / other)).sum()
            for question, got, want in (("value", log_z[b], value), ("marginals", a["marginals"], marginals), ("entropy", a["entropy"], entropy),
                                        ("best", scores[b, 0], best[0]), ("5 best", scores[b], best)):
                table.add(about + question, "enumeration", got, want)
        table.add(about + "KL", "enumeration", kl["kl"], total / sequences)


def dependencies(weight):
    """Weights [B, head, dependent], of the root on the diagonal. torch-struct writes into its input, which autograd forbids of a leaf."""
    return torch_struct.DependencyCRF(weight.clone().requires_grad_() + 0, multiroot=False)


def is_tree(heads, projective):
    if heads.count(0) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    spans = [(min(d, h), max(d, h)) for d, h in enumerate(heads, 1)]
    return not projective or not any(a < c < b < d for a, b in spans for c, d in spans)


def trees(dsp, folder, table):
    treebank = os.path.join(folder, "trees")
    run(dsp, "data", "trees", "--out", treebank, "--examples", "60,5,40")
    for kind in ("projective", "nonprojective"):
        model, out = os.path.join(folder, kind), os.path.join(folder, kind + ".npz")
        run(dsp, "train", "--task", "parse", "--train", os.path.join(treebank, "train.conllu"), "--net", "linear", "--tree", kind, "--passes", 1, "--out", model, "--quiet")
        data = os.path.join(folder, "trees.conllu")
        shorten(os.path.join(treebank, "test.conllu"), data)
        run(dsp, "export", "--model", model, "--data", data, "--to", out)
        f = np.load(out)
        answers = objects(run(dsp, "predict", "--model", model, "--input", data, "--marginals", "--entropy", "--json"))
        label = f["label"].astype(float).reshape(-1, f["label"].shape[-1])
        arc = f["arc"].astype(float).reshape(-1)
        row, few = 0, 0
        for a in answers:
            n = len(a["heads"])
            rows = slice(row, row + n * n)
            row += n * n
            relations = label[rows].reshape(n, n, -1)
            top = relations.max(-1)
            share = np.exp(relations - top[..., None])
            weight = arc[rows].reshape(n, n) + top + np.log(share.sum(-1))  # dependent, head; the diagonal is the root
            share /= share.sum(-1, keepdims=True)
            inside = -(share * np.log(np.maximum(share, 1e-300))).sum(-1)  # entropy of an arc's relations
            value = a["score"] - math.log(a["probability"])
            marginals = np.array(a["marginals"])  # [n, n+1], the root first
            own = np.concatenate([marginals[:, :1] * np.diag(inside)[:, None], marginals[:, 1:] * inside], 1).sum()
            about = f"{kind} trees: "
            if kind == "projective":
                p = dependencies(torch.tensor(weight.T[None].copy()))
                want = p.marginals[0].detach().numpy().T
                want = np.concatenate([np.diag(want)[:, None], want - np.diag(np.diag(want))], 1)
                for question, got, expected in (("value", value, p.partition[0]), ("marginals", marginals, want), ("entropy", a["entropy"] - own, p.entropy[0])):
                    table.add(about + question, "torch-struct", got, expected)
            if n > 5:
                continue
            few += 1
            scores, total = [], np.zeros((n, n + 1))
            outputs = [h for h in itertools.product(range(n + 1), repeat=n) if is_tree(list(h), kind == "projective")]
            scores = np.array([sum(weight[d, d if h == 0 else h - 1] for d, h in enumerate(o)) for o in outputs])
            log_z = scores.max() + math.log(np.exp(scores - scores.max()).sum())
            share = np.exp(scores - log_z)
            for o, q in zip(outputs, share):
                total[range(n), o] += q
            entropy = -(share * np.log(np.maximum(share, 1e-300))).sum()
            for question, got, expected in (("value", value, log_z), ("marginals", marginals, total), ("entropy", a["entropy"] - own, entropy)):
                table.add(about + question, "enumeration", got, expected)
        print(f"{kind} trees: {len(answers)} sentences, {few} of them short enough to enumerate")


def shorten(path, to):
    """Appends to the sentences of a treebank the first four words of each, with some tree."""
    with open(path) as f:
        text = f.read()
    short = []
    for sentence in text.strip().split("\n\n"):
        words = [line.split("\t") for line in sentence.splitlines() if line[:1].isdigit()][:4]
        for k, w in enumerate(words):
            w[6], w[7] = ("0", "root") if k == 0 else ("1", w[7])
        short.append("\n".join("\t".join(w) for w in words))
    with open(to, "w") as f:
        f.write(text + "\n\n".join(short) + "\n\n")


def timed(what, least=5):
    if least > 1:
        what()
    times = []
    while len(times) < least or sum(times) < 2 and len(times) < 50:
        begun = time.process_time()
        what()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def times(dsp):
    r = np.random.default_rng(1)
    chain = log_potentials(r.normal(size=(32, 50, 25)), r.normal(size=(25, 25))).float()
    tree = torch.tensor(r.normal(size=(32, 25, 25))).float()
    print("torch-struct, batches of 32, per second:")
    for name, make in (("chains, T=50, Y=25", lambda: torch_struct.LinearChainCRF(chain)), ("projective trees, n=25", lambda: dependencies(tree))):
        for question in ("max", "marginals", "entropy"):
            print(f"  {name + ', ' + question:40} {32 / timed(lambda: getattr(make(), question)):10.0f}")
    segments, spans = torch.randn(2, 100, 10, 10, 10).float(), torch.randn(32, 30, 30, 20).float()
    print("torch-struct, per second; go test -bench of oracles/segment and oracles/constituent has those of dsp:")
    for name, batch, make in (("segments, T=100, L=10, Y=10", 2, lambda: torch_struct.SemiMarkovCRF(segments.clone())),
                              ("constituents, n=30, 20 labels", 32, lambda: torch_struct.TreeCRF(spans.clone()))):
        for question in ("argmax", "marginals"):
            print(f"  {name + ', ' + question:40} {batch / timed(lambda: getattr(make(), question), 1):10.2f}")
    print("dsp bench, one thread:")
    for line in run(dsp, "bench", "--seconds", 0.2).splitlines():
        if "oracle, chain, 25" in line or "tree, 25 words, 1 relation" in line:
            print("  " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="build/dsp")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-times", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_default_dtype(torch.float64)
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        chains(args.dsp, folder, table)
        trees(args.dsp, folder, table)
    print("largest differences, relative to 1 + |value|:")
    table.show()
    if not args.no_times:
        times(args.dsp)


if __name__ == "__main__":
    main()

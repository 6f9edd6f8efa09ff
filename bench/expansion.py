"""Alpha-expansion of dsp beside gco-wrapper (Boykov, Veksler and Zabih's own code).

    python bench/expansion.py [--dsp bin/dsp] [--side 40] [--labels 5] [--graphs 20]

Draws grids with blobs of several labels, trains Potts weights on some of them with dsp, and finds labels of the others with "dsp predict --decode expansion" and, from the
potentials that dsp exports, with gco's expansion (PyPI: gco-wrapper). It prints the sum of the scores of each, dsp's bound of the best, and seconds: of dsp's whole command, reading and writing included, and of gco's calls. gco needs weights of edges that are not
negative: a weight below 0 counts as 0 for both. Programs differ in the order of moves, so that neither is always ahead.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import gco
import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write(path, rng, graphs, side, labels):
    """Writes grids in which each variable has the label of the nearest of a few centres, and features that tell it with noise."""
    number = numpy.arange(side * side).reshape(side, side)
    edges = numpy.concatenate([numpy.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1), numpy.stack([number[:-1].ravel(), number[1:].ravel()], 1)])
    y, x = numpy.mgrid[:side, :side]
    gold = []
    for _ in range(graphs):
        centres = rng.random((2 * labels, 2)) * side
        nearest = ((x[..., None] - centres[:, 0]) ** 2 + (y[..., None] - centres[:, 1]) ** 2).argmin(2)
        gold.append(nearest.ravel() % labels)
    gold = numpy.concatenate(gold)
    features = numpy.eye(labels)[gold] + 1.2 * rng.standard_normal((len(gold), labels))
    numpy.savez(path, node_features=features.astype("f4"), edges=numpy.tile(edges, (graphs, 1)), labels=gold,
                sizes=numpy.tile([side * side, len(edges)], (graphs, 1)))
    return edges


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--dsp", default=str(ROOT / "bin" / "dsp"))
    parse.add_argument("--side", type=int, default=40)
    parse.add_argument("--labels", type=int, default=5)
    parse.add_argument("--graphs", type=int, default=20)
    args = parse.parse_args()
    rng = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        def dsp(*words):
            return subprocess.run([args.dsp, *words], check=True, capture_output=True, text=True).stdout

        write(folder + "/train.npz", rng, 5, 12, args.labels)
        edges = write(folder + "/test.npz", rng, args.graphs, args.side, args.labels)
        dsp("train", "--task", "graph", "--train", folder + "/train.npz", "--edges", "potts", "--oracle", "relaxed", "--method", "bcpfw", "--passes", "30", "--quiet", "--out", folder + "/run")
        begin = time.perf_counter()
        answers = [json.loads(line) for line in dsp("predict", "--model", folder + "/run", "--input", folder + "/test.npz", "--decode", "expansion", "--json").splitlines()]
        took = time.perf_counter() - begin
        dsp("export", "--model", folder + "/run", "--data", folder + "/test.npz", "--to", folder + "/p.npz")
        potentials = numpy.load(folder + "/p.npz")
        node = potentials["node"].reshape(args.graphs, -1, args.labels).astype("f8")
        edge = potentials["edge"].reshape(args.graphs, -1).astype("f8")
    seconds, theirs = 0.0, 0.0
    for theta, weight in zip(node, edge):
        begin = time.perf_counter()
        found = gco.cut_general_graph(edges.astype("i4"), numpy.maximum(weight, 0), -theta, 1 - numpy.eye(args.labels), algorithm="expansion")
        seconds += time.perf_counter() - begin
        theirs += theta[numpy.arange(len(found)), found].sum() + weight[found[edges[:, 0]] == found[edges[:, 1]]].sum()
    ours, bound = sum(a["score"] for a in answers), sum(a.get("bound", a["score"]) for a in answers)
    print("| grids | labels | edges below 0 | score, dsp | score, gco | bound, dsp | dsp, s | gco, s |\n|---|" + "---:|" * 7)
    print(f"| {args.graphs} of {args.side}×{args.side} | {args.labels} | {(edge < 0).mean():.1%} | {ours:,.2f} | {theirs:,.2f} | {bound:,.2f} | {took:.2f} | {seconds:.2f} |")


if __name__ == "__main__":
    main()

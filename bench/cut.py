"""dsp's minimum cuts beside PyMaxflow.

    python bench/cut.py [--rounds 5] [--seed 1]

Draws grids with two labels and Potts weights, with 4 and with 8 neighbours: image-like ones (blobs with noise, edges that are weak where
the colours differ) and random ones. It finds the best labels with PyMaxflow (PyPI) and with oracles/cut, whose test program this script
builds. Both use one thread, and take turns. The best scores must agree. It prints, as Markdown, the least milliseconds of all rounds: PyMaxflow's
maxflow() alone, and with setting its capacities; dsp's Max, which always reads the potentials; and dsp's max-marginals of all variables.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import maxflow
import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = [(64, 64), (240, 320), (1024, 1024)]
CALLS = 3  # per round
STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def build(folder):
    program = folder / "cut.test"
    subprocess.run(["go", "test", "-c", "-o", program, "./oracles/cut"], cwd=ROOT, check=True,
                   env=os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"})
    return program


def grid(height, width, neighbours):
    """Returns the two ends and the length of every edge."""
    number = numpy.arange(height * width, dtype=numpy.int32).reshape(height, width)
    first, second, length = [], [], []
    for down, right in STEPS[:neighbours // 2]:
        a = number[:height - down, max(0, -right):width - max(0, right)]
        b = number[down:, max(0, right):width + min(0, right)]
        first.append(a.ravel())
        second.append(b.ravel())
        length.append(numpy.full(a.size, numpy.hypot(down, right)))
    return numpy.concatenate(first), numpy.concatenate(second), numpy.concatenate(length)


def image(rng, height, width, neighbours):
    y, x = numpy.mgrid[:height, :width]
    blobs = numpy.sin(x / 17) * numpy.cos(y / 23) + numpy.sin((x + y) / 31) > 0.3
    colour = (rng.standard_normal((height, width)) * 0.8 - 0.5 + blobs).ravel()
    a, b, length = grid(height, width, neighbours)
    node = numpy.stack([numpy.zeros_like(colour), 2 * colour], axis=1)
    return node, a, b, (0.1 + 2 * numpy.exp(-2 * (colour[a] - colour[b]) ** 2)) / length


def noise(rng, height, width, neighbours):
    a, b, _ = grid(height, width, neighbours)
    return rng.standard_normal((height * width, 2)), a, b, rng.random(len(a))


def pymaxflow(node, a, b, same, rounds):
    """Returns the seconds of maxflow(), those with setting the capacities, and the best score."""
    alone, whole = [], []
    most = node.max(axis=1, keepdims=True)
    cost = most - node
    for _ in range(rounds):
        begin = time.perf_counter()
        g = maxflow.GraphFloat(len(node), len(a))
        nodes = g.add_nodes(len(node))
        g.add_grid_tedges(nodes, cost[:, 1], cost[:, 0])
        g.add_edges(a, b, same, same)
        start = time.perf_counter()
        value = g.maxflow()
        end = time.perf_counter()
        alone.append(end - start)
        whole.append(end - begin)
    return alone, whole, most.sum() + same.sum() - value


def dsp(program, node, a, b, same, rounds, folder):
    with open(folder / "problem", "wb") as f:
        numpy.array([len(node), len(a)], dtype=numpy.int32).tofile(f)
        node.astype(numpy.float32).tofile(f)
        numpy.stack([a, b], axis=1).astype(numpy.int32).tofile(f)
        same.astype(numpy.float32).tofile(f)
    out = subprocess.run([program, "-test.run", "^TestTimes$", "-problem", folder / "problem", "-rounds", str(rounds)],
                         check=True, capture_output=True, text=True, env=os.environ | {"GOMAXPROCS": "1"})
    return json.loads(out.stdout.splitlines()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = numpy.random.default_rng(args.seed)
    print(f"PyMaxflow {importlib.metadata.version('PyMaxflow')}; least ms; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
    print("| weights | grid | neighbours | maxflow() | with capacities | dsp | dsp/maxflow() | max-marginals | in cuts |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        for draw in image, noise:
            for height, width in SIZES:
                for neighbours in 4, 8:
                    node, a, b, same = draw(rng, height, width, neighbours)
                    node, same = node.astype(numpy.float32).astype(float), same.astype(numpy.float32).astype(float)
                    alone, whole, ours, marginal, value = [], [], [], [], 0
                    for _ in range(args.rounds):
                        one, all_, best = pymaxflow(node, a, b, same, CALLS)
                        times = dsp(program, node, a, b, same, CALLS, folder)
                        if abs(best - times["value"]) > 1e-6 * (1 + abs(best)):
                            sys.exit(f"PyMaxflow finds {best}, dsp {times['value']}")
                        alone += one
                        whole += all_
                        ours += times["max"]
                        marginal += times["marginal"] or []
                    one, all_, mine = (1e3 * min(t) for t in (alone, whole, ours))
                    last = "| | |"
                    if marginal:
                        m = 1e3 * min(marginal)
                        last = f"| {m:.1f} | {m / mine:.1f} |"
                    print(f"| {draw.__name__} | {width}×{height} | {neighbours} | {one:.2f} | {all_:.2f} | {mine:.2f} | {mine / one:.2f} {last}", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

"""dsp's assignment solver beside scipy and lap.

    pip install numpy scipy lap
    python bench/assignment.py [--rounds 5] [--seed 1]

Draws square matrices of float32 scores, normal and uniform, and finds the matching with the largest sum of scores with
scipy.optimize.linear_sum_assignment, with lap.lapjv (PyPI), and with oracles/matching, whose test program this script builds with
vector instructions. All use one thread, and take turns. The best sums must agree. It prints, as Markdown, the median microseconds per
problem and the ratios; small problems also as one batch, which for scipy and lap is a loop over the matrices; and the time of all
max-marginals as a multiple of the time of a solution.

lap takes costs, so it gets the scores with the opposite sign; changing the sign does not count.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import lap
import numpy
from scipy.optimize import linear_sum_assignment

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {20: 500, 100: 100, 1000: 5}


def build(folder):
    program = folder / "matching.test"
    subprocess.run(["go", "test", "-c", "-o", program, "./oracles/matching"], cwd=ROOT, check=True,
                   env=os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"})
    return program


def seconds(solve, problems):
    """Returns the seconds of every call, the median ones of a loop over all per problem, and the solutions."""
    times, values = [], []
    for p in problems:
        start = time.perf_counter()
        rows, columns = solve(p)
        times.append(time.perf_counter() - start)
        values.append((rows, columns))
    loops = []
    for _ in range(5):
        start = time.perf_counter()
        for p in problems:
            solve(p)
        loops.append((time.perf_counter() - start) / len(problems))
    return times, statistics.median(loops), values


def scipy_solve(scores):
    return linear_sum_assignment(scores, maximize=True)


def lap_solve(costs):
    _, columns, _ = lap.lapjv(costs)
    return numpy.arange(len(costs)), columns


def dsp(program, problems, folder):
    path = folder / "problems.f32"
    numpy.stack(problems).tofile(path)
    out = subprocess.run([program, "-test.run", "^TestTimes$", "-problems", path, "-size", str(len(problems[0]))],
                         check=True, capture_output=True, text=True, env=os.environ | {"GOMAXPROCS": "1"})
    return json.loads(out.stdout.splitlines()[0])


def measure(program, draw, n, rounds, rng, folder):
    times = {name: [] for name in ("scipy", "lap", "dsp", "marginal")}
    batch = {name: [] for name in ("scipy", "lap", "dsp")}
    for _ in range(rounds):
        problems = [draw(rng, n) for _ in range(SIZES[n])]
        costs = [-p for p in problems]
        ours = dsp(program, problems, folder)
        times["dsp"] += ours["single"]
        times["marginal"] += ours["marginal"]
        batch["dsp"].append(ours["batch"])
        for name, solve, given in ("scipy", scipy_solve, problems), ("lap", lap_solve, costs):
            each, loop, solutions = seconds(solve, given)
            times[name] += each
            batch[name].append(loop)
            for p, (rows, columns), value in zip(problems, solutions, ours["values"]):
                theirs = p[rows, columns].astype(float).sum()
                if abs(theirs - value) > 1e-6 * (1 + abs(value)):
                    sys.exit(f"{name} finds {theirs}, dsp {value}, at n = {n}")
    return ({name: 1e6 * statistics.median(t) for name, t in times.items()},
            {name: 1e6 * statistics.median(t) for name, t in batch.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = numpy.random.default_rng(args.seed)
    draws = {
        "normal": lambda rng, n: rng.standard_normal((n, n), dtype=numpy.float32),
        "uniform": lambda rng, n: rng.random((n, n), dtype=numpy.float32),
    }
    print(f"scipy {importlib.metadata.version('scipy')}, lap {importlib.metadata.version('lap')}; median µs per problem; "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
    print("| scores | n | scipy | lap | dsp | dsp/scipy | dsp/lap | batch: scipy/dsp | lap/dsp | max-marginals/max |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        for name, draw in draws.items():
            for n in SIZES:
                one, batch = measure(program, draw, n, args.rounds, rng, folder)
                print(f"| {name} | {n} | {one['scipy']:.1f} | {one['lap']:.1f} | {one['dsp']:.1f} "
                      f"| {one['dsp'] / one['scipy']:.2f} | {one['dsp'] / one['lap']:.2f} "
                      f"| {batch['scipy'] / batch['dsp']:.1f} | {batch['lap'] / batch['dsp']:.1f} | {one['marginal'] / one['dsp']:.1f} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

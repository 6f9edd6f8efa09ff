"""Certified intervals [dual, objective] of every convex method on one problem. They must all overlap.

    make build
    python bench/intervals.py [--dsp bin/dsp] [--data FILE.npz] [--passes 150] [--loss hinge]

Without --data the script draws chains that no linear model separates: labels from a Markov chain, Gaussian features around each
label's mean, and a tenth of the labels changed at random. Needs numpy.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

CONVEX = {"hinge": ["casimir", "casimir-adapt", "svrg", "saga", "bcfw", "bcpfw", "n-slack"], "crf": ["casimir", "casimir-adapt", "svrg", "saga"]}


def draw_chains(path, chains, dim, labels, seed):
    """Writes the dense features of noisy chains to an npz file."""
    rng = np.random.default_rng(seed)
    steps = rng.dirichlet(np.full(labels, 0.3), size=labels)
    means = rng.normal(size=(labels, dim))
    lengths = rng.integers(3, 15, size=chains)
    y = []
    for length in lengths:
        y.append(rng.integers(labels))
        for _ in range(length - 1):
            y.append(rng.choice(labels, p=steps[y[-1]]))
    y = np.array(y)
    features = means[y] + 1.5 * rng.normal(size=(len(y), dim))
    noisy = np.where(rng.random(len(y)) < 0.1, rng.integers(labels, size=len(y)), y)
    np.savez(path, features=features.astype(np.float32), lengths=lengths, labels=noisy)


def train(dsp, data, method, loss, passes, out, more):
    command = [dsp, "train", "--task", "tag", "--train", data, "--net", "linear", "--loss", loss, "--method", method,
               "--passes", str(passes), "--out", out, "--quiet", "--json", *more]
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{run.stderr}")
    result = json.loads(run.stdout.splitlines()[-1])
    return result, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--data")
    parser.add_argument("--passes", type=int, default=150)
    parser.add_argument("--loss", default="hinge", choices=CONVEX)
    parser.add_argument("--chains", type=int, default=400)
    parser.add_argument("--dim", type=int, default=15)
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("more", nargs="*", help="further flags for dsp train, after --")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = args.data or str(pathlib.Path(folder, "chains.npz"))
        if not args.data:
            draw_chains(data, args.chains, args.dim, args.labels, args.seed)
        print("| method | dual | objective | relative gap | passes | seconds |\n|---|---|---|---|---|---|")
        low, high, narrowest = -np.inf, np.inf, np.inf
        for method in ["auto", *CONVEX[args.loss]]:
            r, seconds = train(args.dsp, data, method, args.loss, args.passes, str(pathlib.Path(folder, method)), args.more)
            gap = r["gap"] / abs(r["objective"])
            low, high, narrowest = max(low, r["dual"]), min(high, r["objective"]), min(narrowest, gap)
            name = method if method != "auto" else f"auto: {r['method']}"
            print(f"| `{name}` | {r['dual']:.6f} | {r['objective']:.6f} | {gap:.1e} | {r['passes']} | {seconds:.2f} |")
        print(f"the intervals {'overlap' if low <= high else 'DO NOT OVERLAP'}: the optimum is in [{low:.6f}, {high:.6f}]; narrowest relative gap {narrowest:.2e}")
        return int(low > high)


if __name__ == "__main__":
    raise SystemExit(main())

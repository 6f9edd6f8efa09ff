"""Prox-linear with its defaults beside SGD with a tuned step: the same network, the same number of passes.

    make build
    python bench/networks.py [--dsp bin/dsp] [--passes 15] [--steps 0.25,0.5,1,2,4] -- FLAGS OF dsp train

SGD runs once with the step that it finds itself, then with multiples of that step under the schedules γ0/√t and constant. The
table has the objective of the last pass and the best results on development data. Needs only the standard library.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def train(args, folder, *flags):
    command = [args.dsp, "train", "--quiet", "--json", "--passes", str(args.passes), "--out", str(folder), *args.flags, *flags]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.strip()
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return json.loads(run.stdout.splitlines()[-1]), lines


def row(name, result, lines):
    if result is None:
        print(f"{name:28} {lines}")
        return
    dev = [line["dev"] for line in lines if line["dev"]]
    best = f" {min(d['token_error'] for d in dev):9.2%}" if dev else f" {str():9}"
    f1 = f" {max(d['f1'] for d in dev):9.2%}" if dev and "f1" in dev[0] else ""
    print(f"{name:28} {result['passes']:6} {lines[-1]['seconds']:8.1f} {lines[-1]['objective']:10.5f}{best}{f1}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--passes", type=int, default=15)
    parser.add_argument("--steps", default="0.25,0.5,2,4", help="multiples of the step that SGD finds")
    parser.add_argument("flags", nargs="*", help="flags of dsp train, after --")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        print(f"{'method':28} {'passes':>6} {'seconds':>8} {'objective':>10} {'dev error':>9} {'dev F1':>9}")
        row("prox-linear", *train(args, folder / "prox-linear", "--method", "prox-linear"))
        result, lines = train(args, folder / "sgd", "--method", "sgd")
        row("sgd, its own step", result, lines)
        if result is None:
            return 1
        per_pass = 2 ** 0.5  # after t0 = one pass, step γ0/√(1+t/t0) has fallen by this
        found = lines[0]["step"] * per_pass
        for schedule in ["sqrt", "constant"]:
            for by in map(float, args.steps.split(",")):
                name = f"sgd, {schedule}, {found * by:.3g}"
                row(name, *train(args, folder / name, "--method", "sgd", "--schedule", schedule, "--lr", str(found * by)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

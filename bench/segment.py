"""Segmentation of drawn scenes: structured training beside independent cells, with several seeds.

    python bench/segment.py [--dsp bin/dsp] [--seeds 5] [--classes 2,4] [--examples 100,30,50] [--out FILE.json]

For each seed and each number of classes it runs "dsp train --task segment", which trains with edges (cuts for two classes, bounds over the local polytope
for four) and for comparison cells on their own and, for two classes, bounds instead of cuts. It prints, as Markdown, for each of these the test pixel
accuracy and IoU, their margin over independent cells (mean, least and largest over the seeds), the certified gap, and the seconds of training.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def train(dsp, seed, classes, examples):
    """Returns the runs by name: the one with edges, and what it is compared with."""
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([dsp, "train", "--task", "segment", "--patience", "0", "--seed", str(seed), "--classes", str(classes), "--examples", examples,
                              "--quiet", "--json", "--out", folder + "/run"], check=True, capture_output=True, text=True).stdout
    run = json.loads(out.strip().splitlines()[-1])
    runs = [run] + run.pop("baselines")
    return {"independent" if r["edges"] == "none" else r["oracle"]: r for r in runs}


def spread(values, form):
    return f"{form.format(statistics.mean(values))} ({form.format(min(values))} to {form.format(max(values))})"


def rows(classes, seeds):
    """Returns the table's rows for the runs of all seeds."""
    for name in ("independent", "cut", "relaxed"):
        runs = [s[name] for s in seeds if name in s]
        if not runs:
            continue
        margin = "" if name == "independent" else " {} ".format(spread(
            [100 * (s[name]["test"]["pixel_accuracy"] - s["independent"]["test"]["pixel_accuracy"]) for s in seeds], "{:+.1f}"))
        yield "| {} | {} | {} | {} |{}| {} | {} | {} |".format(
            classes, name, spread([100 * r["test"]["pixel_accuracy"] for r in runs], "{:.1f}"), spread([100 * r["test"]["miou"] for r in runs], "{:.1f}"),
            margin, spread([100 * r["relative_gap"] for r in runs], "{:.2f}"), spread([r["passes"] for r in runs], "{:.0f}"),
            spread([r["seconds"] for r in runs], "{:.0f}"))


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--dsp", default=str(ROOT / "bin" / "dsp"))
    parse.add_argument("--seeds", type=int, default=5)
    parse.add_argument("--classes", default="2,4")
    parse.add_argument("--examples", default="100,30,50")
    parse.add_argument("--out", help="file for all results as JSON")
    args = parse.parse_args()
    print("| classes | edges | test accuracy, % | test IoU, % | margin, points | gap, % | passes | seconds |")
    print("|---:|---|---|---|---|---|---|---|", flush=True)
    everything = {}
    for classes in [int(c) for c in args.classes.split(",")]:
        seeds = [train(args.dsp, seed, classes, args.examples) for seed in range(1, args.seeds + 1)]
        everything[classes] = seeds
        for row in rows(classes, seeds):
            print(row, flush=True)
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()

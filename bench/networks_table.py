"""The table of docs/results/networks.md, and a picture, from the results of bench/networks.py.

    python bench/networks_table.py [--results build/networks.jsonl] [--data ocr-crf] [--picture build/sensitivity.png --of ocr-hinge]

Prints, as Markdown, a table per data set. A row has the mean and the standard deviation over the seeds that ran: user seconds, the
objective of the last pass, the measure on development data of the pass that is best there, and that pass on test data. A tuned row has
the rate of the grid that is best on development data with seed 1. The picture needs matplotlib.
"""

import argparse
import json
import math
import pathlib
import statistics

from networks import DATA, METHODS, Bench, half_decades

MEASURES = {"token_error": "errors", "f1": "F1", "token_accuracy": "accuracy", "las": "LAS"}


def read(path):
    """Returns the last record of every run."""
    runs = {}
    for line in pathlib.Path(path).read_text().splitlines():
        r = json.loads(line)
        r["rate"] = r["rate"] and float(f"{r['rate']:g}")
        runs[Bench.key(r)] = r
    return list(runs.values())


def spread(values, digits, scale=1):
    if any(v is None for v in values):
        return "–"
    values = [scale * v for v in values]
    text = f"{statistics.mean(values):.{digits}f}"
    return text + (f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


def row(title, runs):
    columns = [spread([r["seconds"] for r in runs], 1), spread([r["objective"] for r in runs], 3),
               spread([r["dev"] for r in runs], 2, 100), spread([r["test"] for r in runs], 2, 100)]
    print(f"| {title} | {len(runs)} | " + " | ".join(columns) + " |")


def best_rate(runs, data):
    """Returns the rate that is best on development data with seed 1."""
    tried = [r for r in runs if r["seed"] == 1 and r["rate"] is not None and not r["failed"]]
    best = None
    for r in tried:
        if best is None or data.better(r["dev"], best["dev"]):
            best = r
    return best and best["rate"]


def table(name, runs):
    data = DATA[name]
    usual = statistics.mode(r["passes"] for r in runs)
    measure = MEASURES[data.measure]
    print(f"\n{name}, {usual} passes:\n")
    print(f"| | seeds | seconds | objective | best dev {measure}, % | test {measure}, % |\n|---|---|---|---|---|---|")
    for key in ("prox-linear", "prox-linear-all", "sgd", "momentum", "adam", "torch-adam"):
        how = METHODS[key]
        mine = [r for r in runs if r["method"] == key]
        grid = [r for r in mine if r["passes"] == usual and r["rate"] in how.grid]
        rate = best_rate(grid, data) if how.grid else None
        variants = [(how.untuned, "")]
        if how.grid:
            variants = [(rate, f", tuned: {rate:g}")] if rate else []
            if how.untuned != rate:
                variants.append((how.untuned, f", not tuned: {how.untuned:g}" if how.untuned else ", not tuned"))
        for at, title in variants:
            for passes in sorted({r["passes"] for r in mine if r["rate"] == at}, key=lambda p: (p != usual, p)):
                chosen = [r for r in mine if r["rate"] == at and r["passes"] == passes]
                row(how.title + title + ("" if passes == usual else f", {passes} pass{'es' * (passes > 1)}"), chosen)


def average(runs, data, of):
    """Returns the mean objective or the mean development errors in per cent, NaN if a run failed."""
    if any(r["failed"] for r in runs):
        return math.nan
    if of == "objective":
        return statistics.mean(r["objective"] for r in runs)
    value = 100 * statistics.mean(r["dev"] for r in runs)
    return value if data.measure == "token_error" else 100 - value


def picture(path, names, runs, seeds, title):
    """Draws, for each data set, errors and objective over the step length. A curve ends where training diverges."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(names), 2, figsize=(9, 3.4 * len(names) + 0.3), squeeze=False)
    for name, pair in zip(names, axes):
        data = DATA[name]
        for axis, of in zip(pair, ("dev", "objective")):
            for key in ("prox-linear", "adam", "momentum", "sgd"):
                how = METHODS[key]
                mine = [r for r in runs if (r["data"], r["method"], r["passes"]) == (name, key, data.passes) and r["seed"] <= seeds]
                at = {rate: [r for r in mine if r["rate"] == rate] for rate in half_decades(*how.decades)}
                points = [(rate, average(tried, data, of)) for rate, tried in at.items() if tried]
                axis.plot(*zip(*points), marker="o", markersize=4, linewidth=2.4 if key == "prox-linear" else 1.2, label=how.title)
            measure = MEASURES[data.measure] if data.measure == "token_error" else "100 − " + MEASURES[data.measure]
            axis.set(xscale="log", yscale="log", xlabel="η of prox-linear, rate of the others",
                     ylabel=f"best development {measure} (%)" if of == "dev" else "objective after the last pass")
            low = min(y for line in axis.lines for y in line.get_ydata() if y > 0)
            axis.set_ylim(low / 1.2, 100 if of == "dev" else low * 60)
            axis.grid(alpha=0.3, which="both")
        pair[0].set_yticks([10, 20, 30, 50, 100], [10, 20, 30, 50, 100])
        pair[0].set_yticks([], minor=True)
    figure.suptitle(title, fontsize=11)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncol=4, fontsize=9)
    figure.tight_layout(rect=(0, 0.07 / len(names), 1, 1))
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default="build/networks.jsonl")
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=2, help="the picture has the mean of seeds 1 to this number")
    parser.add_argument("--title", default="Errors and objective over the step length")
    parser.add_argument("--of", default="ocr-hinge", help="data sets in the picture")
    args = parser.parse_args()
    runs = read(args.results)
    for name in args.data.split(","):
        mine = [r for r in runs if r["data"] == name]
        for net in sorted({r["net"] for r in mine}):
            table(name, [r for r in mine if r["net"] == net])
    if args.picture:
        picture(args.picture, args.of.split(","), runs, args.seeds, args.title)


if __name__ == "__main__":
    main()

"""The table of docs/results.md, and a picture, from the results of bench/networks.py.

    python bench/networks_table.py [--results build/networks.jsonl] [--data ocr-crf] [--picture docs/sensitivity.png --of ocr-hinge,text]

Prints, as Markdown, a table per data set. A row has the mean and the standard deviation over the seeds that ran: user seconds, the
objective of the last pass, the measure on development data of the pass that is best there, and the same pass on test data. A tuned row has the rate
of the grid that is best on development data with seed 1. The picture needs matplotlib.
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
    print(f"\n{name}, {usual} passes:\n\n| | seeds | seconds | objective | best dev {measure}, % | test {measure}, % |\n|---|---|---|---|---|---|")
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
                row(how.title + title + ("" if passes == usual else f", {passes} passes"), chosen)


def picture(path, names, runs):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [key for key in ("prox-linear", "adam", "momentum", "sgd") if METHODS[key].decades]
    figure, axes = plt.subplots(2, len(names), figsize=(4.6 * len(names), 6.4), sharex="col", squeeze=False)
    for column, name in enumerate(names):
        data = DATA[name]
        mine = [r for r in runs if r["data"] == name and r["passes"] == data.passes]
        for method in shown:
            rates, errors, objectives = [], [], []
            for rate in half_decades(*METHODS[method].decades):
                at = [r for r in mine if r["method"] == method and r["rate"] is not None and math.isclose(r["rate"], rate)]
                at = [r for r in at if r["seed"] <= 2]
                if at:
                    rates.append(rate)
                    failed = any(r["failed"] for r in at)
                    objectives.append(math.nan if failed else statistics.mean(r["objective"] for r in at))
                    value = math.nan if failed else 100 * statistics.mean(r["dev"] for r in at)
                    errors.append(value if data.measure == "token_error" else 100 - value)
            style = {"marker": "o", "markersize": 4, "linewidth": 2.2 if method == "prox-linear" else 1.2, "label": METHODS[method].title}
            axes[0, column].plot(rates, errors, **style)
            axes[1, column].plot(rates, objectives, **style)
        axes[0, column].set_title(name)
        measure = MEASURES[data.measure] if data.measure == "token_error" else "100 − " + MEASURES[data.measure]
        axes[0, column].set_ylabel(f"best dev {measure} (%)")
        axes[1, column].set_ylabel("objective after the last pass")
        axes[1, column].set_xlabel("η of prox-linear, rate of the others")
        axes[1, column].set_yscale("log")
        lowest = min((y for line in axes[1, column].lines for y in line.get_ydata() if y > 0), default=1)
        axes[1, column].set_ylim(lowest / 1.5, lowest * 300)
        axes[0, column].set_ylim(top=min(100, axes[0, column].get_ylim()[1]))
        for a in axes[:, column]:
            a.set_xscale("log")
            a.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default="build/networks.jsonl")
    parser.add_argument("--data", default=",".join(DATA))
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--of", default="ocr-hinge", help="data sets in the picture")
    args = parser.parse_args()
    runs = read(args.results)
    for name in args.data.split(","):
        mine = [r for r in runs if r["data"] == name]
        for net in sorted({r["net"] for r in mine}):
            table(name, [r for r in mine if r["net"] == net])
    if args.picture:
        picture(args.picture, args.of.split(","), runs)


if __name__ == "__main__":
    main()

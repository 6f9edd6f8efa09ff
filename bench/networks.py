"""How dsp's methods train networks, beside each other and beside PyTorch: the runs behind the table in docs/results/networks.md.

    make build
    python bench/networks.py run ocr-hinge,ocr-crf --seeds 5 [--methods prox-linear,adam] [--torch PYTHON]
    python bench/networks.py run wnut17,ewt --seeds 2 --wnut17 DIR --ewt DIR [--net embed|rnn|deep]
    python bench/networks.py equal ocr-crf --seeds 5 --methods momentum,torch-adam
    python bench/networks.py sensitivity ocr-hinge --seeds 2
    python bench/networks_table.py [--picture build/sensitivity.png]

Data sets: ocr-hinge and ocr-crf (drawn words), text (drawn sentences with names), parse (drawn trees), and wnut17 and ewt, which the
folders given by --wnut17 (train.conll, dev.conll, test.conll) and --ewt (the same names, .conllu) must hold. A seed draws the data, if
they are drawn, the initial weights and the order of the examples.

run trains with every method for equally many passes. A method with a grid of rates runs on each of them with seed 1; the rate that
is best on development data then runs with the other seeds, and so does the rate that a user gets without asking. equal repeats the
tuned runs with as many passes as fit in the time of prox-linear. sensitivity trains with step lengths over four decades.

Every run adds a line to --results. A run that is there already is not repeated, so that an interrupted command can go on; --again
repeats. Seconds are user time of one thread (--threads) for the whole training process of dsp: reading or drawing the data, training,
and after every pass the objective and the errors on development and test data. PyTorch (--torch names a Python that has torch and
pytorch-crf, see torch_networks.py) is charged for the same work, but not for starting and reading. Needs only the standard library.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PARTS = ("train", "dev", "test")


class Method:
    """A method as a user calls it. With a grid, rate is the flag of dsp that the grid is for; untuned is the rate that a user gets
    without asking, None if dsp finds one itself."""

    def __init__(self, title, flags=(), grid=(), untuned=None, torch=False, flag="--lr", decades=None):
        self.title, self.flags, self.grid, self.untuned, self.torch = title, list(flags), grid, untuned, torch
        self.flag, self.decades = flag, decades


def half_decades(first, last):
    """The rates 1·10^k and 3·10^k from 10^first to 10^last."""
    return [float(f"{by}e{k}") for k in range(first, last) for by in (1, 3)] + [float(f"1e{last}")]


MOMENTUM = ["--method", "sgd", "--momentum", "0.9", "--schedule", "cosine"]
METHODS = {
    "sgd": Method("sgd", ["--method", "sgd"], decades=(-4, 0)),
    "momentum": Method("sgd, momentum 0.9, cosine", MOMENTUM, half_decades(-3, -1), decades=(-4, 0)),
    "adam": Method("adam", ["--method", "adam"], half_decades(-4, -2), 1e-3, decades=(-5, -1)),
    "torch-adam": Method("PyTorch, Adam", (), half_decades(-4, -2), 1e-3, torch=True),
    "prox-linear": Method("prox-linear", ["--method", "prox-linear"], flag="--eta", decades=(-3, 1)),
    "prox-linear-all": Method("prox-linear, all examples", ["--method", "prox-linear", "--model-batch", "all"]),
}


class Data:
    """A data set: the flags with which dsp reads it, the measure that chooses, and the number of passes. draws is the verb of dsp data
    that writes it."""

    def __init__(self, flags, measure, passes, draws=None, suffix="", torch=None):
        self.flags, self.measure, self.passes, self.draws, self.suffix, self.torch = list(flags), measure, passes, draws, suffix, torch

    def better(self, a, b):
        """Whether the value a of the measure is better than b."""
        return a < b if self.measure == "token_error" else a > b


TORCH_NETS = ("embed", "rnn", "deep")  # networks for words that torch_networks.py has, too
WORDS = ["--columns", "word=0,label=-1", "--loss", "crf"]
DATA = {
    "ocr-hinge": Data(["--loss", "hinge"], "token_error", 20, "ocr", ".data", "letters"),
    "ocr-crf": Data(["--loss", "crf"], "token_error", 20, "ocr", ".data", "letters"),
    "text": Data(WORDS, "f1", 8, "text", ".conll", "words"),
    "wnut17": Data(WORDS, "f1", 6, None, ".conll", "words"),
    "ewt": Data(WORDS, "token_accuracy", 4, None, ".conllu", "words"),
    "parse": Data(["--task", "parse", "--net", "biaffine"], "las", 6),
}


class Bench:
    def __init__(self, args):
        self.args, self.path = args, pathlib.Path(args.results)
        self.done = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                record = json.loads(line)
                self.done[self.key(record)] = record

    @staticmethod
    def key(record):
        rate = record["rate"] and float(f"{record['rate']:g}")
        return (rate, *(record[name] for name in ("data", "method", "seed", "passes", "net", "threads")))

    def files(self, name, seed):
        """Returns the paths of the three parts; draws them first if they can be drawn."""
        data, folder = DATA[name], getattr(self.args, name, None)
        if data.draws:
            folder = pathlib.Path(self.args.scratch) / f"{data.draws}-{seed}"
            if not folder.exists():
                subprocess.run([self.args.dsp, "data", data.draws, "--out", folder, "--seed", str(seed)], check=True, capture_output=True)
        elif folder is None:
            sys.exit(f"data set {name}: say with --{name} which folder holds it")
        paths = [pathlib.Path(folder) / (part + data.suffix) for part in PARTS]
        return [self.words(path) for path in paths] if data.suffix == ".conllu" else paths

    def words(self, path):
        """Writes the words and their UPOS from CoNLL-U in two columns, so that networks read nothing else. Returns the file's path."""
        to = pathlib.Path(self.args.scratch) / f"{path.stem}.upos.conll"
        if not to.exists():
            rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
            lines = ("\t".join([row[1], row[3]]) if len(row) > 1 else "" for row in rows if len(row) == 1 or row[0].isdigit())
            to.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return to

    def train(self, name, method, seed, rate=None, passes=None):
        """Returns the record of a run, from the results if it is there."""
        data, how, args = DATA[name], METHODS[method], self.args
        record = {"data": name, "method": method, "rate": rate, "seed": seed, "passes": passes or args.passes or data.passes,
                  "net": args.net if data.torch == "words" else "", "threads": args.threads}
        if self.key(record) in self.done and not args.again:
            return self.done[self.key(record)]
        with tempfile.TemporaryDirectory() as out:
            command = self.torch(name, record) if how.torch else self.dsp(name, how, record, out)
            started, log = time.perf_counter(), pathlib.Path(out) / "standard-output"
            with open(log, "w") as output:
                process = subprocess.Popen([str(c) for c in command], stdout=output, stderr=subprocess.PIPE, text=True)
                message = process.stderr.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            record |= {"seconds": usage.ru_utime, "wall": time.perf_counter() - started}
            lines = log if how.torch else pathlib.Path(out) / "run" / "metrics.jsonl"
            curve = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
            record |= self.summary(data, curve, message.strip() if process.returncode else "")
        self.done[self.key(record)] = record
        with open(self.path, "a") as results:
            results.write(json.dumps(record) + "\n")
        shown = record["failed"] or f"objective {record['objective']:.4f}, best dev {record['dev']:.2%}, test {record['test']:.2%}"
        print(f"{name} {method} {rate or ''} seed {seed}, {record['passes']} passes, {record['seconds']:.1f} s: {shown}", flush=True)
        return record

    def dsp(self, name, how, record, out):
        """Returns the command of a run of dsp. Drawn words and trees need no files."""
        data = DATA[name]
        command = [self.args.dsp, "train", *data.flags, *how.flags, "--quiet", "--json", "--baselines", "off", "--device", "cpu"]
        command += ["--seed", record["seed"], "--passes", record["passes"], "--threads", record["threads"]]
        command += ["--out", pathlib.Path(out) / "run"]
        if data.torch == "words":
            command += ["--net", record["net"]] + (["--features", "none"] if record["net"] == "deep" else [])
            for part, path in zip(PARTS, self.files(name, record["seed"])):
                command += ["--" + part, path]
        if record["rate"] is not None:
            command += [how.flag, f"{record['rate']:g}"]
        return command

    def torch(self, name, record):
        data = DATA[name]
        net = ["--net", record["net"]] if record["net"] else []
        return [self.args.torch, HERE / "torch_networks.py", "--kind", data.torch, *net, "--measure", data.measure, "--rate", record["rate"],
                "--seed", record["seed"], "--passes", record["passes"], "--threads", record["threads"],
                "--loss", data.flags[data.flags.index("--loss") + 1], *self.files(name, record["seed"])]

    @staticmethod
    def summary(data, curve, failed):
        """Reduces the lines of the passes to the objective of the last one and the measures of the one that is best on development data."""
        if failed or not curve:
            return {"failed": failed or "no passes", "objective": None, "dev": None, "test": None, "curve": []}
        best = curve[0]
        for line in curve:
            if data.better(line["dev"][data.measure], best["dev"][data.measure]):
                best = line
        own = {"seconds": curve[-1]["cpu"], "steps": curve[-1]["steps"]} if "cpu" in curve[-1] else {}
        return {"failed": "", "objective": curve[-1]["objective"], "best": best["pass"], "dev": best["dev"][data.measure],
                "test": best["test"][data.measure], "curve": [[line["objective"], line["dev"][data.measure]] for line in curve]} | own

    def tuned(self, name, method):
        """Returns the rate of the grid that is best on development data with seed 1."""
        runs = [self.train(name, method, 1, rate) for rate in self.args.grid or METHODS[method].grid]
        runs = [run for run in runs if not run["failed"]]
        if not runs:
            sys.exit(f"{name}, {method}: every rate of the grid fails")
        best = runs[0]
        for run in runs:
            if DATA[name].better(run["dev"], best["dev"]):
                best = run
        return best["rate"]

    def run(self, name, method):
        how = METHODS[method]
        rates = [how.untuned] if not how.grid else list(dict.fromkeys([self.tuned(name, method), how.untuned]))
        for rate in rates:
            for seed in range(1, self.args.seeds + 1):
                self.train(name, method, seed, rate)

    def equal(self, name, method):
        how, args = METHODS[method], self.args
        rate = self.tuned(name, method) if how.grid else how.untuned
        passes = args.passes or DATA[name].passes
        theirs = sum(self.train(name, method, s, rate)["seconds"] for s in range(1, args.seeds + 1))
        ours = sum(self.train(name, "prox-linear", s)["seconds"] for s in range(1, args.seeds + 1))
        fit = max(1, round(passes * ours / theirs))
        for seed in range(1, args.seeds + 1):
            self.train(name, method, seed, rate, fit)

    def sensitivity(self, name, method):
        if METHODS[method].decades:
            for seed in range(1, self.args.seeds + 1):
                for rate in half_decades(*METHODS[method].decades):
                    self.train(name, method, seed, rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["run", "equal", "sensitivity"])
    parser.add_argument("data", help="data sets, with commas between them: " + ", ".join(DATA))
    parser.add_argument("--methods", default=",".join(METHODS), help="default: all; torch-adam only with --torch")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 1 to this number")
    parser.add_argument("--passes", type=int, default=0, help="0: the data set's own number")
    parser.add_argument("--grid", type=lambda text: [float(rate) for rate in text.split(",")],
                        help="rates to tune on, such as 3e-4,1e-3; default: the method's")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--net", default="embed", help="network for words; deep reads no attributes, as in PyTorch")
    parser.add_argument("--wnut17", metavar="DIR")
    parser.add_argument("--ewt", metavar="DIR")
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--results", default="build/networks.jsonl")
    parser.add_argument("--scratch", default="build/networks", metavar="DIR", help="where to keep drawn data")
    parser.add_argument("--again", action="store_true", help="repeat runs that are in the results")
    args = parser.parse_args()
    bench = Bench(args)
    bench.path.parent.mkdir(parents=True, exist_ok=True)
    for name in args.data.split(","):
        if name not in DATA:
            parser.error(f"data set {name} is not one of {', '.join(DATA)}")
        for method in args.methods.split(","):
            if method not in METHODS:
                parser.error(f"method {method} is not one of {', '.join(METHODS)}")
            theirs = DATA[name].torch == "letters" or DATA[name].torch == "words" and args.net in TORCH_NETS
            if METHODS[method].torch and not (args.torch and theirs):
                continue
            getattr(bench, args.do)(name, method)


if __name__ == "__main__":
    main()

"""dsp beside CRFsuite in one run, on the same attribute files and the same objective.

    make build
    python bench/crfsuite.py --train train.conll --test test.conll --features ner [--c1 0] [--c2 1] [--threads 2] [--repeats 3]

The objective is that of a CRF on all attribute-label pairs, Σ f_i(w) + c1‖w‖₁ + c2‖w‖², which dsp calls --l1 c1 --reg 2·c2. With c1,
CRFsuite's lbfgs is OWL-QN, and it has no other method. `dsp data attributes`
turns the files into attributes; the script takes files ending in .crfsuite as they are. It prints, as Markdown, the seconds and
passes until the objective is within 10 %, 1 % and 0.1 % of the optimum (which dsp certifies first), the seconds per pass, the peak
memory of the training process, the score of the last model on the test file, and the tagging speed. A time of dsp is that of a run that
stops with a certificate of that gap; CRFsuite has no certificate, and its time is when its objective is first that low. Seconds cover
training alone, without reading. Each program runs --repeats times, taking turns; the tables have medians.

CRFsuite's l2sgd does not log the objective of its model. The script therefore trains it again for each number of --epochs and computes
the objective from the probabilities that the model gives the training data. The script installs python-crfsuite from PyPI for itself.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

LEVELS = (0.10, 0.01, 0.001)


# Attribute files and scores.

def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


def read(path):
    """Yields (labels, items) of each sequence; an item is a list of names, or a dict where an attribute has a value."""
    labels, items = [], []
    with open(path, encoding="utf-8") as lines:
        for line in itertools.chain(lines, [""]):
            line = line.rstrip("\n")
            if not line:
                if labels:
                    yield labels, items
                labels, items = [], []
                continue
            label, *fields = line.split("\t")
            names, values = [], False
            for field in fields:
                name, colon, value = re.match(r"((?:[^\\:]|\\.)*)(:?)(.*)", field).groups()
                values = values or colon
                names.append((unescape(name), float(value) if colon else 1.0))
            labels.append(label)
            items.append(dict(names) if values else [name for name, _ in names])


def chunks(tags):
    """The entities of a tagging, as conlleval reads them."""
    found, start, kind = set(), None, None
    for t, tag in enumerate([*tags, "O"]):
        part, _, typ = tag.partition("-")
        if start is not None and (part != "I" or typ != kind):
            found.add((start, t, kind))
            start = None
        if part != "O" and start is None:
            start, kind = t, typ
    return found


def quality(gold, predicted):
    """Returns the F1 of entities if the labels are entity tags, else the share of tokens with the right label; in per cent."""
    if {tag[:2] for tags in gold for tag in tags} <= {"O", "B-", "I-"}:
        pairs = [(chunks(g), chunks(p)) for g, p in zip(gold, predicted)]
        right = sum(len(g & p) for g, p in pairs)
        return 200 * right / max(1, sum(len(g) + len(p) for g, p in pairs)), "F1"
    right = sum(a == b for g, p in zip(gold, predicted) for a, b in zip(g, p))
    return 100 * right / sum(map(len, gold)), "accuracy"


# CRFsuite runs in a process of its own, so that its memory can be measured: python crfsuite.py worker ARGUMENTS (JSON).

def worker(job):
    import pycrfsuite
    if job["do"] == "train":
        trainer = pycrfsuite.Trainer(algorithm=job["algorithm"], verbose=True)
        trainer.set_params({"feature.possible_states": 1, "feature.possible_transitions": 1, **job["params"]})
        for labels, items in read(job["train"]):
            trainer.append(items, labels)
        trainer.train(job["model"])
        return
    tagger = pycrfsuite.Tagger()
    tagger.open(job["model"])
    if job["do"] == "objective":
        loss = 0.0
        for labels, items in read(job["train"]):
            tagger.set(items)
            p = tagger.probability(labels)
            loss -= math.log(p) if p > 0 else -math.inf
        json.dump(loss, sys.stdout)
        return
    sequences = [(labels, pycrfsuite.ItemSequence(items)) for labels, items in read(job["test"])]
    start = time.perf_counter()
    predicted = [tagger.tag(items) for _, items in sequences]
    seconds = time.perf_counter() - start
    score, name = quality([labels for labels, _ in sequences], predicted)
    json.dump({"score": score, "name": name, "rate": sum(map(len, predicted)) / seconds}, sys.stdout)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.env = dict(os.environ, PYTHONPATH=str(folder / "packages"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder / "packages",
                        "python-crfsuite"], check=True)

    def run(self, command):
        """Runs a command. Returns its standard output, its peak memory in MiB and its seconds."""
        out, err = self.folder / "stdout", self.folder / "stderr"
        start = time.perf_counter()
        with open(out, "wb") as o, open(err, "wb") as e:
            process = subprocess.Popen([str(c) for c in command], stdout=o, stderr=e, env=self.env)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{err.read_text()[-2000:]}")
        return out.read_text(), usage.ru_maxrss / 1024, time.perf_counter() - start

    def worker(self, **job):
        return self.run([sys.executable, __file__, "worker", json.dumps({k: str(v) if isinstance(v, pathlib.Path) else v for k, v in job.items()})])

    def attributes(self, path):
        if path.endswith(".crfsuite"):
            return pathlib.Path(path)
        to = self.folder / (pathlib.Path(path).name + ".crfsuite")
        self.run([self.args.dsp, "data", "attributes", "--input", path, "--features", self.args.features, "--to", to, *self.args.reading.split()])
        return to

    # Curves are lists of (pass, seconds, objective summed over sequences).

    def dsp(self, name, *flags):
        out = self.folder / name
        out, number = next((p, n) for n in itertools.count() if not (p := out.with_name(f"{name}-{n}")).exists())
        _, memory, _ = self.run([self.args.dsp, "train", "--task", "tag", "--format", "crfsuite", "--train", self.train, "--net", "linear",
                                 "--loss", "crf", "--reg", 2 * self.args.c2, "--l1", self.args.c1, "--out", out, "--quiet", *flags])
        lines = [json.loads(line) for line in open(out / "metrics.jsonl")]
        return {"curve": [(r["pass"], r["seconds"], r["objective"] * self.sequences) for r in lines if r["objective"] is not None], "memory": memory, "model": out,
                "end": (lines[-1]["pass"], lines[-1]["seconds"]),
                "nonzero": lines[-1]["nonzero"], "file": (out / "model.safetensors").stat().st_size,
                "dual": (lines[-1]["dual"] or 0) * self.sequences}

    def certified(self, name, *flags):
        """Trains once for each level, until the gap is certified to be no more than that. The curve and the model are those of the smallest one."""
        runs = [self.dsp(name, "--gap", level, *flags) for level in LEVELS]
        return {**runs[-1], "reached": [r["end"] for r in runs]}

    def crfsuite(self, algorithm, iterations, **params):
        model = self.folder / f"{algorithm}.model"
        log, memory, _ = self.worker(do="train", algorithm=algorithm, train=self.train, model=model,
                                     params={"c2": self.args.c2, "max_iterations": iterations, **params})
        return log, memory, model

    def lbfgs(self):
        c1 = {"c1": self.args.c1} if self.args.c1 else {}
        log, memory, model = self.crfsuite("lbfgs", self.args.iterations, delta=1e-9, epsilon=1e-9, **c1)
        curve, seconds = [], 0.0
        for k, (loss, took) in enumerate(re.findall(r"^Loss: (\S+)$.*?^Seconds required for this iteration: (\S+)$", log, re.M | re.S)):
            seconds += float(took)
            curve.append((k + 1, seconds, float(loss)))
        nonzero = re.findall(r"^Active features: (\d+)$", log, re.M)
        return {"curve": curve, "memory": memory, "model": model, "nonzero": int(nonzero[-1]) if nonzero else None,
                "file": model.stat().st_size}

    def l2sgd(self):
        """Takes the seconds from one run and the objectives from runs of each number of epochs."""
        counts = [int(n) for n in self.args.epochs.split(",")]
        log, memory, _ = self.crfsuite("l2sgd", counts[-1], delta=0, period=counts[-1])
        calibration = sum(float(s) for s in re.findall(r"^Seconds required: (\S+)$", log.split("***** Epoch #1 *****")[0], re.M)[1:])
        took = [float(s) for s in re.findall(r"^Seconds required for this iteration: (\S+)$", log, re.M)]
        curve = []
        for epochs in counts:
            log, _, model = self.crfsuite("l2sgd", epochs, delta=0, period=counts[-1])
            norm = float(re.findall(r"^Feature L2-norm: (\S+)$", log, re.M)[-1])
            loss = json.loads(self.worker(do="objective", train=self.train, model=model)[0].replace("Infinity", "1e300"))
            curve.append((epochs, calibration + sum(took[:epochs]), loss + self.args.c2 * norm**2))
            if curve[-1][2] < self.optimum * (1 + LEVELS[-1]):
                break
        return {"curve": curve, "memory": memory, "model": model, "nonzero": None, "file": model.stat().st_size}

    def measure(self):
        self.train, self.test = self.attributes(self.args.train), self.attributes(self.args.test)
        self.sequences, tokens, names = 0, 0, 0
        for labels, items in read(self.train):
            self.sequences, tokens, names = self.sequences + 1, tokens + len(labels), names + sum(map(len, items))
        most = "1000" if self.args.c1 == 0 else "100"
        reference = self.dsp("reference", "--gap", "1e-5", "--passes", most)
        self.optimum = min(f for _, _, f in reference["curve"])
        print(f"{self.sequences} sequences, {tokens} tokens, {names / tokens:.1f} attributes per token; "
              f"optimum between {reference['dual']:.2f} and {self.optimum:.2f}\n", flush=True)
        programs = {
            "CRFsuite lbfgs": self.lbfgs,
            "CRFsuite l2sgd": self.l2sgd,
            "dsp, 1 thread": lambda: self.certified("one", "--threads", "1", *self.args.more),
            f"dsp, {self.args.threads} threads": lambda: self.certified("many", "--threads", self.args.threads, *self.args.more),
        }
        if self.args.c1:
            del programs["CRFsuite l2sgd"]
            for name, threads in ("dsp, 1 thread", 1), (f"dsp, {self.args.threads} threads", self.args.threads):  # the same work as below
                programs[name] = lambda threads=threads: self.dsp("l1", "--gap", "3e-4", "--passes", "60", "--threads", threads, *self.args.more)
        runs = {name: [] for name in programs}
        for k in range(self.args.repeats):
            for name, program in programs.items():
                if name == "CRFsuite l2sgd" and k > 0:  # one repeat is dozens of runs already
                    continue
                runs[name].append(program())
                print(f"{name}: {len(runs[name][-1]['curve'])} passes, {runs[name][-1]['curve'][-1][1]:.1f} s", file=sys.stderr)
        self.optimum = min(self.optimum, *(f for tries in runs.values() for r in tries for _, _, f in r["curve"]))
        self.table(runs)
        self.sizes(runs, reference)
        self.tagging(runs)

    def table(self, runs):
        columns = [f"to {level:.1%}".replace(".0%", "%") for level in LEVELS]
        print("| | " + " | ".join(columns) + " | per pass | peak memory | 0.1 % against lbfgs |")
        print("|---|" + "---|" * (len(columns) + 3))
        base = None
        for name, tries in runs.items():
            cells = []
            for at, level in enumerate(LEVELS):
                reached = [r["reached"][at] if "reached" in r else
                           next(((p, s) for p, s, f in r["curve"] if f <= self.optimum * (1 + level)), None) for r in tries]
                if None in reached:
                    cells.append("–")
                    last = None
                else:
                    last = statistics.median(s for _, s in reached)
                    cells.append(f"{last:.2f} s, {reached[0][0]} passes")
            a_pass = statistics.median(r["curve"][-1][1] / r["curve"][-1][0] for r in tries)
            base = base or last
            ratio = f"{base / last:.1f}×" if base and last else "–"
            print(f"| {name} | " + " | ".join(cells) + f" | {a_pass:.3f} s | {statistics.median(r['memory'] for r in tries):.0f} MiB | {ratio} |")
        print()

    def sizes(self, runs, reference):
        print("| | objective in the end | weights that are not zero | model file |\n|---|---|---|---|")
        for name, tries in [*runs.items(), ("dsp, reference", [reference])]:
            r = tries[-1]
            print(f"| {name} | {r['curve'][-1][2]:.2f} | {r['nonzero'] or '–'} | {r['file'] / 2**20:.2f} MiB |")
        print()

    def tagging(self, runs):
        print("| | held out | tokens tagged per second |\n|---|---|---|")
        for name, tries in runs.items():
            model = tries[-1]["model"]
            if name.startswith("CRFsuite"):
                r = json.loads(self.worker(do="tag", model=model, test=self.test)[0])
                print(f"| {name} | {r['name']} {r['score']:.2f} % | {r['rate']:,.0f}, without reading |")
                continue
            threads = name.split()[1]
            predict = [self.args.dsp, "predict", "--model", model, "--input", self.test, "--format", "crfsuite", "--threads", threads, "--json"]
            text, _, _ = self.run(predict)
            predicted = [json.loads(line)["labels"] for line in text.splitlines()]
            gold = [labels for labels, _ in read(self.test)]
            score, kind = quality(gold, predicted)
            seconds = statistics.median(self.run(predict)[2] for _ in range(5))
            print(f"| {name} | {kind} {score:.2f} % | {sum(map(len, gold)) / seconds:,.0f}, the whole command |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--train", required=True)
    parser.add_argument("--test", required=True)
    parser.add_argument("--features", default="ner", help="dsp's built-in feature set")
    parser.add_argument("--reading", default="", metavar="FLAGS", help="further flags for reading the files, such as '--label upos'")
    parser.add_argument("--c1", type=float, default=0)
    parser.add_argument("--c2", type=float, default=1)
    parser.add_argument("--iterations", type=int, default=400, help="iterations of CRFsuite's lbfgs, at most")
    parser.add_argument("--epochs", default="2,5,10,20,30,60", help="numbers of epochs after which to measure CRFsuite's l2sgd")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("more", nargs="*", help="further flags for dsp train, after --")
    args = parser.parse_args()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    print(f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}; c1 = {args.c1:g}, c2 = {args.c2:g}")
    with tempfile.TemporaryDirectory() as folder:
        Bench(args, pathlib.Path(folder)).measure()


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(json.loads(sys.argv[2]))
    else:
        main()

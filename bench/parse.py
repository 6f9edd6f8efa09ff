"""dsp beside UDPipe 1 on one treebank: the same split, gold tokens, gold tags.

    make build
    python bench/parse.py --train train.conllu --dev dev.conllu --test test.conllu [--nets linear,biaffine] [--threads 1]
    python bench/parse.py --train train.conllu --test test.conllu --sentences 400 --iterations 1 --gap 0.05    # a quick run

UDPipe 1 is a transition-based parser with a neural classifier (Straka and Straková 2017). This script installs it from PyPI
(ufal.udpipe), trains its parser alone, on gold lemmas, tags and features, and gives it the same at test time. UDPipe has default
settings except for --iterations and --transitions; it uses one thread. By default it reads forms, UPOS and features. dsp trains a
linear net, which reads forms, lemmas, UPOS, XPOS and features, to the certified relative gap --gap; with --nets linear,biaffine also
the biaffine net, which reads forms, UPOS and XPOS. Given development data, dsp keeps the pass that does best on them, and UDPipe
gets them as its heldout data.

The test file that the parsers see has no heads and no relations. The script itself scores their output as the CoNLL 2018 shared task
does on gold tokens: over all words, punctuation included, UAS is the share of words with the right head, and LAS the share with the
right head and the right universal relation (the part before the colon). It prints, as Markdown, UAS, LAS, seconds and peak memory
of the whole training command, and sentences per second of the whole parsing command, from text to text, loading the model
included. Parsing runs --repeats times, the programs taking turns; the table has medians.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time


# Treebanks in CoNLL-U.

def sentences(path):
    """Yields the lines of each sentence."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for line in itertools.chain(file, [""]):
            line = line.rstrip("\n")
            if line:
                lines.append(line)
            elif lines:
                yield lines
                lines = []


def words(lines):
    """Returns the columns of each word: no comments, multiword tokens or empty nodes."""
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [row for row in rows if row[0].isdigit()]


def without_trees(lines):
    """Blanks HEAD, DEPREL and DEPS of all words."""
    for line in lines:
        row = line.split("\t")
        if row[0].isdigit():
            row[6:9] = "_", "_", "_"
        yield "\t".join(row)


def write(path, bank):
    path.write_text("".join("\n".join(lines) + "\n\n" for lines in bank), encoding="utf-8")
    return path


def attachment(gold, predicted):
    """Returns UAS and LAS in per cent."""
    count = heads = relations = 0
    for g, p in itertools.zip_longest(gold, predicted, fillvalue=[]):
        g, p = words(g), words(p)
        if [row[1] for row in g] != [row[1] for row in p]:
            raise SystemExit(f"the words of sentence {' '.join(row[1] for row in g)!r} come back as {' '.join(row[1] for row in p)!r}")
        for a, b in zip(g, p):
            count += 1
            if a[6] == b[6]:
                heads += 1
                relations += a[7].split(":")[0] == b[7].split(":")[0]
    return 100 * heads / max(1, count), 100 * relations / max(1, count)


# UDPipe runs in a process of its own, so that its memory can be measured: python parse.py worker ARGUMENTS (JSON).

def worker(job):
    from ufal import udpipe
    error = udpipe.ProcessingError()

    def check(ok):
        if error.occurred() or not ok:
            raise SystemExit(f"UDPipe: {error.message}")

    def load(path):
        bank, sentence = udpipe.Sentences(), udpipe.Sentence()
        if path:
            reader = udpipe.InputFormat.newConlluInputFormat()
            reader.setText(pathlib.Path(path).read_text(encoding="utf-8"))
            while reader.nextSentence(sentence, error):
                bank.append(sentence)
            check(True)
        return bank

    if job["do"] == "version":
        v = udpipe.Version.current()
        print(f"UDPipe {v.major}.{v.minor}.{v.patch} (ufal.udpipe {importlib.metadata.version('ufal.udpipe')})")
    elif job["do"] == "train":
        model = udpipe.Trainer.train("morphodita_parsito", load(job["train"]), load(job["dev"]), udpipe.Trainer.NONE, udpipe.Trainer.NONE,
                                     job["options"], error)
        check(model)
        pathlib.Path(job["model"]).write_bytes(model)
    else:
        model = udpipe.Model.load(job["model"])
        check(model)
        pipeline = udpipe.Pipeline(model, "conllu", udpipe.Pipeline.NONE, udpipe.Pipeline.DEFAULT, "conllu")
        text = pipeline.process(pathlib.Path(job["input"]).read_text(encoding="utf-8"), error)
        check(True)
        sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout.write(text)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.env = dict(os.environ, PYTHONPATH=str(folder / "packages"))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder / "packages",
                        "ufal.udpipe"], check=True)
        train = list(itertools.islice(sentences(args.train), args.sentences))
        self.gold = list(itertools.islice(sentences(args.test), args.sentences))
        self.train = write(folder / "train.conllu", train)
        self.test = write(folder / "test.conllu", (without_trees(lines) for lines in self.gold))
        self.dev = args.dev
        if args.dev and args.sentences:
            self.dev = write(folder / "dev.conllu", itertools.islice(sentences(args.dev), args.sentences))
        count = lambda bank: f"{len(bank)} sentences with {sum(len(words(lines)) for lines in bank)} words"
        print(f"{self.run(self.worker(do='version'))[0].read_text().strip()}; {count(train)} to train, {count(self.gold)} to parse\n",
              flush=True)

    def run(self, command):
        """Runs a command. Returns the file with its standard output, its peak memory in MiB, its wall-clock and its processor seconds."""
        out, err = self.folder / "stdout", self.folder / "stderr"
        start = time.perf_counter()
        with open(out, "wb") as o, open(err, "wb") as e:
            process = subprocess.Popen([str(c) for c in command], stdout=o, stderr=e, env=self.env)
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{err.read_text()[-2000:]}")
        return out, usage.ru_maxrss / 1024, seconds, usage.ru_utime + usage.ru_stime

    def worker(self, **job):
        return [sys.executable, __file__, "worker", json.dumps({k: str(v) if isinstance(v, pathlib.Path) else v for k, v in job.items()})]

    # Each program is (name, command that trains, command that parses, what is said of its training).

    def dsp(self, net):
        out = self.folder / net
        train = [self.args.dsp, "train", "--task", "parse", "--net", net, "--train", self.train, "--threads", self.args.threads,
                 "--gap", self.args.gap if net == "linear" else "auto", "--out", out, "--quiet", *self.args.more]
        if self.dev:
            train += ["--dev", self.dev]

        def note():
            last = json.loads((out / "metrics.jsonl").read_text().splitlines()[-1])
            gap = f", certified gap {last['gap'] / last['objective']:.2%}" if last["gap"] is not None else ""
            return f"{last['pass']} passes{gap}"

        parse = [self.args.dsp, "predict", "--model", out, "--input", self.test, "--threads", self.args.threads]
        return f"dsp {net}, {self.args.threads} thread{'s' * (self.args.threads != 1)}", train, parse, note

    def udpipe(self):
        model, n = self.folder / "udpipe.model", self.args.iterations
        options = f"iterations={n};transition_system={self.args.transitions}"
        if self.args.transitions == "swap":
            options += ";transition_oracle=static_lazy"
        train = self.worker(do="train", train=self.train, dev=self.dev, model=model, options=options)
        return "UDPipe 1, 1 thread", train, self.worker(do="parse", model=model, input=self.test), lambda: f"up to {n} pass{'es' * (n != 1)}"

    def measure(self):
        programs, trained = [self.dsp(net) for net in self.args.nets.split(",")] + [self.udpipe()], {}
        for name, train, _, note in programs:
            _, memory, seconds, processor = self.run(train)
            trained[name] = f"{note()} | {seconds:.1f} s | {processor:.1f} s | {memory:.0f} MiB"
            print(f"{name}: {seconds:.1f} s", file=sys.stderr)
        score, took = {}, {name: [] for name, *_ in programs}
        for _ in range(self.args.repeats):
            for name, _, parse, _ in programs:
                out, _, seconds, _ = self.run(parse)
                took[name].append(seconds)
                if name not in score:
                    score[name] = attachment(self.gold, sentences(out))
        print("| | UAS | LAS | training | seconds | processor seconds | peak memory | sentences/s, text to text |\n|---|" + "---|" * 7)
        for name, *_ in programs:
            uas, las = score[name]
            print(f"| {name} | {uas:.2f} | {las:.2f} | {trained[name]} | {len(self.gold) / statistics.median(took[name]):,.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--train", required=True)
    parser.add_argument("--dev")
    parser.add_argument("--test", required=True)
    parser.add_argument("--sentences", type=int, help="take the first so many of each file; default: all")
    parser.add_argument("--nets", default="linear", help="nets of dsp, separated by commas")
    parser.add_argument("--gap", default="0.01", help="certified relative gap at which dsp's linear net stops")
    parser.add_argument("--iterations", type=int, default=10, help="UDPipe's passes over the training data; 10 is its default")
    parser.add_argument("--transitions", choices=["projective", "swap", "link2"], default="projective", help="UDPipe's transition system")
    parser.add_argument("--threads", type=int, default=1, help="threads of dsp; UDPipe uses one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("more", nargs="*", help="further flags for dsp train, after --")
    args = parser.parse_args()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    info = dict(line.split(None, 1) for line in subprocess.run([args.dsp, "info"], capture_output=True, text=True, check=True).stdout.splitlines())
    print(f"{cpu}, {os.cpu_count()} cores; Python {platform.python_version()}; dsp {info['dsp']}, {info['Go']}, oracles on {info['oracles']}")
    with tempfile.TemporaryDirectory() as folder:
        Bench(args, pathlib.Path(folder)).measure()


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(json.loads(sys.argv[2]))
    else:
        main()

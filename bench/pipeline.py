"""A pipeline of dsp beside UDPipe 1.2: words per second from raw text to trees.

    pip install ufal.udpipe
    python bench/pipeline.py --train train.conllu --dev dev.conllu --test test.conllu [--sentences 2000] [--model DIR] [--udpipe FILE]

Both learn from the first sentences of the training data, dsp as it does by default, UDPipe with its default options but few iterations, which its
speed does not depend on. --model and --udpipe name models that are there already, such as ones of the whole treebank. Both then turn the raw
text of the test data into trees, on one thread and by turns. Times are processor time, medians over the runs: of UDPipe in this process, with the
model in memory; of dsp of the whole program, less its time for a text of one word, which is mostly that of reading the model. The shares of dsp's
stages are those of a run that fills one field more than the run before.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import ufal.udpipe as udpipe

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = ["upos", "xpos", "feats", "lemma", "head,deprel"]


def build(folder):
    program = folder / "dsp"
    subprocess.run(["go", "build", "-o", program, "./cmd/dsp"], cwd=ROOT, check=True, env=os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"})
    return program


def sentences_of(path, most):
    blocks = [block for block in path.read_text(encoding="utf-8").split("\n\n") if block.strip()]
    return "".join(block.strip("\n") + "\n\n" for block in blocks[:most])


def raw_text(conllu):
    """The text of a treebank, with an empty line where a paragraph or a document begins."""
    text = []
    for block in conllu.strip().split("\n\n"):
        lines = block.split("\n")
        if any(line.startswith(("# newpar", "# newdoc")) for line in lines):
            text.append("\n\n")
        text.append(next(line for line in lines if line.startswith("# text = "))[len("# text = "):] + " ")
    return "".join(text).strip() + "\n"


def words_of(conllu):
    return sum(line.split("\t")[0].isdigit() for line in conllu.split("\n"))


def read_sentences(conllu):
    reader, error, all_of_them = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError(), udpipe.Sentences()
    reader.setText(conllu)
    while True:
        sentence = udpipe.Sentence()
        if not reader.nextSentence(sentence, error):
            return all_of_them
        all_of_them.append(sentence)


def train_udpipe(train, dev, path):
    error = udpipe.ProcessingError()
    model = udpipe.Trainer.train("morphodita_parsito", read_sentences(train), read_sentences(dev), "epochs=1", "models=2;iterations=2", "iterations=1", error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    path.write_bytes(model if isinstance(model, bytes) else model.encode("utf-8", "surrogateescape"))


def processor_time(*command, text):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([str(c) for c in command], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out.decode()


def main():
    parser = argparse.ArgumentParser()
    for name in ["train", "dev", "test"]:
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--udpipe", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        train, dev, test = sentences_of(o.train, o.sentences), sentences_of(o.dev, 200), o.test.read_text(encoding="utf-8")
        if o.model is None:
            o.model = folder / "pipeline"
            (folder / "train.conllu").write_text(train, encoding="utf-8")
            subprocess.run([program, "train", "--task", "pipeline", "--train", folder / "train.conllu", "--out", o.model, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        if o.udpipe is None or not o.udpipe.exists():
            o.udpipe = o.udpipe or folder / "udpipe"
            train_udpipe(train, dev, o.udpipe)
        model = udpipe.Model.load(str(o.udpipe))
        text, words = raw_text(test), words_of(test)
        pipeline = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
        tagger = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.NONE, "conllu")
        predict = [program, "predict", "--model", o.model, "--threads", "1"]
        times = {}
        for _ in range(o.runs):
            for name, of in [("udpipe", pipeline), ("udpipe, no trees", tagger)]:
                begun = time.process_time()
                made = of.process(text, udpipe.ProcessingError())
                times.setdefault(name, []).append(time.process_time() - begun)
                assert words_of(made) > 0.9 * words
            took, made = processor_time(*predict, "--text", text=text)
            nothing, _ = processor_time(*predict, "--text", text="No.\n")
            times.setdefault("dsp", []).append(took - nothing)
            times.setdefault("dsp, reading the model", []).append(nothing)
            assert words_of(made) > 0.9 * words
            before = nothing
            for k in range(len(FIELDS)):
                took, _ = processor_time(*predict, "--fill", ",".join(FIELDS[: k + 1]), text=test)
                times.setdefault("dsp, " + FIELDS[k], []).append(took - before)
                before = took
        medians = {name: statistics.median(t) for name, t in times.items()}
        print("| | seconds | words per second |\n|---|---|---|")
        for name, t in medians.items():
            print(f"| {name} | {t:.2f} | {words / max(t, 1e-9):,.0f} |")
        print(f"dsp / udpipe: {medians['udpipe'] / medians['dsp']:.2f}")


if __name__ == "__main__":
    main()

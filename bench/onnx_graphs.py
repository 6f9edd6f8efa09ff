"""Runs models that dsp exported as ONNX in onnxruntime, and compares the results with dsp's predictions.

    pip install onnx onnxruntime numpy
    python bench/onnx_graphs.py --dsp bin/dsp --work /tmp/onnx

trains every preset network for a pass or two on drawn data, exports it, checks the file with onnx.checker, and runs it over the same
sequences in padded batches of 1, 7 and 64, sorted and shuffled. Labels must be exactly those of dsp predict, marginals within 1e-5 and
scores within a relative 1e-5; -1 and 0 must stand behind the end of each sequence. Batches without sequences, or without positions, must have
outputs without entries. Then it measures labels alone on two threads: dsp predict,
which reads text, makes attributes and prints (the time for 40 copies of the data less that for one), and onnxruntime, whose inputs are made
before the clock starts, in batches of 1, 8 or 64 sequences of similar lengths, whichever is fastest.

--only NAME,... runs some of the cases. Of other structures than sequences it compares the potentials with dsp export --data.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import unicodedata

import numpy as np
import onnx
import onnxruntime

THREADS = 2


# Inputs, as docs/guide/onnx.md describes them.


def normal_form(word):
    return "".join("0" if unicodedata.category(c) == "Nd" else c.lower() for c in word)


def shape(word):
    out = ""
    for c in word:
        c = "X" if c.isupper() else "x" if c.isalpha() else "d" if unicodedata.category(c) == "Nd" else c
        if len(out) >= 2 and out[-1] == out[-2] == c:
            continue
        out += c
        if len(out) == 10:
            break
    return out


def word_number(vocabulary, word):
    for form in (word, word.lower(), normal_form(word)):
        if form in vocabulary:
            return vocabulary[form]
    return 0


def word_inputs(meta, rows):
    """Returns the numbers [T×V] of the columns of words of a sentence; rows are its lines: the word, then other columns."""
    vocabularies = [{name: i for i, name in enumerate(v)} for v in json.loads(meta["vocabularies"])]
    numbers = []
    for row in rows:
        word = row[0]
        others = [normal_form(word)[:3], normal_form(word)[-3:], shape(word)] + list(row[1:])
        numbers.append([word_number(vocabularies[0], word)] + [v.get(x, 0) for v, x in zip(vocabularies[1:], others)])
    return numbers


def character_inputs(meta, rows):
    known = {c: i for i, c in enumerate(json.loads(meta["characters"]))}
    words = []
    for row in rows:
        word = row[0]
        if len(word) > 32:
            word = word[:16] + word[-16:]
        words.append([known.get(c, 0) for c in word])
    return words


def hashed(name, bits):
    h = 0xCBF29CE484222325
    for c in name.encode():
        h = ((h ^ c) * 0x100000001B3) & (2**64 - 1)
    h = ((h ^ h >> 33) * 0xFF51AFD7ED558CCD) & (2**64 - 1)
    h = ((h ^ h >> 33) * 0xC4CEB9FE1A85EC53) & (2**64 - 1)
    h ^= h >> 33
    return h >> (64 - bits)


def read_columns(path):
    """Returns the sentences of a file: lists of the columns of each token, without the label."""
    with open(path, encoding="utf-8") as f:
        return [[line.split()[:-1] for line in block.split("\n")] for block in f.read().strip("\n").split("\n\n")]


def read_attributes(path):
    """Returns for each sentence the lists of (attribute, value) of each token of a file in CRFsuite's format."""

    def parse(field):
        name, value, i = "", None, 0
        while i < len(field):
            if field[i] == "\\":
                name += field[i + 1]
                i += 2
            elif field[i] == ":":
                value = float(field[i + 1 :])
                break
            else:
                name += field[i]
                i += 1
        return name, 1.0 if value is None else value

    with open(path, encoding="utf-8") as f:
        return [[[parse(x) for x in line.split("\t")[1:]] for line in block.split("\n")] for block in f.read().strip("\n").split("\n\n")]


def pad(rows, length, fill, dtype):
    """Stacks sequences of equal rows [T×…], padded to a length."""
    wide = max((len(r) for row in rows for r in row if isinstance(r, (list, tuple))), default=0)
    out = np.full((len(rows), length, wide), fill, dtype)
    for b, row in enumerate(rows):
        for t, x in enumerate(row):
            out[b, t, : len(x)] = x
    return out


class Sequences:
    """The inputs of all sequences, by name."""

    def __init__(self, lengths):
        self.lengths, self.ragged, self.dense = lengths, {}, {}

    def batch(self, which, garbage=True):
        lengths = np.array([self.lengths[i] for i in which], np.int64)
        T = max(1, lengths.max())
        feed = {"lengths": lengths}
        for name, (rows, fill, dtype) in self.ragged.items():
            feed[name] = pad([rows[i] for i in which], T, fill, dtype)
        for name, rows in self.dense.items():
            x = np.full((len(which), T, rows[0].shape[1]), 7.5 if garbage else 0, np.float32)  # padding must not matter
            for b, i in enumerate(which):
                x[b, : lengths[b]] = rows[i]
            feed[name] = x
        return feed


# The cases: how a model is trained, and the inputs of its graph.


class Bench:
    def __init__(self, dsp, work):
        self.dsp, self.work, self.rng = dsp, work, np.random.default_rng(1)
        os.makedirs(work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.work, name)

    def run(self, *args, env=None):
        done = subprocess.run([self.dsp, *args], capture_output=True, text=True, env=env)
        if done.returncode != 0:
            raise SystemExit(f"dsp {' '.join(args)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def draw(self):
        self.run("data", "text", "--out", self.path("text"), "--examples", "400,50,200")
        for name, dim, labels, n in (("small", 12, 5, 150), ("image", 128, 6, 60)):
            sizes = self.rng.integers(0, 25, n)
            sizes[:6] = 1, 0, 70, 2, 140, 1
            label = self.rng.integers(0, labels, sizes.sum())
            centre = self.rng.normal(size=(labels, dim))
            features = (centre[label] + 1.5 * self.rng.normal(size=(sizes.sum(), dim))).astype(np.float32)
            np.savez(self.path(name + ".npz"), features=features, lengths=sizes, labels=label.astype(np.int32))
        for part in ("train", "test"):
            tokens = sum(len(r) for r in read_columns(self.path(f"text/{part}.conll")))
            np.savez(self.path(part + "-dense.npz"), features=self.rng.normal(size=(tokens, 3)).astype(np.float32))
        known = sorted({w[0] for r in read_columns(self.path("text/test.conll")) for w in r})[::2]
        with open(self.path("vectors.txt"), "w", encoding="utf-8") as f:
            for w in known:
                f.write(w + " " + " ".join(f"{x:.4f}" for x in self.rng.normal(size=8)) + "\n")
        with open(self.path("cjk.conll"), "w", encoding="utf-8") as f:  # more characters than a batch has: a network computes less for those
            for n in self.rng.integers(1, 12, 300):
                for _ in range(n):
                    word = "".join(chr(0x4E00 + c) for c in self.rng.integers(0, 2000, self.rng.integers(1, 5)))
                    f.write(f"{word} {'xy'[ord(word[0]) % 2]}\n")
                f.write("\n")
        with open(self.path("bigram.template"), "w") as f:
            f.write("U00:%x[0,0]\nU01:%x[-1,0]\nB00:%x[0,0]\nB\n")
        with open(self.path("tagger.yaml"), "w") as f:
            f.write("- embed: [16, 8]\n- characters: 12\n- dropout: 0.3\n- convolution: {channels: 32, width: 5, activation: gelu}\n"
                    "- norm\n- attention: 4\n- residual:\n  - dense: {units: 32, activation: silu}\n  - dense: 32\n- recurrent: 12\n- activation\n")
        with open(self.path("maps.yaml"), "w") as f:
            f.write("- features\n- image: [16, 8]\n- convolution: {channels: 6, activation: tanh}\n- pool\n- flatten\n- block: {heads: 2}\n- dense: {units: 9, activation: sigmoid}\n")
        with open(self.path("text/test.conll"), encoding="utf-8") as f:
            blocks = f.read().strip("\n").split("\n\n")
        values = []
        for block in blocks:
            lines = []
            for line in block.split("\n"):
                word, label = line.split()[0], line.split()[-1]
                lines.append(f"{label}\tw={word.replace(':', '')}:0.5\tshape={shape(word).replace(':', '')}:{len(word) / 4}\tbias")
            values.append("\n".join(lines))
        with open(self.path("values.crfsuite"), "w", encoding="utf-8") as f:
            f.write("\n\n".join(values) + "\n\n")

    def sequences(self, kind, meta):
        """Returns the data file of a kind of model and its inputs."""
        if kind in ("small", "image"):
            data = np.load(self.path(kind + ".npz"))
            ends = np.cumsum(data["lengths"])
            s = Sequences(list(data["lengths"]))
            s.dense["features"] = [data["features"][e - n : e] for e, n in zip(ends, data["lengths"])]
            return self.path(kind + ".npz"), s
        if kind == "values":
            rows = read_attributes(self.path("values.crfsuite"))
            s = Sequences([len(r) for r in rows])
            self.attributes(s, rows, meta, True)
            return self.path("values.crfsuite"), s
        data = self.path("cjk.conll" if kind == "cjk" else "text/test.conll")
        rows = read_columns(data)
        s = Sequences([len(r) for r in rows])
        if "vocabularies" in meta:
            s.ragged["words"] = ([word_inputs(meta, r) for r in rows], 0, np.int64)
        if kind == "dense":
            x = np.load(self.path("test-dense.npz"))["features"]
            s.dense["features"] = np.split(x, np.cumsum(s.lengths)[:-1])
        if "characters" in meta:
            s.words = [character_inputs(meta, r) for r in rows]
        if "attributes" in meta or "hash_bits" in meta:
            if kind == "bigram":
                names = [[[(f"U00:{w[0]}", 1), (f"U01:{r[t - 1][0] if t else '_B-1'}", 1)] for t, w in enumerate(r)] for r in rows]
            else:
                self.run("data", "attributes", "--features", "ner", "--input", self.path("text/test.conll"), "--to", self.path("test.crfsuite"))
                names = read_attributes(self.path("test.crfsuite"))
            self.attributes(s, names, meta, False)
        if "edge_attributes" in meta:
            known = {a: i for i, a in enumerate(json.loads(meta["edge_attributes"]))}
            s.ragged["edge_attributes"] = ([[[known.get(f"B00:{w[0]}", -1)] for w in r] for r in rows], -1, np.int64)
        return data, s

    def attributes(self, s, rows, meta, valued):
        if "hash_bits" in meta:
            bits = int(meta["hash_bits"])
            number = lambda a: hashed(a, bits)
        else:
            known = {a: i for i, a in enumerate(json.loads(meta["attributes"]))}
            number = lambda a: known.get(a, -1)
        s.ragged["attributes"] = ([[[number(a) for a, _ in t] for t in r] for r in rows], -1, np.int64)
        if valued:
            s.ragged["values"] = ([[[v for _, v in t] for t in r] for r in rows], 9, np.float32)

    def cases(self):
        npz = lambda name: ["--train", self.path(name + ".npz")]
        text = ["--train", self.path("text/train.conll")]
        small = {
            "linear": [], "linear position": ["--edges", "position"], "linear none": ["--edges", "none"], "linear window": ["--window", "3"],
            "mlp": [], "mlp gelu": ["--activation", "gelu", "--window", "3"], "mlp silu": ["--activation", "silu"], "cnn": [], "rnn": ["--recurrent", "16,8"],
            "attention": ["--channels", "16", "--layers", "2"], "rnn hinge": ["--recurrent", "8", "--loss", "hinge"],
        }
        for name, flags in small.items():
            yield name, "small", npz("small") + ["--net", name.split()[0]] + flags
        yield "cnn-image", "image", npz("image") + ["--net", "cnn-image", "--channels", "4,6"]
        yield "stack of images", "image", npz("image") + ["--net", self.path("maps.yaml")]
        yield "crf", "text", text
        yield "crf iob2", "text", text + ["--constraints", "iob2"]
        yield "crf hashed", "text", text + ["--hash-bits", "14"]
        yield "crf bigrams", "bigram", text + ["--template", self.path("bigram.template")]
        yield "crf values", "values", ["--train", self.path("values.crfsuite")]
        yield "embed", "text", text + ["--net", "embed", "--features", "none", "--channels", "32"]
        yield "embed iob2", "text", text + ["--net", "embed", "--constraints", "iob2", "--edges", "position", "--channels", "16"]
        yield "rnn vectors", "text", text + ["--net", "rnn", "--recurrent", "8", "--vectors", self.path("vectors.txt")]
        yield "rnn frozen", "text", text + ["--net", "rnn", "--recurrent", "8", "--vectors", self.path("vectors.txt"), "--freeze-vectors"]
        yield "rnn dense", "dense", text + ["--net", "rnn", "--recurrent", "8", "--dense", self.path("train-dense.npz")]
        yield "rnn words", "text", text + ["--net", "rnn", "--recurrent", "24"]
        yield "attention words", "text", text + ["--net", "attention", "--channels", "32"]
        yield "deep", "text", text + ["--net", "deep", "--recurrent", "24"]
        yield "deep attributes", "text", text + ["--net", "deep", "--channels", "16", "--attribute-units", "5", "--edges", "position"]
        yield "deep characters", "cjk", ["--train", self.path("cjk.conll"), "--net", "deep", "--features", "none", "--channels", "16", "--min-count", "1"]
        yield "deep plain", "text", text + ["--net", "deep", "--features", "none", "--char-window", "5", "--window", "5", "--channels", "32"]
        yield "stack", "text", text + ["--net", self.path("tagger.yaml")]


# Other structures: the graph computes potentials, which dsp export --data writes, too.


class Others:
    def __init__(self, bench):
        self.b, self.rng = bench, np.random.default_rng(3)

    def draw(self):
        b, rng = self.b, self.rng
        b.run("data", "trees", "--examples", "80,10,30", "--out", b.path("trees"))
        b.run("data", "pairs", "--examples", "80,10,30", "--out", b.path("pairs"))
        counts = rng.integers(1, 9, 30)
        total = counts.sum()
        boxes = np.stack([rng.integers(0, 30, total), rng.integers(0, 30, total), rng.integers(5, 20, total), rng.integers(5, 20, total)], 1)
        common = dict(boxes=boxes, sizes=counts, image_sizes=np.full((30, 2), 50), gold=boxes[np.cumsum(counts) - 1])
        np.savez(b.path("candidates.npz"), features=rng.normal(size=(total, 6)).astype(np.float32), **common)
        np.savez(b.path("maps.npz"), maps=rng.normal(size=(total, 3, 9, 8)).astype(np.float32), **common)
        sizes = rng.integers(1, 6, (30, 2))
        sizes.sort(axis=1)
        links = [[i, k, k, 1] for i, (n, _) in enumerate(sizes) for k in range(n)]
        np.savez(b.path("densepairs.npz"), features=rng.normal(size=((sizes[:, 0] * sizes[:, 1]).sum(), 4)).astype(np.float32), sizes=sizes, links=links)
        nodes, edges = [], []
        for v in rng.integers(2, 8, 30):
            edges.append([(i, i + 1) for i in range(v - 1)] + ([(v - 1, 0)] if v > 2 else []))
            nodes.append(v)
        all_edges = np.array([e for g in edges for e in g])
        np.savez(b.path("graphs.npz"), node_features=rng.normal(size=(sum(nodes), 5)).astype(np.float32), edges=all_edges,
                 edge_features=rng.normal(size=(len(all_edges), 3)).astype(np.float32), sizes=np.array([[v, len(e)] for v, e in zip(nodes, edges)]),
                 edge_types=rng.integers(0, 2, len(all_edges)), labels=rng.integers(0, 2, sum(nodes)))

    def cases(self):
        b = self.b
        trees = ["--task", "parse", "--train", b.path("trees/train.conllu")]
        yield "biaffine", "trees", trees + ["--net", "biaffine", "--channels", "24", "--arc-units", "12", "--label-units", "6"]
        yield "biaffine rnn", "trees", trees + ["--net", "biaffine", "--recurrent", "12", "--layers", "1", "--char-channels", "8", "--arc-units", "12", "--label-units", "6"]
        for net in ("linear", "mlp"):
            yield "choice " + net, "candidates", ["--task", "localise", "--train", b.path("candidates.npz"), "--net", net]
        for net in ("conv-map", "conv-crop"):
            yield net, "maps", ["--task", "localise", "--train", b.path("maps.npz"), "--net", net]
        yield "bilinear", "pairs", ["--task", "align", "--train", b.path("pairs/train.pairs"), "--net", "bilinear", "--features", "none", "--channels", "16"]
        for net in ("linear", "mlp"):
            yield "pairs " + net, "densepairs", ["--task", "align", "--train", b.path("densepairs.npz"), "--format", "npz", "--net", net]
        graph = ["--task", "graph", "--train", b.path("graphs.npz")]
        for edges, flags in (("own", []), ("potts", []), ("typed", []), ("none", []), ("own", ["--edge-units", "5"]), ("potts", ["--edge-units", "5"])):
            yield f"graph {edges}{' units' if flags else ''}", "graphs", graph + ["--net", "mlp", "--edges", edges] + flags
        yield "arcs", "", ["--task", "parse", "--train", b.path("trees/train.conllu"), "--net", "linear"]
        yield "links", "", ["--task", "align", "--train", b.path("pairs/train.pairs"), "--net", "linear"]
        yield "windows", "", ["--task", "localise", "--search", "windows", "--window", "3", "--examples", "6,2,2"]
        yield "segments", "", ["--task", "segment", "--examples", "4,2,2"]
        yield "graph softplus", "graphs", graph + ["--net", "mlp", "--edges", "own", "--submodular", "softplus"]

    def inputs(self, kind, meta):
        """Returns the data file, the inputs of each example, unpadded, and how their first axes are padded."""
        b = self.b
        if kind == "trees":
            with open(b.path("trees/test.conllu"), encoding="utf-8") as f:
                blocks = [[[l.split("\t")[i] for i in (1, 3, 4)] for l in x.split("\n") if l.split("\t")[0].isdigit()] for x in f.read().strip("\n").split("\n\n")]
            return b.path("trees/test.conllu"), [dict(lengths=len(r), **words(meta, r)) for r in blocks]
        if kind == "pairs":
            with open(b.path("pairs/test.pairs"), encoding="utf-8") as f:
                sides = [[[w] for w in side.split()] for line in f for side in [line.split("|||")[0], line.split("|||")[1]]]
            return b.path("pairs/test.pairs"), [dict(lengths=len(s) + len(t), sources=len(s), **words(meta, s + t)) for s, t in zip(sides[::2], sides[1::2])]
        data = np.load(b.path(kind + ".npz"))
        path, examples = b.path(kind + ".npz"), []
        if kind in ("candidates", "maps"):
            x = data["features"] if kind == "candidates" else data["maps"].transpose(0, 2, 3, 1).reshape(len(data["maps"]), -1)  # channels last
            for x in np.split(x, np.cumsum(data["sizes"])[:-1]):
                examples.append(dict(lengths=len(x), features=x))
        elif kind == "densepairs":
            at = 0
            for n, m in data["sizes"]:
                dense = np.zeros((n + m, n + m, data["features"].shape[1]), np.float32)
                dense[:n, n:] = data["features"][at : at + n * m].reshape(n, m, -1)
                flat = data["features"][at : at + n * m]
                at += n * m
                ids = lambda x: np.broadcast_to(np.arange(x.shape[-1]), x.shape).astype(np.int64)
                examples.append(dict(lengths=n + m, sources=n, pair_attributes=(ids(flat), ids(dense)), pair_values=(flat, dense)))
        else:
            v, e = np.cumsum(data["sizes"], 0)[:-1].T
            for x, ends, f in zip(np.split(data["node_features"], v), np.split(data["edges"], e), np.split(data["edge_features"], e)):
                examples.append(dict(lengths=len(x), features=x, ends=ends.astype(np.int64), edge_features=f))
        return path, examples

    def compare(self, s, data, examples, model):
        """Returns the largest difference of a potential."""
        self.b.run("export", "--model", model, "--data", data, "--to", self.b.path("potentials.npz"))
        θ, worst, at = np.load(self.b.path("potentials.npz")), 0.0, 0
        offsets = {}
        names, wanted = [o.name for o in s.get_outputs()], {i.name: i for i in s.get_inputs()}
        for lo in range(0, len(examples), 5):
            some = examples[lo : lo + 5]
            feed = {}
            for name, i in wanted.items():
                rows = [x[name] for x in some]
                if isinstance(rows[0], tuple):
                    rows = [r[1 if len(i.shape) == 4 else 0] for r in rows]
                feed[name] = stack(rows)
            for name, values in zip(names, s.run(names, feed)):
                want = θ[name]
                if values.ndim == 1:
                    worst = max(worst, np.abs(values - want.reshape(-1)).max())
                    continue
                for k, x in enumerate(some):
                    got, n = values[k], x["lengths"]
                    if name == "edge":
                        got = got[: len(x["ends"])]
                    elif name == "unmatched":
                        got = got[: x["sources"]]
                    elif name == "pair" and got.ndim == 3:
                        got = got[: x["sources"], x["sources"] : n]
                    elif name == "pair":
                        got = got[: x["sources"] * (n - x["sources"])]
                    elif got.ndim == 3:
                        got = got[:n, :n]
                    else:
                        got = got[:n]
                    got = got.reshape(-1, got.shape[-1])
                    first = offsets.get(name, 0)
                    offsets[name] = first + len(got)
                    worst = max(worst, np.abs(got - want[first : first + len(got)].reshape(len(got), -1)).max(initial=0))
        assert all(n == len(θ[name]) for name, n in offsets.items()), offsets
        return worst


def words(meta, rows):
    inputs = dict(words=np.array(word_inputs(meta, rows), np.int64))
    if "characters" in meta:
        letters = character_inputs(meta, rows)
        inputs["characters"] = np.full((len(rows), 40), -1, np.int64)
        for t, w in enumerate(letters):
            inputs["characters"][t, : len(w)] = w
    return inputs


def stack(rows):
    """Stacks arrays of one number of dimensions, padded with zeros; −1 would do as well."""
    if np.isscalar(rows[0]) or isinstance(rows[0], (int, np.integer)):
        return np.array(rows, np.int64)
    shape = np.max([r.shape for r in rows], 0)
    out = np.zeros((len(rows), *shape), rows[0].dtype)
    for b, r in enumerate(rows):
        out[(b, *(slice(0, n) for n in r.shape))] = r
    return out


def session(path, threads=THREADS):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def compare(s, sequences, gold, names, size, order):
    """Returns how many labels differ, and the largest differences of marginals and of scores (relative)."""
    wrong, worst, far = 0, 0.0, 0.0
    wanted = {i.name for i in s.get_inputs()}
    for lo in range(0, len(order), size):
        which = order[lo : lo + size]
        feed = feeds(sequences, which)
        feed = {k: v for k, v in feed.items() if k in wanted}
        labels, score, marginals = s.run(["labels", "score", "marginals"], feed)
        for b, i in enumerate(which):
            n, want = sequences.lengths[i], gold[i]
            wrong += sum(names[l] != w for l, w in zip(labels[b, :n], want["labels"]))
            wrong += int((labels[b, n:] != -1).sum())
            if n:
                worst = max(worst, np.abs(marginals[b, :n] - np.array(want["marginals"])).max())
            worst = max(worst, np.abs(marginals[b, n:]).max(initial=0))
            far = max(far, abs(score[b] - want["score"]) / max(1, abs(want["score"])))
    return wrong, worst, far


def without_entries(s, **sizes):
    """Runs a batch whose free dimensions have the given sizes, or none, and checks the sizes of the outputs."""
    shape = lambda x: tuple(d if isinstance(d, int) else sizes.get(d, 0) for d in x.shape)
    types = {"tensor(int64)": np.int64, "tensor(float)": np.float32, "tensor(bool)": bool}
    got = s.run(None, {i.name: np.zeros(shape(i), types[i.type]) for i in s.get_inputs()})
    for x, o in zip(got, s.get_outputs()):
        assert x.shape == shape(o), f"{o.name} of an empty batch has shape {x.shape}, expected {shape(o)}"


def feeds(sequences, which):
    feed = sequences.batch(which)
    if hasattr(sequences, "words"):
        T = feed["lengths"].max()
        words = [sequences.words[i] for i in which]
        wide = max(len(w) for s in words for w in s)
        x = np.full((len(which), T, wide), -1, np.int64)
        for b, sentence in enumerate(words):
            for t, w in enumerate(sentence):
                x[b, t, : len(w)] = w
        feed["characters"] = x
    return feed


def seconds(do, times=5):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        do()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--work", default="/tmp/dsp-onnx")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=40, help="copies of the data that speed is measured on")
    a = parser.parse_args()
    bench, failed = Bench(a.dsp, a.work), 0
    bench.draw()
    print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
    print(f"{'model':18} {'labels that differ':>18} {'marginals':>10} {'score':>9} {'dsp predict':>12} {'onnxruntime':>12}   sequences/s, {THREADS} threads")
    for name, kind, flags in bench.cases():
        if a.only and name not in a.only.split(","):
            continue
        model, graph = bench.path(name.replace(" ", "-")), bench.path(name.replace(" ", "-") + ".onnx")
        shutil.rmtree(model, ignore_errors=True)
        bench.run("train", *flags, "--passes", "2", "--quiet", "--out", model)
        bench.run("export", "--model", model, "--onnx", graph, "--marginals")
        onnx.checker.check_model(onnx.load(graph), full_check=True)
        s = session(graph)
        without_entries(s)
        without_entries(s, batch=2)
        without_entries(s, time=3)
        meta = s.get_modelmeta().custom_metadata_map
        data, sequences = bench.sequences(kind, meta)
        more = ["--dense", bench.path("test-dense.npz")] if kind == "dense" else []
        out = bench.run("predict", "--model", model, "--input", data, *more, "--marginals", "--score", "--json")
        gold = [json.loads(line) for line in out.splitlines()]
        assert len(gold) == len(sequences.lengths), (len(gold), len(sequences.lengths))
        names, n = json.loads(meta["labels"]), len(gold)
        wrong, worst, far = 0, 0.0, 0.0
        shuffled = list(np.random.default_rng(2).permutation(n))
        for size, order in ((1, list(range(n))), (7, shuffled), (64, sorted(shuffled, key=lambda i: sequences.lengths[i]))):
            w, m, f = compare(s, sequences, gold, names, size, order)
            wrong, worst, far = wrong + w, max(worst, m), max(far, f)
        ours, theirs = (0, 0) if more else speed(bench, model, data, kind, graph, sequences, a.repeat)
        bad = wrong > 0 or worst > 1e-5 or far > 1e-5
        failed += bad
        print(f"{name:18} {wrong:18d} {worst:10.1e} {far:9.1e} {ours:12.0f} {theirs:12.0f}{'   WRONG' if bad else ''}", flush=True)
    others = Others(bench)
    others.draw()
    print(f"\n{'model':18} {'structure':28} potentials that differ by at most")
    for name, kind, flags in others.cases():
        if a.only and name not in a.only.split(","):
            continue
        model, graph = bench.path(name.replace(" ", "-")), bench.path(name.replace(" ", "-") + ".onnx")
        shutil.rmtree(model, ignore_errors=True)
        bench.run("train", *flags, "--passes", "2", "--quiet", "--out", model)
        bench.run("export", "--model", model, "--onnx", graph)
        onnx.checker.check_model(onnx.load(graph), full_check=True)
        s = session(graph)
        meta = s.get_modelmeta().custom_metadata_map
        if kind:
            without_entries(s)
            without_entries(s, batch=2)
        if not kind:  # dsp makes its inputs of text or images, which this script cannot
            print(f"{name:18} {meta['structure']:28} only loaded", flush=True)
            continue
        data, examples = others.inputs(kind, meta)
        worst = others.compare(s, data, examples, model)
        failed += worst > 1e-4
        print(f"{name:18} {meta['structure']:28} {worst:.1e}{'   WRONG' if worst > 1e-4 else ''}", flush=True)
    sys.exit(1 if failed else 0)


def speed(bench, model, data, kind, graph, sequences, repeat):
    """Returns the sequences per second of dsp predict, less the time to start and to load the model, and of onnxruntime, labels only."""
    plain = graph[:-5] + "-labels.onnx"
    bench.run("export", "--model", model, "--onnx", plain)
    many = bench.path("many" + os.path.splitext(data)[1])
    if kind in ("small", "image"):
        x = np.load(data)
        np.savez(many, features=np.tile(x["features"], (repeat, 1)), lengths=np.tile(x["lengths"], repeat))
    else:
        with open(data, encoding="utf-8") as f, open(many, "w", encoding="utf-8") as out:
            out.write((f.read().rstrip("\n") + "\n\n") * repeat)
    n = len(sequences.lengths)
    predict = lambda file: lambda: bench.run("predict", "--model", model, "--input", file, "--threads", str(THREADS))
    ours = n * (repeat - 1) / max(1e-3, seconds(predict(many), 3) - seconds(predict(data), 3))
    s = session(plain)
    wanted = {i.name for i in s.get_inputs()}
    order = sorted(range(n), key=lambda i: sequences.lengths[i])  # batches of similar lengths pad little
    theirs = 0
    for size in (1, 8, 64):
        batches = [{k: v for k, v in feeds(sequences, order[lo : lo + size]).items() if k in wanted} for lo in range(0, n, size)]
        theirs = max(theirs, n / seconds(lambda: [s.run(["labels"], feed) for feed in batches]))
    return ours, theirs


if __name__ == "__main__":
    main()

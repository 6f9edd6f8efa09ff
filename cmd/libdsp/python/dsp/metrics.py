"""Scores of outputs of any program, without a model: what `dsp eval --gold FILE --predicted FILE --json` prints, for lists and arrays.

Each function writes the gold and the predicted outputs to two files and has the program compare them, so a score is the same from Python, from the
command line and in `dsp eval --model`. The members of the dicts are those of docs/reference/metrics.md; shares are fractions of 1.
"""

import json
import os
import pathlib
import tempfile

import numpy as np

from . import program
from .batch import Error
from .layouts import host

__all__ = ["Error", "brackets", "files", "labels", "treebanks", "trees"]


def labels(gold, predicted, names=None, lengths=None, scheme=None, strict=False):
    """Scores of the labels of sequences: "token_accuracy", "sequence_error", "labels" with precision, recall and F1 of each, "confusion"; of entity tags
    also "precision", "recall", "f1" of entities, and "types".

    gold, predicted: lists of lists of strings, or numbers [B, T] in arrays, tensors or lists, of names[k] (k itself without names). Of numbers, positions
    with a negative gold one do not exist: padding, and PyTorch's −100. lengths [B]: how many positions count; none: all.

    Entities are counted as conlleval does, in any scheme of tags; the predicted ones may be in another than the gold ones. strict: only those that are
    well-formed, as seqeval's strict mode. scheme: "io", "iob1", "iob2", "bioes", "bilou", "bmes" or "bmewo", of the gold tags, where these alone may not
    show it: of a few tags in strict mode.
    """
    gold, predicted = _sequences(gold, predicted, names, lengths, "labels")
    settings = ["--task", "tag", "--format", "conll", "--columns", "word=0,label=1"]
    if scheme is not None:
        settings += ["--scheme", scheme]
    if strict:
        settings.append("--strict")
    return _compare(*("".join("".join(f"w\t{_cell(x)}\n" for x in s) + "\n" for s in side) for side in (gold, predicted)), ".conll", settings)


def trees(gold, predicted, tags=None, names=None, lengths=None):
    """Attachment scores of dependency trees: "uas", "las", and without punctuation, where tags say what that is, "uas_nopunct" and "las_nopunct".

    gold, predicted: heads [B, n], 0 for the root and k for word k from 1, or (heads, relations): lists of lists, or arrays and tensors, as
    DependencyTree.argmax answers; negative heads are padding. Relations are strings, or numbers of names. Without relations, "las" is "uas".
    tags [B, n]: the words' tags of Universal Dependencies, of which PUNCT is punctuation.
    """
    sides = [x if isinstance(x, tuple) else (x, None) for x in (gold, predicted)]
    if (sides[0][1] is None) != (sides[1][1] is None):
        raise Error("relations of one side only, expected (heads, relations) twice or heads twice")
    heads = _sequences(sides[0][0], sides[1][0], None, lengths, "heads")
    sizes = [len(s) for s in heads[0]]
    relations = [[["dep"] * n for n in sizes]] * 2 if sides[0][1] is None else [_cut(r, names, sizes, "relations") for _, r in sides]
    tags = [["X"] * n for n in sizes] if tags is None else _cut(tags, None, sizes, "tags")

    def text(heads, relations):
        rows = []
        for hs, rs, ts in zip(heads, relations, tags):
            rows += [f"{d}\tw\t_\t{_cell(t)}\t_\t_\t{h}\t{_cell(r)}\t_\t_\n" for d, (h, r, t) in enumerate(zip(hs, rs, ts), 1)] + ["\n"]
        return "".join(rows)

    return _compare(*(text(h, r) for h, r in zip(heads, relations)), ".conllu", ["--task", "parse", "--format", "conllu"])


def brackets(gold, predicted):
    """Labelled brackets of trees of constituents as EVALB counts them: "precision", "recall", "f1", "complete".

    gold, predicted: trees as strings, "(S (NP (N she)) (VP (V sleeps)))", or whatever prints as such, as NLTK's trees do.
    """
    sides = [[str(t) for t in side] for side in (gold, predicted)]
    _same(*map(len, sides), "trees")
    return _compare(*("".join(t + "\n" for t in side) for side in sides), ".mrg", ["--task", "constituency", "--format", "brackets"])


def treebanks(gold, predicted):
    """Two treebanks in CoNLL-U of the same raw text, as strings, compared as the CoNLL 2018 shared task does: tokens and sentences may differ."""
    return _compare(gold, predicted, ".conllu", ["--task", "pipeline"])


def files(gold, predicted, **settings):
    """Two files, or folders of masks, in any format that `dsp eval --gold --predicted` reads. settings are its flags: task="segment", void=255, …"""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items() if value is not None]
    return json.loads(program.run("eval", "--gold", os.fspath(gold), "--predicted", os.fspath(predicted), "--json", "--quiet", *given))


def _compare(gold, predicted, suffix, settings):
    """What the program says of two texts."""
    with tempfile.TemporaryDirectory(prefix="dsp-") as folder:
        paths = [pathlib.Path(folder) / (name + suffix) for name in ("gold", "predicted")]
        for path, text in zip(paths, (gold, predicted)):
            path.write_text(text, encoding="utf-8", newline="\n")
        try:
            return json.loads(program.run("eval", "--gold", paths[0], "--predicted", paths[1], "--json", "--quiet", *settings))
        except Error as e:
            raise Error(str(e).replace(str(folder) + os.sep, "")) from None


def _sequences(gold, predicted, names, lengths, what):
    """Both sides as lists of lists of strings, without the positions whose gold number is negative."""
    sides = [[list(host(s).tolist() if hasattr(s, "shape") else s) for s in side] for side in (gold, predicted)]
    _same(*map(len, sides), "sequences")
    if lengths is not None:
        lengths = host(lengths).tolist()
        _same(len(lengths), len(sides[0]), "lengths and sequences")
        for side in sides:
            side[:] = [s[:n] for s, n in zip(side, lengths)]
    for b, (g, p) in enumerate(zip(*sides)):
        _same(len(g), len(p), f"{what} in sequence {b}")
        counts = [not (_number(x) and x < 0) for x in g]
        for side, s in zip(sides, (g, p)):
            side[b] = [_name(x, names, what, b) for x, does in zip(s, counts) if does]
    return sides


def _cut(values, names, sizes, what):
    """The first values of each sequence, as strings."""
    values = [list(host(s).tolist() if hasattr(s, "shape") else s) for s in values]
    _same(len(values), len(sizes), f"sequences of {what} and of heads")
    for b, (s, n) in enumerate(zip(values, sizes)):
        if len(s) < n:
            raise Error(f"{len(s)} {what} in sequence {b}, expected {n}")
        values[b] = [_name(x, names, what, b) for x in s[:n]]
    return values


def _number(x):
    return isinstance(x, (int, np.integer))


def _name(x, names, what, b):
    if not _number(x):
        return x
    if x < 0 or names is not None and x >= len(names):
        raise Error(f"{what} {x} in sequence {b}, expected " + ("0 or more" if names is None else f"0 to {len(names) - 1}"))
    return str(x) if names is None else names[x]


def _same(a, b, what):
    if a != b:
        raise Error(f"{a} and {b} {what}, expected as many")


def _cell(text):
    text = str(text)
    if not text.strip() or any(c in text for c in "\t\n\r"):
        raise Error(f"{text!r}, expected a name without tabs and ends of lines")
    return text

"""Scores without a model: beside seqeval where it is installed, and by hand."""

import json
import random

import numpy as np
import pytest

import dsp
from dsp import metrics, program

LETTERS = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}


def drawn(scheme, seed, sequences=40):
    """Random tags, most of which break their scheme, and others that agree with them in part."""
    r = random.Random(seed)
    every = ["O"] + [f"{letter}-{x}" for letter in LETTERS[scheme] for x in ("PER", "LOC")]
    gold = [[r.choice(every) for _ in range(r.randint(1, 9))] for _ in range(sequences)]
    gold.append(every)  # so that the letters show the scheme
    return gold, [[x if r.random() < 0.7 else r.choice(every) for x in s] for s in gold]


def conlleval(tags):
    """The entities of tags, by conlleval's definition: one begins at B, or at I behind anything but its own type."""
    found, begin, before = set(), None, "O"
    for t, tag in enumerate(tags + ["O"]):
        continues = tag[0] == "I" and before != "O" and before[1:] == tag[1:] or tag[0] == "I" and before[0] == "B" and before[2:] == tag[2:]
        if begin is not None and not continues:
            found.add((begin, t, before[2:]))
            begin = None
        if tag != "O" and not continues:
            begin = t
        before = tag
    return found


@pytest.mark.parametrize("scheme", ["iob1", "iob2"])
def test_entities_are_those_of_conlleval(scheme):
    gold, predicted = drawn(scheme, 1)
    a, b = ({(k, *e) for k, s in enumerate(side) for e in conlleval(s)} for side in (gold, predicted))
    got = metrics.labels(gold, predicted)
    assert (got["gold"], got["predicted"], got["correct"]) == (len(a), len(b), len(a & b))
    assert got["f1"] == pytest.approx(2 * len(a & b) / (len(a) + len(b)))
    pairs = [(x, y) for s, t in zip(gold, predicted) for x, y in zip(s, t)]
    assert got["tokens"] == len(pairs) and got["token_accuracy"] == pytest.approx(sum(x == y for x, y in pairs) / len(pairs))
    assert got["sequence_error"] == pytest.approx(sum(s != t for s, t in zip(gold, predicted)) / len(gold))


@pytest.mark.parametrize("scheme", LETTERS)
@pytest.mark.parametrize("said", [False, True])
def test_as_seqeval(scheme, said):
    seqeval = pytest.importorskip("seqeval.metrics")
    from seqeval import scheme as schemes
    gold, predicted = drawn(scheme, 2)
    if said:  # tags that do not show the scheme: few letters
        gold, predicted = ([[x if x[0] in "OBI" else "O" for x in s] for s in side] for side in (gold, predicted))
    of = {"iob1": schemes.IOB1, "iob2": schemes.IOB2, "bioes": schemes.IOBES, "bilou": schemes.BILOU}[scheme]
    for strict in (False, True):
        if not strict and scheme == "bilou":
            continue  # seqeval counts it in strict mode only
        got = metrics.labels(gold, predicted, strict=strict, scheme=scheme if strict else None)
        mode = {"mode": "strict", "scheme": of} if strict else {}
        for name, f in ("f1", seqeval.f1_score), ("precision", seqeval.precision_score), ("recall", seqeval.recall_score):
            assert got[name] == pytest.approx(f(gold, predicted, **mode, zero_division=0)), (name, strict)


def test_scheme_must_fit():
    two = [["B-PER", "I-PER"]]
    assert metrics.labels(two, two, strict=True)["gold"] == 1
    assert metrics.labels(two, two, strict=True, scheme="bilou")["gold"] == 0  # without its last tag it is no entity
    assert metrics.labels(two, [["B-PER", "L-PER"]], scheme="iob2")["token_accuracy"] == 1  # written in another scheme
    with pytest.raises(dsp.Error, match="I-PER is no tag of the scheme bmes"):
        metrics.labels(two, two, scheme="bmes")


def test_numbers_and_padding():
    names = ["O", "B-X", "I-X", "NP phrase"]
    gold, predicted = np.array([[1, 2, -100, 0], [0, -1, -1, -1]]), np.array([[1, 2, 3, 1], [0, 0, 0, 0]])
    got = metrics.labels(gold, predicted, names[:3] + ["I-X"])
    assert (got["tokens"], got["sequences"], got["gold"], got["predicted"], got["correct"]) == (4, 2, 1, 2, 1)
    assert got == metrics.labels([["B-X", "I-X", "O"], ["O"]], [["B-X", "I-X", "B-X"], ["O"]])
    plain = metrics.labels([[0, 1, 2], [3, 3, 3]], [[0, 1, 1], [3, 2, 2]], lengths=[3, 1])
    assert plain["token_accuracy"] == 0.75 and "f1" not in plain
    spaces = metrics.labels([[3, 0]], [[3, 3]], names)
    assert spaces["token_accuracy"] == 0.5 and {"NP phrase", "O"} == {x["label"] for x in spaces["labels"]}
    flags = metrics.labels(np.array([[True, False]]), np.array([[True, True]]))
    assert flags["token_accuracy"] == 0.5 and {"True", "False"} == {x["label"] for x in flags["labels"]}
    for wrong, says in [
        (([["a"]], [["a"]], None, [1, 1]), "2 and 1 lengths and sequences"), (([["a\nb"]], [["a"]]), "ends of lines"), (([["a"]], [[" "]]), "expected a name"),
        (([["a"]], [["a", "b"]]), "1 and 2 labels in sequence 0"), (([["a"]], []), "1 and 0 sequences"), (([["a\tb"]], [["a"]]), "without tabs"),
        (([[0]], [[-1]]), "labels -1 in sequence 0"), (([[0]], [[4]], names), "labels 4 in sequence 0, expected 0 to 3"),
    ]:
        with pytest.raises(dsp.Error, match=says):
            metrics.labels(*wrong)


def test_trees():
    gold = [[2, 0, 2], [0, 1]], [["det", "root", "punct"], ["root", "obj"]]
    predicted = [[2, 0, 1], [0, 1]], [["det", "root", "punct"], ["root", "nsubj"]]
    got = metrics.trees(gold, predicted, tags=[["DET", "VERB", "PUNCT"], ["VERB", "NOUN"]])
    assert (got["uas"], got["las"]) == (pytest.approx(4 / 5), pytest.approx(3 / 5))
    assert (got["uas_nopunct"], got["las_nopunct"]) == (pytest.approx(1), pytest.approx(3 / 4))
    tree = dsp.DependencyTree(np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32), lengths=[4, 2, 3])
    heads = tree.argmax  # padded with −1
    other = heads.copy()
    other[0, :4] = [0, 1, 1, 1] if list(heads[0]) != [0, 1, 1, 1] else [0, 1, 2, 3]
    same = np.sum((heads == other) & (heads >= 0))
    assert metrics.trees(heads, other)["uas"] == pytest.approx(same / 9)
    numbers = metrics.trees((heads, np.zeros_like(heads)), (heads, np.ones_like(heads)), names=["a", "b"])
    assert (numbers["uas"], numbers["las"]) == (1, 0)
    assert metrics.trees([[0, 1, 2], [0, 1, 2]], [[0, 1, 1], [0, 1, 1]], lengths=[2, 3])["uas"] == pytest.approx(4 / 5)
    padded = ([[0, 1, -1]], [[0, 1, -1]]), ([[0, 1, -1]], [[0, 2, -1]])
    assert metrics.trees(*padded, names=["root", "obj", "nsubj"])["las"] == 0.5
    with pytest.raises(dsp.Error, match=r"predicted\.conllu:\d") as broken:
        metrics.trees([[0, 1]], [[2, 1]])
    assert "/" not in str(broken.value)  # of the file's folder, which is gone
    with pytest.raises(dsp.Error, match="1 and 2 sequences of relations"):
        metrics.trees(([[0], [0]], [["root"]]), ([[0], [0]], [["root"]]))
    with pytest.raises(dsp.Error, match="1 relations in sequence 0, expected 2"):
        metrics.trees(([[0, 1]], [["root"]]), ([[0, 1]], [["root"]]))
    with pytest.raises(dsp.Error, match="relations of one side"):
        metrics.trees(gold, predicted[0])


def test_brackets():
    gold = ["(S (NP (N she)) (VP (V saw) (NP (N stars))))"]
    predicted = ["(S (NP (N she)) (VP (V saw)) (NP (N stars)))"]  # one of four is in another place
    got = metrics.brackets(gold, predicted)
    assert (got["precision"], got["recall"], got["f1"], got["complete"]) == (0.75, 0.75, 0.75, 0)
    assert metrics.brackets(gold, ["(S\n  (NP (N she))\n  (VP (V saw) (NP (N stars))))"])["complete"] == 1
    with pytest.raises(dsp.Error, match="1 and 2 trees"):
        metrics.brackets(gold, gold * 2)


def test_treebanks_and_files(tmp_path):
    row = "{}\t{}\t_\t{}\t_\t_\t{}\t{}\t_\t{}\n"
    gold = row.format(1, "go", "VERB", 0, "root", "_") + row.format(2, "home", "ADV", 1, "advmod", "SpaceAfter=No") + row.format(3, ".", "PUNCT", 1, "punct", "_") + "\n"
    predicted = row.format(1, "go", "NOUN", 0, "root", "_") + row.format(2, "home.", "ADV", 1, "obj", "_") + "\n"
    got = metrics.treebanks(gold, predicted)
    assert (got["words"], got["upos"], got["scores"]["words"]["gold"], got["scores"]["words"]["system"]) == (pytest.approx(0.4), 0, 3, 2)
    for name, text in ("gold.conllu", gold), ("predicted.conllu", predicted):
        (tmp_path / name).write_text(text)
    assert metrics.files(tmp_path / "gold.conllu", tmp_path / "predicted.conllu", task="pipeline") == got
    tags = [["B-X", "I-X", "O"], ["B-X", "O", "I-X"]]  # the last is no entity in strict mode
    (tmp_path / "gold").write_text("\n\n".join("\n".join(f"w {x}" for x in s) for s in tags) + "\n")
    (tmp_path / "predicted").write_text("\n\n".join("\n".join(f"w - {x}" for x in s) for s in tags) + "\n")
    settings = {"columns": "word=0,label=1", "predicted_columns": "word=0,label=2", "scheme": None, "confusion": False}
    for strict in (True, False):
        got = metrics.files(tmp_path / "gold", tmp_path / "predicted", strict=strict, **settings)
        assert got == metrics.labels(tags, tags, strict=strict) and got["gold"] == (2 if strict else 3)
    with pytest.raises(dsp.Error, match="--nothing"):
        metrics.files(tmp_path / "gold.conllu", tmp_path / "predicted.conllu", nothing=1)


def test_as_the_program(tmp_path):
    gold, predicted = drawn("bioes", 3)
    for name, side in ("gold", gold), ("predicted", predicted):
        (tmp_path / name).write_text("\n\n".join("\n".join(f"w {x}" for x in s) for s in side) + "\n")
    printed = json.loads(program.run("eval", "--gold", tmp_path / "gold", "--predicted", tmp_path / "predicted", "--columns", "word=0,label=1", "--json"))
    assert metrics.labels(gold, predicted) == printed

"""Trained models in process, and the scikit-learn interface."""

import itertools
import json
import os
import pickle
import threading

import numpy as np
import pytest

import dsp
from dsp import program
from dsp.sklearn import CRF, attributes


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    program.run("data", "text", "--out", folder / "text", "--quiet")
    program.run("train", "--train", folder / "text" / "train.conll", "--columns", "word=0,label=-1", "--passes", 3, "--quiet", "--out", folder / "run")
    return folder / "run"


SENTENCES = [["Lurn", "Jetil", "met", "him"], ["All", "farmers", "closed", "."]]


def test_model_answers_as_the_program(run, tmp_path):
    model = dsp.load(run)
    text = tmp_path / "new.conll"
    text.write_text("\n\n".join("\n".join(s) for s in SENTENCES) + "\n")
    printed = [json.loads(x) for x in program.run("predict", "--model", run, "--input", text, "--json", "--nbest", 2, "--marginals", "--quiet").splitlines()]
    answers = model.predict(SENTENCES, nbest=2, marginals=True)
    for a, b in zip(answers, printed):
        assert a["labels"] == b["labels"] and a["marginals"] == b["marginals"] and a["nbest"] == b["nbest"]
    assert model.n_best(SENTENCES, 2) == [b["nbest"] for b in printed]
    names = model.label_names
    u = model.predict_marginals(SENTENCES)
    assert [[list(d) for d in s] for s in u] == [[names] * 4] * 2
    assert u[0][0][names[0]] == printed[0]["marginals"][0][0]
    assert model.predict([]) == []
    assert [a["words"] for a in model.predict(["He met. All left."])] == [["He", "met", "."], ["All", "left", "."]]
    assert model.predict("He met. All left.") == model.predict(["He met. All left."])


def test_model_says_what_is_wrong(run, tmp_path):
    with pytest.raises(dsp.Error, match="no such|not a"):
        dsp.load(tmp_path / "nothing")
    with pytest.raises(dsp.Error, match="wrds"):
        dsp.load(run).predict([{"wrds": ["a"]}])
    with pytest.raises(dsp.Error, match="nbst"):
        dsp.load(run).predict(SENTENCES, nbst=2)


def test_model_is_pickled_closed_and_shared(run):
    model = dsp.load(run)
    want = model.predict(SENTENCES)
    assert pickle.loads(pickle.dumps(model)).predict(SENTENCES) == want
    wrong = []
    every = [threading.Thread(target=lambda: model.predict(SENTENCES) == want or wrong.append(1)) for _ in range(8)]
    [t.start() for t in every], [t.join() for t in every]
    assert not wrong
    model.close()
    assert model.predict(SENTENCES) == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_model_after_a_fork(run):
    model = dsp.load(run)
    want = model.predict(SENTENCES)
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if model.predict(SENTENCES) == want else 3)
        except BaseException:
            os._exit(4)
    assert os.waitpid(pid, 0)[1] == 0


def sequences(n, seed=0):
    r = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = [f"w{k}" for k in r.integers(0, 20, r.integers(1, 8))]
        X.append([{"word": w, "bias": True, "length": 0.5, "around": {"next:odd\\": words[-1]}} for w in words])
        y.append([f"L:{int(w[1:]) % 3}" for w in words])
    return X, y


def test_sklearn():
    X, y = sequences(60)
    crf = CRF(c1=0.05, c2=0.1, max_iterations=100, gap=0.01)
    assert crf.fit(X, y) is crf
    assert sorted(crf.classes_) == ["L:0", "L:1", "L:2"]
    assert crf.training_["relative_gap"] <= 0.01
    assert crf.score(X, y) == 1.0 and crf.predict_single(X[0]) == y[0]
    u = crf.predict_marginals(X)
    assert all(abs(sum(d.values()) - 1) < 1e-4 for s in u for d in s)
    assert [max(d, key=d.get) for d in u[0]] == y[0]
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict(X) == crf.predict(X)
    assert crf.get_params()["c2"] == 0.1 and crf.set_params(c2=0.2).c2 == 0.2


def test_weights_of_sklearn():
    """The probability of a sequence is that of the weights, by enumeration; names are those that were given."""
    X = [[{"#a": "x\\y", "b:c": 0.5}, ["[d]", "#a:x\\y"]], [["[d]"], ["e"]]]
    y = [["#O", "B\\n"], ["B\\n", "#O"]]
    crf = CRF(c2=0.1, gap=1e-6).fit(X, y)
    state, step = crf.state_features_, crf.transition_features_
    assert set(crf.attributes_) == {"#a:x\\y", "b:c", "[d]", "e"} and {label for _, label in state} == {"#O", "B\\n"}
    assert pickle.loads(pickle.dumps(crf)).state_features_ == state
    for items, u in zip(X, crf.predict_marginals(X)):
        scores = {}
        for labels in itertools.product(crf.classes_, repeat=len(items)):
            s = sum(w * state.get((name, l), 0) for item, l in zip(items, labels) for name, w in attributes(item).items())
            scores[labels] = np.exp(s + sum(step.get(two, 0) for two in zip(labels, labels[1:])))
        for t, each in enumerate(u):
            for label, p in each.items():
                np.testing.assert_allclose(p, sum(s for ls, s in scores.items() if ls[t] == label) / sum(scores.values()), atol=1e-5)


def test_empty_sequences_of_sklearn():
    X, y = sequences(20)
    crf = CRF(c2=0.1).fit(X, y)
    want = crf.predict(X[:2])
    assert crf.predict([[], X[0], [], X[1]]) == [[], want[0], [], want[1]]
    assert crf.predict([[]]) == [[]] and crf.predict([]) == []
    assert crf.predict_marginals([[], X[0]]) == [[], *crf.predict_marginals(X[:1])] and crf.predict_single([]) == []


def test_sklearn_says_what_is_wrong():
    X, y = sequences(2)
    with pytest.raises(dsp.Error, match="not fitted"):
        CRF().predict(X)
    with pytest.raises(dsp.Error, match="algorithm 'sgd'"):
        CRF(algorithm="sgd").fit(X, y)
    with pytest.raises(dsp.Error, match="sequence 0 has"):
        CRF().fit(X, [y[0][:-1] + ["a", "b"], y[1]])
    with pytest.raises(dsp.Error, match="a tab"):
        CRF().fit([[["a\tb"]]], [["x"]])
    with pytest.raises(dsp.Error, match="item 1 of sequence 0 has an empty label"):
        CRF().fit([["a", "b"]], [["x", ""]])


def test_attributes_are_those_of_crfsuite():
    assert attributes(["a", "b"]) == {"a": 1, "b": 1}
    assert attributes({"k": "v", "n": 2, "t": True, "f": False, "p": {"q": "r", "s": 3}, "l": ["x"], "e": {"y"}}) == {
        "k:v": 1, "n": 2, "t": 1, "f": 0, "p:q:r": 1, "p:s": 3, "l:x": 1, "e:y": 1}


def test_words_for_a_pipeline(tmp_path):
    """A pipeline takes texts, and sentences as lists of words, which stay as they are."""
    rows = [(1, "the", "DET", 2, "det"), (2, "fox", "NOUN", 3, "nsubj"), (3, "sees", "VERB", 0, "root"), (4, ".", "PUNCT", 3, "punct")]
    lines = [f"{i}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{rel}\t_\t{'SpaceAfter=No' if i == 3 else '_'}" for i, form, upos, head, rel in rows]
    (tmp_path / "trees.conllu").write_text(("# text = the fox sees.\n" + "\n".join(lines) + "\n\n") * 8)
    program.run("train", "--task", "pipeline", "--train", tmp_path / "trees.conllu", "--passes", "2", "--quiet", "--out", tmp_path / "pipe")
    with_words = dsp.load(tmp_path / "pipe").predict(["the fox sees.", ["the", "fox", "sees."]])
    assert [[w["form"] for w in s["words"]] for s in with_words] == [["the", "fox", "sees", "."], ["the", "fox", "sees."]]

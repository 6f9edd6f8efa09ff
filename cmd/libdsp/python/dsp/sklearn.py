"""CRF with the interface of sklearn-crfsuite: `from dsp.sklearn import CRF` in place of `from sklearn_crfsuite import CRF`.

The program dsp trains it, to a certified gap, and the model predicts in process.
"""

import json
import os
import pathlib
import re
import tempfile

from . import program
from .batch import Error
from .model import Model

try:
    from sklearn.base import BaseEstimator as _Base
except ImportError:  # the interface does not need it

    class _Base:
        def get_params(self, deep=True):
            return {k: getattr(self, k) for k in _PARAMETERS}

        def set_params(self, **parameters):
            for k, v in parameters.items():
                if k not in _PARAMETERS:
                    raise ValueError(f"invalid parameter {k!r}")
                setattr(self, k, v)
            return self


__all__ = ["CRF", "attributes"]

_PARAMETERS = ("algorithm", "c1", "c2", "min_freq", "all_possible_states", "all_possible_transitions", "max_iterations", "gap", "threads", "seed",
               "verbose", "model_filename")


def attributes(item):
    """The attributes {name: weight} of an item, as python-crfsuite makes them.

    An item is a list of names, or a dict: a number is a weight, True is 1 and False 0, a string makes the name "key:value", and a dict, list or set
    below a key has the key before its names, with a colon between.
    """
    out = {}

    def add(prefix, x):
        if isinstance(x, dict):
            for k, v in x.items():
                name = f"{prefix}:{k}" if prefix else str(k)
                if isinstance(v, (dict, list, tuple, set, frozenset)):
                    add(name, v)
                elif isinstance(v, str):
                    out[f"{name}:{v}"] = 1.0
                else:
                    out[name] = float(v)
        else:
            for k in sorted(x) if isinstance(x, (set, frozenset)) else x:
                out[f"{prefix}:{k}" if prefix else str(k)] = 1.0

    add("", item)
    return out


def _line(label, item):
    parts = [_escaped(label)] if label is not None else ["_"]
    for name, weight in attributes(item).items():
        name = _escaped(name)
        parts.append(name if weight == 1 else f"{name}:{weight!r}")
    return "\t".join(parts)


def _escaped(text):
    text = str(text)
    if "\t" in text or "\n" in text or "\r" in text:
        raise Error(f"{text!r} has a tab or an end of line, which attributes and labels cannot have")
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _unescaped(name):
    """A name in the text of `dsp export --weights`."""
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(m[1], m[1]), name)


def _write(file, X, y):
    if len(X) != len(y):
        raise Error(f"{len(X)} sequences with {len(y)} sequences of labels")
    for k, (items, labels) in enumerate(zip(X, y)):
        if len(items) != len(labels):
            raise Error(f"sequence {k} has {len(items)} items and {len(labels)} labels")
        for t, (item, label) in enumerate(zip(items, labels)):
            if label == "":
                raise Error(f"item {t} of sequence {k} has an empty label")
            file.write(_line(label, item) + "\n")
        file.write("\n")


class CRF(_Base):
    """A linear-chain CRF on attributes.

    algorithm: "lbfgs" (the CRF loss; dsp chooses the fastest method for it) or "ap" and "pa" (the hinge). c1 and c2: the coefficients of |w| and of w²,
    as in CRFsuite, whose objective is dsp's. max_iterations: passes at most; None: until the gap is met. gap: the certified relative gap to the optimum
    at which training stops. all_possible_transitions and all_possible_states must be left as they are: dsp gives every transition a weight, and attributes
    weights for all labels. min_freq: attributes that occur less often are left out. model_filename: where the model is kept; None: in memory.

    After fit: classes_; training_, the last object of `dsp train --json` with "objective", "relative_gap" and "seconds"; and the weights that are not
    zero: state_features_, transition_features_ and attributes_.
    """

    def __init__(self, algorithm="lbfgs", c1=0.0, c2=1.0, min_freq=0, all_possible_states=None, all_possible_transitions=None, max_iterations=None,
                 gap=0.001, threads=None, seed=0, verbose=False, model_filename=None):
        self.algorithm, self.c1, self.c2, self.min_freq = algorithm, c1, c2, min_freq
        self.all_possible_states, self.all_possible_transitions = all_possible_states, all_possible_transitions
        self.max_iterations, self.gap, self.threads, self.seed = max_iterations, gap, threads, seed
        self.verbose, self.model_filename = verbose, model_filename

    def fit(self, X, y, X_dev=None, y_dev=None):
        """Trains on sequences X of items (see attributes) with labels y."""
        losses = {"lbfgs": "crf", "ap": "hinge", "pa": "hinge"}
        if self.algorithm not in losses:
            raise Error(f"algorithm {self.algorithm!r}, expected one of {sorted(losses)}")
        if self.all_possible_states is False or self.all_possible_transitions is False:
            raise Error("all_possible_states=False and all_possible_transitions=False: dsp has weights for all labels and all transitions")
        with tempfile.TemporaryDirectory(prefix="dsp-") as folder:
            folder = pathlib.Path(folder)
            files = {"train": (X, y)} if X_dev is None else {"train": (X, y), "dev": (X_dev, y_dev)}
            arguments = []
            for name, (items, labels) in files.items():
                path = folder / f"{name}.crfsuite"
                with open(path, "w", encoding="utf-8", newline="\n") as f:
                    _write(f, items, labels)
                arguments += [f"--{name}", path]
            arguments += ["--format", "crfsuite", "--loss", losses[self.algorithm], "--reg", 2 * self.c2, "--gap", self.gap, "--seed", self.seed]
            if self.c1:
                arguments += ["--l1", self.c1]
            if self.min_freq > 1:
                arguments += ["--min-count", self.min_freq]
            if self.max_iterations is not None:
                arguments += ["--passes", self.max_iterations]
            if self.threads is not None:
                arguments += ["--threads", self.threads]
            printed = program.run("train", "--task", "tag", *arguments, "--out", folder / "run", "--json", verbose=self.verbose)
            self.training_ = json.loads(printed.splitlines()[-1])
            self._content = (folder / "run" / "model.safetensors").read_bytes()
        if self.model_filename:
            part = f"{self.model_filename}.part"
            with open(part, "wb") as f:
                f.write(self._content)
            os.replace(part, self.model_filename)
        self._model = self._weights = None
        self.classes_ = list(self._loaded().label_names)
        return self

    def _loaded(self):
        if not hasattr(self, "_content"):
            raise Error("this CRF is not fitted; call fit first")
        if getattr(self, "_model", None) is None:
            with tempfile.NamedTemporaryFile(suffix=".safetensors", delete=False) as f:
                f.write(self._content)
            try:
                self._model = Model(f.name, self.threads or 0)
            finally:
                os.unlink(f.name)
        return self._model

    def _exported(self):
        """The weights that are not zero: of attributes {(attribute, label): weight}, and of transitions {(from, to): weight}."""
        if getattr(self, "_weights", None) is None:
            self._loaded()  # which says if there is no model
            with tempfile.TemporaryDirectory(prefix="dsp-") as folder:
                model, text = pathlib.Path(folder) / "model.safetensors", pathlib.Path(folder) / "weights.txt"
                model.write_bytes(self._content)
                program.run("export", "--model", model, "--weights", "--to", text)
                sections = {}
                for line in text.read_text("utf-8").split("\n"):
                    if line.startswith("[") and "\t" not in line:
                        rows = sections.setdefault(line, [])
                    elif line and not line.startswith("#"):
                        rows.append([_unescaped(x) for x in line.split("\t")])
            attributes = {(name, label): float(w) for label, name, w in sections.get("[attributes]", [])}
            self._weights = attributes, {(a, b): float(w) for a, b, w in sections.get("[transitions]", [])}
        return self._weights

    @property
    def state_features_(self):
        """The weights of attributes that are not zero: {(attribute, label): weight}."""
        return self._exported()[0]

    @property
    def transition_features_(self):
        """The weights of two labels in a row that are not zero: {(from, to): weight}."""
        return self._exported()[1]

    @property
    def attributes_(self):
        """The attributes that have weights."""
        return list(dict.fromkeys(name for name, _ in self.state_features_))

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("_model", "_weights")}

    @staticmethod
    def _examples(X):
        out = []
        for items in X:
            rows = [attributes(x) for x in items]
            out.append({"attributes": [[n.replace("\\", "\\\\").replace(":", "\\:") + ("" if w == 1 else f":{w!r}") for n, w in r.items()] for r in rows]})
        return out

    @staticmethod
    def _each(X, ask):
        """What ask answers about sequences; of those that are empty []."""
        X = list(X)
        answers = iter(ask(CRF._examples(x for x in X if len(x))))
        return [next(answers) if len(x) else [] for x in X]

    def predict(self, X):
        """The best labels of every sequence."""
        model = self._loaded()
        return self._each(X, lambda examples: [x["labels"] for x in model.predict(examples)])

    def predict_single(self, xseq):
        """The best labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X):
        """For every sequence a list, for each item, of a dict from labels to probabilities."""
        return self._each(X, self._loaded().predict_marginals)

    def predict_marginals_single(self, xseq):
        """predict_marginals of one sequence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X, y):
        """The share of labels that are right."""
        pairs = [(a, b) for p, g in zip(self.predict(X), y) for a, b in zip(p, g)]
        return sum(a == b for a, b in pairs) / max(1, len(pairs))

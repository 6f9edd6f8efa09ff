"""Trained models in process: dsp.load(run) predicts what `dsp predict` and `dsp serve` do."""

import base64
import ctypes
import json
import os
import pathlib
import threading
import urllib.parse

from . import _library
from .batch import Error, once

__all__ = ["load", "Model"]

_ABI = 2
_P, _I32, _I64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64


def _path():
    return os.environ.get("DSP_MODEL_LIBRARY") or str(pathlib.Path(_library.path()).parent / ("libdspmodel" + _library.suffix()))


def _declare(lib):
    if lib.dsp_model_abi() != _ABI:
        raise ImportError(f"{_path()} has ABI {lib.dsp_model_abi()}, expected {_ABI}: the package and its library are of different versions")
    lib.dsp_model_free.argtypes, lib.dsp_model_free.restype = [_P], None
    for name, arguments in {"open": [ctypes.c_char_p, _I32, _P], "close": [_I64],
                            "ask": [_I64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, _I64, _P, _P, _P],
                            "decoder": [_I32, _I32, _I32, _P, _P]}.items():
        f = getattr(lib, "dsp_model_" + name)
        f.argtypes, f.restype = arguments, _P
    return lib


_own = _library.Library(_path, _declare, "dsp_model_free")


def decoder(labels, per_position, marginals):
    """The bytes of the ONNX graph that decodes chains: onnx.Decoder of dsp's Go packages."""
    graph, size = _P(), _I64()
    lib = _own.get()
    _own.check(lib.dsp_model_decoder(labels, per_position, marginals, ctypes.addressof(graph), ctypes.addressof(size)))
    content = ctypes.string_at(graph.value, size.value)
    lib.dsp_model_free(graph)
    return content


def load(run, threads=0):
    """The model of a run folder of `dsp train`, or of a model file. threads: how many it uses; 0: all cores."""
    return Model(run, threads)


class Model:
    """A trained model.

    Examples are what the model reads: of text a string (split by dsp), or a list of words; a dict of columns {"words": […], "pos": […]}; for CRFsuite's
    attributes {"attributes": [[…], …]}; for rows of numbers {"features": [[…], …]}; for pairs {"source": […], "target": […]}; for images the bytes of
    a PNG or JPEG file. docs/guide/serve.md lists all. Answers are dicts, as `dsp predict --json` prints them: "labels", "heads", "score", …

    A model may be asked from several threads at the same time. In a forked child it is loaded again.
    """

    def __init__(self, run, threads=0):
        self._run, self._threads = os.path.abspath(os.fspath(run)), threads
        self._handle, self._generation, self._lock = None, 0, threading.Lock()
        self._number()

    def _number(self):
        with self._lock:
            lib = _own.get()
            if self._handle is None or self._generation != _own.generation:
                number = _I64()
                _own.check(lib.dsp_model_open(os.fsencode(self._run), self._threads, ctypes.addressof(number)))
                self._handle, self._generation = number.value, _own.generation
            return self._handle

    def __reduce__(self):
        return Model, (self._run, self._threads)

    def __repr__(self):
        return f"dsp.load({self._run!r})"

    def close(self):
        """Frees the model's memory. Asked again, it is loaded again."""
        with self._lock:
            if self._handle is not None and self._generation == _own.generation:
                _own.get().dsp_model_close(self._handle)
            self._handle = None

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def _ask(self, method, target, kind, body):
        status, answer, size = _I32(), _P(), _I64()
        lib = _own.get()
        _own.check(lib.dsp_model_ask(self._number(), method, target.encode(), kind, body, len(body), ctypes.addressof(status),
                                     ctypes.addressof(answer), ctypes.addressof(size)))
        text = ctypes.string_at(answer.value, size.value)
        lib.dsp_model_free(answer)
        if status.value != 200:
            try:
                said = json.loads(text)["error"]
            except (ValueError, KeyError, TypeError):
                said = text.decode(errors="replace").strip()
            raise Error(said)
        return text

    @once
    def metadata(self):
        """What the model reads and answers, as a dict."""
        return json.loads(self._ask(b"GET", "/v2/models/model", b"", b""))

    def predict(self, examples, **options):
        """An answer for each example; for each sentence, where examples are texts.

        options are those of POST /predict: nbest=3, marginals=True, confidence=True, entropy=True, samples=5 with temperature and seed, decode="risk",
        spans=True, force=True, … A pipeline takes format="conllu", and answers the text of all sentences. One text, image or dict alone counts as a list of one.
        """
        if isinstance(examples, (str, bytes, bytearray, dict)):
            examples = [examples]
        lines = "".join(json.dumps(_object(x)) + "\n" for x in examples)
        if not lines:
            return "" if options.get("format") == "conllu" else []
        given = {k: ("" if v is True else str(v)) for k, v in options.items() if v is not False and v is not None}
        query = "?" + urllib.parse.urlencode(given) if given else ""
        answer = self._ask(b"POST", "/predict" + query, b"application/json", lines.encode())
        if given.get("format") == "conllu":
            return answer.decode()
        return [json.loads(line) for line in answer.splitlines() if line]

    def n_best(self, examples, n):
        """For each example a list of at most n dicts with "labels" (or what the model predicts), "score" and "probability", best first."""
        return [x["nbest"] for x in self.predict(examples, nbest=n)]

    def predict_marginals(self, examples):
        """For each example a list, for each position, of a dict from labels to probabilities."""
        names = self.label_names
        answers = self.predict(examples, marginals=True)
        if names is None:
            return [x["marginals"] for x in answers]
        return [[dict(zip(names, row)) for row in x["marginals"]] for x in answers]

    @once
    def label_names(self):
        """The labels in the order of marginals, or None if the model predicts something else."""
        return self.metadata.get("labels")


def _object(example):
    if isinstance(example, str):
        return {"text": example}
    if isinstance(example, (bytes, bytearray)):
        return {"image": base64.b64encode(example).decode()}
    if isinstance(example, dict):
        return example
    return {"words": list(example)}

"""The C library: loading it, its errors, and what a fork does to it."""

import ctypes
import os
import pathlib
import sys
import tempfile
import threading

ABI = 4

_P, _I32, _I64, _DOUBLE = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_double


class Run(ctypes.Structure):
    """dsp_run of libdsp.h."""

    _fields_ = [("threads", _I32), ("first", _I64), ("budget", _I64), ("next", _I64)]


class CLayout(ctypes.Structure):
    """dsp_layout of libdsp.h."""

    _fields_ = [("examples", _I64), ("outputs", _P), ("offsets", _P), ("gold", _P), ("gold_offsets", _P), ("ends", _P), ("types", _P),
                ("edge_offsets", _P)]


_QUESTIONS = {  # arguments after the batch, the values and the run
    "max": [_P, _P],
    "exp": [_DOUBLE, _P, _P],
    "loss": [_P, _P, _P],
    "top": [_I64, _P, _P, _P],
    "sample": [_DOUBLE, _I64, _P, _P, _P],
    "score": [_P, _P],
    "divergence": [_P, _DOUBLE, _P],
    "hessian": [_DOUBLE, _P, _I32, _P],
}


_U64 = ctypes.c_uint64
_ON_A_GPU = {  # arguments after the batch, the GPU, the values and the stream
    "exp": [_DOUBLE, _U64, _P],
    "loss": [_P, _U64, _P],
    "max": [_P, _P],
}


class Error(ValueError):
    """What the library says of arguments that do not fit."""


def suffix():
    """What names of libraries end with on this system."""
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def path():
    """The file of the library: DSP_LIBRARY, or the one in the package."""
    return os.environ.get("DSP_LIBRARY") or str(pathlib.Path(__file__).resolve().parent / ("libdsp" + suffix()))


def _declare(lib):
    if lib.dsp_abi() != ABI:
        raise ImportError(f"{path()} has ABI {lib.dsp_abi()}, expected {ABI}: the package and its library are of different versions")
    lib.dsp_free.argtypes, lib.dsp_free.restype = [_P], None
    lib.dsp_memory.restype = _I64
    for name, arguments in {"form": [ctypes.c_char_p, _P, _P], "batch": [_I64, _P, _P], "release": [_I64]}.items():
        f = getattr(lib, "dsp_" + name)
        f.argtypes, f.restype = arguments, _P
    for name, arguments in _QUESTIONS.items():
        f = getattr(lib, "dsp_" + name)
        f.argtypes, f.restype = [_I64, _P, _P] + arguments, _P
    for name, arguments in _ON_A_GPU.items():
        f = getattr(lib, "dsp_cuda_" + name)
        f.argtypes, f.restype = [_I64, _I64, _P, _U64] + arguments, _P
    lib.dsp_indicator.argtypes, lib.dsp_indicator.restype = [_I64, _P, _P, _P], _P
    lib.dsp_cuda_failed.argtypes = [_I64]
    lib.dsp_cuda_open.argtypes, lib.dsp_cuda_open.restype = [_I64, _P], _P
    lib.dsp_cuda_owner.argtypes, lib.dsp_cuda_owner.restype = [_U64, _P], _P
    return lib


class Library:
    """A C library that is written in Go, opened once per process when it is first needed.

    Go's threads do not survive a fork. So a child of a process that has used the library opens a copy of its own, which the loader takes for another
    library. generation counts these forks: handles of another generation are not valid in this process.
    """

    def __init__(self, file, declare, free):
        self._file, self._declare, self._free = file, declare, free
        self._opened, self.generation, self._lock = None, 0, threading.Lock()
        self._kept = []  # what keeps a child's copy alive
        if hasattr(os, "register_at_fork"):
            # No fork while a thread opens the library: the loader's lock would stay locked in the child.
            os.register_at_fork(before=lambda: self._lock.acquire(), after_in_parent=lambda: self._lock.release(), after_in_child=self._forked)

    def get(self):
        """The library."""
        if self._opened is None:
            with self._lock:
                if self._opened is None:
                    self._opened = self._open(self._file()) if self.generation == 0 else self._copy()
        return self._opened

    def check(self, message):
        """Raises the error of a message, and frees it."""
        if message:
            text = ctypes.string_at(message).decode()
            getattr(self.get(), self._free)(message)
            raise Error(text)

    def _open(self, file):
        try:
            lib = ctypes.CDLL(file)  # CDLL releases the interpreter's lock while a function runs
        except OSError as e:
            raise ImportError(f"the C library of dsp cannot be loaded from {file}: {e}") from None
        return self._declare(lib)

    def _copy(self):
        with open(self._file(), "rb") as f:
            content = f.read()
        try:
            fd = os.memfd_create("libdsp")
            view = memoryview(content)
            while view:
                view = view[os.write(fd, view):]
            self._kept.append(fd)
            return self._open(f"/proc/self/fd/{fd}")
        except (AttributeError, OSError, ImportError):  # no memfd, or a sandbox that forbids it
            pass
        try:
            with tempfile.NamedTemporaryFile(suffix=suffix()) as f:
                f.write(content)
                f.flush()
                return self._open(f.name)
        except (OSError, ImportError) as e:
            raise RuntimeError("dsp was used before this process was forked, and the child cannot open a copy of its own "
                               f"({e}); use the start method spawn or forkserver") from None

    def _forked(self):
        self._lock = threading.Lock()
        if self._opened is not None:
            self._opened, self.generation = None, self.generation + 1


oracles = Library(path, _declare, "dsp_free")
library, check = oracles.get, oracles.check


def generation():
    """The generation of the library of oracles."""
    return oracles.generation

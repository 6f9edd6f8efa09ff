"""The C library: loading it, its errors, and what a fork does to it."""

import ctypes
import os
import pathlib
import sys
import tempfile
import threading

ABI = 1

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
}


class Error(ValueError):
    """What the library says of arguments that do not fit."""


def _suffix():
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def path():
    """The file of the library: DSP_LIBRARY, or the one in the package."""
    return os.environ.get("DSP_LIBRARY") or str(pathlib.Path(__file__).resolve().parent / ("libdsp" + _suffix()))


def _open(file):
    try:
        lib = ctypes.CDLL(file)  # CDLL releases the interpreter's lock while a function runs
    except OSError as e:
        raise ImportError(f"the C library of dsp cannot be loaded from {file}: {e}") from None
    if lib.dsp_abi() != ABI:
        raise ImportError(f"{file} has ABI {lib.dsp_abi()}, expected {ABI}: the package and its library are of different versions")
    lib.dsp_free.argtypes, lib.dsp_free.restype = [_P], None
    lib.dsp_memory.restype = _I64
    for name, arguments in {"form": [ctypes.c_char_p, _P, _P], "batch": [_I64, _P, _P], "release": [_I64]}.items():
        f = getattr(lib, "dsp_" + name)
        f.argtypes, f.restype = arguments, _P
    for name, arguments in _QUESTIONS.items():
        f = getattr(lib, "dsp_" + name)
        f.argtypes, f.restype = [_I64, _P, _P] + arguments, _P
    return lib


_lock = threading.Lock()
_opened = None
_generation = 0  # how many forks lie between the process that first used the library and this one
_private = []  # what keeps a child's copy of the library alive


def library():
    """The library, opened once per process."""
    global _opened
    if _opened is None:
        with _lock:
            if _opened is None:
                _opened = _open(path()) if _generation == 0 else _copy()
    return _opened


def generation():
    """Handles of another generation are not valid in this process."""
    return _generation


def _copy():
    """Go's threads do not survive a fork, so a child opens a copy of its own, which the loader takes for another library."""
    with open(path(), "rb") as f:
        content = f.read()
    try:
        fd = os.memfd_create("libdsp")
        _write(fd, content)
        _private.append(fd)
        return _open(f"/proc/self/fd/{fd}")
    except (AttributeError, OSError, ImportError):  # no memfd, or a sandbox that forbids it
        pass
    try:
        with tempfile.NamedTemporaryFile(suffix=_suffix()) as f:
            f.write(content)
            f.flush()
            return _open(f.name)
    except (OSError, ImportError) as e:
        raise RuntimeError("dsp was used before this process was forked, and the child cannot open a copy of its own "
                           f"({e}); use the start method spawn or forkserver") from None


def _write(fd, content):
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view):]


def _forked():
    global _opened, _generation, _lock
    _lock = threading.Lock()
    if _opened is not None:
        _opened, _generation = None, _generation + 1


if hasattr(os, "register_at_fork"):
    # No fork while a thread opens the library: the loader's lock would stay locked in the child.
    os.register_at_fork(before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(), after_in_child=_forked)


def check(message):
    """Raises the error of a message, and frees it."""
    if message:
        text = ctypes.string_at(message).decode()
        library().dsp_free(message)
        raise Error(text)

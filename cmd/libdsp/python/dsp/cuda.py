"""Questions about a Batch whose potentials are in the memory of an NVIDIA GPU. Kernels read and write there, without a
copy, in the caller's stream.

Arrays are what PyTorch, CuPy, Numba and JAX have there: objects with __cuda_array_interface__ or __dlpack__, or tensors of
PyTorch. They are contiguous, and begin at multiples of 16 bytes, as allocators give them. Outputs (labels, heads,
relations) are NumPy arrays in the host's memory, as those of Batch. Chains and dependency trees answer, as Batch does to
rounding; sums over chains answer NaN for potentials beyond ±4e7·μ.

The library has to be built with CUDA: `make libdsp-gpu`, and DSP_LIBRARY=build/libdsp-gpu.so in the environment.
"""

import ctypes
import threading
import weakref

import numpy as np

from . import _library
from .batch import Error, _address, _addresses, _release

__all__ = ["exp", "loss", "max"]

_TYPES = {"<f4": "float32", "<f8": "float64"}


def exp(batch, values, value, marginals=None, mu=1.0, stream=None):
    """Writes μ·log Σ exp(score/μ) over the outputs of each example to value, float64 [B], and marginals to a list of
    float32 arrays, one for each part as Batch.exp returns them. It does not wait: later work in the stream finds the
    answers.

    stream: the number of a CUstream. By default it is that of the arrays: PyTorch's current stream, or what
    __cuda_array_interface__ names, else the default stream.
    """
    there = _There(batch, values, stream)
    u = None if marginals is None else there.marginals(marginals)
    there.ask("exp", mu, there.value(value), None if u is None else ctypes.addressof(u))


def loss(batch, values, y, value, gradient, stream=None):
    """Writes −log p(y), never below 0, to value, float64 [B], and its gradient to a list of arrays, as exp writes
    marginals."""
    there = _There(batch, values, stream)
    y, u = batch._outputs(y), there.marginals(gradient)
    there.ask("loss", _address(y), there.value(value), ctypes.addressof(u))


def max(batch, values, stream=None):
    """The best outputs, int32 [numbers], and their scores, float64 [B], in the host's memory: it waits for them."""
    y, value = np.empty(batch.numbers, np.int32), np.empty(batch.examples)
    _There(batch, values, stream).ask("max", _address(y), _address(value))
    return y, value


def answers(form):
    """Whether the library answers about a form on a GPU."""
    if not _library.library().dsp_cuda_built():
        return False
    tree = form.structure in ("projective tree", "non-projective tree")
    return form.structure == "chain" and '"ends": true' not in form.settings or tree and '"roots": true' not in form.settings


class _There:
    """A batch whose potentials are in the memory of a GPU, for one question."""

    def __init__(self, batch, values, stream):
        if len(values) != len(batch._sizes):
            names = [name for name, _, _ in batch.form.parts]
            raise Error(f"{len(values)} parts, expected {len(names)}: {names}")
        self._batch, self._stream, self._streams, self._kept = batch, stream, set(), []
        self._names = [f"part {name!r}" for name, _, _ in batch.form.parts]
        self._values = self._places(values, batch._sizes)

    def _places(self, arrays, sizes):
        if len(arrays) != len(sizes):
            raise Error(f"{len(arrays)} parts, expected {len(sizes)}: {self._names}")
        places = [self._place(x, n, "float32", what) for x, n, what in zip(arrays, sizes, self._names)]
        return _addresses[len(sizes)](*places)

    def _place(self, x, size, dtype, what):
        address, found, shape, contiguous, stream = _seen(x, what, self._stream, self._kept)
        if found != dtype or not contiguous:
            found = found if contiguous else f"strides and {found}"
            raise Error(f"{what}: expected a contiguous {dtype} array on a GPU, found {found}")
        if int(np.prod(shape)) != size:
            raise Error(f"{what} has {int(np.prod(shape))} numbers, expected {size}")
        if stream is not None:
            self._streams.add(stream)
        return address

    def value(self, x):
        return self._place(x, self._batch.examples, "float64", "value")

    def marginals(self, u):
        return self._places(u, [rows * width for rows, width in self._batch._shapes])

    def ask(self, question, *arguments):
        stream = self._stream
        if stream is None:
            if len(self._streams) > 1:
                raise Error(f"arrays of the streams {sorted(self._streams)}: name one in which all of them are ready")
            stream = next(iter(self._streams), 0)
        first = next((x for x in self._values if x), None)
        if first is None:  # no rows, or an address that is missing
            raise Error("potentials without numbers")
        owner = ctypes.c_int64()
        _library.check(_library.library().dsp_cuda_owner(first, ctypes.addressof(owner)))
        if owner.value < 0:
            raise Error(f"{self._names[0]} is in the host's memory, expected that of a GPU")
        gpu = _opened(owner.value)
        try:
            f = getattr(_library.library(), "dsp_cuda_" + question)
            _library.check(f(self._batch._made(), gpu.number, ctypes.addressof(self._values), stream, *arguments))
        except Error:
            if _library.library().dsp_cuda_failed(gpu.number):  # the next question opens it again
                gpu.close()
            raise


def _seen(x, what, wanted, kept):
    """The address of an array on a GPU, the name of its type, its shape, whether it is contiguous, and its stream or None.
    wanted: the stream in which it has to be ready; None: any. kept takes what the array lives by."""
    if hasattr(x, "data_ptr") and hasattr(x, "is_cuda"):  # PyTorch
        if not x.is_cuda:
            raise Error(f"{what} is on {x.device}, expected a GPU")
        import torch
        stream = torch.cuda.current_stream(x.device).cuda_stream
        return x.data_ptr(), str(x.dtype).replace("torch.", ""), tuple(x.shape), x.is_contiguous(), stream
    if hasattr(x, "__cuda_array_interface__"):
        d = x.__cuda_array_interface__
        dtype, shape, strides = _TYPES.get(d["typestr"], d["typestr"]), tuple(d["shape"]), d.get("strides")
        size = np.dtype(d["typestr"]).itemsize
        contiguous = strides is None or _rows(shape, [s // size for s in strides])
        return d["data"][0] or 0, dtype, shape, contiguous, d.get("stream")
    if hasattr(x, "__dlpack__"):
        kind, _ = x.__dlpack_device__()
        if kind not in (2, 13):  # kDLCUDA, kDLCUDAManaged
            raise Error(f"{what} is on a device of DLPack's kind {kind}, expected 2, that of CUDA")
        capsule = x.__dlpack__(stream=wanted or 1)  # 1 is the default stream
        kept.append(capsule)
        t = ctypes.cast(_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
        shape = tuple(t.shape[k] for k in range(t.ndim))
        contiguous = not t.strides or _rows(shape, [t.strides[k] for k in range(t.ndim)])
        code = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}.get(t.code, f"type {t.code} of ")
        return (t.data or 0) + t.byte_offset, f"{code}{t.bits}", shape, contiguous and t.lanes == 1, wanted or 1
    raise Error(f"{what}: expected an array on a GPU, found {type(x).__name__}")


def _rows(shape, strides):
    """Whether strides, counted in numbers, are those of rows one after the other."""
    step = 1
    for n, s in zip(reversed(shape), reversed(strides)):
        if n != 1 and s != step:
            return 0 in shape
        step *= n
    return True


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h, with which a DLManagedTensor begins."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p

_gpus, _opening = {}, threading.Lock()


class _GPU:
    """A GPU that the library has opened, in one process."""

    def __init__(self, ordinal):
        number = ctypes.c_int64()
        _library.check(_library.library().dsp_cuda_open(ordinal, ctypes.addressof(number)))
        self.number, self._key = number.value, (ordinal, _library.generation())
        weakref.finalize(self, _release, self.number, self._key[1]).atexit = False

    def close(self):
        """Forgets the GPU; it is released when no thread asks it any more."""
        with _opening:
            if _gpus.get(self._key) is self:
                del _gpus[self._key]


def _opened(ordinal):
    with _opening:
        key = ordinal, _library.generation()
        if key not in _gpus:
            _gpus[key] = _GPU(ordinal)
        return _gpus[key]

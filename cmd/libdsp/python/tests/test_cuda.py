"""dsp.cuda, on the emulated device: its memory is memory of the host, which a driver's functions allocate."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import dsp
from dsp import _library, batch, cuda

emulated = os.environ.get("DSP_CUDA_LIBRARY")
built = bool(_library.library().dsp_cuda_built())
needs_a_device = pytest.mark.skipif(not emulated or not built, reason="needs DSP_LIBRARY of make libdsp-gpu and "
                                    "DSP_CUDA_LIBRARY of make emulator")


class There:
    """An array in the memory of the device, as other libraries describe theirs."""

    driver = None

    def __init__(self, x, dtype=None, offset=0, **interface):
        if There.driver is None:
            There.driver = ctypes.CDLL(emulated)
            context = ctypes.c_void_p()
            assert There.driver.cuInit(0) == 0 and There.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
            There.context = context
        assert There.driver.cuCtxSetCurrent(There.context) == 0
        x = np.ascontiguousarray(x, dtype)
        at = ctypes.c_uint64()
        assert There.driver.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(max(16, x.nbytes + offset))) == 0
        self.host = np.frombuffer((ctypes.c_char * x.nbytes).from_address(at.value + offset), x.dtype).reshape(x.shape)
        self.host[...] = x
        self.__cuda_array_interface__ = {"shape": x.shape, "typestr": x.dtype.str, "data": (at.value + offset, False),
                                         "strides": None, "version": 3, "stream": None, **interface}

    def numpy(self):
        """The content, when the device has done its work."""
        assert There.driver.cuCtxSetCurrent(There.context) == 0 and There.driver.cuCtxSynchronize() == 0
        return self.host.copy()


class Packed:
    """The same by DLPack, as a capsule of a DLManagedTensor."""

    def __init__(self, there, kind=2):
        x, self._there = there.host, there
        shape = (ctypes.c_int64 * x.ndim)(*x.shape)
        self._kind, self._shape = kind, shape
        self._tensor = (ctypes.c_char * 128)()
        t = cuda._Tensor.from_buffer(self._tensor)
        t.data, t.device_type, t.ndim, t.code, t.bits, t.lanes = x.ctypes.data, kind, x.ndim, 2, 8 * x.itemsize, 1
        t.shape = shape

    def __dlpack_device__(self):
        return self._kind, 0

    def __dlpack__(self, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


def chain(rng, per_position=False):
    form = dsp.Form("chain", labels=4, **({"per_position": True} if per_position else {}))
    o = dsp.offsets([3, 1, 5])
    b = dsp.Batch(form, o, [o, o if per_position else None])
    return b, [rng.normal(size=(9, 4)), rng.normal(size=(9 if per_position else 1, 16))], rng.integers(4, size=9)


def tree(rng, projective=True):
    n = np.array([3, 1, 4])
    rows = dsp.offsets(n * n)
    form = dsp.Form("projective tree" if projective else "non-projective tree", labels=2)
    b = dsp.Batch(form, dsp.offsets(2 * n), [rows, rows])
    y = np.concatenate([np.r_[np.arange(k), rng.integers(2, size=k)] for k in n])
    return b, [rng.normal(size=(rows[-1], 1)), rng.normal(size=(rows[-1], 2))], y


BATCHES = {"chain": chain, "steps": lambda r: chain(r, True), "projective": tree,
           "non-projective": lambda r: tree(r, False)}


@needs_a_device
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", BATCHES)
def test_answers_are_those_of_the_host(name, packed):
    b, values, y = BATCHES[name](np.random.default_rng(1))
    values = [x.astype(np.float32) for x in values]
    there = [There(x) for x in values]
    given = [Packed(x) for x in there] if packed else there
    value, u = There(np.zeros(b.examples)), [There(np.zeros(s), np.float32) for s in b._shapes]
    cuda.exp(b, given, value, u, mu=0.7)
    expected, marginals = b.exp(values, 0.7)
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5)
    for x, want in zip(u, marginals):
        np.testing.assert_allclose(x.numpy(), want, atol=1e-5)
    cuda.loss(b, given, y, value, u)
    expected, gradient = b.loss(values, y)
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-5)
    for x, want in zip(u, gradient):
        np.testing.assert_allclose(x.numpy(), want, atol=1e-5)
    best, scores = cuda.max(b, given)
    want, most = b.max(values)
    assert best.tolist() == want.tolist()
    np.testing.assert_allclose(scores, most, rtol=1e-6)


@needs_a_device
def test_what_does_not_fit_is_a_message():
    b, values, y = chain(np.random.default_rng(2))
    node, edge = (There(x, np.float32) for x in values)
    value, u = There(np.zeros(3)), [There(np.zeros(s), np.float32) for s in b._shapes]
    host = values[1].ctypes.data, False
    turned = There(values[0], np.float32, strides=(4, 36))
    ends = dsp.LinearChain(np.zeros((1, 2, 3)), np.zeros((3, 3)), start=np.zeros(3))
    assert cuda.answers(b.form) and not cuda.answers(ends._layout.batch.form)
    for ask, message in [
        (lambda: cuda.max(b, [There(values[0]), edge]),
         "part 'node': expected a contiguous float32 array on a GPU, found float64"),
        (lambda: cuda.max(b, [turned, edge]), "found strides and float32"),
        (lambda: cuda.max(ends._layout.batch, [There(x, np.float32) for x in ends._values]), "start and end do not answer on a GPU"),
        (lambda: cuda.max(b, [edge, edge]), "part 'node' has 16 numbers, expected 36"),
        (lambda: cuda.max(b, [node]), "1 parts, expected 2"),
        (lambda: cuda.max(b, [[1.0], edge]), "expected an array on a GPU, found list"),
        (lambda: cuda.max(b, [values[0], edge]), "a device of DLPack's kind 1"),
        (lambda: cuda.max(b, [Packed(node, kind=1), edge]), "a device of DLPack's kind 1"),
        (lambda: cuda.max(b, [There(values[0], np.float32, stream=4), There(values[1], np.float32, stream=5)]),
         r"arrays of the streams \[4, 5\]"),
        (lambda: cuda.max(b, [Packed(There(values[0], np.float32)), There(values[1], np.float32, stream=5)]),
         r"arrays of the streams \[1, 5\]"),  # DLPack's are ready in the default one
        (lambda: cuda.max(b, [There(values[0], np.float32, offset=4), edge]), "no multiple of 16"),
        (lambda: cuda.max(b, [node, There(values[1], np.float32, data=host)]), "is in the host's memory"),
        (lambda: cuda.max(b, [There(values[0], np.float32, data=host), edge]), "is in the host's memory"),
        (lambda: cuda.exp(b, [node, edge], value, [u[0], edge]), "part 'edge' has 16 numbers, expected 48"),
        (lambda: cuda.exp(b, [node, edge], There(np.zeros(3), np.float32)), "value: expected a contiguous float64 array"),
        (lambda: cuda.loss(b, [node, edge], np.full(9, 7), value, u), "label 7 at place 0"),
    ]:
        with pytest.raises(dsp.Error, match=message):
            ask()
    assert len(cuda.max(b, [node, edge])[0]) == 9  # and it still answers


@needs_a_device
def test_a_gpu_without_memory_is_opened_again():
    """An error of a GPU ends what was opened, and the next question opens it again: one that fits is answered."""
    program = """
import numpy as np, dsp, test_cuda
from dsp import cuda
for n in 40_000, 5:
    o = dsp.offsets([n])
    b = dsp.Batch(dsp.Form("chain", labels=8), o, [o, None])
    values = [test_cuda.There(np.zeros(s), np.float32) for s in ((n, 8), (1, 64))]
    value = test_cuda.There(np.zeros(1))
    try:
        cuda.exp(b, values, value)
        print(round(float(value.numpy()[0]) / np.log(8), 4))
    except dsp.Error as e:
        print(e)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=os.path.dirname(__file__), capture_output=True, text=True,
                          env={**os.environ, "DSP_EMULATED_MEMORY": "4000000"}, timeout=120)
    assert done.returncode == 0, done.stderr
    refused, answer = done.stdout.splitlines()
    assert "out of device memory" in refused and answer == "5.0"


@pytest.mark.skipif(built, reason="the library is built with CUDA")
def test_a_library_without_cuda_says_what_to_build():
    b, _, _ = chain(np.random.default_rng(3))

    def there(n):
        interface = {"shape": (n,), "typestr": "<f4", "data": (64, False), "version": 3}
        return type("Array", (), {"__cuda_array_interface__": interface})()

    with pytest.raises(dsp.Error, match="make libdsp-gpu"):
        cuda.max(b, [there(36), there(16)])


@needs_a_device
@pytest.mark.parametrize("name", ["chain", "steps", "projective", "non-projective"])
def test_tensors(name, monkeypatch):
    """Values, gradients and best outputs of PyTorch's tensors, for which tensors over the memory of the emulated device
    stand in: there is no PyTorch for it."""
    torch = pytest.importorskip("torch")
    import dsp.torch as D

    kept = []

    def there(x):
        kept.append(There(x.detach().numpy()))
        return torch.from_numpy(kept[-1].host)

    seen = cuda._seen

    def stand_in(x, what, wanted, kept):
        if torch.is_tensor(x):
            return x.data_ptr(), str(x.dtype).replace("torch.", ""), tuple(x.shape), x.is_contiguous(), 0
        return seen(x, what, wanted, kept)

    def waiting(ask):
        def then(*arguments):
            ask(*arguments)
            kept[0].numpy()  # which tensors of the CPU do not wait for

        return then

    asked = []

    def on_gpu(layout, tensors):
        asked.append(layout)
        return True

    make = {"projective": D.DependencyTree,
            "non-projective": lambda a, l: D.DependencyTree(a, l, projective=False)}.get(name, D.LinearChain)
    shapes = {"chain": [(2, 4, 3), (3, 3)], "steps": [(2, 4, 3), (2, 4, 3, 3)]}.get(name, [(2, 4, 4), (2, 4, 4, 2)])
    x = [torch.randn(s, requires_grad=True) for s in shapes]
    weight, d = torch.tensor([2.0, 0.5]), make(*x)
    y = d.argmax
    total = (d.log_partition * weight).sum() + d.nll(y).sum()
    total.backward()

    monkeypatch.setattr(cuda, "_seen", stand_in)
    monkeypatch.setattr(cuda, "exp", waiting(cuda.exp))
    monkeypatch.setattr(cuda, "loss", waiting(cuda.loss))
    monkeypatch.setattr(D, "_there", on_gpu)
    monkeypatch.setattr(D, "_kinds", lambda tensors: [(x.dtype, x.device) for x in tensors])  # not those of the host
    monkeypatch.setattr(D, "_on_gpu", lambda tensors: [there(x) for x in tensors])
    monkeypatch.setattr(D, "_empty", lambda shape, dtype, device: there(torch.zeros(shape, dtype=dtype)))
    z = [t.detach().clone().requires_grad_() for t in x]
    e = make(*z)
    best = e.argmax
    for got, want in zip(best if isinstance(best, tuple) else [best], y if isinstance(y, tuple) else [y]):
        assert torch.equal(got, want)
    again = (e.log_partition * weight).sum() + e.nll(y).sum()
    again.backward()
    torch.testing.assert_close(again, total)
    for a, b in zip(z, x):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-5)
    assert len(asked) == 3

    # Operators of graphs answer there, too: sums, and marginals of each example.
    y = d.argmax
    f = torch.compile(lambda *z: ((make(*z).log_partition * weight).sum() + make(*z).nll(y).sum(), *make(*z).marginals),
                      backend="aot_eager", fullgraph=True)
    z = [t.detach().clone().requires_grad_() for t in x]
    again, *u = f(*z)
    again.backward()
    torch.testing.assert_close(again, total)
    for a, b in zip(z, x):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-5)
    assert len(asked) == 6
    monkeypatch.undo()
    for a, b in zip(u, d.marginals, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)

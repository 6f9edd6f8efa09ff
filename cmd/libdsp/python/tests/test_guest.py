"""The library as a guest in Python's process: forks, threads, signals, memory."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import dsp
from dsp import _library

LIMIT = 600  # seconds after which a process or a thread hangs: nothing here takes one

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and /proc")


def chain(seed=0, B=64, T=30, Y=10):
    r = np.random.default_rng(seed)
    return dsp.LinearChain(r.normal(size=(B, T, Y)).astype(np.float32), r.normal(size=(Y, Y)).astype(np.float32))


def answer(seed=0):
    return chain(seed).log_partition


def in_child(do):
    """The exit status of a forked child that runs do: 0 where it returns True. A child that hangs is killed by its alarm."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIMIT)
        try:
            os._exit(0 if do() else 3)
        except BaseException:
            os._exit(4)
    return os.waitpid(pid, 0)[1]


def started(do, *arguments):
    """A thread that does not outlive the tests if it hangs."""
    t = threading.Thread(target=do, args=arguments, daemon=True)
    t.start()
    return t


def ended(*threads):
    for t in threads:
        t.join(LIMIT)
        assert not t.is_alive(), "a thread hangs"


@linux
@pytest.mark.parametrize("threads", [1, 2])
def test_fork(threads):
    d = chain()
    dsp.set_threads(threads)
    try:
        want = d.log_partition
        batch, values = d._layout.batch, d._values  # handles of before the fork are made again in the child
        assert in_child(lambda: np.array_equal(answer(), want) and np.array_equal(batch.exp(values)[0], want)) == 0
        assert in_child(lambda: in_child(lambda: np.array_equal(answer(), want)) == 0) == 0
        assert np.array_equal(answer(), want)
    finally:
        dsp.set_threads(1)


@linux
def test_fork_while_another_thread_asks():
    d = chain()
    want, stop = d.log_partition, threading.Event()

    def ask():
        while not stop.is_set():
            d._layout.batch.exp(d._values)

    other = started(ask)
    try:
        for _ in range(5):
            assert in_child(lambda: np.array_equal(answer(), want)) == 0
    finally:
        stop.set()
        ended(other)


@linux
def test_fork_without_memfd(monkeypatch, tmp_path):
    """A sandbox may forbid memfd_create: the child's copy is a temporary file, and if that is forbidden too the child is told what to do."""
    want = answer()

    def refuse(*_, **__):
        raise OSError("forbidden")

    def asks():
        monkeypatch.setattr(os, "memfd_create", refuse)
        return np.array_equal(answer(), want)

    assert in_child(asks) == 0

    def told():
        monkeypatch.setattr(os, "memfd_create", refuse)
        monkeypatch.setattr(_library.tempfile, "NamedTemporaryFile", refuse)
        try:
            answer()
        except RuntimeError as e:
            return "spawn or forkserver" in str(e)

    assert in_child(told) == 0


METHODS = ["fork", "spawn", "forkserver"]


@pytest.fixture
def two_threads():
    """The library has been used by two threads of its own, as it may have been before a fork."""
    dsp.set_threads(2)
    answer()
    yield
    dsp.set_threads(1)


@linux
@pytest.mark.parametrize("method", METHODS)
def test_multiprocessing(method, two_threads):
    with multiprocessing.get_context(method).Pool(2) as pool:
        for seed, got in enumerate(pool.map_async(answer, range(3)).get(LIMIT)):
            assert np.array_equal(got, answer(seed))


@linux
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend, two_threads):
    joblib = pytest.importorskip("joblib")
    every = joblib.Parallel(2, backend=backend, timeout=LIMIT)(joblib.delayed(answer)(seed) for seed in range(3))
    for seed, got in enumerate(every):
        assert np.array_equal(got, answer(seed))


class Losses:
    """A dataset of PyTorch whose examples are what a layer answers."""

    def __len__(self):
        return 6

    def __getitem__(self, seed):
        import torch

        import dsp.torch as D

        r = torch.Generator().manual_seed(seed)
        node = torch.randn(64, 20, 5, generator=r, requires_grad=True)
        value = D.LinearChain(node, torch.zeros(5, 5)).log_partition
        value.sum().backward()
        return value.detach(), node.grad


@linux
@pytest.mark.parametrize("method", METHODS)
def test_workers_of_a_data_loader(method, two_threads):
    torch = pytest.importorskip("torch")
    want = [Losses()[k] for k in range(6)]
    workers = 2 if method == "fork" else 1  # others import torch anew
    loader = torch.utils.data.DataLoader(Losses(), batch_size=2, num_workers=workers, multiprocessing_context=method, timeout=LIMIT)
    for k, (value, gradient) in enumerate(loader):
        for b in range(2):
            assert torch.equal(value[b], want[2 * k + b][0]) and torch.equal(gradient[b], want[2 * k + b][1])


def test_threads_of_python():
    want = [answer(k) for k in range(8)]
    wrong = []

    def ask(k):
        for _ in range(5):
            if not np.array_equal(answer(k), want[k]):
                wrong.append(k)

    ended(*[started(ask, k) for k in range(8)])
    assert not wrong


def test_the_lock_is_released():
    """Another thread runs while a call does."""
    d = chain(B=512, T=100, Y=30)
    batch, values = d._layout.batch, d._values
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1

    t = started(count)
    seen = False
    for _ in range(20):
        before = counts[0]
        batch.exp(values)
        seen = seen or counts[0] > before + 1000
    stop.set()
    ended(t)
    assert seen


@linux
def test_interrupt():
    """Ctrl-C raises KeyboardInterrupt, and Python's handlers are as before."""
    code = """
import os, signal, threading, numpy as np, dsp
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
d = dsp.LinearChain(np.zeros((500, 100, 30), np.float32), np.zeros((30, 30), np.float32))
before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGSEGV)}
begun = threading.Event()
threading.Thread(target=lambda: (begun.wait(), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    while True:
        d._layout.batch.exp(d._values)
        begun.set()
except KeyboardInterrupt:
    print("interrupted")
assert before == {s: signal.getsignal(s) for s in before}
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    assert run.returncode == 0 and run.stdout == "interrupted\n", run.stderr


def test_a_long_call_is_answered_in_pieces(monkeypatch):
    """Each piece returns to Python, which then looks at signals; the answers are those of one call."""
    from dsp import batch as module

    d = chain(B=400, T=50, Y=30)
    want = d._layout.batch.exp(d._values)
    monkeypatch.setattr(module, "_BUDGET", 1)
    calls = []
    library = _library.library()

    class Counting:
        def __getattr__(self, name):
            f = getattr(library, name)
            return (lambda *a: calls.append(name) or f(*a)) if name == "dsp_exp" else f

    monkeypatch.setattr(_library.oracles, "_opened", Counting())
    got = d._layout.batch.exp(d._values)
    assert len(calls) > 3
    assert np.array_equal(want[0], got[0]) and all(np.array_equal(a, b) for a, b in zip(want[1], got[1]))


@linux
def test_memory_is_flat():
    """20,000 batches of other shapes and lengths leave less than 400 bytes each. Go collects garbage as soon as the library has 8 MB, so that what
    grows is not garbage."""
    code = """
import os, numpy as np, dsp

def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

r = np.random.default_rng(0)

def some(n):
    for _ in range(n):
        B, T, Y = r.integers(1, 5), r.integers(1, 30), r.integers(1, 10)
        d = dsp.LinearChain(np.zeros((B, T, Y), np.float32), np.zeros((Y, Y), np.float32), lengths=r.integers(0, T + 1, B))
        d.marginals, d.argmax

some(2000)
before = rss()
some(20_000)
print(rss() - before)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, env={**os.environ, "GOMEMLIMIT": "8MiB"})
    assert run.returncode == 0 and int(run.stdout) < 8 << 20, run.stderr + run.stdout


def test_wrong_addresses_are_no_crash():
    """Only arrays are taken, so no address of a caller's making reaches the library."""
    class Odd:
        __array_interface__ = {"data": (8, False), "shape": (5, 2), "typestr": "<f4", "version": 3}

    o = dsp.offsets([2, 3])
    with pytest.raises(dsp.Error, match="expected a contiguous float32 array"):
        dsp.Batch(dsp.Form("chain", labels=2), o, [o, None]).max([Odd(), np.zeros((1, 4), np.float32)])

"""What several processes of dsp train cost beside threads of one, and a model of how far they scale.

    make build
    python bench/ranks.py [--dsp bin/dsp] [--mpirun "mpirun --oversubscribe"] [--picture docs/ranks.png]

Each method trains on one process with one thread, on one with two, on two with one each, and on four with one each. The models must be equal to the bit, but for sdca's on several.
Two processes are to take as long as two threads of one: "beyond" says how much longer they take. On a machine that does other work, too, that says little; there processor time,
user and system, of all processes counts, and what two processes need of it beyond one process with one thread. A pass is the difference of runs of --last and of --first passes,
divided by their number, so that reading, the dictionary and the start do not count in it; they are what remains of the short run ("start", in processor time). Kinds of runs take turns, --repeats times,
and the median of each counts. Messages and bytes are those that rank 0 of two receives. What two processes need beyond one is work that every rank repeats, and the cost of messages; the rest of a
pass is shared. From these the script draws the speed of a pass on up to 1,024 machines, for two networks, by the model

    seconds(R) = repeated + serial + shared / min(R, strands) + exchanges,

where a message of m bytes takes alpha + m / beta. An exchange is a sum, which passes through a chain of R ranks in windows and is then broadcast, or each rank
gives all others what it has. Full passes over attributes add these to the sum one rank after the other, which is serial. Only the picture needs matplotlib.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import tempfile
import time

NETWORKS = {"10 Gb/s Ethernet": (30e-6, 1.25e9), "200 Gb/s InfiniBand": (2e-6, 25e9)}  # alpha in s, beta in B/s

TEXT = ["--columns", "word=0,pos=1,label=-1"]
FULL = (lambda ranks: min(16, max(1, ranks // 2)), lambda examples: 1)  # in how many windows a sum passes through the ranks; how many exchanges a pass has
BATCHES = (lambda ranks: 9, lambda examples: examples / 64)  # a gradient of this network has nine pieces
SERIAL = 0.17  # share of a pass that adds attributes to the gradient, from a profile
RUNS = {  # flags, most ranks with a share of a pass, exchanges (windows None: no sum but a gather), serial share of a pass
    "lbfgs, attributes": (TEXT + ["--method", "lbfgs"], None, *FULL, SERIAL),
    "owl-qn, attributes": (TEXT + ["--method", "owl-qn", "--l1", "0.5"], None, *FULL, SERIAL),
    "sdca, attributes": (TEXT + ["--method", "sdca"], None, None, lambda examples: 8, 0),
    "sgd, attributes, batches of 64": (TEXT + ["--method", "sgd", "--batch", "64", "--lr", "0.1"], 8, None, BATCHES[1], 0),
    "svrg, attributes, batches of 64": (TEXT + ["--method", "svrg", "--batch", "64"], 8, None, BATCHES[1], 0),
    "prox-linear, network, batches of 64": (["--net", "rnn", "--method", "prox-linear", "--model-batch", "64"] + TEXT, 8, *BATCHES, 0),
    "adam, network, batches of 64": (["--net", "rnn", "--method", "adam", "--batch", "64"] + TEXT, 8, *BATCHES, 0),
}


def clocks():
    """Seconds so far: of the clock, and of all children's processors."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), r.ru_utime + r.ru_stime


def train(command, flags, passes, threads):
    """Trains and returns seconds of the clock and of processors, the result, and a digest of the model."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        before = clocks()
        run = subprocess.run(command + ["train", *flags, "--passes", str(passes), "--gap", "0", "--threads", str(threads), "--out", str(out),
                                        "--quiet", "--json", "--baselines", "off"], capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{' '.join(command + flags)}\n{run.stderr}")
        digest = hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()
        took = [after - at for after, at in zip(clocks(), before)]
        return *took, json.loads(run.stdout.splitlines()[-1]), digest


KINDS = {"one": (1, 1), "threads": (1, 2), "ranks": (2, 1), "four": (4, 1)}  # processes, and threads of each


def measure(dsp, mpirun, flags, first, last, repeats):
    """For each kind of run: seconds of a pass by the clock and of processors, processor seconds of the start, messages and bytes of a pass, and the digest of the model."""
    command = lambda processes: mpirun + ["-np", str(processes), dsp] if processes > 1 else [dsp]
    runs = {(kind, passes): [] for kind in KINDS for passes in (first, last)}
    for _ in range(repeats):
        for kind, passes in runs:
            processes, threads = KINDS[kind]
            runs[kind, passes].append(train(command(processes), flags, passes, threads))
    found = {}
    for kind in KINDS:
        short, long = runs[kind, first], runs[kind, last]
        middle = lambda some, clock: statistics.median(run[clock] for run in some)
        count = lambda run, what: (run[2].get("received") or {}).get(what, 0)
        clock, processors = [(middle(long, k) - middle(short, k)) / (last - first) for k in range(2)]
        messages, size = [(count(long[0], w) - count(short[0], w)) / (last - first) for w in ("messages", "bytes")]
        found[kind] = clock, processors, middle(short, 1) - first * processors, messages, size, long[0][3]
    return found


def seconds(ranks, repeated, shared, serial, strands, windows, exchanges, size, network):
    """The model: seconds of a pass, of which `size` bytes come to rank 0 of two ranks."""
    alpha, beta = network
    if ranks == 1:
        return repeated + shared
    rounds = math.ceil(math.log2(ranks))
    if windows is None:  # each rank sends all others its share
        messages = exchanges * rounds * alpha + 2 * size * (ranks - 1) / ranks / beta
    else:
        pieces, each = windows(ranks), size / exchanges
        chain = (ranks - 1 + pieces - 1) * (alpha + each / pieces / beta)
        messages = exchanges * (chain + pieces * alpha * rounds + 2 * each * (ranks - 1) / ranks / beta)
    return repeated + shared * serial + shared * (1 - serial) / min(ranks, strands) + messages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe")
    parser.add_argument("--first", type=int, default=5, help="passes of the short run")
    parser.add_argument("--last", type=int, default=25, help="passes of the long run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--examples", type=int, default=4000)
    parser.add_argument("--method", help="only runs whose name has this")
    parser.add_argument("--picture")
    args = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.dsp, "data", "text", "--examples", f"{args.examples},10,10", "--out", folder, "--quiet"], check=True, capture_output=True)
        print("| a pass of | one thread | two threads | two ranks | beyond | four ranks | processors: one thread | two threads | two ranks | beyond | messages | bytes | bits | start of one | of two ranks |"
              "\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for name, (flags, strands, windows, exchanges, serial) in RUNS.items():
            if args.method and args.method not in name:
                continue
            flags = ["--train", f"{folder}/train.conll", *flags]
            found = measure(args.dsp, shlex.split(args.mpirun), flags, args.first, args.last, args.repeats)
            one, threads, both, four = found.values()
            bits = [run[-1] for run in found.values()]
            same = "equal" if len(set(bits)) == 1 else "other" if name.startswith("sdca") and bits[0] == bits[1] else "DIFFER"
            beyond = lambda x, y: f"{100 * (x / y - 1):+.0f} %"
            print(f"| {name} | {one[0]:.3f} s | {threads[0]:.3f} s | {both[0]:.3f} s | {beyond(both[0], threads[0])} | {four[0]:.3f} s | {one[1]:.3f} s | {threads[1]:.3f} s | {both[1]:.3f} s"
                  f" | {beyond(both[1], one[1])} | {both[3]:.0f} | {both[4] / 1e6:.2f} MB | {same} | {one[2]:.2f} s | {both[2]:.2f} s |", flush=True)
            repeated = max(0, both[1] - one[1])
            rows.append((name, repeated, max(0, one[1] - repeated), serial, strands or args.examples // 36, windows, exchanges(args.examples), both[4]))
    print("\nModel: speed of a pass, as a multiple of one process with one thread\n")
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    curves = []
    for name, *row in rows:
        for network, speed in NETWORKS.items():
            t = [seconds(r, *row, speed) for r in sizes]
            gain = [t[0] / x for x in t]
            best = max(range(len(sizes)), key=lambda k: gain[k])
            enough = next(r for r, g in zip(sizes, gain) if g >= 0.9 * gain[best])
            print(f"{name}, {network}: " + ", ".join(f"{r}: {g:.1f}" for r, g in zip(sizes, gain)) + f"; within 10 % of its best from {enough} on, best at {sizes[best]}")
            curves.append((name, network, gain))
    if args.picture:
        draw(args.picture, sizes, curves)


def draw(path, sizes, curves):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(NETWORKS), figsize=(10, 4), sharey=True)
    for axis, network in zip(axes, NETWORKS):
        for name, of, gain in curves:
            if of == network:
                axis.plot(sizes, gain, marker="o", markersize=3, label=name)
        axis.plot(sizes[:6], sizes[:6], color="grey", linestyle=":", label="as many times as ranks")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set_xlabel("ranks, one thread each")
        axis.set_title(network)
    axes[0].set_ylabel("speed of a pass (model), one process = 1")
    axes[0].legend(fontsize=7)
    figure.suptitle("Small data stop gaining early: repeated work, then messages, bound the speed")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()

"""dsp's CTC loss beside torch.nn.CTCLoss.

    pip install numpy torch
    python bench/ctc.py [--seed 1]

Draws batches of lines with normal scores and strings, of which some are as long as their lines allow, and computes the loss of every line and its gradient
with torch.nn.CTCLoss in float32 and in float64, and with oracles/transcript, whose test program this script builds with vector instructions. All use one
thread. It prints, as Markdown, the largest differences from torch in float64, relative for losses and absolute for gradients, and the median processor
microseconds per line of loss and gradient, log-softmax included.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = [(64, 40, 28, 10), (32, 100, 28, 30), (16, 500, 80, 100)]  # lines, frames, labels with the blank, symbols


def draw(rng, lines, frames, labels, symbols):
    """Returns lengths, strings and scores. Strings may repeat symbols; a quarter of the lines are just long enough."""
    lengths, readings = [], []
    for i in range(lines):
        reading = rng.integers(0, labels - 1, rng.integers(1, symbols + 1)).tolist()
        least = len(reading) + sum(a == b for a, b in zip(reading, reading[1:]))
        lengths.append(least if i % 4 == 0 else int(rng.integers(max(least, frames // 2), frames + 1)))
        readings.append(reading)
    return lengths, readings, (3 * rng.standard_normal((sum(lengths), labels))).astype(numpy.float32)


def by_torch(lengths, readings, scores, dtype):
    """Returns losses, the gradient [sum of lengths × labels] and the median seconds."""
    padded = torch.zeros(max(lengths), len(lengths), scores.shape[1], dtype=dtype)
    at = 0
    for i, n in enumerate(lengths):
        padded[:n, i] = torch.from_numpy(scores[at:at + n]).to(dtype)
        at += n
    padded.requires_grad_()
    targets = torch.tensor([s + 1 for r in readings for s in r])  # 0 is the blank
    sizes = torch.tensor(lengths), torch.tensor([len(r) for r in readings])
    loss = torch.nn.CTCLoss(blank=0, reduction="none")
    times = []
    for _ in range(7):
        padded.grad = None
        begun = time.process_time()
        losses = loss(padded.log_softmax(2), targets, *sizes)
        losses.sum().backward()
        times.append(time.process_time() - begun)
    gradient = torch.cat([padded.grad[:n, i] for i, n in enumerate(lengths)])
    return losses.detach().numpy(), gradient.numpy(), statistics.median(times)


def by_dsp(program, folder, lengths, readings, scores):
    (folder / "lines.json").write_text(json.dumps({"width": scores.shape[1], "lengths": lengths, "readings": readings}))
    scores.tofile(folder / "scores.f32")
    out = subprocess.run([program, "-test.run", "^TestTimes$", "-problems", folder], check=True, capture_output=True, text=True,
                         env=os.environ | {"GOMAXPROCS": "1"}).stdout
    r = json.loads(out.splitlines()[0])
    return numpy.array(r["losses"]), numpy.fromfile(folder / "gradient.f32", numpy.float32).reshape(scores.shape), r["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng = numpy.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "transcript.test"
        subprocess.run(["go", "test", "-c", "-o", program, "./oracles/transcript"], cwd=ROOT, check=True,
                       env=os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"})
        print("| lines | frames | labels | symbols | loss, torch float32 | loss, dsp | gradient, torch float32 | gradient, dsp | torch, µs | dsp, µs | torch / dsp |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for size in SIZES:
            problem = draw(rng, *size)
            exact, slope, _ = by_torch(*problem, torch.float64)
            single, slope32, took = by_torch(*problem, torch.float32)
            losses, gradient, seconds = by_dsp(program, folder, *problem)
            off = lambda x: numpy.max(numpy.abs(x - exact) / exact)
            print("| {} | {} | {} | {} | {:.0e} | {:.0e} | {:.0e} | {:.0e} | {:.0f} | {:.0f} | {:.1f} |".format(
                *size, off(single), off(losses), numpy.max(numpy.abs(slope32 - slope)), numpy.max(numpy.abs(gradient - slope)),
                1e6 * took / size[0], 1e6 * seconds / size[0], took / seconds))
            assert off(losses) < 1e-5 and numpy.max(numpy.abs(gradient - slope)) < 1e-5


main()

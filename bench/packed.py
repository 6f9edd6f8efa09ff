"""Packed data against text: time of a pass, memory and the weights.

Trains on a text file and on the pack of it by turns, so that both see the same load of the machine, and compares seconds per pass (the
best of the rounds), the peak of resident memory, and the bytes of the weights, which must be equal.

    python3 bench/packed.py --dsp ./dsp --train train.conll --method sdca --passes 5 --rounds 5

Needs no packages. Memory is read from /proc, so it runs on Linux only.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time


def peak(process):
    """Waits for a process; returns the peaks of its anonymous and of its file-backed resident memory, in MB."""
    most = {"RssAnon": 0, "RssFile": 0}
    while process.poll() is None:
        try:
            for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in most:
                    most[name] = max(most[name], int(value.split()[0]) / 1e3)
        except OSError:
            pass
        time.sleep(0.02)
    return most["RssAnon"], most["RssFile"]


def tensors(model):
    """The bytes of a model after its header, which names the training file."""
    data = pathlib.Path(model).read_bytes()
    return data[8 + struct.unpack("<Q", data[:8])[0]:]


def train(o, data, out):
    command = [o.dsp, "train", "--train", data, "--method", o.method, "--passes", str(o.passes), "--gap", "0", "--threads", str(o.threads),
               "--out", out, "--json", "--quiet"]
    with open(os.path.join(o.folder, "log"), "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        memory = peak(process)
    result = json.loads(process.stdout.read().splitlines()[-1])
    return result["seconds"] / result["passes"], memory, tensors(os.path.join(out, "model.safetensors"))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--dsp", default="./dsp", help="the program")
    p.add_argument("--train", required=True, help="text to train on")
    p.add_argument("--method", default="sdca")
    p.add_argument("--passes", type=int, default=5)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    o = p.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        o.folder = folder
        pack = os.path.join(folder, "train.pack")
        subprocess.run([o.dsp, "data", "pack", "--train", o.train, "--out", pack], check=True)
        seconds, memory, weights = {"text": [], "pack": []}, {}, {}
        for k in range(o.rounds):
            for name, data in (("text", o.train), ("pack", pack)):
                s, memory[name], weights[name] = train(o, data, os.path.join(folder, f"{name}{k}"))
                seconds[name].append(s)
    for name in seconds:
        print(f"{name}: {min(seconds[name]):.3f} s per pass (all: {' '.join(f'{s:.3f}' for s in seconds[name])}), "
              f"{memory[name][0]:.0f} MB anonymous, {memory[name][1]:.0f} MB of files")
    print(f"pack / text: {min(seconds['pack']) / min(seconds['text']):.3f}; same weights: {weights['pack'] == weights['text']}")


if __name__ == "__main__":
    main()

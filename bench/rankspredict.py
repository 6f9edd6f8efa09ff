"""What predict and eval cost on several processes beside threads of one.

    make build
    python bench/rankspredict.py [--dsp bin/dsp] [--mpirun "mpirun --oversubscribe"]

Models are small and trained on drawn data. Each predicts a short and a long input, the short one --copies times, with one thread, with two, and with two processes of one
thread each; the difference is the time of the input, and what remains of the short one is the start. Outputs must be equal. Kinds of runs take turns, and the median of --repeats counts.
"""

import argparse
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile
import time

TEXT = ["--columns", "word=0,pos=1,label=-1"]
CASES = {  # drawn data, flags of training, file, verb with its flag of the input, more flags
    "predict, attributes": ("text", TEXT + ["--method", "lbfgs", "--passes", "5"], "test.conll", ["predict", "--input"], []),
    "predict, attributes, ten best": ("text", TEXT + ["--method", "lbfgs", "--passes", "5"], "test.conll", ["predict", "--input"], ["--nbest", "10"]),
    "predict, network": ("text", TEXT + ["--net", "rnn", "--passes", "1"], "test.conll", ["predict", "--input"], ["--confidence"]),
    "eval, network": ("text", TEXT + ["--net", "rnn", "--passes", "1"], "test.conll", ["eval", "--data"], []),
    "predict, trees": ("trees", ["--task", "parse", "--passes", "3"], "test.conllu", ["predict", "--input"], []),
    "eval, trees": ("trees", ["--task", "parse", "--passes", "3"], "test.conllu", ["eval", "--data"], []),
    "predict, pipeline": ("trees", ["--task", "pipeline", "--passes", "3"], "test.conllu", ["predict", "--input"], []),
}
KINDS = {"one thread": (1, 1), "two threads": (1, 2), "two ranks": (2, 1)}  # processes, and threads of each


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--case", help="only those whose name has this")
    args = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    print("| | one thread | two threads | two ranks | beyond two threads | start of one | of two ranks | outputs |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder, models = pathlib.Path(folder), {}
        run = lambda *command: subprocess.run(command, check=True, capture_output=True).stdout
        for name, (drawn, training, file, verb, more) in CASES.items():
            if args.case and args.case not in name:
                continue
            data = folder / drawn
            if not data.exists():
                run(args.dsp, "data", drawn, "--examples", f"300,10,{args.examples}", "--out", data)
            key = (drawn, *training)
            if key not in models:
                models[key] = folder / f"model{len(models)}"
                run(args.dsp, "train", "--train", str(data / file).replace("test", "train"), *training, "--out", models[key], "--quiet")
            short, long = data / file, folder / f"long-{file}"
            long.write_bytes(short.read_bytes() * args.copies)
            took, outputs = {}, set()
            for _ in range(args.repeats):
                for kind, (processes, threads) in KINDS.items():
                    launcher = shlex.split(args.mpirun) + ["-np", str(processes)] if processes > 1 else []
                    for of in (short, long):
                        to = ["--to", folder / "output"] if verb[0] == "predict" else []
                        before = time.monotonic()
                        printed = run(*launcher, args.dsp, *verb, of, "--model", models[key], *more, *to, "--threads", str(threads), "--quiet")
                        took.setdefault((kind, of), []).append(time.monotonic() - before)
                    outputs.add((folder / "output").read_bytes() if to else printed)
            middle = {key: statistics.median(times) for key, times in took.items()}
            share = lambda kind: (middle[kind, long] - middle[kind, short]) * args.copies / (args.copies - 1)
            one, threads, ranks = (share(kind) for kind in KINDS)
            start = lambda kind: middle[kind, long] - share(kind)
            print(f"| {name} | {one:.2f} s | {threads:.2f} s | {ranks:.2f} s | {100 * (ranks / threads - 1):+.0f} % | {start('one thread'):.2f} s | {start('two ranks'):.2f} s"
                  f" | {'equal' if len(outputs) == 1 else 'DIFFER'} |", flush=True)


if __name__ == "__main__":
    main()

"""Quality of linear models of text: dsp and CRFsuite with the same attributes, tuned in the same way.

    make build
    python bench/quality.py --train train.conll --dev dev.conll --test test.conll --features ner --constraints iob2 [--reg 0.05,0.1,0.2,0.5,1,2]

For each loss (and, with --constraints, also under those constraints) dsp trains with every --reg to a certified gap of 1e-3, and
CRFsuite's lbfgs trains on all attribute-label pairs with c2 = reg/2. The script chooses the --reg that does best on the development data
after the last pass and measures it on the test data, in per cent: entity F1 if the labels are entity tags, else accuracy. The column
"best pass" shows what dsp keeps by default: the pass that did best on the development data. --reading holds further flags with which
dsp reads the files, such as "--label xpos".
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from crfsuite import Bench


def train(args, folder, loss, constraints, reg):
    out = folder / f"{loss}-{constraints}-{reg}"
    command = [args.dsp, "train", "--train", args.train, "--dev", args.dev, "--test", args.test, "--features", args.features, "--loss", loss,
               "--constraints", constraints, "--reg", reg, "--passes", str(args.passes), "--out", out, "--quiet", *args.reading.split()]
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    passes = [json.loads(line) for line in open(out / "metrics.jsonl")]
    name = "f1" if "f1" in passes[-1]["dev"] else "token_accuracy"
    best = min(passes, key=lambda r: -r["dev"][name])
    last = passes[-1]
    return {"reg": reg, "dev": 100 * last["dev"][name], "test": 100 * last["test"][name], "gap": last["gap"] / last["objective"],
            "best dev": 100 * best["dev"][name], "best test": 100 * best["test"][name], "seconds": last["seconds"]}


def crfsuite(bench, reg, files):
    _, _, model = bench.crfsuite("lbfgs", bench.args.iterations, c2=float(reg) / 2)
    scores = [json.loads(bench.worker(do="tag", model=model, test=file)[0])["score"] for file in files]
    return {"reg": reg, "dev": scores[0], "test": scores[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    for name in ("train", "dev", "test"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--features", default="ner")
    parser.add_argument("--constraints", default="none", help="constraints to train with, too")
    parser.add_argument("--reading", default="", help="further flags for reading the files")
    parser.add_argument("--reg", default="0.05,0.1,0.2,0.5,1,2")
    parser.add_argument("--losses", default="crf,hinge")
    parser.add_argument("--passes", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=200, help="iterations of CRFsuite's lbfgs, at most; 0 leaves CRFsuite out")
    args = parser.parse_args()
    args.c2 = 1
    print("| | reg | dev | test | best pass: dev | test | seconds |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for loss in args.losses.split(","):
            for constraints in dict.fromkeys(["none", args.constraints]):
                tries = [train(args, folder, loss, constraints, reg) for reg in args.reg.split(",")]
                r = max(tries, key=lambda r: r["dev"])
                name = loss if constraints == "none" else f"{loss}, {constraints}"
                b = max(tries, key=lambda r: r["best dev"])
                print(f"| dsp, {name} | {r['reg']} | {r['dev']:.2f} | {r['test']:.2f} | {b['best dev']:.2f} (reg {b['reg']}) | {b['best test']:.2f} | {r['seconds']:.1f} |",
                      flush=True)
        if args.iterations == 0:
            return
        bench = Bench(args, folder)
        files = [bench.attributes(path) for path in (args.train, args.dev, args.test)]
        bench.train = files[0]
        r = max((crfsuite(bench, reg, files[1:]) for reg in args.reg.split(",")), key=lambda r: r["dev"])
        print(f"| CRFsuite, crf | {r['reg']} | {r['dev']:.2f} | {r['test']:.2f} | | | |")


if __name__ == "__main__":
    main()

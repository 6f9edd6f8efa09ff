"""dsp beside PyTorch on the same GPU, in one run: makes the table of docs/gpu.md.

    make gpu
    python bench/gpu.py [--dsp bin/dsp] [--device cuda:0] [--seconds 1] [--table FILE] [--sanitize]

Runs dsp selftest, dsp bench and bench/torch_crf.py. Prints the time of each operation, the share of its bound that dsp reaches, and
how many times as long PyTorch takes. --table also writes the table to a file, in Markdown. --sanitize runs the selftest under
compute-sanitizer, too. Without PyTorch its columns stay empty; everything else needs only the standard library.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

# PyTorch's name for each row of dsp bench that has a counterpart.
COUNTERPARTS = {
    "Viterbi with paths": "viterbi",
    "forward-backward, all marginals": "forward-backward",
    "mlp step with a CRF, SGD": "mlp step",
}
WAYS = ["loop", "compiled", "scan", "eager", "graph"]


def run(command):
    print("+ " + " ".join(map(str, command)), file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines()
    try:
        return done.returncode, json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        return done.returncode, None


def selftest(args):
    code, report = run([args.dsp, "selftest", "--device", args.device, "--json"])
    if report is None:
        sys.exit(f"dsp selftest failed with exit code {code}")
    failed = [c for c in report["checks"] if not c["ok"]]
    for c in failed:
        print(f"selftest: {c['name']}: {c['found']}", file=sys.stderr)
    worst = max((c["error"] for c in report["checks"] if "TF32" not in c["name"]), default=0)
    return f"{len(report['checks']) - len(failed)} of {len(report['checks'])} checks passed, largest relative error in float32 {worst:.1e}", not failed


def sanitize(args):
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        return "compute-sanitizer is not installed"
    code = subprocess.run([tool, "--error-exitcode", "9", args.dsp, "selftest", "--device", args.device], stdout=subprocess.DEVNULL).returncode
    return "clean" if code == 0 else f"exit code {code}"


def torch_rows(args, *flags):
    try:
        import torch  # noqa: F401
    except ImportError:
        print("PyTorch is not installed: its columns stay empty", file=sys.stderr)
        return None
    _, report = run([sys.executable, HERE / "torch_crf.py", "--device", args.device, "--seconds", str(args.seconds), "--json", *flags])
    return report


def counterpart(row, torch):
    """Returns PyTorch's milliseconds for a row of dsp bench, by variant; {} if PyTorch has no counterpart."""
    if torch is None or row["sizes"] != row["compared"]:
        return {}
    return {r["how"]: r["milliseconds"] for r in torch["rows"] if r["what"] == COUNTERPARTS.get(row["what"])}


def table(bench, torch):
    # The first row with a name has the sizes that PyTorch measures: chains of one length, all positions at once.
    first = {}
    for row in bench["rows"]:
        row["compared"] = first.setdefault(row["what"], row["sizes"])
    head = ["what", "sizes", "ms", "GB/s", "GFLOP/s", "of the bound", "CPU"] + [f"PyTorch {w}" for w in WAYS]
    lines = [head]
    for row in bench["rows"]:
        ratio = lambda ms: f"{ms:.3f} ms, {ms / row['milliseconds']:.1f}×"
        theirs = counterpart(row, torch)
        lines.append([
            row["what"], row["sizes"], f"{row['milliseconds']:.3f}",
            f"{row['gb_per_second']:.0f}" if row["gb_per_second"] else "", f"{row['gflops']:.0f}" if row["gflops"] else "",
            f"{row['share']:.0%} {row['bound_by']}" if row["share"] else "",
            ratio(row["cpu_milliseconds"]) if row.get("cpu_milliseconds") else "",
            *(ratio(theirs[w]) if w in theirs else "" for w in WAYS),
        ])
    used = [c for c in range(len(head)) if any(line[c] for line in lines[1:])]
    lines = [[line[c] for c in used] for line in lines]
    return "\n".join(["| " + " | ".join(lines[0]) + " |", "|" + "---|" * len(used)] + ["| " + " | ".join(line) + " |" for line in lines[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsp", default="bin/dsp")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=1, help="seconds to spend on each measurement")
    parser.add_argument("--table", type=pathlib.Path, help="file for the table")
    parser.add_argument("--sanitize", action="store_true")
    args = parser.parse_args()

    verdict, passed = selftest(args)
    code, bench = run([args.dsp, "bench", "--device", args.device, "--seconds", str(args.seconds), "--json", "--quiet"])
    if bench is None:
        sys.exit(f"dsp bench failed with exit code {code}")
    torch = None if bench["small"] else torch_rows(args, "--check")
    device = bench["device"]
    text = [
        f"{device['name']}, {device['multiprocessors']} multiprocessors, CUDA {device['driver']}; a copy moves {bench['copy_gb_per_second']:.0f} GB/s, float32 "
        f"peak {bench['peak_gflops'] / 1000:.1f} TFLOP/s; matrix products by {bench['blas']}" + (f"; PyTorch {torch['torch']}" if torch else "") + ".",
        f"Selftest: {verdict}." + (f" Under compute-sanitizer: {sanitize(args)}." if args.sanitize else ""),
        "" if not bench["small"] else "The device is emulated: sizes are small, and times mean nothing.",
        table(bench, torch),
    ]
    text = "\n\n".join(t for t in text if t)
    print(text)
    if args.table:
        args.table.write_text(text + "\n", encoding="utf-8")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()

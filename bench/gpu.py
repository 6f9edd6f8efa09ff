"""dsp beside PyTorch on the same GPU, in one run: makes a table.

    make gpu
    python bench/gpu.py [--dsp bin/dsp] [--device cuda:0] [--seconds 1] [--limit 600] [--table FILE] [--sanitize]

Runs dsp selftest, dsp bench and bench/torch_crf.py. Prints the time of each operation, the share of its bound that dsp reaches, and
how many times as long PyTorch takes. --table also writes the table to a file, in Markdown, again after each of the three. A program that
takes longer than --limit seconds is stopped; what it measured until then is in the table. --sanitize runs the selftest under
compute-sanitizer, too. Without PyTorch its columns stay empty; everything else needs only the standard library.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).parent

# PyTorch's name for each row of dsp bench that has a counterpart.
COUNTERPARTS = {
    "Viterbi with paths": "viterbi",
    "forward-backward, all marginals": "forward-backward",
    "sums over all trees": "trees",
    "mlp step with a CRF, SGD": "mlp step",
}
WAYS = ["loop", "compiled", "scan", "eager", "graph"]


def run(command, limit):
    """Runs a command and repeats on stderr what it says there. Returns its exit code, None if it was stopped after limit seconds; the object on
    its last line of output, None if there is none; and the lines that it wrote on stderr."""
    print("+ " + " ".join(map(str, command)), file=sys.stderr, flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    output, said = [], []

    def read(stream, lines, echo):
        for line in stream:
            lines.append(line.rstrip("\n"))
            if echo:
                print(line, end="", file=sys.stderr, flush=True)

    readers = [threading.Thread(target=read, args=args) for args in ((process.stdout, output, False), (process.stderr, said, True))]
    for reader in readers:
        reader.start()
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        code = None
        print(f"stopped after {limit:g} seconds", file=sys.stderr)
    for reader in readers:
        reader.join()
    try:
        return code, json.loads(output[-1]), said
    except (IndexError, json.JSONDecodeError):
        return code, None, said


def ended(code):
    return "was stopped" if code is None else f"ended with exit code {code}"


def selftest(args):
    """Returns what the selftest found, and whether all of it passed."""
    code, report, said = run([args.dsp, "selftest", "--device", args.device, "--json"], args.limit)
    if report is None:
        done = [line for line in said if line.startswith(("ok  ", "FAIL"))]
        passed = sum(line.startswith("ok  ") for line in done)
        return f"dsp selftest {ended(code)}; of the first {len(done)} checks {passed} passed", False
    failed = [c for c in report["checks"] if not c["ok"]]
    worst = max((c["error"] for c in report["checks"] if "TF32" not in c["name"]), default=0)
    return f"{len(report['checks']) - len(failed)} of {len(report['checks'])} checks passed, largest relative error in float32 {worst:.1e}", not failed


def sanitize(args):
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        return "compute-sanitizer is not installed"
    code, _, _ = run([tool, "--error-exitcode", "9", args.dsp, "selftest", "--device", args.device], args.limit)
    return "clean" if code == 0 else ended(code)


def measured(said):
    """Returns the rows that dsp bench wrote on stderr, as far as its lines say."""
    rows = []
    for line in said:
        columns = re.split(r"  +", line.strip())
        if len(columns) >= 3 and columns[2].endswith(" ms"):
            share = float(columns[3].rstrip(" %")) / 100 if len(columns) > 3 else 0
            rows.append({"what": columns[0], "sizes": columns[1], "milliseconds": float(columns[2].split()[0]), "share": share, "bound_by": ""})
    return rows


def benchmark(args):
    """Returns the report of dsp bench, with the rows that it got to, and what went wrong."""
    code, bench, said = run([args.dsp, "bench", "--device", args.device, "--seconds", str(args.seconds), "--json"], args.limit)
    if bench is not None:
        return bench, ""
    return {"small": False, "rows": measured(said)}, f"dsp bench {ended(code)}."


def torch_rows(args, *flags):
    try:
        import torch  # noqa: F401
    except ImportError:
        print("PyTorch is not installed: its columns stay empty", file=sys.stderr)
        return None
    command = [sys.executable, HERE / "torch_crf.py", "--device", args.device, "--seconds", str(args.seconds), "--json", *flags]
    return run(command, args.limit)[1]


def counterpart(row, torch):
    """Returns PyTorch's milliseconds for a row of dsp bench, by variant; {} if PyTorch has no counterpart."""
    if torch is None or row["sizes"] != row["compared"]:
        return {}
    return {r["how"]: r["milliseconds"] for r in torch["rows"] if r["what"] == COUNTERPARTS.get(row["what"])}


def table(bench, torch):
    if not bench["rows"]:
        return ""
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
            f"{row['gb_per_second']:.0f}" if row.get("gb_per_second") else "", f"{row['gflops']:.0f}" if row.get("gflops") else "",
            f"{row['share']:.0%} {row['bound_by']}".strip() if row["share"] else "",
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
    parser.add_argument("--limit", type=float, default=600, help="seconds that each program may take")
    parser.add_argument("--table", type=pathlib.Path, help="file for the table")
    parser.add_argument("--sanitize", action="store_true")
    args = parser.parse_args()

    def save(*paragraphs):
        text = "\n\n".join(p for p in paragraphs if p)
        if args.table:
            args.table.write_text(text + "\n", encoding="utf-8")
        return text

    verdict, passed = selftest(args)
    tested = f"Selftest: {verdict}." + (f" Under compute-sanitizer: {sanitize(args)}." if args.sanitize else "")
    save(tested)
    bench, wrong = benchmark(args)
    emulated = "The device is emulated: sizes are small, and times mean nothing." if bench["small"] else ""
    save(tested, wrong, emulated, table(bench, None))
    torch = None if bench["small"] else torch_rows(args, "--check")
    machine = ""
    if device := bench.get("device"):
        machine = (
            f"{device['name']}, {device['multiprocessors']} multiprocessors, CUDA {device['driver']}; a copy moves {bench['copy_gb_per_second']:.0f} GB/s, float32 "
            f"peak {bench['peak_gflops'] / 1000:.1f} TFLOP/s; matrix products by {bench['blas']}" + (f"; PyTorch {torch['torch']}" if torch else "") + "."
        )
    print(save(machine, tested, wrong, emulated, table(bench, torch)))
    sys.exit(0 if passed and not wrong else 1)


if __name__ == "__main__":
    main()

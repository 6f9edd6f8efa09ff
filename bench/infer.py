"""dsp infer beside pyAgrum, pgmpy and toulbar2.

    pip install numpy pgmpy pyagrum pytoulbar2
    python bench/infer.py [--part sums|best] [--seed 1] [--limit 60]

sums: the probability of evidence and the marginals of all variables, by junction trees, on real Bayesian networks that pgmpy ships, on
random ones of several widths, and on random Markov grids. Evidence is a tenth of the variables in states that were drawn from the network. The
script writes each network as a UAI file, and stops if log Z or a marginal of dsp differs by more than 1e-6 from pyAgrum's
LazyPropagation (Bayesian networks) or from pgmpy's BeliefPropagation. Times are processor milliseconds on one thread, the least of several runs: of
the whole command dsp, start and reading included; of dsp's answer alone, as its JSON says (by the clock, or the whole command's if that is
less, as under load); and of the others' answers alone, with the network already in memory. pgmpy is stopped after --limit seconds
by the clock.

best: the best assignment of random loopy networks. toulbar2 proves the optimum; dsp's relaxed oracle must find a value that is not
above it, and a bound that is not below it. The script counts how often they meet.
"""

import argparse
import gzip
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
REAL = ["asia", "sachs", "alarm", "insurance", "win95pts", "hailfinder", "hepar2", "water", "mildew", "pigs", "andes"]
RANDOM = [(100, 3), (100, 6), (200, 8), (60, 11)]  # variables, reach of a variable's parents
GRIDS = [4, 6, 8]


def build(folder):
    program = folder / "dsp"
    subprocess.run(["go", "build", "-o", program, "./cmd/dsp"], cwd=ROOT, check=True, env=os.environ | {"GOEXPERIMENT": "simd", "CGO_ENABLED": "0"})
    return program


def write_uai(path, kind, states, factors):
    """Factors are pairs of a list of variables and an array with an axis for each of them."""
    with open(path, "w") as f:
        print(kind, len(states), " ".join(map(str, states)), len(factors), sep="\n", file=f)
        for scope, _ in factors:
            print(len(scope), *scope, file=f)
        for _, table in factors:
            print(table.size, *map(repr, table.ravel().tolist()), file=f)


def write_evidence(path, evidence):
    path.write_text(" ".join(map(str, [len(evidence), *(x for pair in evidence.items() for x in pair)])))


def dsp(program, *args, runs=9):
    """Returns dsp's JSON with the least seconds of several runs, at most those of the processor for the whole command, and the latter's milliseconds."""
    least, seconds = float("inf"), float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run([program, "infer", *map(str, args), "--json", "--quiet"], capture_output=True, text=True, env=os.environ | {"GOMAXPROCS": "1"})
        if out.returncode not in (0, 3):  # 3: neither exact nor within --gap
            sys.exit(out.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = json.loads(out.stdout)
        seconds = min(seconds, answer["seconds"])
        least = min(least, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return answer | {"seconds": min(seconds, least)}, 1e3 * least


# Bayesian networks in pyAgrum.


def real(name, folder):
    import pgmpy
    import pyagrum

    text = gzip.open(pathlib.Path(pgmpy.__file__).parent / "utils/example_models" / f"{name}.bif.gz", "rt").read()
    path = folder / "network.bif"
    path.write_text(text.replace("/", "_"))  # pyAgrum's reader takes none in names of states
    return pyagrum.loadBN(str(path))


def random_network(n, reach, rng):
    import pyagrum

    bn = pyagrum.BayesNet()
    for v in range(n):
        bn.add(pyagrum.LabelizedVariable(f"v{v}", "", int(rng.integers(2, 5)) if reach < 8 else 2))
        for u in rng.choice(numpy.arange(max(0, v - reach), v), min(v, reach, int(rng.integers(1, 4))), replace=False):
            bn.addArc(int(u), v)
    pyagrum.initRandom(int(rng.integers(1 << 30)))
    bn.generateCPTs()
    return bn


def tables(bn):
    """Returns numbers of states and the factors of a network whose nodes are numbered from 0; a variable comes last in its factor."""
    states = [bn.variable(v).domainSize() for v in range(bn.size())]
    factors = []
    for v in range(bn.size()):
        cpt = bn.cpt(v)
        scope = [bn.idFromName(name) for name in reversed(cpt.names)]
        table = cpt.toarray()
        if scope[-1] != v or table.shape != tuple(states[u] for u in scope):
            sys.exit(f"the table of variable {v} is not in the order that this script expects")
        factors.append((scope, table))
    return states, factors


def sample(states, factors, rng):
    """Draws an assignment from a Bayesian network."""
    drawn, left = {}, list(range(len(factors)))
    while left:
        for k in left:
            scope, table = factors[k]
            if all(u in drawn for u in scope[:-1]):
                p = table[tuple(drawn[u] for u in scope[:-1])]
                drawn[scope[-1]] = int(rng.choice(len(p), p=p / p.sum()))
                left.remove(k)
                break
    return drawn


def agrum(bn, evidence, runs=3):
    """Returns log Z, the marginals and processor milliseconds."""
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    least = float("inf")
    for _ in range(runs):
        start = time.process_time()
        inference = pyagrum.LazyPropagation(bn)
        inference.setEvidence(evidence)
        inference.makeInference()
        p = [inference.posterior(v).toarray() for v in range(bn.size())]
        z = inference.evidenceProbability() if evidence else 1.0
        least = min(least, time.process_time() - start)
    return float(numpy.log(z)), p, 1e3 * least


# pgmpy, in a process of its own that can be stopped.


def observe(states, factors, evidence):
    """Returns the factors without the variables that are observed."""
    kept = []
    for scope, table in factors:
        table = table[tuple(evidence.get(v, slice(None)) for v in scope)]
        kept.append(([v for v in scope if v not in evidence], table))
    return kept


def components(states, factors, evidence):
    parent = list(range(len(states)))

    def find(v):
        while parent[v] != v:
            v = parent[v]
        return v

    for scope, _ in factors:
        for v in scope[1:]:
            parent[find(v)] = find(scope[0])
    groups = {}
    for v in range(len(states)):
        if v not in evidence:
            groups.setdefault(find(v), []).append(v)
    return groups, find


def pgmpy_solve(states, factors, evidence, pipe):
    try:
        pipe.send(propagate(states, factors, evidence))
    except MemoryError:
        pipe.close()


def propagate(states, factors, evidence):
    warnings.filterwarnings("ignore")
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import BeliefPropagation
    from pgmpy.models import DiscreteMarkovNetwork

    factors = observe(states, factors, evidence)
    groups, find = components(states, factors, evidence)
    start = time.process_time()
    log_z = sum(float(numpy.log(table)) for scope, table in factors if not scope)
    p = {}
    for root, group in groups.items():
        mine = [(scope, table) for scope, table in factors if scope and find(scope[0]) == root]
        if len(group) == 1:
            table = numpy.prod([table for _, table in mine] or [numpy.ones(states[group[0]])], axis=0)
            log_z += float(numpy.log(table.sum()))
            p[group[0]] = table / table.sum()
            continue
        network = DiscreteMarkovNetwork()
        network.add_edges_from({(u, v) for scope, _ in mine for u in scope for v in scope if u < v})
        network.add_factors(*(DiscreteFactor(scope, table.shape, table.ravel()) for scope, table in mine))
        inference = BeliefPropagation(network)
        inference.calibrate()
        beliefs = list(inference.get_clique_beliefs().values())
        log_z += float(numpy.log(beliefs[0].values.sum()))
        for belief in beliefs:
            for v in belief.variables:
                if v not in p:
                    axis = belief.variables.index(v)
                    q = belief.values.sum(axis=tuple(k for k in range(belief.values.ndim) if k != axis))
                    p[v] = q / q.sum()
    return log_z, p, 1e3 * (time.process_time() - start)


def pgmpy(states, factors, evidence, limit):
    """Returns what agrum does, with a dictionary of marginals. If it takes longer than the limit: None, None and the milliseconds
    spent; if it needs more memory than there is: None, None, None."""
    ours, theirs = multiprocessing.get_context("fork").Pipe(False)
    child = multiprocessing.get_context("fork").Process(target=pgmpy_solve, args=(states, factors, evidence, theirs))
    child.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(limit) else None
    except EOFError:
        answer = None, None, None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.kill()
    child.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer or (None, None, 1e3 * (after.ru_utime - before.ru_utime))


def differ(what, name, ours, log_z, p):
    """Returns the largest difference of log Z and marginals, which must be 1e-6 at most."""
    worst = abs(ours["log_partition"] - log_z)
    for v, q in p:
        worst = max(worst, float(numpy.abs(numpy.array(ours["marginals"][v]) - q).max()))
    if not worst <= 1e-6:
        sys.exit(f"{name}: dsp and {what} differ by {worst}")
    return worst


def grid(n, rng):
    states, factors = [2] * (n * n), []
    for v in range(n * n):
        factors.append(([v], numpy.exp(rng.standard_normal(2))))
        factors += [([u, v], numpy.exp(rng.standard_normal((2, 2)))) for u in ([v - 1] if v % n else []) + ([v - n] if v >= n else [])]
    return states, factors


def milliseconds(x):
    return f"{x:,.1f}" if x < 100 else f"{x:,.0f}"


def sums(program, folder, rng, limit):
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("pyagrum", "pgmpy"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-W", "ignore", "-c", "import pgmpy.inference"], check=True)
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(f"{versions}; to import pgmpy takes {1e3 * start:,.0f} ms; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
    print("| network | variables | width | difference | dsp, command | dsp, answer | pyAgrum, answer | pgmpy, answer | pgmpy / dsp, answers |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    cases = [(name, lambda name=name: real(name, folder)) for name in REAL]
    cases += [(f"random, reach {reach}", lambda n=n, reach=reach: random_network(n, reach, rng)) for n, reach in RANDOM]
    cases += [(f"grid {n}×{n}", lambda n=n: grid(n, rng)) for n in GRIDS]
    for name, make in cases:
        network = make()
        is_bayes = not isinstance(network, tuple)
        states, factors = tables(network) if is_bayes else network
        evidence = {}
        if is_bayes:
            drawn = sample(states, factors, rng)
            evidence = {int(v): drawn[v] for v in rng.choice(len(states), max(1, len(states) // 10), replace=False)}
        write_uai(folder / "network.uai", "BAYES" if is_bayes else "MARKOV", states, factors)
        write_evidence(folder / "network.evid", evidence)
        ours, command = dsp(program, folder / "network.uai", "--task", "mar", "--evidence", folder / "network.evid", "--oracle", "junction")
        worst, theirs = 0.0, "no Bayesian network"
        if is_bayes:
            log_z, p, took = agrum(network, evidence)
            worst, theirs = differ("pyAgrum", name, ours, log_z, enumerate(p)), milliseconds(took)
        other = pgmpy(states, factors, evidence, limit)
        if other[0] is not None:
            worst = max(worst, differ("pgmpy", name, ours, other[0], other[1].items()))
        over = "" if other[0] is not None else "over "
        slow, ratio = "memory", ""
        if other[2] is not None:
            slow, ratio = over + milliseconds(other[2]), f"{over}{other[2] / (1e3 * ours['seconds']):,.0f}"
        print(f"| {name} | {len(states)} | {ours.get('width', 0)} | {worst:.0e} | {milliseconds(command)} | {milliseconds(1e3 * ours['seconds'])} "
              f"| {theirs} | {slow} | {ratio} |", flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


# The best assignment.


def loopy(n, degree, states, order, rng):
    """Draws a network with factors of the given order over random variables."""
    sizes, factors = [states] * n, [([v], rng.standard_normal(states)) for v in range(n)]
    for _ in range(int(n * degree / order)):
        scope = rng.choice(n, order, replace=False).tolist()
        factors.append((scope, rng.standard_normal([states] * order)))
    return sizes, factors


def toulbar2(states, factors, limit):
    """Returns the best value, None if it is not proven in time."""
    import pytoulbar2

    problem = pytoulbar2.CFN(1e9, 6)
    for v, n in enumerate(states):
        problem.AddVariable(f"v{v}", range(n))
    for scope, table in factors:
        problem.AddFunction([f"v{v}" for v in scope], (-table).ravel().tolist())
    found = problem.Solve(timeLimit=limit)
    if not found or problem.GetDDualBound() < found[1] - 1e-4:
        return None
    return sum(float(table[tuple(found[0][v] for v in scope)]) for scope, table in factors)


def best(program, folder, rng, limit, draws=20):
    print(f"pytoulbar2 {importlib.metadata.version('pytoulbar2')}; {draws} networks each; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
    print("| networks | proven by toulbar2 | value is the optimum | proven by dsp | median, ms | most, ms |")
    print("|---|---:|---:|---:|---:|---:|")
    kinds = [
        ("30 variables of 2 states, pairs, degree 3", (30, 3, 2, 2)), ("30 variables of 2 states, pairs, degree 6", (30, 6, 2, 2)),
        ("20 variables of 4 states, pairs, degree 3", (20, 3, 4, 2)), ("20 variables of 4 states, pairs, degree 6", (20, 6, 4, 2)),
        ("30 variables of 2 states, triples, degree 4", (30, 4, 2, 3)), ("15 variables of 3 states, order 4, degree 4", (15, 4, 3, 4)),
    ]
    for name, kind in kinds:
        rows = []
        for _ in range(draws):
            states, factors = loopy(*kind, rng)
            write_uai(folder / "network.uai", "MARKOV", states, [(scope, numpy.exp(table)) for scope, table in factors])
            ours, took = dsp(program, folder / "network.uai", "--oracle", "search", "--time", f"{limit}s", runs=1)
            optimum = toulbar2(states, factors, limit)
            if optimum is None:
                continue
            slack = 1e-5 * (1 + abs(optimum))  # toulbar2 rounds to 6 decimals
            if not (ours["value"] <= optimum + slack and ours["bound"] >= optimum - slack):
                sys.exit(f"{name}: value {ours['value']}, bound {ours['bound']}, optimum {optimum}")
            rows.append((optimum - ours["value"] <= slack, ours["exact"], took))
        print(f"| {name} | {len(rows)} | {sum(r[0] for r in rows)} | {sum(r[1] for r in rows)} "
              f"| {milliseconds(numpy.median([r[2] for r in rows]))} | {milliseconds(max(r[2] for r in rows))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["sums", "best"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=60)
    args = parser.parse_args()
    rng = numpy.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder)
        if args.part != "best":
            sums(program, folder, rng, args.limit)
        if args.part != "sums":
            best(program, folder, rng, args.limit)


if __name__ == "__main__":
    main()

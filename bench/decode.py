"""Decodes exported potentials of chains without dsp, and compares the results with dsp's predictions.

    dsp export  --model MODEL --data FILE --to potentials.npz
    dsp predict --model MODEL --input FILE --marginals --json > predictions.jsonl
    python bench/decode.py potentials.npz predictions.jsonl

Needs numpy. Viterbi in float32 must find exactly the labels of every sequence. Forward-backward in float64 must agree with the
marginals to within 1e-4, and with the probability of the best output to within a relative 1e-4.
"""

import json
import sys

import numpy as np


def viterbi(node, edges):
    """Returns the best labels of one chain: node [T×Y]; edges [T×Y×Y], entry t being the step into t. Ties go to the smaller label."""
    score, back = node[0], []
    for t in range(1, len(node)):
        paths = score[:, None] + edges[t]
        back.append(paths.argmax(0))
        score = paths.max(0) + node[t]
    labels = [int(score.argmax())]
    for b in reversed(back):
        labels.append(int(b[labels[-1]]))
    return labels[::-1]


def logsumexp(x, axis):
    top = np.maximum(x.max(axis, keepdims=True), -1e300)  # every entry of a column may be −∞
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - top).sum(axis)) + top.squeeze(axis)


def forward_backward(node, edges):
    """Returns the marginals [T×Y] and log Z of one chain."""
    forward, backward = node.copy(), np.zeros_like(node)
    for t in range(1, len(node)):
        forward[t] += logsumexp(forward[t - 1][:, None] + edges[t], 0)
    for t in range(len(node) - 2, -1, -1):
        backward[t] = logsumexp(edges[t + 1] + node[t + 1] + backward[t + 1], 1)
    log_z = logsumexp(forward[-1], 0)
    return np.exp(forward + backward - log_z), log_z


def score(node, edges, labels):
    steps = range(1, len(labels))
    return sum(node[t, y] for t, y in enumerate(labels)) + sum(edges[t, labels[t - 1], labels[t]] for t in steps)


def main(potentials, predictions):
    p = np.load(potentials)
    node, edge, offsets, names = p["node"], p["edge"], p["offsets"], list(p["label_names"])
    worst_marginal = worst_probability = different = 0.0
    with open(predictions, encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    assert len(lines) == len(offsets) - 1, f"{len(lines)} predictions for {len(offsets) - 1} sequences"
    for i, line in enumerate(lines):
        assert line["id"] == p["ids"][i], f"sequence {i} is {p['ids'][i]}, its prediction is for {line['id']}"
        lo, hi = offsets[i], offsets[i + 1]
        if lo == hi:
            continue
        θ = node[lo:hi]
        edges = edge[lo:hi] if edge.ndim == 3 else np.broadcast_to(edge, (hi - lo, *edge.shape))
        labels = viterbi(θ, edges)
        if [names[y] for y in labels] != line["labels"]:
            different += 1
            print(f"sequence {i}: decoded {[names[y] for y in labels]}, predicted {line['labels']}")
        θ, edges = θ.astype(np.float64), edges.astype(np.float64)
        marginals, log_z = forward_backward(θ, edges)
        if "marginals" in line:
            worst_marginal = max(worst_marginal, np.abs(marginals - line["marginals"]).max())
        p_best = np.exp(score(θ, edges, labels) - log_z)
        worst_probability = max(worst_probability, abs(line["probability"] - p_best) / p_best)
    print(f"{len(lines)} sequences, {offsets[-1]} positions: {different:.0f} decoded differently; "
          f"marginals differ by at most {worst_marginal:.2g}, probabilities by a relative {worst_probability:.2g}")
    return int(different > 0 or worst_marginal > 1e-4 or worst_probability > 1e-4)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

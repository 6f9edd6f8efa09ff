"""The networks of bench/networks.py in PyTorch: Adam with a CRF from pytorch-crf, or with a hinge.

    pip install torch pytorch-crf
    python bench/torch_networks.py --kind letters --loss crf --rate 1e-3 train.data dev.data test.data

The architecture, the distribution of the initial weights, the objective and the number of examples per step are those of dsp: for
letters a 3×3 convolution with 16 channels, a 2×2 maximum, 64 units; for words embeddings of the word, its first and last three letters
and its shape, and a convolution over five words with 128 channels; ELU; transitions, and scores of the first and last label.

Adam minimises the mean loss of a batch plus (λ/2)‖w‖² with λ = 1/n (weight_decay=λ). Its rate falls to 0 along a cosine. Its update
is fused. A batch holds sequences of similar length: after every shuffle, 32 batches at a time are sorted by length. The letters of a batch
pass through the network without padding.

After every pass it prints a line of JSON: the objective of all training examples, the errors on development and test data, and the user
seconds so far, in total (cpu) and of the steps alone (steps). Reading and starting are not counted. The evaluations use large batches
and the vectorised Viterbi algorithm of torch_crf.py, since pytorch-crf's follows paths back label by label in Python.
"""

import argparse
import collections
import itertools
import json
import math
import random
import resource
import time

import torch
import torchcrf

from crfsuite import chunks
from torch_crf import gold_score, viterbi

UNKNOWN = "<unknown>"


# Data.


class Sequences:
    """Sequences one after another: inputs [M,...] and labels [M] of all positions, and the bounds of each sequence."""

    def __init__(self, inputs, labels, bounds):
        self.inputs, self.labels, self.bounds = inputs, labels, bounds
        self.lengths = [stop - start for start, stop in bounds]

    def batch(self, chosen):
        """Returns the rows [B,T] of the chosen sequences, filled up with their first rows, and the mask [B,T]."""
        longest = max(self.lengths[i] for i in chosen)
        start = torch.tensor([self.bounds[i][0] for i in chosen])[:, None]
        length = torch.tensor([self.lengths[i] for i in chosen])[:, None]
        steps = torch.arange(longest)[None]
        mask = steps < length
        return torch.where(mask, start + steps, start), mask

    def batches(self, size, shuffle=None):
        order = list(range(len(self.bounds)))
        pool = len(order)
        if shuffle:
            shuffle.shuffle(order)
            pool = 32 * size
        cuts = []
        for first in range(0, len(order), pool):
            near = sorted(order[first : first + pool], key=self.lengths.__getitem__)
            cuts += [near[i : i + size] for i in range(0, len(near), size)]
        if shuffle:
            shuffle.shuffle(cuts)
        return [self.batch(cut) for cut in cuts]


def read_letters(path):
    """Returns the images and letters of each word of a file like letter.data."""
    words, word = [], []
    with open(path) as lines:
        for line in lines:
            fields = line.split()
            word.append(([float(p) for p in fields[6:]], fields[1]))
            if fields[2] == "-1":
                words.append(word)
                word = []
    return words


def read_words(path):
    """Returns the words and labels of each sentence of columns, word first, label last."""
    sentences, sentence = [], []
    with open(path, encoding="utf-8") as lines:
        for line in itertools.chain(lines, [""]):
            fields = line.strip("\n").split("\t")
            if fields[0].strip():
                sentence.append((word_inputs(fields[0]), fields[-1]))
            elif sentence:
                sentences.append(sentence)
                sentence = []
    return sentences


def word_inputs(word):
    """Returns what dsp's net embed reads of a word: normal form, first and last three letters, shape."""
    normal = "".join("0" if c.isdecimal() else c.lower() for c in word)
    shape = ""
    for c in word:
        c = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdecimal() else c
        if shape[-2:] != c + c:
            shape += c
    return normal, normal[:3], normal[-3:], shape[:10]


def vocabularies(sentences):
    """Numbers the values of each input that occur at least twice, from 1; 0 is for the others."""
    tables = []
    for k in range(4):
        counts = collections.Counter(inputs[k] for sentence in sentences for inputs, _ in sentence)
        tables.append({value: i + 1 for i, value in enumerate(v for v, n in counts.most_common() if n >= 2)})
    return tables


def sequences(examples, alphabet, encode):
    """Labels that training has not seen get a number of their own, which is never predicted."""
    inputs, labels, bounds = [], [], []
    for example in examples:
        bounds.append((len(labels), len(labels) + len(example)))
        for x, label in example:
            inputs.append(encode(x))
            labels.append(alphabet.get(label, len(alphabet)))
    return Sequences(torch.tensor(inputs), torch.tensor(labels), bounds)


# Networks.


def gaussian(layer, variance, bias=True):
    torch.nn.init.normal_(layer.weight, std=math.sqrt(variance))
    if bias:
        torch.nn.init.zeros_(layer.bias)
    return layer


class Letters(torch.nn.Module):
    def __init__(self, labels):
        super().__init__()
        self.convolution = gaussian(torch.nn.Conv2d(1, 16, 3, padding=1), 2 / 9)
        self.hidden = gaussian(torch.nn.Linear(512, 64), 2 / 512)
        self.node = gaussian(torch.nn.Linear(64, labels), 2 / (64 + labels))

    def forward(self, x, rows, mask):
        h = torch.nn.functional.elu(torch.nn.functional.max_pool2d(self.convolution(x[rows[mask]].view(-1, 1, 16, 8)), 2))
        h = self.node(torch.nn.functional.elu(self.hidden(h.flatten(1))))
        return torch.zeros(*mask.shape, h.shape[1]).masked_scatter(mask[:, :, None], h)


class Words(torch.nn.Module):
    def __init__(self, labels, sizes):
        super().__init__()
        dims = [next(d for d in (4, 8, 16, 32, 64) if d == 64 or d * d >= size) for size in sizes]
        self.embeddings = torch.nn.ModuleList(gaussian(torch.nn.Embedding(s, d), 0.01, bias=False) for s, d in zip(sizes, dims))
        self.convolution = gaussian(torch.nn.Conv1d(sum(dims), 128, 5, padding=2), 2 / (5 * sum(dims)))
        self.node = gaussian(torch.nn.Linear(128, labels), 2 / (128 + labels))

    def forward(self, x, rows, mask):
        ids = x[rows]
        h = torch.cat([table(ids[:, :, k]) for k, table in enumerate(self.embeddings)], 2) * mask[:, :, None]
        return self.node(torch.nn.functional.elu(self.convolution(h.transpose(1, 2)).transpose(1, 2)))


class Tagger(torch.nn.Module):
    """A network with a linear chain on top. The hinge is max_y [score(y) + Hamming(y, gold)] − score(gold)."""

    def __init__(self, net, labels, loss):
        super().__init__()
        self.net, self.chain, self.hinge = net, torchcrf.CRF(labels, batch_first=True), loss == "hinge"
        for p in self.chain.parameters():
            torch.nn.init.zeros_(p)

    def nodes(self, node, mask):
        """Adds the scores of the first and last label to the potentials [B,T,Y]."""
        last = torch.nn.functional.one_hot(mask.sum(1) - 1, mask.shape[1])[:, :, None]
        first = torch.nn.functional.one_hot(torch.zeros(len(mask), dtype=torch.long), mask.shape[1])[:, :, None]
        return node + first * self.chain.start_transitions + last * self.chain.end_transitions

    def loss(self, data, rows, mask):
        """Returns the sum of the losses of a batch."""
        node, gold = self.net(data.inputs, rows, mask), data.labels[rows]
        if not self.hinge:
            return -self.chain(node, gold, mask)
        node, edge = self.nodes(node, mask), self.chain.transitions
        with torch.no_grad():
            wrong = 1 - torch.nn.functional.one_hot(gold, node.shape[2])
            _, best = viterbi(node + wrong * mask[:, :, None], edge, mask)
        cost = ((best != gold) & mask).sum()
        return (gold_score(node, edge, mask, best) - gold_score(node, edge, mask, gold)).sum() + cost

    def objective(self, data, decay):
        with torch.no_grad():
            total = sum(float(self.loss(data, rows, mask)) for rows, mask in data.batches(256))
            square = sum(float(p.square().sum()) for p in self.parameters())
        return total / len(data.bounds) + decay / 2 * square

    def quality(self, data, names, measure):
        predicted, gold = [], []
        with torch.no_grad():
            for rows, mask in data.batches(256):
                _, path = viterbi(self.nodes(self.net(data.inputs, rows, mask), mask), self.chain.transitions, mask)
                for found, right, n in zip(path.tolist(), data.labels[rows].tolist(), mask.sum(1).tolist()):
                    predicted.append(found[:n])
                    gold.append(right[:n])
        if measure == "f1":
            pairs = [(chunks([names[y] for y in g]), chunks([names[y] for y in p])) for g, p in zip(gold, predicted)]
            return 2 * sum(len(g & p) for g, p in pairs) / max(1, sum(len(g) + len(p) for g, p in pairs))
        right = sum(a == b for g, p in zip(gold, predicted) for a, b in zip(g, p)) / len(data.labels)
        return 1 - right if measure == "token_error" else right


def user_seconds():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, help="training, development and test data")
    parser.add_argument("--kind", choices=["letters", "words"], required=True)
    parser.add_argument("--loss", choices=["crf", "hinge"], default="crf")
    parser.add_argument("--measure", choices=["token_error", "token_accuracy", "f1"], default="token_error")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    shuffle = random.Random(args.seed)

    examples = [(read_letters if args.kind == "letters" else read_words)(path) for path in args.files]
    alphabet = {label: i for i, label in enumerate(sorted({label for example in examples[0] for _, label in example}))}
    if args.kind == "letters":
        encode, net = (lambda pixels: pixels), Letters(len(alphabet))
    else:
        tables = vocabularies(examples[0])
        encode, net = (lambda x: [t.get(v, 0) for t, v in zip(tables, x)]), Words(len(alphabet), [len(t) + 1 for t in tables])
    train, dev, test = (sequences(e, alphabet, encode) for e in examples)
    names = [*alphabet, "O"]
    del examples

    model, decay = Tagger(net, len(alphabet), args.loss), 1 / len(train.bounds)
    adam = torch.optim.Adam(model.parameters(), lr=args.rate, weight_decay=decay, fused=True)
    total = args.passes * math.ceil(len(train.bounds) / args.batch)
    cosine = torch.optim.lr_scheduler.LambdaLR(adam, lambda t: (1 + math.cos(math.pi * t / total)) / 2)
    began, started, steps = user_seconds(), time.perf_counter(), 0.0
    for p in range(1, args.passes + 1):
        before = user_seconds()
        for rows, mask in train.batches(args.batch, shuffle):
            adam.zero_grad(set_to_none=True)
            (model.loss(train, rows, mask) / len(rows)).backward()
            adam.step()
            cosine.step()
        steps += user_seconds() - before
        line = {"pass": p, "objective": model.objective(train, decay)}
        line |= {name: {args.measure: model.quality(data, names, args.measure)} for name, data in (("dev", dev), ("test", test))}
        print(json.dumps(line | {"cpu": user_seconds() - began, "wall": time.perf_counter() - started, "steps": steps}), flush=True)


if __name__ == "__main__":
    main()

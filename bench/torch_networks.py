"""The networks of bench/networks.py in PyTorch: Adam with a CRF from pytorch-crf, or with a hinge.

    pip install torch pytorch-crf
    python bench/torch_networks.py --kind letters --loss crf --rate 1e-3 train.data dev.data test.data
    python bench/torch_networks.py --kind words --net rnn --passes 3 --steps-only train.conll dev.conll test.conll

The architecture, the distribution of the initial weights, the objective and the number of examples per step are those of dsp: for
letters a 3×3 convolution with 16 channels, a 2×2 maximum, 64 units; for words embeddings of the word, its first and last three letters
and its shape, and above them what --net says; ELU; transitions, and scores of the first and last label. Net embed has a convolution
over five words with 128 channels. Net rnn has a bidirectional minGRU (Feng et al. 2024) with 128 units per direction and a highway around
it. Net deep is rnn with a convolution over three characters, with embeddings of size 25 and 50 channels, and its maximum over the word;
dsp has the same network with --features none.

Adam minimises the mean loss of a batch plus (λ/2)‖w‖² with λ = 1/n (weight_decay=λ). Its rate falls to 0 along a cosine. Its update
is fused. A batch holds sequences of similar length: after every shuffle, 32 batches at a time are sorted by length. The letters of a batch
pass through the network without padding.

After every pass it prints a line of JSON: the objective of all training examples, the errors on development and test data, and the user
seconds so far, in total (cpu) and of the steps alone (steps). Reading and starting are not counted. The evaluations use large batches
and the vectorised Viterbi algorithm of torch_crf.py, since pytorch-crf's follows paths back label by label in Python. --steps-only leaves
the evaluations out.
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
    """Returns what dsp's networks read of a word: normal form, first and last three letters, shape, and the word for its characters."""
    normal = "".join("0" if c.isdecimal() else c.lower() for c in word)
    shape = ""
    for c in word:
        c = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdecimal() else c
        if shape[-2:] != c + c:
            shape += c
    return normal, normal[:3], normal[-3:], shape[:10], word


def vocabularies(sentences):
    """Numbers the values of each input that occur at least twice, from 1; 0 is for the others."""
    tables = []
    for k in range(4):
        tables.append(frequent((inputs[k] for sentence in sentences for inputs, _ in sentence), 1))
    return tables


def frequent(values, first):
    """Numbers the values that occur at least twice, from first."""
    return {value: first + i for i, value in enumerate(v for v, n in collections.Counter(values).most_common() if n >= 2)}


def word_encoder(net, tables, examples):
    """Returns a function that encodes a word as the numbers of its four inputs, for deep followed by those of its characters, and the
    number of different characters. 0 fills up to the longest word of all examples, 1 is for unknown characters."""
    if net != "deep":
        return (lambda x: [t.get(v, 0) for t, v in zip(tables, x)]), 0
    characters = frequent((c for sentence in examples[0] for inputs, _ in sentence for c in inputs[4]), 2)
    longest = max(len(inputs[4]) for part in examples for sentence in part for inputs, _ in sentence)

    def encode(x):
        return [t.get(v, 0) for t, v in zip(tables, x)] + [characters.get(c, 1) for c in x[4]] + [0] * (longest - len(x[4]))

    return encode, len(characters) + 2


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


class Embeddings(torch.nn.Module):
    """The embeddings of the inputs of a word, side by side."""

    def __init__(self, sizes):
        super().__init__()
        dims = [next(d for d in (4, 8, 16, 32, 64) if d == 64 or d * d >= size) for size in sizes]
        self.tables = torch.nn.ModuleList(gaussian(torch.nn.Embedding(s, d), 0.01, bias=False) for s, d in zip(sizes, dims))
        self.width = sum(dims)

    def forward(self, ids):
        return torch.cat([table(ids[..., k]) for k, table in enumerate(self.tables)], -1)


class Words(torch.nn.Module):
    """Net embed."""

    def __init__(self, labels, sizes):
        super().__init__()
        self.words = Embeddings(sizes)
        self.convolution = gaussian(torch.nn.Conv1d(self.words.width, 128, 5, padding=2), 2 / (5 * self.words.width))
        self.node = gaussian(torch.nn.Linear(128, labels), 2 / (128 + labels))

    def forward(self, x, rows, mask):
        h = self.words(x[rows]) * mask[:, :, None]
        return self.node(torch.nn.functional.elu(self.convolution(h.transpose(1, 2)).transpose(1, 2)))


class Characters(torch.nn.Module):
    """A convolution over the characters of each word [N,L] and its maximum over the word [N,50]. Character 0 is padding, which is left
    out: as a product of the windows of all characters, the convolution takes less time than Conv1d, which computes the padding too."""

    def __init__(self, size):
        super().__init__()
        self.table = gaussian(torch.nn.Embedding(size, 25, padding_idx=0), 0.25, bias=False)
        self.convolution = gaussian(torch.nn.Linear(75, 50), 2 / 75)
        with torch.no_grad():
            self.table.weight[0] = 0

    def forward(self, ids):
        inside = ids > 0
        windows = torch.nn.functional.pad(ids, (1, 1)).unfold(1, 3, 1)[inside]
        h = self.convolution(self.table(windows).flatten(1))
        return torch.nn.functional.elu(torch.segment_reduce(h, "max", lengths=inside.sum(1), unsafe=True))


class Recurrence(torch.autograd.Function):
    """h_t = a_t⊙h_{t−1} + b_t from h_0 = 0, for a and b [T,B,C]. With its own gradient it takes one operation per step forwards and
    one backwards, where autograd takes several. For sentences it takes less time than a scan in log₂ T steps."""

    @staticmethod
    def forward(ctx, a, b):
        h = b.clone()
        for before, gate, at in zip(h[:-1], a[1:], h[1:]):
            at.addcmul_(gate, before)
        ctx.save_for_backward(a, h)
        return h

    @staticmethod
    def backward(ctx, gradient):
        a, h = ctx.saved_tensors
        g = gradient.clone(memory_format=torch.contiguous_format)
        for t in range(len(g) - 2, -1, -1):
            g[t].addcmul_(a[t + 1], g[t + 1])
        along = torch.zeros_like(a)
        torch.mul(g[1:], h[:-1], out=along[1:])
        return along, g


class Recurrent(torch.nn.Module):
    """Nets rnn and deep. The gates are a = σ(forget), r = σ(reset); h_t = a_t⊙h_{t∓1} + (1−a_t)⊙candidate_t runs forwards in the first
    half of the units and backwards in the second; the output is r⊙h + (1−r)⊙skip."""

    def __init__(self, labels, sizes, characters, units=128):
        super().__init__()
        self.words, self.characters, self.units = Embeddings(sizes), Characters(characters) if characters else None, units
        wide, width = 2 * units, self.words.width + (50 if characters else 0)
        self.gates = gaussian(torch.nn.Linear(width, 3 * wide), 2 / (width + wide))
        self.skip = gaussian(torch.nn.Linear(width, wide, bias=False), 2 / (width + wide), bias=False)
        torch.nn.init.uniform_(self.gates.bias[:wide], 0.8473, 2.1972)
        self.node = gaussian(torch.nn.Linear(wide, labels), 2 / (wide + labels))

    def forward(self, x, rows, mask):
        rows, mask, half = rows.t(), mask.t(), self.units
        ids = x[rows]
        h = self.words(ids)
        if self.characters:
            found = self.characters(ids[mask][:, 4:])
            h = torch.cat([h, found.new_zeros(*mask.shape, 50).masked_scatter(mask[:, :, None], found)], 2)
        forget, candidate, reset = self.gates(h).chunk(3, 2)
        forget = torch.sigmoid(forget)
        fresh = (candidate - forget * candidate) * mask[:, :, None]
        a, b = (torch.cat([z[:, :, :half], z[:, :, half:].flip(0)], 2) for z in (forget, fresh))
        state = Recurrence.apply(a, b)
        state = torch.cat([state[:, :, :half], state[:, :, half:].flip(0)], 2)
        return self.node(torch.lerp(self.skip(h), state, torch.sigmoid(reset))).transpose(0, 1)


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
    parser.add_argument("--net", choices=["embed", "rnn", "deep"], default="embed", help="network for words")
    parser.add_argument("--loss", choices=["crf", "hinge"], default="crf")
    parser.add_argument("--measure", choices=["token_error", "token_accuracy", "f1"], default="token_error")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps-only", action="store_true", help="do not evaluate after a pass")
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
        encode, characters = word_encoder(args.net, tables, examples)
        sizes = [len(t) + 1 for t in tables]
        net = Words(len(alphabet), sizes) if args.net == "embed" else Recurrent(len(alphabet), sizes, characters)
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
        line = {"pass": p}
        if not args.steps_only:
            line["objective"] = model.objective(train, decay)
            line |= {name: {args.measure: model.quality(data, names, args.measure)} for name, data in (("dev", dev), ("test", test))}
        print(json.dumps(line | {"cpu": user_seconds() - began, "wall": time.perf_counter() - started, "steps": steps}), flush=True)


if __name__ == "__main__":
    main()

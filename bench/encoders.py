"""Compares dsp's pretrained encoders with transformers, and times both.

Needs Python 3.10 or later with torch, transformers, safetensors and numpy; time also onnx and onnxruntime. From the repository:

    python3 bench/encoders.py build DIR          small random encoders of every family, as folders with the hidden states of transformers
    python3 bench/encoders.py build DIR --tiny   smaller ones, with weights in float16: those of nets/encoders/testdata
    python3 bench/encoders.py expect FOLDER      the hidden states of a pretrained encoder, for random pieces
    DSP_ENCODERS=DIR go test ./nets/encoders -run TestFolders -v     compares dsp's hidden states with them
    python3 bench/encoders.py time FOLDER        seconds for random sentences with transformers, ONNX Runtime's int8 and dsp, by turns
    python3 bench/encoders.py train FOLDER FILE  processor time of a training step on the first sentences of a CoNLL file (word first, tag last), by turns

A folder has, beside what save_pretrained writes, expected.safetensors: ids [pieces], offsets [sequences+1] and states [layers+1 × pieces ×
width], computed in float64, one sequence at a time.
"""
import argparse
import json
import os
os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # or threads that wait use processor time
import pathlib
import statistics
import subprocess
import time

import numpy as np
import torch
from safetensors.torch import load_file, save_file


def families(tiny):
    import transformers as t
    w, inner, heads, layers, vocab = (16, 24, 2, 2, 40) if tiny else (96, 160, 4, 4, 300)
    common = dict(hidden_size=w, intermediate_size=inner, num_attention_heads=heads, num_hidden_layers=layers, vocab_size=vocab)
    deberta = dict(common, max_position_embeddings=64, relative_attention=True, position_biased_input=False, type_vocab_size=0)
    modern = dict(common, max_position_embeddings=256, local_attention=12, global_attn_every_n_layers=3, num_hidden_layers=4,
                  pad_token_id=0, bos_token_id=1, cls_token_id=1, eos_token_id=2, sep_token_id=2)
    return {
        'bert': (t.BertModel, t.BertConfig(**common, max_position_embeddings=80)),
        'distilbert': (t.DistilBertModel, t.DistilBertConfig(dim=w, hidden_dim=inner, n_heads=heads, n_layers=layers, vocab_size=vocab,
                                                             max_position_embeddings=80)),
        'roberta': (t.RobertaModel, t.RobertaConfig(**common, max_position_embeddings=82, type_vocab_size=1, pad_token_id=1)),
        'xlm-roberta': (t.XLMRobertaModel, t.XLMRobertaConfig(**common, max_position_embeddings=82, type_vocab_size=1, hidden_act='gelu_new')),
        'electra': (t.ElectraModel, t.ElectraConfig(**common, embedding_size=w // 2, max_position_embeddings=80)),
        'mpnet': (t.MPNetModel, t.MPNetConfig(**common, max_position_embeddings=302)),
        'modernbert': (t.ModernBertModel, t.ModernBertConfig(**modern)),
        'deberta-v2': (t.DebertaV2Model, t.DebertaV2Config(**deberta, pos_att_type=['c2p', 'p2c'], share_att_key=True, position_buckets=8,
                                                           norm_rel_ebd='layer_norm')),
        'deberta-v2-xlarge': (t.DebertaV2Model, t.DebertaV2Config(**deberta, pos_att_type=['c2p', 'p2c'], share_att_key=True,
                                                                  position_buckets=16, norm_rel_ebd='layer_norm', conv_kernel_size=3,
                                                                  conv_act='gelu', embedding_size=w // 2)),
        'deberta-v2-own-keys': (t.DebertaV2Model, t.DebertaV2Config(**dict(deberta, type_vocab_size=2, position_biased_input=True),
                                                                    pos_att_type=['c2p'], max_relative_positions=10)),
    }


def random_weights(model, seed):
    """Gives every parameter random values, also those that transformers sets to zero or one."""
    g = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        scale = 0.5 if p.dim() == 1 else 1.5 / p.shape[-1] ** 0.5
        p.data = torch.randn(p.shape, generator=g) * scale + (1.0 if 'orm.weight' in name else 0.0)


def states(model, ids, offsets):
    """The hidden states [layers+1 × pieces × width] in float64."""
    model = model.double().eval()
    all_states = []
    with torch.no_grad():
        for lo, hi in zip(offsets, offsets[1:]):
            x = torch.tensor(ids[lo:hi])[None]
            out = model(input_ids=x, attention_mask=torch.ones_like(x), output_hidden_states=True)
            all_states.append(torch.stack([h[0] for h in out.hidden_states]))
    return torch.cat(all_states, 1).float()


def expect(model, vocab, folder, lengths, layers=None):
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0] + lengths)
    ids = rng.integers(3, vocab, offsets[-1]).astype(np.int32)
    h = states(model, ids.astype(np.int64), offsets)
    if layers:
        h = h[layers]
    save_file({'ids': torch.tensor(ids), 'offsets': torch.tensor(offsets), 'states': h.contiguous()}, folder / 'expected.safetensors')


def build(args):
    for name, (cls, config) in families(args.tiny).items():
        torch.manual_seed(1)
        config._attn_implementation = 'eager'
        model = cls(config)
        random_weights(model, 7)
        folder = pathlib.Path(args.dir) / name
        folder.mkdir(parents=True, exist_ok=True)
        (model.half() if args.tiny else model).save_pretrained(folder)
        model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation='eager')  # .half() rounds buffers, too
        expect(model, config.vocab_size, folder, [1, 19, 2, 5] if args.tiny else [1, 2, 5, 61, 3, 60, 17, 64, 1, 30])
        print(name, sum(f.stat().st_size for f in folder.iterdir()) // 1000, 'kB')


def expect_pretrained(args):
    import transformers as t
    model = t.AutoModel.from_pretrained(args.folder, attn_implementation='eager')
    expect(model, model.config.vocab_size, pathlib.Path(args.folder), [1, 2, 5, 61, 128, 17, 64, 300])


def sentences(count):
    """Random pieces with the lengths of sentences: as news, 5 to 80 pieces, 28 on average."""
    rng = np.random.default_rng(3)
    lengths = np.clip(rng.gamma(3.0, 9.0, count).astype(int) + 2, 5, 80)
    return [rng.integers(1000, 20000, n) for n in lengths]


def padded(texts, batch=32):
    """Batches of sentences of similar length: ids and masks [B × longest]."""
    texts = sorted(texts, key=len)
    for i in range(0, len(texts), batch):
        part = texts[i:i + batch]
        longest = max(map(len, part))
        ids, mask = np.zeros((len(part), longest), np.int64), np.zeros((len(part), longest), np.int64)
        for row, text in enumerate(part):
            ids[row, :len(text)] = text
            mask[row, :len(text)] = 1
        yield ids, mask


def clocked(encode, texts):
    """Seconds of wall and of processor time for all texts."""
    start, busy = time.perf_counter(), time.process_time()
    for ids, mask in padded(texts):
        encode(ids, mask)
    return time.perf_counter() - start, time.process_time() - busy


def with_torch(model, threads):
    torch.set_num_threads(threads)

    def encode(ids, mask):
        with torch.inference_mode():
            model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask))
    return encode


def quantised_graph(model, scratch):
    """The path of ONNX Runtime's int8 form of the encoder: weights per channel, activations when they are known."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    plain, path = scratch / 'encoder.onnx', scratch / 'encoder.int8.onnx'
    ids = torch.ones(2, 7, dtype=torch.long)
    names = ['input_ids', 'attention_mask']

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    torch.onnx.export(States(), (ids, ids), plain, input_names=names, output_names=['states'], dynamo=False, opset_version=17,
                      dynamic_axes={name: {0: 'b', 1: 't'} for name in names + ['states']})
    quantize_dynamic(plain, path, weight_type=QuantType.QInt8, per_channel=True)
    return path


def with_onnxruntime(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    return lambda ids, mask: session.run(None, {'input_ids': ids, 'attention_mask': mask})


def time_all(args):
    import transformers as t
    model = t.AutoModel.from_pretrained(args.folder).eval()
    texts = sentences(args.sentences)
    offsets = np.cumsum([0] + [len(x) for x in texts])
    scratch = pathlib.Path(args.scratch).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / 'pieces.safetensors'
    save_file({'ids': torch.tensor(np.concatenate(texts).astype(np.int32)), 'offsets': torch.tensor(offsets)}, path)
    test = scratch / 'encoders.test'
    root = pathlib.Path(__file__).resolve().parent.parent
    subprocess.run(['go', 'test', '-c', '-trimpath', '-o', test, './nets/encoders'], check=True, cwd=root,
                   env=dict(os.environ, GOEXPERIMENT='simd', CGO_ENABLED='0'))

    def dsp(precision, threads):
        out = subprocess.run([test, '-test.run', '^$', '-test.bench', 'Encode', '-test.benchtime', '1x'], check=True, capture_output=True, text=True, cwd=root / 'nets/encoders', env=dict(
            os.environ, DSP_ENCODER=os.path.abspath(args.folder), DSP_PIECES=path, DSP_PRECISION=precision, GOMAXPROCS=str(threads))).stdout
        return float(out.split(' ns/op')[0].split()[-1]) / 1e9, float(out.split(' cpu-s/op')[0].split()[-1])

    graph = quantised_graph(model, scratch)
    print('| program | threads | wall, s | processor, s | times as fast as PyTorch, processor |\n|---|---|---|---|---|')
    for threads in args.threads:
        in_torch, in_onnxruntime = with_torch(model, threads), with_onnxruntime(graph, threads)
        programs = {
            'PyTorch, float32': lambda: clocked(in_torch, texts),
            'ONNX Runtime, int8': lambda: clocked(in_onnxruntime, texts),
            'dsp, float32': lambda: dsp('float32', threads),
            'dsp, int8': lambda: dsp('int8', threads),
        }
        clocked(in_torch, texts[:64])
        clocked(in_onnxruntime, texts[:64])
        rows = {name: [] for name in programs}
        for _ in range(args.turns):
            for name, run in programs.items():
                rows[name].append(run())
        base = [processor for _, processor in rows['PyTorch, float32']]
        for name, seconds in rows.items():
            wall, processor = (statistics.median(s[k] for s in seconds) for k in range(2))
            ratio = statistics.median(a / s[1] for a, s in zip(base, seconds))
            print(f'| {name} | {threads} | {wall:.2f} | {processor:.2f} | {ratio:.2f} |', flush=True)


def read_conll(path, most):
    texts, words = [], []
    for line in open(path, encoding='utf-8'):
        fields = line.split()
        if fields:
            words.append((fields[0], fields[-1]))
        elif words:
            texts.append(words)
            words = []
    return (texts + [words] if words else texts)[:most]


class TorchTrainer:
    """What most programs do: batches at random, padded to their longest sentence, a linear layer for tags, AdamW."""

    def __init__(self, folder, texts):
        import tokenizers
        import transformers as t
        self.model = t.AutoModel.from_pretrained(folder)
        tokenizer = tokenizers.Tokenizer.from_file(str(pathlib.Path(folder) / 'tokenizer.json'))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tags = {tag: k for k, tag in enumerate(sorted({tag for text in texts for _, tag in text}))}
        self.head = torch.nn.Linear(self.model.config.hidden_size, len(tags))
        self.examples = []
        for text in texts:
            encoding = tokenizer.encode([w for w, _ in text], is_pretokenized=True)
            first = {w: at for at, w in reversed(list(enumerate(encoding.word_ids))) if w is not None}
            labels = np.full(len(encoding.ids), -100)
            for w, at in first.items():
                labels[at] = tags[text[w][1]]
            self.examples.append((np.array(encoding.ids), labels))
        self.optimiser = torch.optim.AdamW([*self.model.parameters(), *self.head.parameters()], lr=1e-5)
        self.rng = np.random.default_rng(1)

    def epoch(self, batch=16, most=1 << 30):
        """Takes at most so many steps. Returns processor seconds a step, and the share of pieces that are no padding."""
        self.model.train()
        order, steps, there, all_pieces = self.rng.permutation(len(self.examples))[:most * batch], 0, 0, 0
        begun = time.process_time()
        for i in range(0, len(order), batch):
            part = [self.examples[k] for k in order[i:i + batch]]
            longest = max(len(ids) for ids, _ in part)
            ids, mask = torch.zeros(len(part), longest, dtype=torch.long), torch.zeros(len(part), longest, dtype=torch.long)
            labels = torch.full((len(part), longest), -100)
            for row, (x, y) in enumerate(part):
                ids[row, :len(x)], mask[row, :len(x)], labels[row, :len(x)] = torch.from_numpy(x), 1, torch.from_numpy(y)
            self.optimiser.zero_grad()
            scores = self.head(self.model(input_ids=ids, attention_mask=mask).last_hidden_state)
            torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten()).backward()
            self.optimiser.step()
            steps, there, all_pieces = steps + 1, there + int(mask.sum()), all_pieces + mask.numel()
        return (time.process_time() - begun) / steps, there / all_pieces


def time_training(args):
    texts = read_conll(args.file, args.sentences)
    scratch = pathlib.Path(args.scratch).resolve()
    path, test = scratch / 'sentences.conll', scratch / 'training.test'
    path.write_text(''.join(''.join(f'{w}\t{tag}\n' for w, tag in text) + '\n' for text in texts), encoding='utf-8')
    root = pathlib.Path(__file__).resolve().parent.parent
    subprocess.run(['go', 'test', '-c', '-trimpath', '-o', test, './models/training'], check=True, cwd=root, env=dict(os.environ, GOEXPERIMENT='simd', CGO_ENABLED='0'))
    torch_trainer = TorchTrainer(args.folder, texts)
    for threads in args.threads:
        torch.set_num_threads(threads)
        torch_trainer.epoch(most=2)  # the first steps take longer
        rows = {'torch': [], 'dsp': []}
        for _ in range(args.turns):
            seconds, filled = torch_trainer.epoch()
            rows['torch'].append(seconds)
            out = subprocess.run([test, '-test.run', '^$', '-test.bench', 'TuneStep', '-test.benchtime', '1x'], check=True, capture_output=True, text=True, cwd=root / 'models/training',
                                 env=dict(os.environ, DSP_ENCODER=os.path.abspath(args.folder), DSP_TRAIN=path, DSP_METHOD=args.method, DSP_ADAPTER=args.adapter, GOMAXPROCS=str(threads))).stdout
            rows['dsp'].append(float(out.split(' cpu-s/step')[0].split()[-1]))
        torch_s, dsp_s = statistics.median(rows['torch']), statistics.median(rows['dsp'])
        print(json.dumps(dict(threads=threads, method=args.method, torch=round(torch_s, 3), dsp=round(dsp_s, 3), ratio=round(torch_s / dsp_s, 2),
                              ratios=[round(a / b, 2) for a, b in zip(rows['torch'], rows['dsp'])], not_padding=round(filled, 2))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    p = commands.add_parser('build')
    p.add_argument('dir')
    p.add_argument('--tiny', action='store_true')
    p.set_defaults(run=build)
    p = commands.add_parser('expect')
    p.add_argument('folder')
    p.set_defaults(run=expect_pretrained)
    p = commands.add_parser('time')
    p.add_argument('folder')
    p.add_argument('--sentences', type=int, default=1000)
    p.add_argument('--turns', type=int, default=5)
    p.add_argument('--threads', type=int, nargs='+', default=[1, 2])
    p.add_argument('--scratch', default='.')
    p.set_defaults(run=time_all)
    p = commands.add_parser('train')
    p.add_argument('folder')
    p.add_argument('file')
    p.add_argument('--method', default='adam')
    p.add_argument('--adapter', default='', help='adapters of dsp; transformers trains all weights')
    p.add_argument('--sentences', type=int, default=128)
    p.add_argument('--turns', type=int, default=3)
    p.add_argument('--threads', type=int, nargs='+', default=[1, 2])
    p.add_argument('--scratch', default='.')
    p.set_defaults(run=time_training)
    args = parser.parse_args()
    args.run(args)


if __name__ == '__main__':
    main()

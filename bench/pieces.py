"""The pieces that dsp cuts words into, beside those of the library tokenizers.

    pip install tokenizers sentencepiece transformers
    python bench/pieces.py [--encoder FOLDER ...] [--characters] FILE.conll FILE.conllu ...
    python bench/pieces.py --testdata models/data/pieces/testdata

Takes the words of the files (the first column of text in columns, FORM of CoNLL-U) and the tokenizers of the folders. It trains some
more on the words, as the families of encoders have them, and with --characters it adds a word for each character of Unicode. It compares the
numbers of the pieces of every word with those of the library (is_pretokenized, with a space before each word where the splitter takes one),
and prints per tokenizer, as Markdown, how many words differ, with some of them. dsp's side is bench/pieces, which this script builds.

A word without pieces has the unknown one in dsp, and none in the library; it does not count as a difference. With --characters, some
hundred characters differ that Unicode has had since version 9 only, whose punctuation and accents the library does not know.

With --testdata it trains small tokenizers on the text below, and stores them with the library's answers for the words of the tests.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path = [folder for folder in sys.path if pathlib.Path(folder or ".").resolve() != pathlib.Path(__file__).resolve().parent]  # this file has the library's name

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers.pre_tokenizers import ByteLevel, Metaspace

ROOT = pathlib.Path(__file__).resolve().parent.parent
PIECES = 2000

TEXT = """
A tagger reads a sentence and gives every word a label. The labels of neighbouring words depend on each other, so it scores whole sentences
and looks for the best one. The scores are sums of weights, and training moves the weights until the best labels are the right ones. It
doesn't need to look at all labelings: there are too many, but they share their parts, and dynamic programming reads each part once. We've
seen that a sum over all labelings takes no longer than the best one. They'll agree when one labeling is much better than the others.
Encoders that were trained on much text know more about words than a few thousand sentences can say. Their rows are dense, they're large,
and nobody wants to change them for a small task. So the rows stay as they are, and a linear model reads them beside its own attributes. It
isn't deep, it's convex, and a certificate says how far from the optimum it is. In 2017 such a model had 87.7 points, in 1996 about 60.
Zürich, São Paulo, Kraków, Malmö, İzmir and Łódź are cities; naïve, café and façade are words; 東京 and 北京 are cities, too. Prices rose
by 3.5% to $1,250 (from $1,208), e-mail me@example.org, see http://example.org/a_b?c=d or #topic, @someone said: "no!" -- 'why?' ... ok :-)
"""
STRANGE = ["", " ", "a b", "don't", "'tis", "'someone's", "  x", "x ", "x\u200by", "\u200b", "\ufeffword", "co\u00adop", "<s>", "a<mask>b", "a <mask> b", "[UNK]", "x" * 120,
           "ab" * 60, "\u0130X", "ǅ", "ﬁne", "Ⅷ", "½", "x²", "e\u0301a", "é", "한국어", "東京tower", "a\tb", "a\u00a0b", "\u3000", "🙂", "👩\u200d🚀", "x🙂y", "...!!!", "----", "$5", "1,000.5", "A1b2C3",
           "\u0000", "\ufffd", "\u0085", "\u2028", "ßtraße", "ΌΣΟΣ", "ОБЛАКО", "سلام", "नमस्ते", "ooooooo", "hahahahaha", "re-re-read", "_a_b_", "''", "`x`"]


def words_of(path):
    tree = path.endswith(".conllu")
    with open(path, encoding="utf8", newline="\n") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            if tree and columns[0].isdigit():
                yield columns[1]
            elif not tree and columns[0]:
                yield columns[0]


def around(tokenizer, before, after):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{before} $A {after}", special_tokens=[(t, tokenizer.token_to_id(t)) for t in (before, after)])


def word_piece(words, **settings):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(**settings), pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(words, trainers.WordPieceTrainer(vocab_size=PIECES, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                                           show_progress=False))
    around(t, "[CLS]", "[SEP]")
    return t


def byte_level(words, normaliser=None, before="<s>", after="</s>", unknown="<unk>"):
    t = Tokenizer(models.BPE())
    t.normalizer, t.pre_tokenizer = normaliser, ByteLevel(add_prefix_space=True)
    special = [before, "<pad>", after, unknown, AddedToken("<mask>", lstrip=True, special=True)]
    t.train_from_iterator(words, trainers.BpeTrainer(vocab_size=PIECES, special_tokens=special, initial_alphabet=ByteLevel.alphabet(),
                                                     show_progress=False))
    around(t, before, after)
    return t


def split_then_bytes(words):
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"), "isolated"),
        ByteLevel(add_prefix_space=False, use_regex=False)])
    t.train_from_iterator((" " + w for w in words), trainers.BpeTrainer(vocab_size=PIECES, special_tokens=["<s>", "</s>", "<unk>"],
                                                                       initial_alphabet=ByteLevel.alphabet(), show_progress=False))
    around(t, "<s>", "</s>")
    return t


def sentence_piece(words, folder, kind, lower=False, split=False, rules=None):
    """A tokenizer with the table of replacements that sentencepiece compiles, as XLM-RoBERTa, DeBERTa-v3 and ALBERT have it."""
    text = folder / "words.txt"
    text.write_text("\n".join(w for w in words if len(w) < 200), encoding="utf8")
    if rules:
        (folder / "rules.tsv").write_text(rules, encoding="utf8")
    rule = {"normalization_rule_tsv": str(folder / "rules.tsv")} if rules else {"normalization_rule_name": "nmt_nfkc_cf" if lower else "nmt_nfkc"}
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(folder / "sp"), vocab_size=PIECES, model_type=kind, **rule, byte_fallback=kind == "bpe",
                                             character_coverage=0.9995, minloglevel=2)
    from sentencepiece import sentencepiece_model_pb2 as proto
    model = proto.ModelProto()
    model.ParseFromString((folder / "sp.model").read_bytes())
    pieces = [(p.piece, p.score) for p in model.pieces]
    if kind == "unigram":
        t = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    else:
        vocab = {p: k for k, (p, _) in enumerate(pieces)}
        merges = sorted(((a, p[len(a):]) for p in vocab for a in (p[:k] for k in range(1, len(p))) if a in vocab and p[len(a):] in vocab),
                        key=lambda m: vocab[m[0] + m[1]])
        t = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
                                         normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), Metaspace(prepend_scheme="always")]) if split else Metaspace(prepend_scheme="always")
    t.add_special_tokens(["<unk>", "<s>", "</s>"])
    around(t, "<s>", "</s>")
    return t


def trained_unigram(words):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("isolated"), Metaspace(prepend_scheme="always")])
    t.train_from_iterator(words, trainers.UnigramTrainer(vocab_size=PIECES, special_tokens=["<unk>", "[CLS]", "[SEP]"], unk_token="<unk>",
                                                         show_progress=False))
    around(t, "[CLS]", "[SEP]")
    return t


def trained(words, folder):
    yield "WordPiece, lower case (BERT, DistilBERT, ELECTRA, MPNet)", word_piece(words)
    yield "WordPiece, cased", word_piece(words, lowercase=False)
    yield "byte-level BPE (RoBERTa)", byte_level(words)
    yield "byte-level BPE, NFC (ModernBERT)", byte_level(words, normalizers.NFC(), "[CLS]", "[SEP]", "[UNK]")
    yield "byte-level BPE after a split by a pattern", split_then_bytes(words)
    yield "Unigram of sentencepiece (DeBERTa-v3)", sentence_piece(words, folder, "unigram")
    yield "Unigram of sentencepiece, split at spaces (XLM-RoBERTa)", sentence_piece(words, folder, "unigram", split=True)
    yield "Unigram of sentencepiece, lower case", sentence_piece(words, folder, "unigram", lower=True)
    yield "BPE of sentencepiece with bytes", sentence_piece(words, folder, "bpe")
    yield "Unigram with NFKD", trained_unigram(words)


def spaced(tokenizer):
    """The tokenizer with a space before each word, as text has it."""
    description = json.loads(tokenizer.to_str())
    def change(splitter):
        if not splitter:
            return
        if splitter["type"] == "ByteLevel" and splitter.get("use_regex", True):
            splitter["add_prefix_space"] = True
        if splitter["type"] == "Metaspace":
            splitter["prepend_scheme"] = "always"
            splitter.pop("add_prefix_space", None)
        for each in splitter.get("pretokenizers", []):
            change(each)
    change(description["pre_tokenizer"])
    description["truncation"] = description["padding"] = None
    return Tokenizer.from_str(json.dumps(description))


def testdata(folder):
    """Small tokenizers with the library's answers."""
    global PIECES
    words = TEXT.split()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    small = {"wordpiece": (300, word_piece), "wordpiece-cased": (300, lambda w: word_piece(w, lowercase=False, handle_chinese_chars=False)),
             "bytelevel": (380, byte_level), "bytelevel-nfc": (330, lambda w: byte_level(w, normalizers.NFC(), "[CLS]", "[SEP]", "[UNK]")),
             "split-bytelevel": (330, split_then_bytes), "unigram-nfkd": (230, trained_unigram)}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        rules = "FB01\t66 69\n2167\t56 49 49 49\n65 301\tE9\n200B\t20\nFEFF\t\nAD\t\n3000\t20\n130\t69\n"
        small["unigram"] = (190, lambda w: sentence_piece(w, scratch, "unigram", rules=rules, split=True))
        small["sentencepiece-bpe"] = (400, lambda w: sentence_piece(w, scratch, "bpe", rules=rules))
        for name, (PIECES, make) in small.items():
            tokenizer = make(words)
            leads = "use_regex=False" in str(tokenizer.pre_tokenizer)
            tests = sorted(set(words)) + STRANGE
            ids = [e.ids for e in tokenizer.encode_batch([[" " + w if leads and w[:1].strip(" ") and w != "<s>" else w] for w in tests], is_pretokenized=True, add_special_tokens=False)]
            around = tokenizer.encode([], is_pretokenized=True).ids
            stored = {"size": tokenizer.get_vocab_size(), "prefix": around[:1], "suffix": around[1:], "words": tests, "ids": ids}
            (folder / f"{name}.tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")), encoding="utf8")
            (folder / f"{name}.answers.json").write_text(json.dumps(stored, separators=(",", ":")), encoding="utf8")


def compare(program, name, folder, tokenizer, words):
    tokenizer = spaced(tokenizer)
    leads = tokenizer.pre_tokenizer and "use_regex=False" in str(tokenizer.pre_tokenizer)
    added = {t.content for t in tokenizer.get_added_tokens_decoder().values()}
    answers = subprocess.run([program, folder], input="\n".join(map(json.dumps, words)), stdout=subprocess.PIPE, check=True, text=True).stdout
    ours = [[int(k) for k in line.split()] for line in answers.split("\n")[:-1]]
    if len(ours) != len(words):
        sys.exit(f"{name}: {len(ours)} answers for {len(words)} words")
    theirs = [e.ids for e in tokenizer.encode_batch([[" " + w if leads and w[:1].strip(" ") and w not in added else w] for w in words], is_pretokenized=True, add_special_tokens=False)]
    different = [k for k in range(len(words)) if ours[k] != theirs[k] and not (len(ours[k]) == 1 and not theirs[k])]
    print(f"| {name} | {len(words)} | {sum(map(len, theirs))} | {len(different)} |", flush=True)
    for k in different[:10]:
        print(f"  {words[k][:60]!r}: dsp {ours[k][:10]}, tokenizers {theirs[k][:10]}", file=sys.stderr)
    return len(different)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--encoder", nargs="*", default=[], help="folders with a tokenizer.json")
    parser.add_argument("--characters", action="store_true", help="a word for each character of Unicode, too")
    parser.add_argument("--testdata", type=pathlib.Path, help="folder to write small tokenizers to, with answers")
    parser.add_argument("files", nargs="*", help="text in columns or CoNLL-U")
    o = parser.parse_args()
    if o.testdata:
        testdata(o.testdata)
        return
    text = [w for path in o.files for w in words_of(path)]
    words = sorted(set(text)) + STRANGE + ["x" * 10000]
    if o.characters:
        words += [t for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000 for t in (chr(c), "a" + chr(c) + "b")]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "pieces"
        subprocess.run(["go", "build", "-o", program, "./bench/pieces"], cwd=ROOT, check=True, env=os.environ | {"CGO_ENABLED": "0"})
        print("| tokenizer | different words | pieces | words that differ |\n| --- | ---: | ---: | ---: |")
        wrong = 0
        for name in o.encoder:
            wrong += compare(program, pathlib.Path(name).name, name, Tokenizer.from_file(f"{name}/tokenizer.json"), words)
        for name, tokenizer in trained(text, folder):
            tokenizer.save(str(folder / "tokenizer.json"))
            wrong += compare(program, name, folder, tokenizer, words)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()

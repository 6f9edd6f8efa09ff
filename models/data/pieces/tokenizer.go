// Package pieces cuts words into the pieces that a pretrained encoder reads, as the tokenizer.json of its folder says.
//
// It does what the library "tokenizers" of Hugging Face does with words that are given (is_split_into_words), for the
// normalisers, splitters and models that the encoders of dsp come with: WordPiece, byte-level BPE and Unigram. Words
// are cut one by one, so a cut word can be kept. bench/pieces.py compares the numbers of the pieces with those of the
// library.
package pieces

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// TokenizerFile is the name of the tokenizer's file in the folder of an encoder.
const TokenizerFile = "tokenizer.json"

// A Tokenizer cuts words into pieces. It does not change after Open; a Cutter serves one goroutine.
type Tokenizer struct {
	File    []byte  // the content of tokenizer.json
	Prefix  []int32 // the numbers of the special pieces before a sequence
	Suffix  []int32 // and after it
	Unknown int32   // the piece of a word that has none of its own
	Size    int     // one more than the largest number of a piece

	name      string // of the file, for messages
	raw       added  // tokens that are found in the text as it is
	rewritten added  // tokens that are found in normalised text
	normalise normaliser
	split     splitter // of normalised text into parts, which model cuts
	space     bool     // a word needs a space in front of it
	model     model
}

// model cuts the parts of a word into pieces.
type model interface {
	// cut appends the numbers of the pieces of part.
	cut(ids []int32, part string) []int32
	// number returns the number of a piece, and whether there is such a piece.
	number(piece string) (int32, bool)
}

// mostBytes is the size of the largest tokenizer.json that is read. Those of vocabularies of a quarter of a million
// pieces have 35 MB.
const mostBytes = 256 << 20

// Open reads the tokenizer in the folder of an encoder.
func Open(dir string) (*Tokenizer, error) {
	path := filepath.Join(dir, TokenizerFile)
	content, err := host.ReadRegular(path, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, structured.BadInput("%s: no such folder; expected that of an encoder, with config.json, "+
				"%s and model.safetensors", dir, TokenizerFile)
		}
		return nil, structured.BadInput("%s: no %s in this folder%s", dir, TokenizerFile, instead(dir))
	}
	if err != nil {
		return nil, err
	}
	return Parse(content, path)
}

// instead says what to do in a folder with a tokenizer of another kind.
func instead(dir string) string {
	for _, other := range []string{"vocab.txt", "vocab.json", "spm.model", "sentencepiece.bpe.model", "tokenizer.model"} {
		if _, err := os.Stat(filepath.Join(dir, other)); err == nil {
			return ", only " + other + `; Python writes it: transformers.AutoTokenizer.from_pretrained("` + dir +
				`").save_pretrained("` + dir + `")`
		}
	}
	return "; download it from where the encoder is from"
}

// Parse makes a tokenizer from the content of a tokenizer.json; name is for messages.
func Parse(content []byte, name string) (t *Tokenizer, err error) {
	defer func() {
		if err != nil && !errors.As(err, new(*host.PanicError)) {
			err = structured.BadInput("%s: %w", name, err)
		}
	}()
	var f file
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, wrongJSON(content, err)
	}
	t = &Tokenizer{File: content, name: name, Unknown: -1}
	if t.model, err = f.model(); err != nil {
		return nil, err
	}
	if t.normalise, err = newNormaliser(f.Normaliser, 0); err != nil {
		return nil, err
	}
	if t.split, t.space, err = newSplitter(f.Splitter, 0); err != nil {
		return nil, err
	}
	special := map[string]int32{}
	for _, a := range f.Added {
		if a.ID < 0 || a.ID > mostPieces {
			return nil, structured.BadInput("added token %q has the number %d", a.Content, a.ID)
		}
		special[a.Content] = a.ID
		t.Size = max(t.Size, int(a.ID)+1)
	}
	if t.Prefix, t.Suffix, err = f.around(); err != nil {
		return nil, err
	}
	if err := t.addTokens(f.Added); err != nil {
		return nil, err
	}
	for _, id := range slices.Concat(t.Prefix, t.Suffix) {
		if id < 0 || id > mostPieces {
			return nil, structured.BadInput("post_processor: a special token has the number %d", id)
		}
		t.Size = max(t.Size, int(id)+1)
	}
	t.Size = max(t.Size, f.size)
	for _, name := range []string{f.unknown, "[UNK]", "<unk>", "<|unk|>", "<|endoftext|>"} {
		id, ok := special[name]
		if !ok {
			id, ok = t.model.number(name)
		}
		if ok && name != "" {
			t.Unknown = id
			break
		}
	}
	if t.Unknown < 0 {
		return nil, structured.BadInput("no piece for unknown words; expected unk_token in model, or an " +
			"added token [UNK] or <unk>")
	}
	return t, nil
}

// mostPieces is the largest number of a piece that is taken as one.
const mostPieces = 1 << 26

// Fits returns an error unless the numbers of the pieces go with an encoder that has a vocabulary of that size, as its
// config.json says. An encoder may have some more, which no text uses: people round the size up.
func (t *Tokenizer) Fits(vocabulary int) error {
	if t.Size > vocabulary || t.Size < vocabulary*9/10 {
		return structured.BadInput("%s: a vocabulary of %d pieces, but that of the encoder has %d (vocab_size in "+
			"config.json); take the tokenizer that came with the encoder",
			t.name, t.Size, vocabulary)
	}
	return nil
}

// A Cutter cuts words, and keeps the pieces of words for the next time. It serves one goroutine at a time.
type Cutter struct {
	of   *Tokenizer
	kept map[string][]int32
}

// mostKept is how many words a Cutter keeps, and mostKeptLength the length in bytes of the longest.
const (
	mostKept       = 1 << 16
	mostKeptLength = 64
)

func (t *Tokenizer) NewCutter() *Cutter { return &Cutter{of: t, kept: map[string][]int32{}} }

// Cut appends the numbers of the pieces of a word to ids: one at least, the unknown piece for a word without any. An
// error names the word.
func (c *Cutter) Cut(ids []int32, word string) ([]int32, error) {
	if kept, ok := c.kept[word]; ok {
		return append(ids, kept...), nil
	}
	from := len(ids)
	err := host.Guard(func() (err error) {
		ids, err = c.of.cut(ids, word)
		return err
	})
	if err != nil {
		return ids[:from], structured.BadInput("%s cannot cut the word %q: %w", c.of.name, shortened(word), err)
	}
	if len(ids) == from {
		ids = append(ids, c.of.Unknown)
	}
	if len(word) <= mostKeptLength {
		if len(c.kept) == mostKept {
			clear(c.kept)
		}
		c.kept[strings.Clone(word)] = slices.Clone(ids[from:])
	}
	return ids, nil
}

// shortened quotes no more of a word than a message can hold.
func shortened(word string) string {
	if letters := []rune(word); len(letters) > 40 {
		return string(letters[:40]) + "…"
	}
	return word
}

// cut appends the numbers of the pieces of a word, none for one that normalisation makes empty.
func (t *Tokenizer) cut(ids []int32, word string) ([]int32, error) {
	var failed error
	t.raw.split(strings.ToValidUTF8(word, "\uFFFD"), func(id int32, text string) {
		if id >= 0 {
			ids = append(ids, id)
			return
		}
		text, err := t.normalise(text, mostNormalised(len(word)))
		if err != nil {
			failed = err
			return
		}
		t.rewritten.split(text, func(id int32, text string) {
			if id >= 0 {
				ids = append(ids, id)
				return
			}
			if t.space && text != "" && text[0] != ' ' {
				text = " " + text
			}
			t.split(text, func(part string) { ids = t.model.cut(ids, part) })
		})
	})
	return ids, failed
}

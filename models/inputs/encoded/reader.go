// Package encoded gives words the rows of a pretrained encoder as dense inputs, or their pieces where a network trains
// the encoder.
package encoded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/dsp-go/dsp/models/data/pieces"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Settings say which encoder reads text, and what is taken from it.
type Settings struct {
	Dir    string // the encoder's folder
	Layers string // auto, last, meanK or the number of a hidden state
	Pieces string // of a word: First or Mean
	Half   bool   // numbers are rounded to half precision
	Int8   bool   // the encoder multiplies bytes (encoders.Int8)

	Tuning *Tuning // how the encoder is trained; nil: it stays as it is

	ByReference bool // model files refer to the folder and do not hold the encoder
}

// Tuning says how an encoder is trained.
type Tuning struct {
	Frozen    int  // layers that stay as they are (encoders.Tuning)
	Recompute bool // activations are computed again for pullbacks
	Adapter   encoders.Adapter
}

// The row of a word is that of its first piece, or the mean of those of all its pieces.
const (
	First = "first"
	Mean  = "mean"
)

// Reader computes rows of words. Goroutines may share it.
type Reader struct {
	Settings
	Tokenizer *pieces.Tokenizer
	Encoder   *encoders.Encoder
	Tuned     *encoders.Tuned // the encoder as a part of a network that is trained, or nil

	layers encoders.Layers
	most   int // pieces in a window, without the special ones
	id     func() string

	workers sync.Pool // of *worker
}

// Open reads the encoder of a folder and its tokenizer.
func Open(s Settings) (*Reader, error) {
	e, err := encoders.Open(s.Dir)
	if err != nil {
		return nil, err
	}
	t, err := pieces.Open(s.Dir)
	if err != nil {
		return nil, err
	}
	return New(s, e, t)
}

func New(s Settings, e *encoders.Encoder, t *pieces.Tokenizer) (*Reader, error) {
	r := &Reader{Settings: s, Encoder: e, Tokenizer: t}
	var err error
	if r.layers, err = e.Layers(s.Layers); err != nil {
		return nil, structured.BadInput("--encoder-layers: %w", err)
	}
	if err := t.Fits(e.Vocabulary()); err != nil {
		return nil, err
	}
	if r.most = e.Positions() - len(t.Prefix) - len(t.Suffix); r.most < 1 {
		return nil, structured.BadInput("%s: the encoder reads %d pieces at a time, and the tokenizer puts %d "+
			"special ones around them", s.Dir, e.Positions(), e.Positions()-r.most)
	}
	if err := e.Supports(r.Precision()); err != nil {
		return nil, err
	}
	if h := s.Tuning; h != nil {
		if r.Tuned, err = encoders.NewTuned(e,
			encoders.Tuning{Read: r.layers, Frozen: h.Frozen, Dropout: -1, Recompute: h.Recompute,
				Adapter: h.Adapter}); err != nil {
			return nil, err
		}
	}
	r.id = sync.OnceValue(func() string {
		h := sha256.New()
		fmt.Fprintf(h, "dsp rows 1\n%s\n%x\n%d %d\n%s\n%v\n", e.Fingerprint(), sha256.Sum256(t.File), r.layers.From,
			r.layers.To, s.Pieces, s.Half)
		if s.Int8 {
			fmt.Fprintln(h, encoders.Int8)
		}
		return hex.EncodeToString(h.Sum(nil))
	})
	r.workers.New = func() any {
		return &worker{of: r, cutter: t.NewCutter(), encoder: e.NewWorker(r.layers, r.Precision())}
	}
	return r, nil
}

// Precision returns the precision of the encoder's products.
func (r *Reader) Precision() encoders.Precision {
	if r.Int8 {
		return encoders.Int8
	}
	return encoders.Float32
}

// adapted reports whether adapters are trained, and the weights of the encoder stay as they are.
func (r *Reader) adapted() bool { return r.Tuned != nil && r.Tuned.Adapted() }

// Width returns how many numbers the row of a word has.
func (r *Reader) Width() int { return r.Encoder.Width() }

// StatesRead returns the hidden states that a row is the mean of.
func (r *Reader) StatesRead() encoders.Layers { return r.layers }

// States returns how many hidden states the rows are the mean of.
func (r *Reader) States() int { return r.layers.Len() }

// Flow returns the network of the rows of pieces, op by op.
func (r *Reader) Flow() (*graph.Flow, error) { return r.Encoder.Flow(r.layers) }

// ID identifies what the reader computes of a text: the encoder with its weights, the tokenizer, the layers, and how
// pieces become words.
func (r *Reader) ID() string { return r.id() }

// Count returns the number of pieces of words, without special ones.
func (r *Reader) Count(words []string) (int, error) {
	w := r.workers.Get().(*worker)
	defer r.workers.Put(w)
	n := 0
	for _, word := range words {
		var err error
		if w.ids, err = w.cutter.Cut(w.ids[:0], word); err != nil {
			return 0, err
		}
		n += len(w.ids)
	}
	return n, nil
}

// sentence is an example, cut into pieces.
type sentence struct {
	first int     // position of its first word
	ids   []int32 // of its pieces
	ends  []int   // where the pieces of each word end
}

// in reports whether has says so of all words that have pieces.
func (s *sentence) in(has []bool) bool {
	for k, end := range s.ends {
		if end > s.begin(k) && !has[s.first+k] {
			return false
		}
	}
	return true
}

// begin returns the first piece of word k.
func (s *sentence) begin(k int) int {
	if k == 0 {
		return 0
	}
	return s.ends[k-1]
}

// worker computes rows. It serves one goroutine at a time.
type worker struct {
	of      *Reader
	cutter  *pieces.Cutter
	encoder *encoders.Worker

	ids     []int32
	offsets []int
	rows    []float32 // of pieces
	words   []float32 // rows of words that are not yet handed on
}

// cut cuts the words of an example.
func (w *worker) cut(words []string, first int) (sentence, error) {
	s := sentence{first: first, ends: make([]int, 0, len(words))}
	for _, word := range words {
		var err error
		if s.ids, err = w.cutter.Cut(s.ids, word); err != nil {
			return s, err
		}
		s.ends = append(s.ends, len(s.ids))
	}
	return s, nil
}

// use receives the rows of some words, the first at a position.
type use func(position int, rows []float32) error

// encode computes the rows of sentences that fit into one window each.
func (w *worker) encode(all []sentence, to use) error {
	w.begin()
	for _, s := range all {
		w.sequence(s.ids)
	}
	if err := w.run(); err != nil {
		return err
	}
	for k, s := range all {
		w.words = w.words[:0]
		w.take(&s, 0, w.offsets[k], 0, len(s.ids))
		if err := to(s.first, w.words); err != nil {
			return err
		}
	}
	return nil
}

// encodeLong computes the rows of a sentence in windows.
func (w *worker) encodeLong(s sentence, to use) error {
	w.words = w.words[:0]
	word, handed := 0, 0
	for _, window := range pieces.Windows(s.ends, w.of.most) {
		w.begin()
		w.sequence(s.ids[window.From:window.To])
		if err := w.run(); err != nil {
			return err
		}
		word = w.take(&s, word, -window.From, window.Begin, window.End)
		// All words but the last are whole.
		if whole := max(handed, word); whole > handed {
			n := (whole - handed) * w.of.Width()
			if err := to(s.first+handed, w.words[:n]); err != nil {
				return err
			}
			w.words = append(w.words[:0], w.words[n:]...)
			handed = whole
		}
	}
	return nil
}

// begin begins a call of the encoder.
func (w *worker) begin() { w.ids, w.offsets = w.ids[:0], append(w.offsets[:0], 0) }

// sequence adds a sequence of pieces, with the special ones.
func (w *worker) sequence(ids []int32) {
	w.ids = append(append(append(w.ids, w.of.Tokenizer.Prefix...), ids...), w.of.Tokenizer.Suffix...)
	w.offsets = append(w.offsets, len(w.ids))
}

// run computes the rows of the sequences.
func (w *worker) run() error {
	n := len(w.ids) * w.of.Width()
	if cap(w.rows) < n {
		w.rows = make([]float32, n)
	}
	w.rows = w.rows[:n]
	return w.encoder.Encode(w.ids, w.offsets, w.rows)
}

// take adds to w.words what pieces begin to end−1 of s say of its words, word being the first of them. The row of piece
// 0, after the special ones, would be number offset of the rows. It returns the first word of which pieces are left.
func (w *worker) take(s *sentence, word, offset, begin, end int) int {
	width := w.of.Width()
	offset += len(w.of.Tokenizer.Prefix)
	for word < len(s.ends) && begin < end {
		from, to := s.begin(word), s.ends[word]
		if begin == from {
			w.words = append(w.words, make([]float32, width)...)
		}
		row := w.words[len(w.words)-width:]
		for p := begin; p < min(to, end); p++ {
			piece := w.rows[(offset+p)*width:][:width]
			switch {
			case w.of.Pieces == Mean:
				share := 1 / float32(to-from)
				for j, x := range piece {
					row[j] += share * x
				}
			case p == from:
				copy(row, piece)
			}
		}
		if begin = min(to, end); begin == to {
			word++
		}
	}
	return word
}

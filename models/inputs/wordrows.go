package inputs

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// WordRows are vectors of words that are dense inputs of positions, which no training changes. Net linear reads them
// beside attributes.
type WordRows struct {
	Words   *structured.Alphabet // number 0 stands for words without a vector
	Vectors *graph.WordVectors   // by their numbers
}

// Given returns how many of dim dense inputs the data come with; the others are made of their words.
func (in Inputs) Given(dim int) int {
	if in.WordRows != nil {
		dim -= in.WordRows.Vectors.Dim
	}
	if in.Encoder != nil {
		dim -= in.Encoder.Width()
	}
	return dim
}

// Held returns how many of dim dense inputs are features of data sets; a network computes the others.
func (in Inputs) Held(dim int) int {
	if in.TunesEncoder() {
		dim -= in.Encoder.Width()
	}
	return dim
}

// apply makes the vectors of the words of a data set its dense inputs.
func (r *WordRows) apply(d *structured.Dataset) error {
	words := d.Column(text.WordColumn)
	if words == nil {
		return structured.BadInput("%s: no column of words, whose vectors the model reads; name it with --columns", d.Name)
	}
	if d.Features != nil {
		return structured.BadInput("%s: dense features beside vectors of words; net linear reads one or the other: leave "+
			"out --dense or --encoder, or join the vectors to the features", d.Name)
	}
	numbers := make([]int32, d.Positions())
	for t, word := range words {
		numbers[t] = text.FormNumber(r.Words, word)
	}
	d.Source, d.Dim = &wordRowSource{r.Vectors, numbers}, r.Vectors.Dim
	return nil
}

// Found returns how many words of a data set, whose inputs are made, have a vector.
func (r *WordRows) Found(d *structured.Dataset) int {
	n := 0
	for _, word := range d.Source.(*wordRowSource).numbers {
		if word > 0 {
			n++
		}
	}
	return n
}

// wordRowSource looks up the vectors of positions.
type wordRowSource struct {
	vectors *graph.WordVectors
	numbers []int32
}

func (s *wordRowSource) Read(dst []float32, from, to int) error {
	n := s.vectors.Dim
	for t, word := range s.numbers[from:to] {
		copy(dst[t*n:(t+1)*n], s.vectors.Rows[int(word)*n:])
	}
	return nil
}

// Select implements structured.SelectableSource.
func (s *wordRowSource) Select(positions []int) structured.FeatureSource {
	to := &wordRowSource{s.vectors, make([]int32, len(positions))}
	for k, t := range positions {
		to.numbers[k] = s.numbers[t]
	}
	return to
}

func (s *wordRowSource) Fingerprint() (string, error) {
	h := sha256.New()
	row := make([]byte, 4*s.vectors.Dim)
	for _, word := range s.numbers {
		for k, x := range s.vectors.Rows[int(word)*s.vectors.Dim:][:s.vectors.Dim] {
			binary.LittleEndian.PutUint32(row[4*k:], math.Float32bits(x))
		}
		h.Write(row)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

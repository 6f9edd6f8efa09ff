// Package ocr generates handwritten words as images of letters, and reads and writes the layout of Taskar's OCR data
// (letter.data). Sheets of words as PNG show the data to people.
package ocr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/structured"
)

// OCRWords generates words as grey images of 16 × 8 pixels per letter: common English words, drawn in the Go fonts with
// random distortions, so that a letter alone is ambiguous and its word helps. It is the task of Taskar, Guestrin and
// Koller 2003 on data that anyone can generate.
type OCRWords struct {
	Train, Dev, Test int     // number of words
	Difficulty       float64 // strength of the distortions: 0 clean, 1 default, 2 hardly legible
	Seed             uint64  // the same seed gives the same words and the same drawings
}

// DefaultOCRWords is sized for a first run: a small convolutional network misreads one letter in six alone, and one in
// seven inside a chain.
func DefaultOCRWords() OCRWords {
	return OCRWords{Train: 2000, Dev: 500, Test: 1000, Difficulty: 1, Seed: 1}
}

// testOnly is the share of the word list that occurs in the test set only.
const testOnly = 0.1

// Validate returns an error about the first field that is out of range.
func (o OCRWords) Validate() error {
	for _, split := range []struct {
		name  string
		words int
	}{{"train", o.Train}, {"dev", o.Dev}, {"test", o.Test}} {
		if split.words < 0 {
			return structured.BadInput("OCR words: %d words to %s, expected 0 or more", split.words, split.name)
		}
	}
	if !(o.Difficulty >= 0 && o.Difficulty <= 10) {
		return structured.BadInput("OCR words: difficulty %v, expected a number from 0 (clean) to 10; 1 is the default",
			o.Difficulty)
	}
	return nil
}

// Generate draws the three sets by Zipf's law; a tenth of the word list occurs in the test set only. Features are
// [ΣT×128] in [0,1], row by row, ink 1. The labels are the letters a to z. The ID of an example reads "train-17-house".
// A field out of range counts as the nearest value in range.
func (o OCRWords) Generate() (train, dev, test *structured.Dataset) {
	all, trainingWords := sentences.NewWordSampler(sentences.English()), sentences.NewWordSampler(o.trainingWords())
	return o.split("train", 0, o.Train, trainingWords), o.split("dev", 1, o.Dev, trainingWords),
		o.split("test", 2, o.Test, all)
}

// trainingWords returns the words that may occur in the training and development sets.
func (o OCRWords) trainingWords() []string {
	rng := rand.New(rand.NewPCG(o.Seed, math.MaxUint64))
	return slices.DeleteFunc(sentences.English(), func(string) bool { return rng.Float64() < testOnly })
}

// split draws n words. Each has its own generator, so that it does not depend on the words before it.
func (o OCRWords) split(name string, stream uint64, n int, words *sentences.WordSampler) *structured.Dataset {
	n = max(n, 0)
	difficulty := max(o.Difficulty, 0)
	d := &structured.Dataset{
		Name: "OCR words (" + name + ")", Alphabet: letters(), Dim: letterPixels,
		Offsets: make([]int, 1, n+1), IDs: make([]string, 0, n),
	}
	for i := range n {
		rng := rand.New(rand.NewPCG(o.Seed, stream<<32+uint64(i)))
		word := words.Draw(rng)
		h := newHand(difficulty, rng)
		for _, letter := range []byte(word) {
			at := len(d.Features)
			d.Features = append(d.Features, make([]float32, letterPixels)...)
			h.draw(d.Features[at:], int(letter-'a'), difficulty, rng)
			d.Labels = append(d.Labels, int32(letter-'a'))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.IDs = append(d.IDs, fmt.Sprintf("%s-%d-%s", name, i, word))
	}
	return d
}

// letters returns the alphabet a to z.
func letters() *structured.Alphabet {
	a := structured.NewAlphabet()
	for c := 'a'; c <= 'z'; c++ {
		a.Add(string(c))
	}
	return a
}

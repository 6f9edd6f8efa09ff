package ocr

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/structured"
)

func TestEnglish(t *testing.T) {
	words := sentences.English()
	if len(words) < 1000 {
		t.Errorf("%d words", len(words))
	}
	seen := map[string]bool{}
	for _, w := range words {
		if len(w) < 3 || len(w) > 12 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("word %q", w)
		}
		if seen[w] {
			t.Errorf("%q twice", w)
		}
		seen[w] = true
	}
}

func TestOCRWords(t *testing.T) {
	o := OCRWords{Train: 300, Dev: 20, Test: 300, Difficulty: 1, Seed: 7}
	train, dev, test := o.Generate()
	words := map[*structured.Dataset]map[string]bool{}
	for d, n := range map[*structured.Dataset]int{train: 300, dev: 20, test: 300} {
		words[d] = map[string]bool{}
		if d.Len() != n || d.Dim != 128 || len(d.Features) != 128*d.Positions() || len(d.Labels) != d.Positions() ||
			d.Alphabet.Len() != 26 {
			t.Fatalf("%s: %d words, %d features, %d labels", d.Name, d.Len(), len(d.Features), len(d.Labels))
		}
		for i := range n {
			spelt := ""
			for _, l := range d.Gold(i) {
				spelt += d.Alphabet.Name(l)
			}
			if !strings.HasSuffix(d.ID(i), "-"+spelt) {
				t.Errorf("%s is spelt %q", d.ID(i), spelt)
			}
			words[d][spelt] = true
		}
		for _, x := range d.Features {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("feature %v", x)
			}
		}
	}
	shared := 0
	for w := range words[test] {
		if words[train][w] {
			shared++
		}
	}
	if shared < 20 {
		t.Errorf("train and test share %d words", shared)
	}
	trainingWords := map[string]bool{}
	for _, w := range o.trainingWords() {
		trainingWords[w] = true
	}
	if share := float64(len(trainingWords)) / float64(len(sentences.English())); share < 0.87 || share > 0.93 {
		t.Errorf("%.2f of the words are for training", share)
	}
	unseenWords := 0
	for d := range words {
		for w := range words[d] {
			if !trainingWords[w] && d != test {
				t.Errorf("%s is in %s", w, d.Name)
			} else if !trainingWords[w] {
				unseenWords++
			}
		}
	}
	if unseenWords < 10 {
		t.Errorf("%d test words are of the held-out ones", unseenWords)
	}
	if slices.Equal(train.Labels[:50], dev.Labels[:50]) {
		t.Error("the sets have the same words")
	}
	larger := o
	larger.Train = 310
	again, _, _ := larger.Generate()
	if !slices.Equal(again.Features[:len(train.Features)], train.Features) {
		t.Error("a word depends on the number of words")
	}
	larger.Seed = 8
	other, _, _ := larger.Generate()
	if slices.Equal(other.Labels[:50], train.Labels[:50]) {
		t.Error("another seed gives the same words")
	}
}

// A letter's nearest neighbour in the next heavier face is the same letter: the images match their labels.
func TestGlyphsShowTheirLetters(t *testing.T) {
	regular, medium := faces[0], faces[1]
	for l := range 26 {
		best, nearest := math.Inf(1), -1
		for other := range 26 {
			s := 0.0
			for i, x := range regular.letter(l) {
				diff := float64(x - medium.letter(other)[i])
				s += diff * diff
			}
			if s < best {
				best, nearest = s, other
			}
		}
		if nearest != l {
			t.Errorf("%c is nearest to %c", 'a'+l, 'a'+nearest)
		}
	}
}

// A clean o is a dark ring around a white centre.
func TestCleanLetter(t *testing.T) {
	image := make([]float32, letterPixels)
	rng := rand.New(rand.NewPCG(1, 1))
	newHand(0, rng).draw(image, int('o'-'a'), 0, rng)
	pixel := func(r, c int) float32 { return image[r*letterCols+c] }
	ring := max(pixel(8, 1), pixel(8, 0))
	if pixel(0, 0) != 0 || pixel(15, 7) != 0 || pixel(8, 4) > 0.2 || ring < 0.6 {
		t.Errorf("corners %v, %v, middle %v, left side %v", pixel(0, 0), pixel(15, 7), pixel(8, 4), ring)
	}
}

func TestOCRWordsValidate(t *testing.T) {
	for _, o := range []OCRWords{{Train: -1}, {Difficulty: -1}, {Difficulty: 11}} {
		if err := o.Validate(); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := DefaultOCRWords().Validate(); err != nil {
		t.Error(err)
	}
}

func BenchmarkOCRWords(b *testing.B) {
	DefaultOCRWords().Generate() // makes the letters
	for b.Loop() {
		DefaultOCRWords().Generate()
	}
}

// BenchmarkFace makes the letters of a face, which a run of many words does once for each face.
func BenchmarkFace(b *testing.B) {
	for b.Loop() {
		f := face{ttf: faces[0].ttf}
		for l := range 26 {
			f.letter(l)
		}
	}
}

package structured

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestEnglish(t *testing.T) {
	words := English()
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
	words := map[*Dataset]map[string]bool{}
	for d, n := range map[*Dataset]int{train: 300, dev: 20, test: 300} {
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
	unseen, shared := 0, 0
	for w := range words[test] {
		if words[train][w] {
			shared++
		} else {
			unseen++
		}
	}
	if shared < 20 || unseen < 10 {
		t.Errorf("train and test share %d words, test has %d of its own", shared, unseen)
	}
	more := o
	more.Train = 310
	again, _, _ := more.Generate()
	if !slices.Equal(again.Features[:len(train.Features)], train.Features) {
		t.Error("a word depends on how many words there are")
	}
	more.Seed = 8
	other, _, _ := more.Generate()
	if slices.Equal(other.Labels[:50], train.Labels[:50]) {
		t.Error("another seed gives the same words")
	}
}

// A letter's nearest neighbour in the next heavier face is the same letter: the images show what the labels say.
func TestGlyphsShowTheirLetters(t *testing.T) {
	regular, medium := &glyphs()[0], &glyphs()[1]
	for l := range 26 {
		best, nearest := math.Inf(1), -1
		for other := range 26 {
			s := 0.0
			for i, x := range regular[l] {
				diff := float64(x - medium[other][i])
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

func TestOCRWordsValidate(t *testing.T) {
	for _, o := range []OCRWords{{Train: -1}, {Difficulty: -1}, {Difficulty: 11}} {
		if err := o.Validate(); !IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := DefaultOCRWords().Validate(); err != nil {
		t.Error(err)
	}
}

func BenchmarkOCRWords(b *testing.B) {
	glyphs()
	for b.Loop() {
		DefaultOCRWords().Generate()
	}
}

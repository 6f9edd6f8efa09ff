package models

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// Folds hold every example exactly once, in parts of nearly the same size, shuffled by the seed alone.
func TestFoldsPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 9).Draw(t, "k")
		n := rapid.IntRange(k, 60).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		parts := Folds(n, k, seed)
		var all []int
		for _, p := range parts {
			if len(p) < n/k || len(p) > n/k+1 || !slices.IsSorted(p) {
				t.Errorf("a part of %d of %d examples in %d parts: %v", len(p), n, k, p)
			}
			all = append(all, p...)
		}
		slices.Sort(all)
		for i := range n {
			if len(all) != n || all[i] != i {
				t.Fatalf("not each example once: %v", parts)
			}
		}
		if !reflect.DeepEqual(parts, Folds(n, k, seed)) {
			t.Error("one seed, two splits")
		}
	})
	if reflect.DeepEqual(Folds(50, 5, 1), Folds(50, 5, 2)) {
		t.Error("two seeds, one split")
	}
}

// What is held out teaches nothing: a word that only occurs there is unknown.
func TestFoldsDoNotLeak(t *testing.T) {
	text := ""
	for _, word := range strings.Fields("ant bee cat dog elk fox gnu hen") {
		text += word + "\tB-X\nruns\tO\n\n"
	}
	s := DefaultSweep()
	s.Task, s.Net, s.Train, s.MinCount, s.Folds = "tag", "embed", file(t, "train.conll", text), 1, 4
	data := newSweepData(&s)
	held := 0
	for fold := range s.Folds {
		c := s.Config
		d, err := data.of(&c, fold)
		if err != nil {
			t.Fatal(err)
		}
		if d.Train.Len() != 6 || d.Dev.Len() != 2 {
			t.Fatalf("%d and %d sequences, want 6 and 2", d.Train.Len(), d.Dev.Len())
		}
		known := d.Train.Vocab[0]
		for i := range d.Dev.Len() {
			word := d.Dev.Column(structured.WordColumn)[d.Dev.Offsets[i]]
			if slices.Contains(d.Train.Column(structured.WordColumn), word) || known.Index(word) >= 0 {
				t.Errorf("%s is held out and known", word)
			}
			if id := d.Dev.Ids[d.Dev.Offsets[i]*len(d.Dev.Vocab)]; id != 0 {
				t.Errorf("%s is held out and has number %d", word, id)
			}
			held++
		}
		if known.Len() != 8 { // unknown, runs, and the six
			t.Errorf("vocabulary %q", known.Names())
		}
	}
	c := s.Config
	if all, err := data.of(&c, whole); err != nil || held != all.Train.Len() || all.Train.Vocab[0].Len() != 10 || c.Format != formatConll {
		t.Errorf("%d held out; %v", held, err)
	}
}

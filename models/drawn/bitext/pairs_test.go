package bitext_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/drawn/bitext"
	"github.com/dsp-go/dsp/structured"
)

func small() bitext.Options {
	o := bitext.DefaultOptions()
	o.Train, o.Dev, o.Test, o.Bitext = 40, 20, 20, 30
	return o
}

// A file reads as the corpus that Corpus returns.
func TestFilesAreTheCorpus(t *testing.T) {
	dir := t.TempDir()
	o := small()
	if err := bitext.Write(dir, o); err != nil {
		t.Fatal(err)
	}
	for _, p := range o.Parts() {
		text, err := os.ReadFile(filepath.Join(dir, p.File()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := alignments.Reader{Unlabeled: !p.Linked}.Read(bytes.NewReader(text), p.File())
		if err != nil {
			t.Fatal(err)
		}
		want := p.Corpus()
		if want.Len() != p.Pairs || got.Known() != p.Linked {
			t.Errorf("%s: %d pairs, links %v", p.Name, want.Len(), got.Known())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the file differs from the corpus", p.Name)
		}
	}
}

// The same seed gives the same pairs, however many there are; other seeds and sets give others.
func TestSeeds(t *testing.T) {
	text := func(o bitext.Options, part int) string {
		var b bytes.Buffer
		if err := o.Parts()[part].Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	o := small()
	more, other := o, o
	more.Train *= 2
	other.Seed++
	train := text(o, 0)
	if got := text(more, 0); got[:len(train)] != train {
		t.Error("twice as many pairs begin differently")
	}
	if text(other, 0) == train || text(o, 1) == text(o, 2) {
		t.Error("other seeds or sets give the same pairs")
	}
}

// The pairs show what they promise: words without links on both sides, words with several links, crossing and possible
// links.
func TestVariety(t *testing.T) {
	c := small().Parts()[0].Corpus()
	var freeSource, freeTarget, several, crossing, possible, equal int
	for i := range c.Len() {
		n, m := c.Size(i)
		bySource, byTarget := make([]int, n), make([]int, m)
		links := c.LinksOf(i)
		for k, l := range links {
			bySource[l.Source]++
			byTarget[l.Target]++
			if !l.Sure {
				possible++
			}
			if c.Source(i)[l.Source] == c.Target(i)[l.Target] {
				equal++
			}
			for _, other := range links[k+1:] {
				if other.Source > l.Source && other.Target < l.Target {
					crossing++
				}
			}
		}
		for _, k := range bySource {
			if k == 0 {
				freeSource++
			}
			if k > 1 {
				several++
			}
		}
		for _, k := range byTarget {
			if k == 0 {
				freeTarget++
			}
			if k > 1 {
				t.Errorf("pair %d: a target word with %d links, expected at most 1", i, k)
			}
		}
	}
	if min(freeSource, freeTarget, several, crossing, possible, equal) < 5 {
		t.Errorf("%d and %d words without links, %d with several, %d crossings, %d possible links, %d equal words; "+
			"expected at least 5 of each",
			freeSource, freeTarget, several, crossing, possible, equal)
	}
}

func TestValidate(t *testing.T) {
	for _, change := range []func(*bitext.Options){
		func(o *bitext.Options) { o.Train = -1 },
		func(o *bitext.Options) { o.Bitext = -1 },
		func(o *bitext.Options) { o.Difficulty = 1.1 },
		func(o *bitext.Options) { o.Difficulty = math.NaN() },
	} {
		o := small()
		change(&o)
		if err := bitext.Write(t.TempDir(), o); !structured.IsBadInput(err) {
			t.Errorf("%+v: error %v, expected bad input", o, err)
		}
	}
}

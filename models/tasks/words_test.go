package tasks

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// A pair is as long as the longer of its sentences, and links cost memory as trees do.
func TestMostWordsOfPairs(t *testing.T) {
	for _, name := range []string{"align", "warp"} {
		task, _ := Named(name)
		for _, c := range []struct {
			n, m, most int
			bad        bool
		}{{5000, 5000, 0, false}, {5001, 1, 0, true}, {1, 5001, 0, true}, {3, 2, 3, false}, {2, 4, 3, true}} {
			d := &structured.Dataset{Name: "x", Offsets: []int{0, c.n + c.m},
				Tables: []*structured.Table{{Name: alignments.SourceRows, Offsets: []int{0, c.n}}}}
			if err := task.CheckWords(d, nil, c.most); (err != nil) != c.bad {
				t.Errorf("%s %+v: %v", name, c, err)
			}
		}
	}
}

// Sentences that are too long for a structure are refused, with the setting that takes them.
func TestMostWords(t *testing.T) {
	named := func(name string) Task { task, _ := Named(name); return task }
	for _, c := range []struct {
		task        string
		words, most int
		bad         bool
	}{
		{"parse", 5000, 0, false}, {"parse", 5001, 0, true}, {"parse", 5001, 6000, false}, {"constituency", 20000, 0, true},
		{"align", 20000, 0, true},
		{"tag", 20000, 0, false}, {"tag", 1_000_001, 0, true}, {"tag", 30, 20, true}, {"tag", 20, 20, false},
	} {
		d := &structured.Dataset{Name: "x", Offsets: []int{0, 1, 1 + c.words}}
		for _, examples := range [][]int{nil, {1}} {
			err := named(c.task).CheckWords(d, examples, c.most)
			if (err != nil) != c.bad || c.bad && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), "--max-words")) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if err := named(c.task).CheckWords(d, []int{0}, c.most); err != nil {
			t.Errorf("%+v, the short one: %v", c, err)
		}
	}
}

package models

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// partialText has tokens of three labels, each determined by the word; some are hidden.
const partialText = "x A\ny ?\nz C\n\ny B\nx A|B\n\nz _\nz C|A\nx A\n\ny B\nz C\nx A\n\n"

func partialConfig(t *testing.T) config.Config {
	c := textConfig(file(t, "train.conll", partialText))
	c.Columns = ""
	c.Format, c.Partial, c.Out, c.Quiet = "conll", true, t.TempDir(), true
	return c
}

func TestReadPartialConll(t *testing.T) {
	c := partialConfig(t)
	c.Dev = file(t, "dev.conll", "x A\nx ?\n\nz B|C\n\ny C\n\n")
	d, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(d.Train.Alphabet.Names(), want) || d.Dev.Alphabet != d.Train.Alphabet {
		t.Errorf("labels %q, want %q", d.Train.Alphabet.Names(), want)
	}
	if want := []int32{0, -1, 2, 1, -2, -1, -3, 0, 1, 2, 0}; !slices.Equal(d.Train.Labels, want) {
		t.Errorf("training labels %v, want %v", d.Train.Labels, want)
	}
	if want := []int32{0, -1, -2, 2}; !slices.Equal(d.Dev.Labels, want) {
		t.Errorf("development labels %v, want %v", d.Dev.Labels, want)
	}

	c.Dev = file(t, "dev.conll", "x A\ny B|D\n\n")
	if _, err := ReadData(&c); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), `dev.conll:2: label "D" in "B|D"`) {
		t.Errorf("an unknown label: %v", err)
	}
	c.Dev, c.Partial = "", false
	if d, err = ReadData(&c); err != nil || d.Train.Alphabet.Index("?") < 0 || d.Train.LabelSets != nil {
		t.Errorf("without --partial, ? is no label: %v", err)
	}
	c.Partial, c.Scheme = true, "bioes"
	if _, err := ReadData(&c); !structured.IsBadInput(err) {
		t.Errorf("converting tags that are not known: %v", err)
	}
}

// Forcing labels conditions exactly: best outputs, n-best lists, probabilities and marginals.
func TestForcedLabelsAgainstEnumeration(t *testing.T) {
	d := toyData(2)
	d.LabelSets = [][]int32{nil, {0, 2}}
	for t := range d.Labels {
		if t%3 > 0 {
			d.Labels[t] = int32(-(t % 3))
		}
	}
	for _, edges := range []string{"transition", "position", "none"} {
		m := toyModel(t, d, func(c *config.Config) { c.Edges = edges })
		m.Constraints = &chains.Constraints{Transition: []bool{8: false, 1: true}}
		θ, err := m.Potentials(context.Background(), d, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Len() {
			θ.Structure.(structured.Restricter).Restrict(θ, i, d.GoldOf(i))
		}
		o := predictions.Options{NBest: 1000, Marginals: true, Probability: true, Force: true, Threads: 3}
		err = m.Predict(context.Background(), d, o, func(i int, p *predictions.Prediction) error {
			for t, g := range d.Gold(i) {
				if l := p.Labels[t]; g >= 0 && l != g || g == -2 && l == 1 {
					return structured.BadInput("example %d: labels %v, given %v", i, p.Labels, d.Gold(i))
				}
			}
			checkPrediction(t, θ, 1, i, p)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		m.Constraints.End = []bool{true, true, false} // the last label of some chain is another
		err = m.Predict(context.Background(), d, o, func(int, *predictions.Prediction) error { return nil })
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "keeps the model's constraints and the labels that are given") {
			t.Errorf("impossible labels: %v", err)
		}
	}
	unlabelled := *d
	unlabelled.Labels = nil
	m := toyModel(t, d, nil)
	if err := m.Predict(context.Background(), &unlabelled, predictions.Options{Force: true}, nil); !structured.IsBadInput(err) {
		t.Errorf("no labels to keep: %v", err)
	}
}

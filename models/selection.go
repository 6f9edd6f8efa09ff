package models

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"os"
	"slices"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// SelectBy are the measures of how much a label of an example may be worth.
var SelectBy = []string{"entropy", "margin", "probability"}

// selectBeam is the width of the search for the two best strings of a line.
const selectBeam = 20

// Selected is an example that Select chose, and its measure.
type Selected struct {
	Example int
	Measure float64
	Entropy float64 // of its outputs, if that was asked for
}

// Select returns the n examples of d of which the model is least sure, the least sure first: those with the largest
// entropy of their outputs, with the smallest margin between the probabilities of the best two outputs (their scores,
// for structures without sums), or with the smallest probability of the best output. o has the other options: Entropy
// asks for those of the examples, and Exact refuses potentials that the oracle would change.
func (m *Model) Select(ctx context.Context, d *structured.Dataset, n int, by string, o predictions.Options) ([]Selected, error) {
	structure := m.Net.Form().Structure
	oracle := registry.Of(structure).Oracle()
	_, noSums := oracles.ExactSums(oracle, "--by "+by, structure.Name())
	_, ranks := oracle.(oracles.Ranker)
	measure := func(p *predictions.Prediction) float64 { return p.Probability }
	switch {
	case by == "margin" && !ranks:
		return nil, structured.BadInput("--by margin needs the two best outputs, which the oracle of a %s does not find", structure.Name())
	case by == "margin":
		o.NBest = 2
		if m.transcribes() {
			o.Beam = selectBeam
		}
		measure = func(p *predictions.Prediction) float64 {
			if len(p.NBest) < 2 {
				return math.MaxFloat64
			}
			if noSums != nil {
				return p.NBest[0].Score - p.NBest[1].Score
			}
			return p.NBest[0].Probability - p.NBest[1].Probability
		}
	case noSums != nil:
		return nil, noSums
	case by == "entropy" && m.transcribes():
		return nil, structured.BadInput("--by entropy: the entropy of strings is not known, only that of labels of frames; use --by probability or --by margin")
	case by == "entropy":
		o.Entropy = true
		measure = func(p *predictions.Prediction) float64 { return p.Entropy }
	default:
		o.Probability = true
	}
	var all []Selected
	err := m.Predict(ctx, d, o, func(i int, p *predictions.Prediction) error {
		all = append(all, Selected{i, measure(p), p.Entropy})
		return nil
	})
	slices.SortStableFunc(all, func(a, b Selected) int {
		if by == "entropy" {
			a, b = b, a
		}
		return cmp.Compare(a.Measure, b.Measure)
	})
	return all[:min(n, len(all))], err
}

// CopyExamples writes some examples of the text file that r names, as they stand there: d holds what m reads in it. An
// empty line ends each, where a file has a line per token.
func (m *Model) CopyExamples(w io.Writer, r Request, d *structured.Dataset, some []Selected) error {
	s, err := m.source(r)
	if err != nil {
		return err
	}
	f := formats.Find(s.Format)
	if !f.Tokens && !f.Lines || d.Lines == nil || d.Files != nil || r.Path == "-" {
		return structured.BadInput("%s: examples are copied from a single file of text; add --json for where they are", r.Path)
	}
	if about, err := os.Stat(r.Path); err == nil && !about.Mode().IsRegular() {
		return structured.BadInput("%s: examples are copied from a file that can be read twice; add --json for where they are", r.Path)
	}
	in, err := host.Open(r.Path)
	if err != nil {
		return err
	}
	whole, err := io.ReadAll(in)
	if err = cmp.Or(err, in.Close()); err != nil {
		return err
	}
	lines := bytes.Split(whole, []byte("\n"))
	blank := func(k int) bool { return k < 0 || k >= len(lines) || text.IsBlank(lines[k]) }
	var copied []byte
	for _, e := range some {
		from := d.Lines[e.Example] - 1
		to := from + 1
		if f.Tokens {
			for !blank(from - 1) {
				from--
			}
			for !blank(to) {
				to++
			}
		}
		for _, line := range lines[from:to] {
			copied = append(append(copied, bytes.TrimRight(line, "\r")...), '\n')
		}
		if f.Tokens {
			copied = append(copied, '\n')
		}
	}
	_, err = w.Write(copied)
	return err
}

package sparse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// The batch that Layers measures: examples of equal length, with the same number of attributes, drawn uniformly, in
// every row.
const (
	layerExamples   = 32
	layerLength     = 20
	layerSources    = 10 // positions of an example that are source items, where examples relate two sequences
	layerAttributes = 20
	measurements    = 7
)

// Layers returns the table of the network (see nets.Layer): one row for each part of the potentials. It measures each
// part several times on a drawn batch, whose rows have 20 attributes each, on one thread, and takes the least time.
func (s *Linear) Layers(w []float32) ([]nets.Layer, error) {
	batch := s.draw(rand.New(rand.NewPCG(1, 1)))
	var θ structured.Potentials
	θ.Resize(batch, s.form)
	var dense scoring[float32]
	if s.HasDense() {
		if err := dense.inputs.load(batch, s.dim); err != nil {
			return nil, err
		}
	}
	rows, took, total := []nets.Layer{}, []time.Duration{}, time.Duration(0)
	for i := range s.parts {
		p := &s.parts[i]
		l := nets.Layer{Name: p.Name + " potentials", With: []string{}, Params: []string{}, Output: p.output()}
		for _, a := range s.layout {
			if a.Offset == p.bias || a.Offset == p.rows && p.attributes > 0 || slices.ContainsFunc(p.dense, func(b block) bool { return b.offset == a.Offset }) {
				l.Params, l.Weights = append(l.Params, a.Name), l.Weights+a.Len()
			}
		}
		if l.Weights == 0 {
			continue // zero potentials
		}
		l.Name = strings.Join(append([]string{l.Name}, l.Params...), " ")
		var least time.Duration
		for k := range measurements {
			start := time.Now()
			p.score(w, s.τ, batch, &θ.Parts[i])
			dense.add(p, w, batch, θ.Parts[i].Offsets, θ.Parts[i].Values, kernels.Dense.Score)
			if one := time.Since(start); k == 0 || one < least {
				least = one
			}
		}
		rows, took, total = append(rows, l), append(took, least), total+least
	}
	for i := range rows {
		if total > 0 {
			rows[i].Share = float64(took[i]) / float64(total)
		}
	}
	return rows, nil
}

// output writes the shape of the part's potentials: n stands for the positions of a batch, p for pairs of positions.
func (p *part) output() string {
	width := fmt.Sprint(p.Width)
	switch {
	case p.Rows == structured.Tied:
		return width
	case structured.PerPosition(p.Rows):
		return "n×" + width
	}
	return "p×" + width
}

// draw draws a batch with attributes in the rows of every part.
func (s *Linear) draw(rng *rand.Rand) *structured.Batch {
	d := &structured.Dataset{Name: "drawn attributes", Offsets: []int{0}}
	examples := make([]int, layerExamples)
	for i := range examples {
		examples[i] = i
		d.Offsets = append(d.Offsets, (i+1)*layerLength)
	}
	if d.Dim = s.dim; s.HasDense() {
		d.Features = make([]float32, d.Positions()*d.Dim)
		for k := range d.Features {
			d.Features[k] = float32(rng.NormFloat64())
		}
	}
	addTable := func(name string, rows int) {
		if d.Table(name) != nil {
			return
		}
		t := &structured.Table{Name: name, Offsets: []int{0}}
		for i := range examples {
			t.Offsets = append(t.Offsets, (i+1)*rows)
		}
		d.Tables = append(d.Tables, t)
	}
	for _, p := range s.parts {
		switch {
		case p.Rows == structured.Sources, p.Rows == structured.Pairs:
			addTable(structured.Sources, layerSources)
			addTable(structured.Pairs, layerSources*(layerLength-layerSources))
		case p.Rows != structured.Tied && !structured.PerPosition(p.Rows):
			addTable(p.Rows, layerLength*layerLength)
		}
		rows := 0
		if p.Rows != structured.Tied {
			offsets := d.Rows(p.Rows)
			rows = offsets[len(offsets)-1]
		}
		d.SetAttributes(p.Shape, p.draw(rng, rows))
	}
	batch := new(structured.Batch)
	batch.Reset(d, examples)
	return batch
}

// draw draws the attributes of some rows.
func (p *part) draw(rng *rand.Rand, rows int) *structured.Sparse {
	if p.attributes == 0 {
		return nil
	}
	x := &structured.Sparse{Offsets: []int{0}}
	for r := range rows {
		for range layerAttributes {
			x.Index = append(x.Index, rng.Int32N(int32(p.attributes)))
		}
		x.Offsets = append(x.Offsets, (r+1)*layerAttributes)
	}
	return x
}

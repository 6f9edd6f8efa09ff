package models

import (
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// Extent is how large an example is.
type Extent struct {
	Positions  int
	Pairs      int // rows of tables of pairs, or edges of a graph; 0: each position with each
	Characters int // of words, as far as networks read them

	Numeric bool // positions are features alone: they have no columns, attributes nor names
}

// What predictions take, in bytes, measured with some to spare.
const (
	perNumber    = 48   // of the potentials: they, their marginals, the oracle's tables and the answer
	perPosition  = 2048 // columns, attributes and their names
	perNumeric   = 512  // of a position without those
	perAttribute = 512  // rows of pairs with attributes
	perBest      = 24   // numbers of each further output, in the oracle's tables and as text
)

// Footprint estimates the memory, in bytes, of predicting an example: its inputs in a data set, the scratch memory of
// the network and of the oracle, and the prediction. It is meant to be too large rather than too small. What images
// take before they are features is not in it.
func (m *Model) Footprint(e Extent, o predictions.Options) float64 {
	n, pairs := float64(e.Positions), float64(e.Pairs)
	if e.Pairs == 0 {
		pairs = n * n
	}
	form := m.Net.Form()
	numbers, paired := 0.0, false
	for k, part := range form.Parts {
		rows := 1.0
		switch {
		case part.Rows == structured.Tied && k == 1:
			rows = tiedRows(form, n)
		case part.Rows == structured.Tied || part.Rows == structured.Examples:
		case part.Rows == structured.Sources || structured.PerPosition(part.Rows):
			rows = n
		case part.Rows == trees.SiblingRows:
			rows = float64(trees.Siblings(e.Positions))
		case part.Rows == segments.Rows:
			rows = n * float64(longest(form))
		default:
			rows, paired = pairs, true
		}
		numbers += rows * float64(part.Width)
	}
	position := float64(perPosition)
	if e.Numeric {
		position = perNumeric
	}
	bytes := perNumber*numbers + n*(position+12*float64(m.Dim))
	if net, ok := m.Net.(*nets.Net); ok {
		bytes += 4 * net.ScratchFloats(graph.Size{Rows: e.Positions, Pairs: int(pairs), Chars: e.Characters})
	} else if paired {
		bytes += perAttribute * pairs
	}
	if paired {
		bytes += 12 * pairs * float64(m.Edges.Dim)
	}
	if of := m.tagsOf(o); of != nil { // whose probabilities come from those of steps at each position
		y := float64(m.Labels.Len())
		bytes += n * (perNumber*y*(y+1) + 8*float64(of.Tags().Len()))
	}
	if o.NBest > 0 {
		bytes += perBest * float64(o.NBest) * (numbers + n)
	}
	return bytes + perBest*float64(o.Samples)*n
}

// tiedRows returns how many rows of its width an oracle's tables have for the second part, if all examples share it:
// those over pairs of labels, or over lengths of segments, have one for each position.
func tiedRows(form structured.Form, n float64) float64 {
	switch form.Structure.(type) {
	case segments.Segments, chains.Second:
		return n
	}
	return 1
}

// longest returns the positions of the longest segment.
func longest(form structured.Form) int {
	return max(1, form.Parts[1].Width/max(1, form.Parts[2].Width))
}

// Package randomgraphs draws graphs with labelled variables. A variable's features tell its label with noise, and an
// edge's features tell with noise how the labels of its ends are related, so that neighbours help. It is a task of
// labelling graphs on data that anyone can generate.
package randomgraphs

import (
	"math/rand/v2"
	"strconv"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Options set the number and the properties of the graphs.
type Options struct {
	Train, Dev, Test int     // number of graphs
	Shape            Shape   // of the graphs
	Classes          int     // labels
	Difficulty       float64 // how much noise features have: 0 is none, 1 the default
	Seed             uint64  // the same seed gives the same graphs
}

// DefaultOptions are sized for a first run of a few seconds.
func DefaultOptions() Options {
	return Options{Train: 200, Dev: 50, Test: 100, Shape: Random, Classes: 2, Difficulty: 1, Seed: 1}
}

// mostClasses bounds the labels, so that the junction trees of random graphs and grids stay small.
const mostClasses = 10

// validate returns a bad-input error about the first field that is out of range.
func (o Options) validate() error {
	switch {
	case min(o.Train, o.Dev, o.Test) < 0:
		return structured.BadInput("graphs: %d, %d and %d to train, dev and test, expected 0 or more", o.Train, o.Dev, o.Test)
	case o.Classes < 2 || o.Classes > mostClasses:
		return structured.BadInput("graphs: %d classes, expected 2 to %d", o.Classes, mostClasses)
	case !(o.Difficulty >= 0 && o.Difficulty <= 5):
		return structured.BadInput("graphs: difficulty %v, expected a number from 0 (no noise) to 5; 1 is the default",
			o.Difficulty)
	}
	return nil
}

// Draw draws the three sets, of which those without graphs are nil. The variables of graph i of a set depend only on
// the options, the set and i.
func (o Options) Draw() (train, dev, test *structured.Dataset, err error) {
	if err := o.validate(); err != nil {
		return nil, nil, nil, err
	}
	names := structured.NewAlphabet()
	for l := range o.Classes {
		names.Add(strconv.Itoa(l))
	}
	sets := [3]*structured.Dataset{}
	for k, part := range []struct {
		name string
		n    int
	}{{"train", o.Train}, {"dev", o.Dev}, {"test", o.Test}} {
		if part.n > 0 {
			sets[k] = o.set("graphs ("+part.name+")", part.n, uint64(k), names)
		}
	}
	return sets[0], sets[1], sets[2], nil
}

// set draws n graphs.
func (o Options) set(name string, n int, stream uint64, names *structured.Alphabet) *structured.Dataset {
	d := &structured.Dataset{Name: name, Offsets: []int{0}, Dim: o.Classes, Alphabet: names}
	edges := &structured.Table{Name: graphs.EdgeRows, Offsets: []int{0}, Dim: relations}
	for i := range n {
		r := rand.New(rand.NewPCG(o.Seed, stream<<32+uint64(i)))
		g, labels := o.Shape.draw(r, o.Classes)
		d.Graphs, d.Labels = append(d.Graphs, g), append(d.Labels, labels...)
		d.Features = o.describe(r, d.Features, labels)
		edges.Features = o.relate(r, edges.Features, g, labels)
		d.Offsets, edges.Offsets = append(d.Offsets, len(d.Labels)), append(edges.Offsets, len(edges.Features)/relations)
	}
	d.Tables = []*structured.Table{edges}
	return d
}

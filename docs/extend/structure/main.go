// Command structure is dsp with one more structure, "selection": which items of an example to choose, at most so many.
// The task "select" learns it; every verb of dsp knows it.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// selectSettings are what only this task has: --task-settings most=3.
type selectSettings struct {
	Most int `yaml:"most" min:"1" help:"how many items of an example may be chosen"`
}

// kind joins the structure and its oracle.
var kind = registry.Kind{Structure: selection{Most: 3}, Oracle: func() oracles.Maximiser { return new(oracle) }, Small: small}

// task is like tag: a label for each position, "out" or "in". Labelling completes it.
var task = tasks.Labelling(tasks.Task{
	Name:     "select",
	Summary:  "which items of an example to choose, at most so many",
	Settings: selectSettings{Most: 3},
	Output: func(c config.Config, _ inputs.Inputs, labels int) nets.Output {
		return nets.Output{Labels: labels, Form: selection{Most: tasks.Own(&c).(*selectSettings).Most}.form()}
	},
	Draw:       draw,
	Formats:    []string{formats.NPZ},
	FileFormat: formats.NPZ, // for a model of drawn data
	CheckData: func(_ *config.Config, d *structured.Dataset, labels int) error {
		if labels != 2 {
			return structured.BadInput("%s: %d labels, expected two: left out and chosen", d.Name, labels)
		}
		return nil
	},
})

// draw draws items with six features each. Gold outputs choose the best by a hidden score that is linear in the
// features, where it is positive.
func draw(c *config.Config) (train, dev, test *structured.Dataset, err error) {
	const features = 6
	most, r := tasks.Own(c).(*selectSettings).Most, rand.New(rand.NewPCG(c.Seed, 1))
	var hidden [features]float64
	for k := range hidden {
		hidden[k] = r.NormFloat64()
	}
	names := structured.NewAlphabet("out", "in")
	for k, to := range []**structured.Dataset{&train, &dev, &test} {
		d := &structured.Dataset{Name: fmt.Sprintf("items (%s)", []string{"training", "development", "test"}[k]), Offsets: []int{0}, Dim: features, Alphabet: names}
		for range c.Examples[k] {
			n := 4 + r.IntN(9)
			scores := make([]float64, n)
			for t := range scores {
				for f := range hidden {
					x := r.NormFloat64()
					d.Features, scores[t] = append(d.Features, float32(x)), scores[t]+x*hidden[f]
				}
			}
			best := slices.Sorted(slices.Values(scores))[max(0, n-most):]
			for _, s := range scores {
				chosen := int32(0)
				if s > 0 && slices.Contains(best, s) {
					chosen = 1
				}
				d.Labels = append(d.Labels, chosen)
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
		}
		*to = d
	}
	return train, dev, test, nil
}

func main() {
	register()
	os.Exit(cli.Main())
}

// register registers the structure, and then the task that predicts it.
func register() {
	if err := registry.Register(kind); err != nil {
		panic(err) // a mistake in this program
	}
	tasks.Register(task)
}

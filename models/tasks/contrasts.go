package tasks

import (
	"fmt"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Contrast is a training that a run is compared with, or the reason why there is none.
type Contrast struct {
	Name   string // of its folder, inside that of the run
	Config config.Config
	Reason string // why it is left out; empty if it is not
}

// contrastGraphs compares a run on graphs with labels on their own, with the exact labels where the run bounds them,
// and with bounds where the run finds the exact ones.
func contrastGraphs(c config.Config, sets []*structured.Dataset, labels int) (all []Contrast) {
	if c.Edges == nets.EdgesNone {
		return nil
	}
	alone := c
	alone.Edges, alone.EdgeUnits, alone.Submodular, alone.Oracle = nets.EdgesNone, 0, "", "auto" // exact
	all = append(all, Contrast{Name: "independent", Config: alone})
	if InferenceOf(&c, labels) == graphs.Relaxed {
		return append(all, contrastExact(c, sets, labels))
	}
	relaxed := Contrast{Name: "relaxed", Config: withOracle(c, graphs.Relaxed)}
	if allForests(sets) {
		relaxed.Reason = "the graphs have no loops, so bounds would be exact"
	}
	return append(all, relaxed)
}

// contrastExact is the contrast that finds the best labels: by cuts if the labels and the loss allow them, else by
// junction trees if they fit.
func contrastExact(c config.Config, sets []*structured.Dataset, labels int) Contrast {
	if labels == 2 && c.Loss == "hinge" && c.Edges == nets.EdgesPotts {
		return Contrast{Name: "cut", Config: withOracle(c, graphs.Cut)}
	}
	exact := Contrast{Name: "exact", Config: withOracle(c, graphs.Exact)}
	for _, d := range sets {
		if i, entries := tooLarge(&exact.Config, d, labels); i >= 0 {
			exact.Reason = fmt.Sprintf("the junction tree of %s needs at least %.2g table entries, more than --max-table %.2g",
				d.Where(i), entries, c.MaxTable)
			break
		}
	}
	return exact
}

func withOracle(c config.Config, by graphs.Inference) config.Config {
	c.Oracle = by.String()
	return c
}

// allForests reports whether no graph has a loop.
func allForests(sets []*structured.Dataset) bool {
	for _, d := range sets {
		for i, g := range d.Graphs {
			if !graphs.IsForest(g, d.Length(i)) {
				return false
			}
		}
	}
	return true
}

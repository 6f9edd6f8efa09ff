package inputs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/nets/graph"
)

// FitBoxes is Fit for candidate boxes and windows: their dense features are there already.
func FitBoxes(c *config.Config, t Training) (Inputs, error) {
	train := t.All
	s := localisation.Of(train)
	in := Inputs{Features: c.Features, Map: graph.Map{Height: s.Map[0], Width: s.Map[1], Channels: s.Map[2]}}
	in.Sliding = s.Sliding
	if s.Boxes == nil {
		in.Grid = graph.Grid{Height: s.Grid, Width: s.Grid}
	}
	return in, nil
}

// CandidateShape returns the shape of dim features of a candidate, as npz archives have it: channels come first.
func (in Inputs) CandidateShape(dim int) []int {
	if in.Map.Len() > 0 {
		return []int{in.Map.Channels, in.Map.Height, in.Map.Width}
	}
	return []int{dim}
}

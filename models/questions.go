package models

import (
	"cmp"
	"math/rand/v2"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// CheckQuestions refuses options that ask what the model's outputs cannot answer, as bad input.
func (m *Model) CheckQuestions(o predictions.Options) error {
	if m.Net == nil || o.Samples == 0 && !o.Entropy {
		return nil
	}
	structure := m.Net.Form().Structure
	oracle := kinds.Of(structure).Oracle()
	if o.Samples > 0 {
		if _, err := oracles.Samplers(oracle, "--samples", structure.Name()); err != nil {
			return err
		}
	}
	if o.Entropy {
		if _, err := oracles.ExactSums(oracle, "--entropy", structure.Name()); err != nil {
			return err
		}
	}
	if m.device != nil {
		return structured.BadInput("--samples and --entropy are for the CPU; use --device cpu")
	}
	return nil
}

// placeOf returns a number for example i of d that does not depend on how the data are cut into pieces: where it begins in its file, if that
// is known.
func placeOf(d *structured.Dataset, i int) uint64 {
	switch at := d.Offsets[i]; {
	case d.Lines != nil && d.Files == nil:
		return uint64(d.Lines[i])
	case d.Ranges != nil && at < d.Offsets[i+1] && d.Ranges[at][0] >= 0:
		return uint64(d.Ranges[at][0])
	}
	return uint64(i)
}

// drawn draws samples for a batch of examples of d.
func (p *predictor) drawn(d *structured.Dataset, examples []int, μ float64, o predictions.Options) *oracles.Samples {
	p.seeds = vec.Grow(p.seeds, len(examples))
	for b, i := range examples {
		p.seeds[b] = rand.NewPCG(o.Seed, placeOf(d, i)).Uint64()
	}
	p.oracle.(oracles.Sampler).Sample(&p.θ, μ*cmp.Or(o.SampleTemperature, 1), o.Samples, p.seeds, &p.samples)
	return &p.samples
}

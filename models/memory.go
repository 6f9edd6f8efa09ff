package models

import (
	"bytes"
	"fmt"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/text"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

const (
	beginningBytes = 4 << 20 // of a text file, from which the memory for all of it is told
	weightVectors  = 8       // that training keeps: the weights, the best ones, a certificate's, an optimiser's, a checkpoint's
	garbage        = 1.5     // memory that the process has for each byte in use; measured
)

// checkMemory refuses, before it is read, a training file for which there is not enough memory. What all of it will take
// is told from its beginning.
func (c *Config) checkMemory(s source) error {
	if !formats.Find(c.Format).Tokens {
		return nil
	}
	text, times, err := text.Beginning(c.Train, beginningBytes)
	if err != nil || times <= 1 {
		return err
	}
	d, err := s.readFrom(bytes.NewReader(text), c.Train, true)
	if err != nil {
		return err
	}
	if _, err := c.fitInputs(d); err != nil {
		return err
	}
	if c.Task == "parse" {
		return c.checkTreeMemory(d, times)
	}
	extent := d.Extent().Times(times)
	weights := extent.Weights()
	if c.HashBits > 0 {
		weights = float64(int(1)<<c.HashBits) * extent.Labels
	}
	if err := host.CheckMemory("training on "+c.Train, garbage*(extent.Bytes()+4*weightVectors*weights)); err != nil {
		return structured.BadInput("%w; train on a part of it, or on fewer attributes with --min-count, --hash-bits or a --template", err)
	}
	return nil
}

// checkTreeMemory is checkMemory for treebanks, of which d is the beginning, so many times as long as all of it. What grows with the
// square of a sentence's length is the attributes of arcs, which exist twice while they are joined.
func (c *Config) checkTreeMemory(d *structured.Dataset, times float64) error {
	bytes := 0.0
	for _, t := range d.Tables {
		if t.Attributes != nil {
			bytes += 2 * (8*float64(len(t.Attributes.Offsets)) + 4*float64(len(t.Attributes.Index)))
		}
	}
	if err := host.CheckMemory("reading "+c.Train, times*(bytes+d.Extent().Bytes())); err != nil {
		return structured.BadInput("%w; train on a part of it, or on fewer attributes with a --template", err)
	}
	return nil
}

// memories is how many numbers for each of the examples' potentials the methods remember, the copy in a checkpoint included.
var memories = map[string]float64{"sdca": 4, "bcfw": 2, "saga": 2, "svrg": 1, "casimir": 1, "casimir-adapt": 1}

// checkSteps refuses weights, memories and steps on p for which there is not enough memory once the data are read.
func (c *Config) checkSteps(p *train.Problem) error {
	weights, remembered := p.Scorer.Dim(), memories[c.asking()]*float64(engine.MemoryFloats(p.Objective))
	what := fmt.Sprintf("training %d weights with --batch %d", weights, p.BatchSize())
	if err := host.CheckMemory(what, garbage*(4*weightVectors*float64(weights)+p.StepBytes(p.BatchSize()))+4*remembered); err != nil {
		if remembered > weightVectors*float64(weights) {
			return structured.BadInput("%w; most of it is what --method %s remembers of every example. Use --method lbfgs or bcpfw, which remember little, "+
				"or train on a part of the data", err, c.Method)
		}
		return structured.BadInput("%w; lower --batch, or train fewer weights", err)
	}
	return nil
}

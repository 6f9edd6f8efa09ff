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
	beginningBytes = 4 << 20 // of a text file, from which the memory for all of it is extrapolated
	weightVectors  = 8       // that training keeps: weights, best weights, and those of a certificate, an optimiser and a checkpoint
	garbage        = 1.5     // bytes of the process per byte in use, measured
)

// checkMemory refuses a training file that does not fit into memory, before reading it. It extrapolates from the beginning of
// the file.
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

// checkTreeMemory is checkMemory for treebanks. d is the beginning; the file is times as long. The attributes of arcs grow with
// the square of a sentence's length, and exist twice while they are joined.
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

// memories is how many numbers a method keeps per potential of the examples, including the copy in a checkpoint.
var memories = map[string]float64{"sdca": 4, "bcfw": 2, "saga": 2, "svrg": 1, "casimir": 1, "casimir-adapt": 1}

// checkSteps refuses training on p if weights, method and steps do not fit into memory. It is called after reading the data.
func (c *Config) checkSteps(p *train.Problem) error {
	weights, remembered := p.Scorer.Dim(), memories[c.oracleMethod()]*float64(engine.MemoryFloats(p.Objective))
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

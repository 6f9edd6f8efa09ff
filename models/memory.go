package models

import (
	"bytes"
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/text"
	"github.com/dsp-go/dsp/train"
)

const (
	beginningBytes = 4 << 20 // of a text file, from which the memory for all of it is told
	weightVectors  = 8       // that training keeps: the weights, the best ones, a certificate's, an optimiser's, a checkpoint's
	garbage        = 1.5     // memory that the process has for each byte in use; measured
)

// checkMemory refuses, before it is read, a training file for which there is not enough memory. What all of it will take
// is told from its beginning.
func (c *Config) checkMemory(s source) error {
	if !isText(c.Format) {
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

// checkSteps refuses weights and steps on p for which there is not enough memory once the data are read.
func checkSteps(p *train.Problem) error {
	weights := p.Scorer.Dim()
	what := fmt.Sprintf("training %d weights with --batch %d", weights, p.BatchSize())
	if err := host.CheckMemory(what, garbage*(4*weightVectors*float64(weights)+p.StepBytes(p.BatchSize()))); err != nil {
		return structured.BadInput("%w; lower --batch, or train fewer weights", err)
	}
	return nil
}

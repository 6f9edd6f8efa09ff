package models

import (
	"bytes"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/text"
)

// beginningBytes is how much of a text file is read to extrapolate the memory for all of it.
const beginningBytes = 4 << 20

// TrainingBytes estimates the memory of a process that trains some weights and keeps other bytes in use.
func TrainingBytes(weights, other float64) float64 {
	const (
		weightVectors = 8   // that training keeps: weights, best weights, and those of a certificate, an optimiser and a checkpoint
		garbage       = 1.5 // bytes of the process per byte in use, measured
	)
	return garbage * (other + 4*weightVectors*weights)
}

// checkMemory refuses a training file that does not fit into memory, before reading it. It extrapolates from the beginning of
// the file.
func checkMemory(c *config.Config, s source) error {
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
	if _, err := inputs.Fit(c, d); err != nil {
		return err
	}
	if c.Task == "parse" {
		return checkTreeMemory(c, d, times)
	}
	extent := d.Extent().Times(times)
	weights := extent.Weights()
	if c.HashBits > 0 {
		weights = float64(int(1)<<c.HashBits) * extent.Labels
	}
	if err := host.CheckMemory("training on "+c.Train, TrainingBytes(weights, extent.Bytes())); err != nil {
		return structured.BadInput("%w; train on a part of it, or on fewer attributes with --min-count, --hash-bits or a --template", err)
	}
	return nil
}

// checkTreeMemory is checkMemory for treebanks. d is the beginning; the file is times as long. The attributes of arcs grow with
// the square of a sentence's length, and exist twice while they are joined.
func checkTreeMemory(c *config.Config, d *structured.Dataset, times float64) error {
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

package tasks

import (
	"fmt"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// TrainingBytes estimates the memory of a process that trains some weights and keeps other bytes in use.
func TrainingBytes(weights, other float64) float64 {
	const (
		// that training keeps: weights, best weights, and those of a certificate, an optimiser and a checkpoint
		weightVectors = 8
		garbage       = 1.5 // bytes of the process per byte in use, measured
	)
	return garbage * (other + 4*weightVectors*weights)
}

// labelMemory refuses text that does not fit into memory with the weights of its attributes.
func labelMemory(c *config.Config, d *structured.Dataset, times float64, processes int) error {
	extent := d.Extent().Divided(processes).Times(times)
	weights := extent.Weights()
	if c.HashBits > 0 {
		weights = float64(int(1)<<c.HashBits) * extent.Labels
	}
	if err := host.CheckMemory("training on "+c.Train, TrainingBytes(weights, extent.Bytes())); err != nil {
		return fmt.Errorf("%w; train on a part of it, or on fewer attributes with --min-count, --hash-bits or a --template",
			err)
	}
	return nil
}

// treeMemory refuses treebanks that do not fit into memory. The attributes of arcs grow with
// the square of a sentence's length, and exist twice while they are joined.
func treeMemory(c *config.Config, d *structured.Dataset, times float64, _ int) error {
	bytes := 0.0
	for _, t := range d.Tables {
		if t.Attributes != nil {
			bytes += 2 * (8*float64(len(t.Attributes.Offsets)) + 4*float64(len(t.Attributes.Index)))
		}
	}
	if err := host.CheckMemory("reading "+c.Train, times*(bytes+d.Extent().Bytes())); err != nil {
		return fmt.Errorf("%w; train on a part of it, or on fewer attributes with a --template", err)
	}
	return nil
}

package models

import (
	"bytes"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
)

// beginningBytes is how much of a text file is read to extrapolate the memory for all of it.
const beginningBytes = 1 << 20

// checkMemory refuses training files that do not fit into memory, before reading them. It extrapolates from the
// beginning of the first.
func checkMemory(c *config.Config, s source, from continuedModels) error {
	task := tasks.Of(c)
	if task.Memory == nil || !formats.Find(c.Format).Tokens {
		return nil
	}
	files := formats.Files(c.Train)
	var start []byte // of the first file
	var first, total float64
	for k, path := range files {
		beginning, times, err := text.Beginning(path, beginningBytes)
		if err != nil {
			return err
		}
		if k == 0 {
			start, first = beginning, float64(len(beginning))
		}
		total += times * float64(len(beginning))
	}
	if total <= first || first == 0 {
		return nil
	}
	times := total / first
	s.Remarks = s.Remarks.Apart()
	d, err := s.readLabelled(bytes.NewReader(start), files[0])
	if err != nil {
		return err
	}
	if from.start != nil {
		_, err = from.start.Inputs.Extend(c, inputs.Alone(d))
	} else {
		_, err = task.Fit(c, inputs.Alone(d))
	}
	if err != nil {
		return err
	}
	processes := 1
	if method, chosen := c.Optimiser(); s.shared != nil && (!chosen || method.OwnData || c.LocalSteps > 0) { // others need the attributes of all examples
		processes = s.Peers.Size()
	}
	return task.Memory(c, d, times, processes)
}

package models

import (
	"bytes"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured/text"
)

// beginningBytes is how much of a text file is read to extrapolate the memory for all of it.
const beginningBytes = 1 << 20

// checkMemory refuses a training file that does not fit into memory, before reading it. It extrapolates from the beginning of
// the file.
func checkMemory(c *config.Config, s source) error {
	task := tasks.Of(c)
	if task.Memory == nil || !formats.Find(c.Format).Tokens {
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
	if _, err := task.Fit(c, d); err != nil {
		return err
	}
	return task.Memory(c, d, times)
}

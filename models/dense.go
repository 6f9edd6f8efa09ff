package models

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/arrays"
)

// denseFiles returns the files of dense features of the training, development and test data; empty where there are none. Each data set
// needs its own.
func denseFiles(c *config.Config) ([]string, error) {
	files := make([]string, 3)
	if c.Dense == "" {
		return files, nil
	}
	given := strings.Split(c.Dense, ",")
	for i, data := range []struct{ flag, path string }{{"train", c.Train}, {"dev", c.Dev}, {"test", c.Test}} {
		if data.path == "" {
			continue
		}
		if len(given) == 0 || given[0] == "" {
			return nil, structured.BadInput("--dense %s: no file for --%s %s; expected one file for each of train, dev and test that is given", c.Dense, data.flag, data.path)
		}
		files[i], given = given[0], given[1:]
	}
	if len(given) > 0 {
		return nil, structured.BadInput("--dense %s: %s is one file too many; expected one for each of train, dev and test that is given", c.Dense, given[0])
	}
	return files, nil
}

// readDense reads the dense features of a text.
func (s source) readDense(d *structured.Dataset) error {
	return formats.Open(s.dense, func(r io.Reader) error {
		var err error
		d.Features, d.Dim, err = arrays.ReadFeatures(r, s.dense, d.Offsets, s.dim)
		return err
	})
}

package models

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/arrays"
)

// setFiles are files that go with the training, development and test data; empty where there are none.
type setFiles [3]string

// filesBeside returns the files that a setting gives for the training, development and test data of c, separated by commas: one for each
// that there is.
func filesBeside(setting, given string, c *config.Config) (files setFiles, err error) {
	if given == "" {
		return files, nil
	}
	rest := strings.Split(given, ",")
	for i, data := range []struct{ flag, path string }{{"train", c.Train}, {"dev", c.Dev}, {"test", c.Test}} {
		if data.path == "" {
			continue
		}
		if len(rest) == 0 || rest[0] == "" {
			return files, structured.BadInput("--%s %s: no file for --%s %s; expected one file for each of train, dev and test that is given",
				setting, given, data.flag, data.path)
		}
		files[i], rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		return files, structured.BadInput("--%s %s: %s is one file too many; expected one for each of train, dev and test that is given", setting, given, rest[0])
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

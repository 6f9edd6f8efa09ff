package models

import (
	"io"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/arrays"
)

// filesBeside returns the files that a setting gives beside each of the files of training, development and test data, separated by
// commas; empty where there are none. Each file needs its own, in order; a single folder of images is for all.
func filesBeside(paths [3][]string, name, value string) (files [3][]string, err error) {
	given := formats.Files(value)
	shared := name == "images" && len(given) == 1
	for k, data := range []string{"train", "dev", "test"} {
		files[k] = make([]string, len(paths[k]))
		for i, path := range paths[k] {
			switch {
			case value == "":
				continue
			case shared:
				files[k][i] = given[0]
				continue
			case len(given) == 0 || given[0] == "":
				return files, structured.BadInput("--%s %s: no file for --%s %s; expected one file for each of train, dev and test that is given", name, value, data, path)
			}
			files[k][i], given = given[0], given[1:]
		}
	}
	if len(given) > 0 && !shared {
		return files, structured.BadInput("--%s %s: %s is one file too many; expected one for each of train, dev and test that is given", name, value, given[0])
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

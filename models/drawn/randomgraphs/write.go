package randomgraphs

import (
	"io"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Write writes the graphs into a folder: train.npz, dev.npz and test.npz, as arrays.Graphs reads them. A set without
// graphs has no file.
func Write(dir string, o Options) error {
	train, dev, test, err := o.Draw()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		d    *structured.Dataset
	}{{"train", train}, {"dev", dev}, {"test", test}} {
		if part.d == nil {
			continue
		}
		err := host.WriteFile(filepath.Join(dir, part.name+".npz"), func(w io.Writer) error {
			return arrays.WriteGraphs(w, part.d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

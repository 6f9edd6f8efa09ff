package formats

import (
	"bytes"
	"io"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/structured"
)

// NPZ is the name of the format.
const NPZ = "npz"

// NumPy's archive of arrays: dense features, labels and lengths of sequences, or candidate boxes with their features.
var _ = builtin(Format{
	Name:       NPZ,
	Holds:      "arrays: dense features of rows, pairs, boxes or graphs",
	Tasks:      []string{"tag", "ocr", "localise", "align", "graph"},
	Takes:      []string{"min-count", "partial"},
	Extensions: []string{".npz"},
	Arrays:     true,
	Starts:     func(start []byte) bool { return bytes.HasPrefix(start, []byte("PK\x03\x04")) },
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		if o.Pairs == nil && arrays.OnDisk(path) {
			return readStored(path, o)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, structured.BadInput("%s: %w", path, err)
		}
		if o.Pairs != nil {
			return readPairArrays(content, path, o)
		}
		// Labels of data without gold labels are of use where all are good.
		dense := arrays.Dense{Dim: o.Dim, Alphabet: o.Labels, Partial: o.Partial, Remarks: o.Remarks, Strict: o.Unlabeled}
		d, err := dense.Read(bytes.NewReader(content), path)
		if err == nil || !o.Unlabeled {
			return d, err
		}
		dense.Unlabeled = true
		return dense.Read(bytes.NewReader(content), path)
	},
	ReadBoxes: func(path string, o localisation.Options) (*structured.Dataset, error) { return o.Arrays(path) },
})

// readStored reads a file on disk. Its features stay there if it is data to predict for, or if that is asked for.
func readStored(path string, o Options) (*structured.Dataset, error) {
	dense := arrays.Dense{
		Dim: o.Dim, Alphabet: o.Labels, Checked: !o.Unlabeled || o.Remarks.Skips(), InMemory: !o.Unlabeled && !o.OnDisk,
		Partial: o.Partial, Remarks: o.Remarks, Strict: o.Unlabeled,
	}
	d, err := dense.ReadFile(path)
	if err == nil && dense.Checked {
		d.Stored = d.Source != nil
	}
	if err != nil && o.Unlabeled { // a file without labels
		dense.Unlabeled = true
		d, err = dense.ReadFile(path)
	}
	return d, err
}

// readPairArrays reads features of pairs of source and target items.
func readPairArrays(content []byte, path string, o Options) (*structured.Dataset, error) {
	// Links of data without gold links are of use where all are good; else those of none are read.
	of := arrays.Pairs{Remarks: o.Remarks, Strict: o.Unlabeled}
	c, faults, err := alignments.ReadArrays(bytes.NewReader(content), path, of)
	if err != nil && o.Unlabeled { // a file without links
		c, faults, err = alignments.ReadArrays(bytes.NewReader(content), path,
			arrays.Pairs{Unlabeled: true, Remarks: o.Remarks})
	}
	if err != nil {
		return nil, err
	}
	return linked(c, faults, o)
}

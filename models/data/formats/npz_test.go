package formats

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// A sequence with bad features is left out of data to predict for, and takes no labels of others; where one label is
// bad, the labels of none are read, and all sequences stay.
func TestBadSequencesToPredictFor(t *testing.T) {
	for _, c := range []struct {
		features []float32
		labels   []int32
		left     int
		known    []int32
	}{
		{[]float32{1, 2, 3, 4}, []int32{0, 1, 1, 0}, 0, []int32{0, 1, 1, 0}},
		{[]float32{1, 2, float32(math.Inf(1)), 4}, []int32{0, 1, 1, 0}, 1, []int32{0, 1}},
		{[]float32{1, 2, 3, 4}, []int32{0, 1, 1, -7}, 0, nil},
		{[]float32{1, 2, float32(math.NaN()), 4}, []int32{0, -7, 1, 0}, 1, nil},
		{[]float32{1, 2, float32(math.NaN()), 4}, nil, 1, nil},
	} {
		var b bytes.Buffer
		err := arrays.WriteNPZ(&b, func(w arrays.NPZWriter) error {
			err := errors.Join(arrays.Add(w, "features", c.features, 4, 1), arrays.Add(w, "lengths", []int32{2, 2}, 2))
			if c.labels != nil {
				err = errors.Join(err, arrays.Add(w, "labels", c.labels, 4))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.npz")
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"no file", path} { // read from memory, and from the disk
			say := remarks.New(true)
			o := Options{Unlabeled: true, Remarks: say, Labels: structured.NewAlphabet("0", "1")}
			d, err := Find(NPZ).Read(bytes.NewReader(b.Bytes()), name, o)
			if err != nil || d.Len() != 2-c.left || !slices.Equal(d.Labels, c.known) || len(say.Reasons()) != c.left {
				t.Errorf("%v, labels %v: %v, %+v, left out %q", c.features, c.labels, err, d, say.Reasons())
			}
		}
	}
}

// Features of pairs are read with links where there are some, and without where only predictions are asked for.
func TestPairArraysWithoutLinks(t *testing.T) {
	archive := func(links []int32) []byte {
		t.Helper()
		var b bytes.Buffer
		err := arrays.WriteNPZ(&b, func(w arrays.NPZWriter) error {
			err := errors.Join(arrays.Add(w, "features", make([]float32, 4), 2, 2), arrays.Add(w, "sizes", []int32{1, 2}, 1, 2))
			if links != nil {
				err = errors.Join(err, arrays.Add(w, "links", links, 1, 3))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		links     []int32
		unlabeled bool
		fine      bool
		gold      int
	}{{[]int32{0, 0, 1}, false, true, 1}, {[]int32{0, 0, 1}, true, true, 1},
		{nil, true, true, 0}, {nil, false, false, 0}} {
		d, err := readPairArrays(archive(c.links), "x.npz", Options{Unlabeled: c.unlabeled})
		if c.fine != (err == nil) || err != nil && !structured.IsBadInput(err) {
			t.Errorf("links %v, without labels %t: %v", c.links, c.unlabeled, err)
		} else if err == nil && len(d.Labels) != c.gold {
			t.Errorf("links %v, without labels %t: gold outputs %v", c.links, c.unlabeled, d.Labels)
		}
	}
}

package formats

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
)

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
	}{{[]int32{0, 0, 1}, false, true, 1}, {[]int32{0, 0, 1}, true, true, 1}, {nil, true, true, 0}, {nil, false, false, 0}} {
		d, err := readPairArrays(archive(c.links), "x.npz", Options{Unlabeled: c.unlabeled})
		if c.fine != (err == nil) || err != nil && !structured.IsBadInput(err) {
			t.Errorf("links %v, without labels %t: %v", c.links, c.unlabeled, err)
		} else if err == nil && len(d.Labels) != c.gold {
			t.Errorf("links %v, without labels %t: gold outputs %v", c.links, c.unlabeled, d.Labels)
		}
	}
}

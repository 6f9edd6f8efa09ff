package alignments_test

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
)

// archive writes an npz archive of two pairs, of 1 by 2 and 2 by 1 words.
func archive(t *testing.T, links []int32) []byte {
	t.Helper()
	var b bytes.Buffer
	err := arrays.WriteNPZ(&b, func(n arrays.NPZWriter) error {
		if err := arrays.Add(n, "features", []float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2); err != nil {
			return err
		}
		if err := arrays.Add(n, "sizes", []int64{1, 2, 2, 1}, 2, 2); err != nil || links == nil {
			return err
		}
		return arrays.Add(n, "links", links, len(links)/4, 4)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadArrays(t *testing.T) {
	file := archive(t, []int32{1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1})
	c, _, err := alignments.ReadArrays(bytes.NewReader(file), "p.npz", arrays.Pairs{})
	if err != nil {
		t.Fatal(err)
	}
	d := c.Dataset()
	if want := []int32{2, 1, 0}; !reflect.DeepEqual(d.Labels, want) {
		t.Errorf("gold outputs %v, expected %v", d.Labels, want)
	}
	if got, want := alignments.GoldLinks(d, 1),
		[]alignments.Link{sure(0, 0), possible(1, 0)}; !reflect.DeepEqual(got, want) {
		t.Errorf("links %v, expected %v", got, want)
	}
	index, value := d.Table(alignments.PairRows).Attributes.Row(2)
	if !reflect.DeepEqual(index, []int32{0, 1}) || !reflect.DeepEqual(value, []float32{5, 6}) {
		t.Errorf("row 2 has attributes %v with values %v", index, value)
	}
	if c, _, err := alignments.ReadArrays(bytes.NewReader(file), "p.npz", arrays.Pairs{Unlabeled: true}); err != nil ||
		c.Known() {
		t.Errorf("%v, links known: %v", err, c.Known())
	}
}

func TestReadFeaturesBesideText(t *testing.T) {
	c := read(t, alignments.Reader{}, "a ||| x y ||| 0-0\nb c ||| z ||| 1-0\n")
	if err := c.ReadFeatures(bytes.NewReader(archive(t, nil)), "p.npz", 0); err != nil ||
		c.Dim != 2 || len(c.Features) != 8 {
		t.Errorf("%v, %d features, %d per pair of words", err, len(c.Features), c.Dim)
	}
	other := read(t, alignments.Reader{}, "a ||| x y ||| 0-0\nb ||| z ||| 0-0\n")
	if err := other.ReadFeatures(bytes.NewReader(archive(t, nil)), "p.npz", 0); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), "p.npz: sizes[1] is [2 1], expected [1 1] words as in the text") {
		t.Errorf("error %v", err)
	}
	if err := c.ReadFeatures(io.LimitReader(bytes.NewReader(archive(t, nil)), 100), "p.npz",
		0); !structured.IsBadInput(err) {
		t.Errorf("truncated archive: error %v, expected bad input", err)
	}
}

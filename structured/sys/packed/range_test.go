package packed

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Numbers of labels and inputs that their vocabularies lack are refused, and the message says which number and what was
// expected. The last number that there is is read.
func TestNumbersOutOfRange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pack")
	for _, c := range []struct {
		change func(d *structured.Dataset)
		want   string // "": it is read
	}{
		{func(d *structured.Dataset) { d.Attributes.Index[1] = 3 }, ""},
		{func(d *structured.Dataset) { d.Attributes.Index[1] = 4 }, "has number 4, expected 0 to 3"},
		{func(d *structured.Dataset) { d.EdgeAttributes.Index[1] = -1 }, "has number -1, expected 0 to 3"},
		{func(d *structured.Dataset) { d.EdgeAttributes.Index[1] = 5 }, "has number 5, expected 0 to 3"},
		{func(d *structured.Dataset) { d.Characters.Ids[2] = 2 }, ""},
		{func(d *structured.Dataset) { d.Characters.Ids[2] = 3 }, "has number 3, expected 0 to 2"},
		{func(d *structured.Dataset) { d.Ids[5] = 3 }, "has number 3, expected 0 to 2"},
		{func(d *structured.Dataset) { d.Ids[5] = -1 }, "has number -1, expected 0 to 2"},
		{func(d *structured.Dataset) { d.Labels[0] = 2 }, "has number 2, expected -2 to 1"}, // −1 and −2 are sets of labels
		{func(d *structured.Dataset) { d.Labels[0] = -2 }, ""},
		{func(d *structured.Dataset) { d.Labels[0] = -3 }, "has number -3, expected -2 to 1"},
	} {
		d := everything()
		c.change(d)
		err := read(t, path, encoded(t, d), func(*structured.Dataset) {})
		if c.want == "" && err != nil || c.want != "" &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

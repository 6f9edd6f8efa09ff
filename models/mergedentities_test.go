package models

import (
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/remarks"
)

// Reading tags in the scheme io warns of entities that become one, with the place of the first; other schemes keep them
// apart.
func TestMergedEntities(t *testing.T) {
	for _, test := range []struct {
		scheme, text string
		times        int
		line         string
	}{
		{"io", "a B-X\nb I-X\nc B-X\n\nd O\ne B-X\nf B-X\n", 2, ":3"},
		{"io", "a I-X\nb I-X\n\nd I-X\nf B-X\n", 1, ":5"}, // iob1
		{"IO", "a B-X\nb E-X\nc S-X\n", 1, ":3"},
		{"io", "a B-X\nb B-Y\n\nb B-Y\nc O\nd B-Y\n", 0, ""},
		{"iob2", "a B-X\nb I-X\nc B-X\n", 0, ""},
		{"keep", "a B-X\nb I-X\nc B-X\n", 0, ""},
	} {
		c := config.Default()
		c.Train, c.Scheme = file(t, "x.conll", test.text), test.scheme
		r, err := Resolve(c)
		if err == nil {
			_, err = r.Read()
		}
		if err != nil {
			t.Fatal(err)
		}
		times, first := 0, ""
		for _, m := range r.Remarks().Made() {
			if m.What == remarks.Merged {
				times, first = m.Times, m.First
			}
		}
		if want := test.line; times != test.times || want != "" && first != c.Train+want {
			t.Errorf("%s, %q: %d times, first at %s", test.scheme, test.text, times, first)
		}
	}
}

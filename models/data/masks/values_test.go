package masks

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// What is stored of a mask that was read is the mask of the file, whatever its values mean; a value without a meaning is
// refused, with its place and what was expected.
func TestValuesAreThoseOfTheFile(t *testing.T) {
	for _, c := range []struct{ void, labels, values, other, expected string }{
		{Auto, Auto, "\x00\x01\xfe\xff", "", ""},
		{None, Auto, "\x00\x01\xfe", "\xff", "0 to 254 (--mask-values), none of them void (--void)"},
		{"7", Auto, "\x00\x06\x07\xfe", "\xff", "0 to 254 (--mask-values), or 7, void (--void)"},
		{"7", "0,255,3", "\x00\xff\x03\x07", "\x01", "0, 255, 3 (--mask-values), or 7, void (--void)"},
		{"0", "255", "\x00\xff", "\x01", "255 (--mask-values), or 0, void (--void)"},
		{Auto, "255,0", "\xff\x00", "\x01", "255, 0 (--mask-values), none of them void (--void)"},
		{None, "0,255", "\x00\xff", "\x01", "0, 255 (--mask-values), none of them void (--void)"},
	} {
		v, err := ParseValues(c.void, c.labels)
		if err != nil {
			t.Fatal(err)
		}
		isVoid := Void
		if v != nil { // values other than those of labels
			isVoid = v.Void
		}
		rapid.Check(t, func(t *rapid.T) {
			pixel := rapid.SampledFrom([]uint8(c.values))
			file := &Mask{Width: 3, Height: 2, Labels: rapid.SliceOfN(pixel, 6, 6).Draw(t, "pixels")}
			was := slices.Clone(file.Labels)
			m, err := v.Read(file, "x")
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range m.Labels {
				if (int(was[i]) == isVoid) != (l == Void) {
					t.Fatalf("%d is read as label %d, and void is %d", was[i], l, isVoid)
				}
			}
			if got := v.Stored(m).Labels; !slices.Equal(got, was) || !slices.Equal(file.Labels, was) {
				t.Fatalf("%v is stored as %v", was, got)
			}
		})
		if c.other == "" {
			continue
		}
		bad := &Mask{Width: 2, Height: 2, Labels: []uint8{c.values[0], c.values[0], c.values[0], c.other[0]}}
		if _, err := v.Read(bad, "x"); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), "x: the pixel at x 1, y 1 has the value ") || !strings.HasSuffix(err.Error(), "expected "+c.expected) {
			t.Fatalf("%s, %s: %v, expected %q", c.void, c.labels, err, c.expected)
		}
	}
}

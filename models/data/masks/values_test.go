package masks

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// What is stored of a mask that was read is the mask of the file, whatever its values mean; a value without a meaning
// is refused, with its place and what was expected.
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
			!strings.Contains(err.Error(), "x: the pixel at x 1, y 1 has the value ") ||
			!strings.HasSuffix(err.Error(), "expected "+c.expected) {
			t.Fatalf("%s, %s: %v, expected %q", c.void, c.labels, err, c.expected)
		}
	}
}

// Settings are read as they are written, and what contradicts itself is refused.
func TestParseValues(t *testing.T) {
	many := make([]string, 256)
	for k := range many {
		many[k] = strconv.Itoa(k)
	}
	for _, c := range []struct{ void, labels, wantVoid, wantLabels string }{
		{Auto, Auto, "255", Auto}, {"255", Auto, "255", Auto}, {"12", Auto, "12", Auto}, {None, Auto, None, Auto},
		{Auto, "0, 255", None, "0,255"},
		{Auto, "0,10", "255", "0,10"}, {"10", "0,11", "10", "0,11"}, {"0", "10,1", "0", "10,1"},
		{None, strings.Join(many[1:], ","), None, strings.Join(many[1:], ",")},
	} {
		v, err := ParseValues(c.void, c.labels)
		if err != nil {
			t.Errorf("%s, %s: %v", c.void, c.labels, err)
			continue
		}
		if void, labels := v.Settings(); void != c.wantVoid || labels != c.wantLabels {
			t.Errorf("%s, %.40s: void %s, labels %.40s", c.void, c.labels, void, labels)
		}
	}
	for _, c := range []struct{ void, labels, want string }{
		{"256", Auto, "--void 256: expected auto, none or a value from 0 to 255"}, {"-1", Auto, "--void -1: expected"},
		{"0x1", Auto, "--void 0x1: expected"},
		{Auto, "1,256", `--mask-values 1,256: "256", expected auto, or values from 0 to 255, such as 0,255`},
		{Auto, "", `--mask-values : "", expected`},
		{Auto, "1,2,1", "--mask-values 1,2,1: 1 is there twice"},
		{"7", "0,7", "--mask-values 0,7 has 7, which --void says is void"},
		{None, strings.Join(many, ","), "--mask-values: 256 values, expected at most 255"},
	} {
		if _, err := ParseValues(c.void, c.labels); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, %.40s: %v, expected %s", c.void, c.labels, err, c.want)
		}
	}
}

// Two values, the larger of which is 255, are a background and an object. Three others, or 255 and two, are not,
// whatever follows.
func TestFoundValues(t *testing.T) {
	for values, want := range map[string]struct{ object, plain bool }{
		"": {}, "\x00": {}, "\xff": {}, "\x00\xff": {object: true}, "\x07\xff\x07": {object: true}, "\x00\x01": {},
		"\x00\x01\x02": {}, "\x00\x01\xff": {plain: true}, "\x00\x01\x02\x03": {plain: true},
		"\x00\x01\x02\xff": {plain: true},
	} {
		var f Found
		f.Add(&Mask{Labels: []uint8(values)})
		v := f.Object()
		if (v != nil) != want.object || f.Plain() != want.plain {
			t.Errorf("%q: object %v, plain %v, expected %+v", values, v, f.Plain(), want)
		}
		if v != nil && (v.Void != NoVoid || !slices.Equal(v.Labels, []uint8(values)[:2])) {
			t.Errorf("%q: %+v", values, v)
		}
	}
}

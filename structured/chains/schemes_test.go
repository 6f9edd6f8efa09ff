package chains

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// The constraints allow a tagging if and only if reading it strictly and writing its chunks again reproduces it.
func TestSchemeConstraints(t *testing.T) {
	for scheme, names := range map[string][]string{"iob2": {"I-B", "O", "B-A", "I-A", "B-B"}, "bioes": bioes} {
		a := structured.NewAlphabet(names...)
		c, err := SchemeConstraints(a, scheme)
		if err != nil {
			t.Fatal(err)
		}
		s := parseTags(a)
		allowed := 0
		rapid.Check(t, func(t *rapid.T) {
			labels := rapid.SliceOfN(rapid.Int32Range(0, int32(a.Len()-1)), 0, 4).Draw(t, "labels")
			got := make([]string, len(labels))
			for i := range got {
				got[i] = "O"
			}
			for _, k := range s.strictChunks(nil, labels) {
				typ := "-" + s.types.Name(k.typ)
				for p := k.start; p < k.end; p++ {
					got[p] = "I" + typ
				}
				got[k.start] = "B" + typ
				if scheme == "bioes" {
					got[k.end-1] = "E" + typ
					if k.end == k.start+1 {
						got[k.start] = "S" + typ
					}
				}
			}
			want := true
			for i, l := range labels {
				want = want && got[i] == a.Name(l)
			}
			if c.Allows(labels) != want {
				t.Fatalf("%v: allowed %v, want %v", labels, !want, want)
			}
			if want {
				allowed++
			}
			// A labeling is allowed if and only if its score stays finite.
			if len(labels) > 0 {
				θ := &structured.Potentials{}
				Resize(θ, []int{0, 0, len(labels)}, a.Len(), rapid.Bool().Draw(t, "per position"))
				clear(θ.Parts[0].Values)
				clear(θ.Parts[1].Values)
				c.Apply(θ)
				if got := !math.IsInf(θ.Score(1, labels), -1); got != want {
					t.Fatalf("%v: score finite %v, want %v", labels, got, want)
				}
			}
		})
		if allowed == 0 {
			t.Errorf("%s: no drawn labeling was allowed", scheme)
		}
	}
}

func TestSchemeConstraintsErrors(t *testing.T) {
	for _, test := range []struct{ labels, scheme, want string }{
		{"O B-A I-A", "iobes", `tag scheme "iobes", expected io, iob1, iob2`},
		{"a b", "iob2", "tag scheme iob2 needs labels like O, B-x, I-x; found a, b"},
		{"O S-A", "iob2", "is it bioes?"},
	} {
		_, err := SchemeConstraints(structured.NewAlphabet(strings.Fields(test.labels)...), test.scheme)
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %s", test, err, test.want)
		}
	}
}

func TestNilConstraintsAllowEverything(t *testing.T) {
	var none *Constraints
	none.Apply(&structured.Potentials{})
	if !none.Allows([]int32{1, 2}) || !(&Constraints{Start: []bool{true}}).Allows(nil) {
		t.Error("something is forbidden")
	}
}

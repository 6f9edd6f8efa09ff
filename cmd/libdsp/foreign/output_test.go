package foreign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
)

// The outputs that are accepted are those that enumeration lists: of every structure, what differs from an output in
// one number is accepted if it is an output too.
func TestOutputs(t *testing.T) {
	for _, kind := range registry.All {
		r := rand.New(rand.NewPCG(4, 4))
		if kind.Structure.Name() == "second-order chain" {
			kind.Small = smallSecond
		}
		accepted, refused := 0, 0
		for range 20 {
			θ := kind.Small(r)
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					θ.Parts[k].Values[i] = float32(r.NormFloat64())
				}
			}
			b, _ := new(asked).batch(θ)
			for e := range θ.Len() {
				valid, largest := map[string]bool{}, int32(0)
				all := oracletest.Enumerate(θ, e)
				for _, o := range all {
					valid[fmt.Sprint(o.Values)] = true
					largest = max(largest, slices.Max(append(o.Values, 0)))
				}
				for range 40 {
					y := slices.Clone(all[r.IntN(len(all))].Values)
					if len(y) > 0 {
						y[r.IntN(len(y))] = r.Int32N(largest+3) - 1
					}
					err := b.form.output(example{b, e, len(y)}, y)
					if (err == nil) != valid[fmt.Sprint(y)] {
						t.Fatalf("%s: output %v of %d possible ones: %v", kind.Name(), y, len(all), err)
					}
					if err == nil {
						accepted++
					} else {
						refused++
					}
				}
			}
		}
		if accepted == 0 || refused == 0 {
			t.Errorf("%s: %d accepted and %d refused, expected some of both", kind.Name(), accepted, refused)
		}
	}
}

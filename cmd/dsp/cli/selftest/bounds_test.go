package selftest

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/oracles/reweighted"
	"github.com/dsp-go/dsp/structured"
)

// low is an oracle whose bounds are too low.
type low struct{ *reweighted.Oracle }

func (l low) Max(θ *structured.Potentials, y []int32, value []float64) {
	l.Oracle.Max(θ, y, value)
	value[0] -= 0.01
}

func (l low) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	l.Oracle.Exp(θ, μ, value, u)
	value[0] -= 0.01
}

// The bounds of relaxed kinds pass their checks, and bounds that are too low fail.
func TestBoundsAreCheckedAgainstEnumeration(t *testing.T) {
	for _, kind := range registry.All {
		if !relaxed(kind.Oracle()) {
			continue
		}
		for _, question := range []string{"bound of max", "bound of exp"} {
			if found, ok := check(t, kind, question); !ok {
				t.Errorf("%s, %s: the oracle fails: %s", kind.Name(), question, found)
			}
			wrong := kind
			wrong.Oracle = func() oracles.Maximiser { return low{reweighted.New()} }
			if _, ok := check(t, wrong, question); ok {
				t.Errorf("%s, %s: bounds that are too low pass", kind.Name(), question)
			}
		}
	}
}

package engine_test

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
)

// Steps that a chain shares have marginals that are sums over all its positions. Float32 rounds them by a share of
// these sums, however close they are to those of the gold output, and the row's sum shows nothing where one is rounded
// up and another one down.
func TestRoundingOfSharedStepsIsCharged(t *testing.T) {
	const length, large = 10001, 1000
	θ, v := &structured.Potentials{}, &structured.Marginals{}
	chains.Resize(θ, []int{0, length}, 2, false)
	clear(θ.Parts[0].Values)
	copy(θ.Parts[1].Values, []float32{large, 0, 0, -large})
	v.Like(θ)
	v.Clear()
	up := float32(math.Nextafter32(6000, 7000)-6000) / 2 // what is rounded off 6000
	copy(v.Parts[1].Of(0), []float32{up, 0, 0, -up})
	v.Parts[0].Of(0)[0], v.Parts[0].Of(0)[1] = -1e-20, 1e-20 // something is left to learn
	off := v.Dot(0, θ)
	if charge := engine.ChargeOfPoint(θ, v); !(charge >= off) {
		t.Errorf("roundings of %g make the bound %g too large, and it is charged %g", up, off, charge)
	}
}

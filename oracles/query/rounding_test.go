package query

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/factors"
)

// Rounding errors grow with the largest logarithm of each factor, and with the number of variables and factors;
// forbidden entries count for nothing.
func TestRounding(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		m    *factors.Model
		want float64
	}{
		{&factors.Model{States: []int{2}, Factors: []factors.Factor{{Scope: []int{0}, Table: []float64{1, -3}}}}, 64 * 2 * 3},
		{&factors.Model{States: []int{2, 2}, Factors: []factors.Factor{{Scope: []int{0}, Table: []float64{inf, -0.5}},
			{Scope: []int{1}, Table: []float64{2, 0}}}}, 64 * 4 * 2.5},
		{&factors.Model{States: []int{2}, Factors: []factors.Factor{{Scope: []int{0}, Table: []float64{0, inf}}}}, 0},
		{&factors.Model{States: []int{2}}, 0},
	} {
		if got := rounding(c.m); got != c.want*oracles.Double {
			t.Errorf("%v, expected %v units of float64", got, c.want)
		}
	}
}

// A bound meets a value that it is above by no more than a part of it, −∞ only −∞.
func TestMeets(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		value, bound, part float64
		want               bool
	}{
		{-10, -9, 0.1, true}, {-10, -8.9, 0.1, false}, {10, 11, 0.1, true}, {10, 10, 0, true}, {0, 1, 0.5, false},
		{inf, inf, 0, true}, {inf, 1, 10, false},
	} {
		if a := (&Answer{Value: c.value, Bound: c.bound}); a.meets(c.part) != c.want {
			t.Errorf("%+v: %v", c, !c.want)
		}
	}
}

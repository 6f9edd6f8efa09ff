package methods

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Averaging selects the iterate that a stochastic method reports. It never changes the path of the iterates.
type Averaging int

// The averages of the iterates w_1, w_2, …
const (
	AutoAverage        Averaging = iota // for SGD WeightedAverage on an affine scorer and PassAverage on a network; see Adam and BCFW for theirs
	NoAverage                           // the last iterate
	UniformAverage                      // (1/t) Σ w_τ
	WeightedAverage                     // 2/(t²+t) Σ τ·w_τ (Lacoste-Julien, Schmidt and Bach 2012)
	PassAverage                         // (1/t) Σ w_τ over the last pass's iterates only
	ExponentialAverage                  // Σ 0.999^(t−τ) w_τ over Σ 0.999^(t−τ)
)

var averagingNames = []string{"auto", "none", "uniform", "weighted", "pass", "ema"}

func (a Averaging) String() string { return averagingNames[a] }

// ParseAveraging parses an averaging as String writes it.
func ParseAveraging(name string) (Averaging, error) {
	return structured.ParseName[Averaging]("averaging", averagingNames, name)
}

// weight returns the weight of the t-th iterate, from 0, in the mean.
func (a Averaging) weight(t int) float64 {
	if a == WeightedAverage {
		return float64(t + 1)
	}
	return 1
}

// share returns the share of the next iterate in the mean of count others, when the last one entered steps ago.
func (a Averaging) share(count, steps int) float64 {
	switch n := float64(count + 1); a {
	case WeightedAverage:
		return 2 / (n + 1)
	case ExponentialAverage:
		return max(1/n, 1-math.Pow(averageDecay, float64(steps)))
	default:
		return 1 / n
	}
}

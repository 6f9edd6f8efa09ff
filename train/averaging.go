package train

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// Averaging says which iterate a stochastic method reports. It never changes the path of the iterates themselves.
type Averaging int

// The averages of the iterates w_1, w_2, …
const (
	AutoAverage     Averaging = iota // WeightedAverage for an affine scorer, PassAverage for a network
	NoAverage                        // the last iterate
	UniformAverage                   // (1/t) Σ w_τ
	WeightedAverage                  // 2/(t²+t) Σ τ·w_τ (Lacoste-Julien, Schmidt and Bach 2012)
	PassAverage                      // (1/t) Σ w_τ over the iterates of the last pass alone
)

var averagingNames = [...]string{"auto", "none", "uniform", "weighted", "pass"}

func (a Averaging) String() string { return averagingNames[a] }

// ParseAveraging reads an averaging as String writes it.
func ParseAveraging(name string) (Averaging, error) {
	for i, n := range averagingNames {
		if n == name {
			return Averaging(i), nil
		}
	}
	return 0, structured.BadInput("averaging %q is not known; use auto, none, uniform, weighted or pass", name)
}

// running is a running average of iterates, and of a number that belongs to each.
type running struct {
	w []float32
	b float64
	t int // iterates so far
}

// add takes in the next iterate: w̄ ← (1−ρ)w̄ + ρw with ρ = 2/(t+2) (weighted) or 1/(t+1), t counted before it.
func (r *running) add(w []float32, b float64, weighted bool) {
	ρ := 1 / float64(r.t+1)
	if weighted {
		ρ = 2 / float64(r.t+2)
	}
	r.t++
	if r.t == 1 {
		r.w, r.b = append(r.w[:0], w...), b
		return
	}
	vec.Axpby(float32(ρ), w, float32(1-ρ), r.w)
	r.b += ρ * (b - r.b)
}

func (r *running) archive(a Archive) {
	a.Floats("average", &r.w)
	a.Number("average.linear", &r.b)
	a.Count("average.iterates", &r.t)
}

package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Param is a parameter array of a network.
type Param struct {
	Name  string
	Shape []int
	Init  Init // nil: zeros
}

// Init draws the initial values of a parameter of the given shape into w.
type Init func(rng *rand.Rand, shape []int, w []float32)

// Glorot draws from N(0, 2/(in+out)) for a parameter [in×…×out], which keeps the variance of both activations and
// gradients through layers that are linear around zero (Glorot and Bengio 2010).
func Glorot(rng *rand.Rand, shape []int, w []float32) {
	out := shape[len(shape)-1]
	gaussian(rng, w, math.Sqrt(2/float64(len(w)/out+out)))
}

// He draws from N(0, 2/in) for a parameter [in×…×out], which keeps the variance through rectifiers (He et al. 2015).
func He(rng *rand.Rand, shape []int, w []float32) {
	gaussian(rng, w, math.Sqrt(2/float64(len(w)/shape[len(shape)-1])))
}

// Gaussian draws from N(0, deviation²).
func Gaussian(deviation float64) Init {
	return func(rng *rand.Rand, _ []int, w []float32) { gaussian(rng, w, deviation) }
}

func gaussian(rng *rand.Rand, w []float32, deviation float64) {
	for i := range w {
		w[i] = float32(rng.NormFloat64() * deviation)
	}
}

// Array is where a parameter lives in the flat weight vector.
type Array struct {
	Name   string
	Shape  []int
	Offset int
}

// Len returns how many weights the array has.
func (a Array) Len() int { return product(a.Shape) }

// Of returns the array's part of a flat vector w.
func (a Array) Of(w []float32) []float32 { return w[a.Offset : a.Offset+a.Len()] }

// Layout lists the arrays of a flat weight vector, in order, without gaps.
type Layout []Array

// Dim returns the length of the weight vector.
func (l Layout) Dim() int {
	if len(l) == 0 {
		return 0
	}
	last := l[len(l)-1]
	return last.Offset + last.Len()
}

// Find returns the array with the given name.
func (l Layout) Find(name string) (Array, bool) {
	for _, a := range l {
		if a.Name == name {
			return a, true
		}
	}
	return Array{}, false
}

func (l Layout) String() string {
	var s strings.Builder
	for _, a := range l {
		fmt.Fprintf(&s, "%s%v ", a.Name, a.Shape)
	}
	return strings.TrimSpace(s.String())
}

// MostWeights is the number of weights of the largest network: 16 GiB of them.
const MostWeights = 1 << 32

// NewLayout lays parameters out in order. It takes no memory for them. Sizes that no network has are bad input:
// settings and files say them.
func NewLayout(params []Param) (Layout, error) {
	l, names := make(Layout, 0, len(params)), make(map[string]bool, len(params))
	dim := 0
	for _, p := range params {
		if names[p.Name] {
			return nil, fmt.Errorf("two parameters are named %q", p.Name)
		}
		names[p.Name] = true
		size := 1
		for _, s := range p.Shape {
			if s <= 0 {
				return nil, structured.BadInput("parameter %q has shape %v; every axis must be positive", p.Name, p.Shape)
			}
			if size > MostWeights/s {
				return nil, structured.BadInput("parameter %q has shape %v; a network has at most %d weights",
					p.Name, p.Shape, MostWeights)
			}
			size *= s
		}
		if dim += size; dim > MostWeights {
			return nil, structured.BadInput("with parameter %q of shape %v there are %d weights; a network has at most %d",
				p.Name, p.Shape, dim, MostWeights)
		}
		l = append(l, Array{Name: p.Name, Shape: p.Shape, Offset: dim - size})
	}
	return l, nil
}

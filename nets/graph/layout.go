package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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

func NewLayout(params []Param) (Layout, error) {
	var l Layout
	for _, p := range params {
		if _, dup := l.Find(p.Name); dup {
			return nil, fmt.Errorf("two parameters are named %q", p.Name)
		}
		for _, s := range p.Shape {
			if s <= 0 {
				return nil, fmt.Errorf("parameter %q has shape %v; every axis must be positive", p.Name, p.Shape)
			}
		}
		l = append(l, Array{Name: p.Name, Shape: p.Shape, Offset: l.Dim()})
	}
	return l, nil
}

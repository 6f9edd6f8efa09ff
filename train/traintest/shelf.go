package traintest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dsp-go/dsp/train"
)

// Shelf is an Archive in memory.
type Shelf struct {
	Restoring bool
	Values    map[string]any
}

func put[E any](s *Shelf, name string, x *E, copied func(E) E) {
	if s.Restoring {
		*x = copied(s.Values[name].(E))
		return
	}
	if _, twice := s.Values[name]; twice {
		panic(name + " is archived twice")
	}
	s.Values[name] = copied(*x)
}

func (s *Shelf) Restores() bool { return s.Restoring }

func (s *Shelf) Ints(name string, x *[]int32) { put(s, name, x, slices.Clone) }

func (s *Shelf) Floats(name string, x *[]float32) { put(s, name, x, slices.Clone) }

func (s *Shelf) Doubles(name string, x *[]float64) { put(s, name, x, slices.Clone) }

func (s *Shelf) Number(name string, x *float64) {
	put(s, name, x, func(v float64) float64 { return v })
}

func (s *Shelf) Count(name string, x *int) { put(s, name, x, func(v int) int { return v }) }

// Refuse implements engine.Archive: what a test has put on the shelf is not damaged.
func (s *Shelf) Refuse(unless bool, name string) {
	if s.Restoring && !unless {
		panic(name + " is damaged")
	}
}

// Changed returns the names of what two shelves of the same method hold differently, sorted, except those in but.
func (s *Shelf) Changed(from *Shelf, but ...string) (names []string) {
	for name, x := range s.Values {
		if !slices.Contains(but, name) && !reflect.DeepEqual(x, from.Values[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// NewShelf returns a shelf with everything that a method archives.
func NewShelf(m train.Method) *Shelf {
	s := &Shelf{Values: map[string]any{}}
	m.Archive(s)
	return s
}

// Mixture returns the value of the best mixture of a method's certificate, without any allowance and ignoring earlier
// values.
func Mixture(m train.Method, λ float64) float64 {
	kept := NewShelf(m).Values
	value, mix := kept["certificate.values"].([]float64), kept["certificate.mix"].([]float64)
	d := 0.0
	for j, q := range mix {
		d += q * value[j]
		gram := kept[fmt.Sprintf("certificate.gram%d", j)].([]float64)
		for k, r := range mix {
			d -= q * r * gram[k] / (2 * λ)
		}
	}
	return d
}

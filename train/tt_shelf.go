package train

import (
	"fmt"
	"slices"
)

// shelf is an Archive in memory.
type shelf struct {
	restoring bool
	values    map[string]any
}

func put[E any](s *shelf, name string, x *E, copied func(E) E) {
	if s.restoring {
		*x = copied(s.values[name].(E))
		return
	}
	if _, twice := s.values[name]; twice {
		panic(name + " is archived twice")
	}
	s.values[name] = copied(*x)
}

func (s *shelf) Restores() bool { return s.restoring }

func (s *shelf) Ints(name string, x *[]int32) { put(s, name, x, slices.Clone) }

func (s *shelf) Floats(name string, x *[]float32) { put(s, name, x, slices.Clone) }

func (s *shelf) Doubles(name string, x *[]float64) { put(s, name, x, slices.Clone) }

func (s *shelf) Number(name string, x *float64) {
	put(s, name, x, func(v float64) float64 { return v })
}

func (s *shelf) Count(name string, x *int) { put(s, name, x, func(v int) int { return v }) }

// newShelf returns a shelf with all that a method archives.
func newShelf(m Method) *shelf {
	s := &shelf{values: map[string]any{}}
	m.Archive(s)
	return s
}

// mixture returns what the best mixture of a method's certificate is worth, with no allowance taken off and whatever was seen
// before.
func mixture(m Method, λ float64) float64 {
	kept := newShelf(m).values
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

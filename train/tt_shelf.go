package train

import "slices"

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

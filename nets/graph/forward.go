package graph

import (
	"fmt"
	"sync"

	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/kernels"
)

// CompileForward is Compile for a network whose weights stay the same: the program has no pullback and no push-forward,
// fuses ops (fuse.go), and keeps no result longer than an op reads it. Its machines need Factors.
func CompileForward(s *Spec, layout Layout, input Input, size Size) (p *Program, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if r := recover(); r != nil { // Gorgonia panics on shapes that do not fit
			p, err = nil, fmt.Errorf("nets: network %q: %v", s.Name, r)
		}
	}()
	if p, err = forward(s, layout, input, size); err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	return p, nil
}

func forward(s *Spec, layout Layout, input Input, size Size) (*Program, error) {
	g := newGraph(size, tensor.Float32, input, layout)
	form, nodes, err := s.outputs(g)
	if err != nil {
		return nil, err
	}
	l := newLowering(g)
	outputs := make([]*value, len(nodes))
	for k, n := range nodes {
		if n == nil {
			continue
		}
		if outputs[k], err = l.value(n); err != nil {
			return nil, err
		}
	}
	axes := &rowAxes{size, l.literals, map[*value]axis{}}
	if err := axes.check(g, form, outputs); err != nil {
		return nil, err
	}
	p := &Program{Size: size, Form: form, Needs: g.needs, Tables: weightTables(outputs)}
	p.plan(layout, l.fuse(outputs, axes), nil, nil, nil)
	p.Literals = l.literals
	return p, nil
}

// Factors are the weights of a network that stay the same, packed for products when they are first needed. The machines
// of all workers share them.
type Factors struct {
	Int8 bool // products round rows and weights to bytes (kernels.Int8Factor)

	mu       sync.Mutex
	by       map[int]*kernels.Factor // by offset in w
	integers map[int]*kernels.Int8Factor
}

// of returns the matrix [n×k] at an offset of w.
func (f *Factors) of(w []float32, offset, n, k int) *kernels.Factor {
	return packed(f, &f.by, offset, func() *kernels.Factor { return kernels.NewFactor(w[offset:], n, k) })
}

// int8 returns the matrix [n×k] at an offset of w, rounded.
func (f *Factors) int8(w []float32, offset, n, k int) *kernels.Int8Factor {
	return packed(f, &f.integers, offset, func() *kernels.Int8Factor { return kernels.NewInt8Factor(w[offset:], n, k) })
}

// packed returns what is known at an offset, or makes it.
func packed[F any](f *Factors, known *map[int]*F, offset int, pack func() *F) *F {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *known == nil {
		*known = map[int]*F{}
	}
	if (*known)[offset] == nil {
		(*known)[offset] = pack()
	}
	return (*known)[offset]
}

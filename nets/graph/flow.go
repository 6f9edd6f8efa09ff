package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
)

// Flow is the forward pass of a network without a plan for memory: every step makes an array of its own, and no step
// overwrites another. It says along which axis each array has the rows of the batch, so that a translation to another
// format can leave the number of rows open. Arrays are row-major, and steps that give an array another shape do not
// occur.
type Flow struct {
	Size
	Steps    []Step // each one after those it reads
	Outputs  []int  // the step that computes each part of Form; −1: the part is zero
	Form     structured.Form
	Needs    Needs
	Literals []float32
}

// Step computes an array, or stands for one that is read.
type Step struct {
	Op     Op    // nil for an array that is read
	Space  Space // of the array that is read
	Offset int
	Args   []int // the steps whose arrays the op reads
	N      int   // entries
	Rows   Axis
}

// Axis says that an array has Outer×Rows×Inner entries, and that its middle axis has the rows of the batch. The zero
// Axis is that of arrays that depend on parameters and constants only.
type Axis struct {
	Outer, Rows, Inner int
	Of                 RowKind
}

// Free reports whether an array does not depend on the batch.
func (a Axis) Free() bool { return a.Rows == 0 }

// Locate returns which axis of a row-major array of that shape holds the rows; −1 if none does.
func (a Axis) Locate(shape []int) int {
	at, _, _ := axis{a.Outer, a.Rows, a.Inner, a.Of}.locate(shape)
	return at
}

// OpenSize is a size for NewFlow. Its numbers are prime and differ, so that no axis of a network is a multiple of one
// by chance.
var OpenSize = Size{Rows: 1009, Pairs: 2003, Chars: 3001}

// NewFlow builds the graph of a network for a size and returns its forward pass.
func NewFlow(s *Spec, layout Layout, input Input, size Size) (f *Flow, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if r := recover(); r != nil { // Gorgonia panics on shapes that do not fit
			f, err = nil, fmt.Errorf("nets: network %q: %v", s.Name, r)
		}
	}()
	g := newGraph(size, tensor.Float32, input, layout)
	form, nodes, err := s.outputs(g)
	if err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	l := &lowering{builder: &builder{}, graph: g, done: map[*gorgonia.Node]*value{}}
	outputs := make([]*value, len(nodes))
	for k, n := range nodes {
		if n == nil {
			continue
		}
		if outputs[k], err = l.value(n); err != nil {
			return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
		}
	}
	r := &rowAxes{size, l.literals, map[*value]axis{}}
	if err := r.check(g, form, outputs); err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	f = &Flow{Size: size, Form: form, Needs: g.needs, Literals: l.literals, Outputs: make([]int, len(outputs))}
	w := flowWriter{f, r, map[*value]int{}}
	for k, v := range outputs {
		f.Outputs[k] = -1
		if v != nil {
			f.Outputs[k] = w.step(v)
		}
	}
	return f, nil
}

// flowWriter turns values into steps, each value once.
type flowWriter struct {
	flow *Flow
	axes *rowAxes
	made map[*value]int
}

func (w flowWriter) step(v *value) int {
	if _, ok := v.op.(view); ok {
		return w.step(v.args[0])
	}
	if at, ok := w.made[v]; ok {
		return at
	}
	a := w.axes.known[v]
	s := Step{Op: v.op, N: v.size(), Rows: Axis{a.outer, a.rows, a.inner, a.of}}
	if l, ok := v.op.(leaf); ok {
		s.Op, s.Space, s.Offset = nil, l.space, l.offset
	}
	for _, x := range v.args {
		s.Args = append(s.Args, w.step(x))
	}
	w.flow.Steps = append(w.flow.Steps, s)
	w.made[v] = len(w.flow.Steps) - 1
	return w.made[v]
}

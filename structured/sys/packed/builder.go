package packed

import (
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Builder makes a pack of sequences that come piece by piece, of which it keeps nothing in memory: labels, attributes
// with or without values, lines and weights. It writes arrays to temporary files in the folder of the pack; Finish puts
// them into it.
type Builder struct {
	Examples, Positions int

	path           string
	offsets, lines *spill[int]
	labels         *spill[int32]
	weights        *spill[float64] // nil as long as there are none
	nodes, edges   *rows           // nil as long as there are none
}

// NewBuilder begins a pack. Close removes what it wrote.
func NewBuilder(path string) (*Builder, error) {
	if !safetensors.Native() {
		return nil, structured.BadInput("%s: packs need a little-endian machine of 64 bits", path)
	}
	b := &Builder{path: path}
	var err error
	if b.offsets, err = newSpill[int](path); err == nil {
		b.lines, err = newSpill[int](path)
	}
	if err == nil {
		b.labels, err = newSpill[int32](path)
	}
	if err == nil {
		err = b.offsets.add(0)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close removes the temporary files.
func (b *Builder) Close() {
	b.offsets.close()
	b.lines.close()
	b.labels.close()
	b.weights.close()
	b.nodes.close()
	b.edges.close()
}

// Add appends sequences, all with labels and numbered alike.
func (b *Builder) Add(d *structured.Dataset) error {
	for _, end := range d.Offsets[1:] {
		if err := b.offsets.add(b.Positions + end); err != nil {
			return err
		}
	}
	if err := b.lines.add(d.Lines...); err != nil {
		return err
	}
	if err := b.labels.add(d.Labels...); err != nil {
		return err
	}
	if err := b.weigh(d); err != nil {
		return err
	}
	var err error
	if b.nodes, err = b.nodes.add(b.path, d.Attributes); err == nil {
		b.edges, err = b.edges.add(b.path, d.EdgeAttributes)
	}
	b.Examples, b.Positions = b.Examples+d.Len(), b.Positions+d.Positions()
	return err
}

// Steps reports whether there are attributes of steps.
func (b *Builder) Steps() bool { return b.edges != nil }

// weigh appends the weights of sequences; those without any weigh 1.
func (b *Builder) weigh(d *structured.Dataset) error {
	if d.Weights == nil && b.weights == nil {
		return nil
	}
	if b.weights == nil {
		var err error
		if b.weights, err = newSpill[float64](b.path); err == nil {
			err = b.weights.fill(1, b.Examples)
		}
		if err != nil {
			return err
		}
	}
	if d.Weights == nil {
		return b.weights.fill(1, d.Len())
	}
	return b.weights.add(d.Weights...)
}

// Numbers are the final numbers of labels and attributes by those that Add got; nil leaves them as they are, and
// negative ones, of attributes, are left out.
type Numbers struct {
	Labels, Nodes, Edges []int32
}

// Finish puts the arrays into f, to be written before Close. Names are those of the labels by their final numbers.
func (b *Builder) Finish(f *safetensors.File, name string, columns, names []string, n Numbers) error {
	about := description{Name: name, Labels: names, ColumnNames: columns, Labelled: true}
	addLazy(f, offsets, b.offsets, nil)
	addLazy(f, lines, b.lines, nil)
	addLazy(f, labels, b.labels, numbering(n.Labels))
	if b.weights != nil {
		addLazy(f, weights, b.weights, nil)
	}
	if err := b.nodes.finish(f, attributes, n.Nodes); err != nil {
		return err
	}
	if err := b.edges.finish(f, edgeAttribute, n.Edges); err != nil {
		return err
	}
	return about.add(f)
}

// addLazy puts an array into f, of which change leaves nothing out.
func addLazy[E elements](f *safetensors.File, name string, s *spill[E], change func(E) E) {
	addLazyOf(f, name, dtype[E](), s.n, func(w io.Writer) error { return s.copyTo(w, change) })
}

func addLazyOf(f *safetensors.File, name, dtype string, n int, write func(w io.Writer) error) {
	if f.Tensors == nil {
		f.Tensors = map[string]safetensors.Tensor{}
	}
	f.Tensors[name] = safetensors.Tensor{Shape: []int{n}, Data: safetensors.Lazy{DType: dtype, Len: n, Copy: write}}
}

// numbering returns the function that a list of numbers is, or nil.
func numbering(numbers []int32) func(int32) int32 {
	if numbers == nil {
		return nil
	}
	return func(v int32) int32 { return numbers[v] }
}

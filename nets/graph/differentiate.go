package graph

import (
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
)

// Function is a network with its pullback, as a Gorgonia graph. Programs are lowered from it; Gorgonia's own machines
// can run it, too, which tests compare programs with (see Bind).
type Function struct {
	Graph      *Graph
	Outputs    []*gorgonia.Node          // by part; nil: zero
	Cotangents []*gorgonia.Node          // by part; nil: the part does not depend on any parameter
	Params     map[string]*gorgonia.Node // that occur in the graph, by name
	Gradients  map[string]*gorgonia.Node // Jᵀv, by parameter; no entry: the potentials do not depend on it
	Encoded    *gorgonia.Node            // Jᵀv for the rows of an encoder; nil: the potentials do not depend on them
	form       structured.Form
}

// Differentiate builds the network of s and adds Gorgonia's symbolic pullback.
func Differentiate(s *Spec, size Size, dtype tensor.Dtype, input Input, layout Layout) (*Function, error) {
	g := newGraph(size, dtype, input, layout)
	form, nodes, err := s.outputs(g)
	if err != nil {
		return nil, err
	}
	f := &Function{Graph: g, form: form, Outputs: nodes, Cotangents: make([]*gorgonia.Node, len(nodes)),
		Params: g.params, Gradients: map[string]*gorgonia.Node{}}
	var outputs, cotangents gorgonia.Nodes
	seen := map[*gorgonia.Node]bool{}
	reached := map[*gorgonia.Node]bool{}
	for k, out := range nodes {
		if out == nil {
			continue
		}
		if err := g.refuseOuterProducts(out, seen); err != nil {
			return nil, err
		}
		own := map[*gorgonia.Node]bool{}
		if g.parametersOf(out, map[*gorgonia.Node]bool{}, own); len(own) == 0 {
			continue
		}
		maps.Copy(reached, own)
		c := g.input(form.Parts[k].Name+" cotangent", out.Shape()...)
		f.Cotangents[k] = c
		g.leaves[c] = leaf{SpaceCotangent + Space(k), 0}
		outputs, cotangents = append(outputs, out), append(cotangents, c)
	}
	if len(outputs) == 0 {
		return nil, fmt.Errorf("the potentials do not depend on any parameter")
	}
	var wrt gorgonia.Nodes
	var names []string
	for _, a := range g.layout {
		if n := g.params[a.Name]; n != nil && reached[n] {
			wrt, names = append(wrt, n), append(names, a.Name)
		}
	}
	if g.encoded != nil && reached[g.encoded] {
		wrt = append(wrt, g.encoded)
	}
	grads, err := gorgonia.Backpropagate(outputs, cotangents, wrt)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		f.Gradients[name] = grads[i]
	}
	if len(grads) > len(names) {
		f.Encoded = grads[len(names)]
	}
	return f, nil
}

// parametersOf finds the parameters that n depends on, the rows of an encoder among them.
func (g *Graph) parametersOf(n *gorgonia.Node, seen, found map[*gorgonia.Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	if l, ok := g.leaves[n]; ok && (l.space == SpaceWeights || l.space == SpaceEncoded) {
		found[n] = true
	}
	for it := g.From(n.ID()); it.Next(); {
		g.parametersOf(it.Node().(*gorgonia.Node), seen, found)
	}
}

// refuseOuterProducts returns an error if n depends on an outer product of vectors, which Gorgonia v0.9.18
// differentiates wrongly. Gradients have outer products, too, but come later and are not differentiated again.
func (g *Graph) refuseOuterProducts(n *gorgonia.Node, seen map[*gorgonia.Node]bool) error {
	if seen[n] {
		return nil
	}
	seen[n] = true
	vectors := 0
	for it := g.From(n.ID()); it.Next(); {
		a := it.Node().(*gorgonia.Node)
		if err := g.refuseOuterProducts(a, seen); err != nil {
			return err
		}
		if a.Dims() == 1 {
			vectors++
		}
	}
	if o := n.Op(); o != nil && vectors == 2 && n.Dims() == 2 && fieldsOf(o).kind == "gorgonia.linAlgBinOp" {
		return fmt.Errorf("op %q: Gorgonia differentiates outer products of vectors wrongly; "+
			"reshape them to a matrix of one column and one of one row, and multiply these", o)
	}
	return nil
}

// Bind makes the graph read the batch that m has loaded, so that Gorgonia's machines can run it, and returns the values
// of its nodes for inputs and masks. The caller sets those for parameters and cotangents.
func (f *Function) Bind(m *Machine) map[*gorgonia.Node][]float32 {
	g := f.Graph
	g.offsets, g.splits = m.offsets, m.splits
	var dependents, heads, distances []int32
	if g.Pairs > 0 && !g.needs.Split && !g.needs.Edges {
		dependents, heads = pairRows(nil, nil, m.offsets, g.Pairs)
		distances = distanceRows(nil, m.offsets, g.Pairs)
	}
	g.indices = func(x Index) []int32 {
		switch x.Kind {
		case IndexDependents:
			return dependents
		case IndexHeads:
			return heads
		case IndexDistances:
			return distances
		}
		return m.index(x)
	}
	g.starts = func() []int32 { return m.starts }
	g.attributes = func(row int, pairs bool) ([]int32, []float32) {
		rows := m.bag(pairs)
		if row >= len(rows.sources) {
			return nil, nil
		}
		return rows.attributes.Row(int(rows.sources[row]))
	}
	values := map[*gorgonia.Node][]float32{}
	for n, l := range g.leaves {
		switch l.space {
		case SpaceFeatures, SpaceBoundary, SpaceEdges, SpaceEncoded:
			values[n] = m.Mem[l.space]
		case SpaceVectors:
			values[n] = m.vectors
		}
	}
	for n, mask := range g.masks {
		out := make([]float32, n.Shape().TotalSize())
		m.Mem[SpaceArena] = out
		mask.Run(m, &Instruction{Out: &Buffer{Space: SpaceArena, N: len(out)}})
		values[n] = out
	}
	return values
}

// tangents adds the push-forward of the given values along ẇ: forward-mode differentiation, op by op. A nil result
// means zero.
func (b *builder) tangents(outputs []*value) []*value {
	dot := map[*value]*value{}
	for _, v := range slices.Clone(b.values) { // in topological order; a clone, because the loop adds values
		if l, ok := v.op.(leaf); ok {
			switch l.space {
			case SpaceWeights:
				dot[v] = b.leaf(SpaceDirection, l.offset, v.shape)
			case SpaceEncoded:
				dot[v] = b.leaf(SpaceEncodedDirection, 0, v.shape)
			}
			continue
		}
		d, any := make([]*value, len(v.args)), false
		for i, a := range v.args {
			if d[i] = dot[a]; d[i] != nil {
				any = true
			}
		}
		if !any {
			continue
		}
		if t := v.op.tangent(b, v, d); t != nil {
			dot[v] = b.view(t, v.shape)
		}
	}
	out := make([]*value, len(outputs))
	for i, v := range outputs {
		out[i] = dot[v]
	}
	return out
}

// readsWeights reports whether any of the values is computed from w.
func readsWeights(vs []*value) bool {
	seen := map[*value]bool{}
	var walk func(v *value) bool
	walk = func(v *value) bool {
		if v == nil || seen[v] {
			return false
		}
		seen[v] = true
		if l, ok := v.op.(leaf); ok && l.space == SpaceWeights {
			return true
		}
		return slices.ContainsFunc(v.args, walk)
	}
	return slices.ContainsFunc(vs, walk)
}

// directionReads returns which parts of ẇ the tangents read: whole arrays, and tables of which they read only the rows
// of the batch.
func directionReads(tangents []*value) (whole []leafArray, tables []table) {
	read := map[leafArray]bool{}
	seen := map[*value]bool{}
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || seen[v] {
			return
		}
		seen[v] = true
		for _, a := range v.args {
			if l, ok := a.op.(leaf); ok && l.space == SpaceDirection {
				if by, cols, ok := lookupOf(v.op); ok {
					tables = append(tables, table{l.offset, cols, by})
				} else {
					read[leafArray{l.offset, a.size()}] = true
				}
			}
			walk(a)
		}
	}
	for _, v := range tangents {
		if v != nil {
			if l, ok := v.op.(leaf); ok && l.space == SpaceDirection {
				read[leafArray{l.offset, v.size()}] = true
			}
		}
		walk(v)
	}
	for a := range read {
		whole = append(whole, a)
	}
	return whole, tables
}

// DirectionRead calls read for every range of ẇ, by offset and length, that Push reads for the batch that m has loaded:
// whole arrays, and the rows of tables that the batch looks up, with repetitions.
func (p *Program) DirectionRead(m *Machine, read func(offset, n int)) {
	for _, a := range p.whole {
		read(a.offset, a.n)
	}
	for _, t := range p.tables {
		m.eachRow(t.by, func(row int32) { read(t.offset+int(row)*t.cols, t.cols) })
	}
}

// leafArray is an array within ẇ.
type leafArray struct{ offset, n int }

// table is a matrix within ẇ with rows of cols numbers, which are looked up.
type table struct {
	offset, cols int
	by           lookup
}

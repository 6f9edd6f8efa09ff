package nets

import (
	"fmt"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Program computes a network for a fixed number of rows: the potentials (forward), then as often as wanted Jᵀv
// (pullback) and Jẇ (push). It is immutable and shared by workers. The results of Forward
// stay in the arena for the other two, of which neither disturbs the other.
type Program struct {
	Rows                     int
	Forward, Pullback, Push  []Instruction
	Node, Edge               *Buffer // potentials after Forward; a nil edge is zero
	NodeTangent, EdgeTangent *Buffer // Jẇ after Push; nil: zero
	Literals                 []float32
	Arena                    int // float32s of memory
	Needs                    Needs
	Form                     structured.Form
	affine                   bool // the push-forward does not read w
	whole                    []leafArray
	tables                   []table // with whole: what the push-forward reads of ẇ
}

// building serialises the construction of graphs, since Gorgonia keeps global pools.
var building sync.Mutex

// compile builds the graph of a network for a number of rows and lowers it.
func compile(s *Spec, layout Layout, input Input, rows int) (p *Program, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if r := recover(); r != nil { // Gorgonia panics on shapes that do not fit
			p, err = nil, fmt.Errorf("nets: network %q: %v", s.Name, r)
		}
	}()
	g := newGraph(rows, tensor.Float32, input, layout)
	f, err := differentiate(s, g)
	if err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	if p, err = lower(g, f); err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	return p, nil
}

// function is a network with the graph of its pullback.
type function struct {
	node, edge *gorgonia.Node
	cotangents map[*gorgonia.Node]leaf
	gradients  map[string]*gorgonia.Node // Jᵀv, by parameter; parameters that do not matter are missing
	labels     int
}

// differentiate builds the network on g and adds, once, Gorgonia's symbolic pullback.
func differentiate(s *Spec, g *Graph) (*function, error) {
	node, edge, err := s.Build(g)
	if err != nil {
		return nil, err
	}
	f := &function{node: node, edge: edge, cotangents: map[*gorgonia.Node]leaf{}, gradients: map[string]*gorgonia.Node{}}
	if err := f.checkShapes(g.Rows); err != nil {
		return nil, err
	}
	var outputs, cotangents gorgonia.Nodes
	reached := map[*gorgonia.Node]bool{}
	for i, out := range []*gorgonia.Node{node, edge} {
		if out == nil {
			continue
		}
		before := len(reached)
		g.parametersOf(out, map[*gorgonia.Node]bool{}, reached)
		if len(reached) == before && i == 0 {
			return nil, fmt.Errorf("the node potentials do not depend on any parameter")
		}
		c := g.input([]string{"node cotangent", "edge cotangent"}[i], out.Shape()...)
		f.cotangents[c] = leaf{[]Space{SpaceNodeCotangent, SpaceEdgeCotangent}[i], 0}
		outputs, cotangents = append(outputs, out), append(cotangents, c)
	}
	var wrt gorgonia.Nodes
	var names []string
	for _, a := range g.layout {
		if n := g.params[a.Name]; n != nil && reached[n] {
			wrt, names = append(wrt, n), append(names, a.Name)
		}
	}
	grads, err := gorgonia.Backpropagate(outputs, cotangents, wrt)
	if err != nil {
		return nil, err
	}
	for i, n := range grads {
		f.gradients[names[i]] = n
	}
	return f, nil
}

func (f *function) checkShapes(rows int) error {
	n := f.node.Shape()
	if len(n) != 2 || n[0] != rows {
		return fmt.Errorf("node potentials have shape %v, expected [%d×labels]", n, rows)
	}
	f.labels = n[1]
	if f.edge == nil {
		return nil
	}
	y, e := f.labels, f.edge.Shape()
	if !sameShape(e, []int{y, y}) && !sameShape(e, []int{rows, y, y}) && !sameShape(e, []int{rows, y * y}) {
		return fmt.Errorf("edge potentials have shape %v, expected [%d×%d], or [%d×%d×%d]", e, y, y, rows, y, y)
	}
	return nil
}

// parametersOf finds the parameters that n depends on.
func (g *Graph) parametersOf(n *gorgonia.Node, seen, found map[*gorgonia.Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	if l, ok := g.leaves[n]; ok && l.space == SpaceWeights {
		found[n] = true
	}
	for it := g.From(n.ID()); it.Next(); {
		g.parametersOf(it.Node().(*gorgonia.Node), seen, found)
	}
}

// lower makes the program of a differentiated network.
func lower(g *Graph, f *function) (*Program, error) {
	for n, l := range f.cotangents {
		g.leaves[n] = l
	}
	l := &lowering{builder: &builder{}, graph: g, done: map[*gorgonia.Node]*value{}}
	perPosition := f.edge != nil && f.edge.Shape().TotalSize() != f.labels*f.labels
	p := &Program{Rows: g.Rows, Form: chains.Form(f.labels, perPosition), Needs: g.needs}
	outputs := make([]*value, 2)
	for i, n := range []*gorgonia.Node{f.node, f.edge} {
		if n != nil {
			v, err := l.value(n)
			if err != nil {
				return nil, err
			}
			outputs[i] = v
		}
	}
	tangents := l.tangents(outputs)
	p.affine = !readsWeights(tangents)
	p.whole, p.tables = directionReads(tangents)
	grads := make([]*value, len(g.layout))
	for i, a := range g.layout {
		if n := f.gradients[a.Name]; n != nil {
			v, err := l.value(n)
			if err != nil {
				return nil, err
			}
			grads[i] = v
		}
	}
	p.plan(g.layout, outputs, tangents, grads)
	p.Literals = l.literals
	return p, nil
}

// plan orders and places everything.
func (p *Program) plan(layout Layout, outputs, tangents, grads []*value) {
	pl := &planner{uses: map[*value]int{}, made: map[*value]*Buffer{}}
	for _, vs := range [][]*value{outputs, tangents, grads} {
		for _, v := range vs {
			if v != nil {
				pl.count(v)
			}
		}
	}
	need := func(v *value) *Buffer {
		if v == nil {
			return nil
		}
		return pl.need(v)
	}
	p.Node, p.Edge = need(outputs[0]), need(outputs[1])
	forward := len(pl.list)
	for _, b := range []*Buffer{p.Node, p.Edge} {
		if b != nil && b.Space == SpaceArena {
			b.last = forward - 1
		}
	}
	made := map[*value]*Buffer{}
	for v, b := range pl.made {
		made[v] = b
	}
	for i, v := range grads {
		if v != nil {
			pl.into(v, &Buffer{Space: SpaceGradient, Offset: layout[i].Offset, N: v.size()}, true)
		}
	}
	pullback := len(pl.list)
	pl.made = made
	p.NodeTangent, p.EdgeTangent = need(tangents[0]), need(tangents[1])
	for _, b := range []*Buffer{p.NodeTangent, p.EdgeTangent} {
		if b != nil && b.Space == SpaceArena {
			b.last = len(pl.list)
		}
	}
	p.Arena = allocate(pl.list, forward)
	p.Forward, p.Pullback, p.Push = pl.list[:forward], pl.list[forward:pullback], pl.list[pullback:]
}

package graph

import (
	"fmt"
	"math/bits"
	"sync"

	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/structured"
)

// Program computes a network for one Size. Forward computes the potentials; after it, Pullback (Jᵀv) and Push (Jẇ) may
// run any number of times in any order, since they leave Forward's results in the arena alone. A Program is immutable,
// so workers share it.
type Program struct {
	Size
	Forward, Pullback, Push []Instruction
	Outputs                 []*Buffer // potentials after Forward, by part of Form; nil: zero
	Tangents                []*Buffer // Jẇ after Push, by part; nil: zero
	Encoded                 *Buffer   // Jᵀv for the rows of an encoder after Pullback; nil: zero
	Literals                []float32
	Arena                   int // float32s of memory
	Needs                   Needs
	Form                    structured.Form
	Affine                  bool          // the push-forward does not read w
	Params                  []string      // that the potentials depend on
	Tables                  []WeightTable // what Forward reads of w only by rows, in the order of their offsets
	whole                   []leafArray   // what the push-forward reads of ẇ: whole arrays
	tables                  []table       // and tables, of which it reads the rows that the batch looks up
}

// building serialises the construction of graphs: Gorgonia has global pools.
var building sync.Mutex

// Compile builds the graph of a network for a size and lowers it.
func Compile(s *Spec, layout Layout, input Input, size Size) (p *Program, err error) {
	building.Lock()
	defer building.Unlock()
	defer func() {
		if r := recover(); r != nil { // Gorgonia panics on shapes that do not fit
			p, err = nil, fmt.Errorf("nets: network %q: %v", s.Name, r)
		}
	}()
	f, err := Differentiate(s, size, tensor.Float32, input, layout)
	if err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	if p, err = lower(f); err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", s.Name, err)
	}
	return p, nil
}

// lower makes the program of a differentiated network.
func lower(f *Function) (*Program, error) {
	g := f.Graph
	l := newLowering(g)
	p := &Program{Size: g.Size, Form: f.form, Needs: g.needs}
	outputs := make([]*value, len(f.Outputs))
	for k, n := range f.Outputs {
		if n != nil {
			v, err := l.value(n)
			if err != nil {
				return nil, err
			}
			outputs[k] = v
		}
	}
	if err := l.checkRows(f.form, outputs); err != nil {
		return nil, err
	}
	p.Tables = weightTables(outputs)
	tangents := l.tangents(outputs)
	p.Affine = !readsWeights(tangents)
	p.whole, p.tables = directionReads(tangents)
	grads := make([]*value, len(g.layout))
	for i, a := range g.layout {
		if n := f.Gradients[a.Name]; n != nil {
			p.Params = append(p.Params, a.Name)
			v, err := l.value(n)
			if err != nil {
				return nil, err
			}
			grads[i] = v
		}
	}
	var encoded *value
	if f.Encoded != nil {
		v, err := l.value(f.Encoded)
		if err != nil {
			return nil, err
		}
		encoded = v
	}
	p.plan(g.layout, outputs, tangents, grads, encoded)
	p.Literals = l.literals
	return p, nil
}

// plan makes the instructions and allocates the arena.
func (p *Program) plan(layout Layout, outputs, tangents, grads []*value, encoded *value) {
	pl := &planner{uses: map[*value]int{}, made: map[*value]*Buffer{}}
	for _, vs := range [][]*value{outputs, tangents, grads, {encoded}} {
		for _, v := range vs {
			if v != nil {
				pl.count(v)
			}
		}
	}
	pl.transpose()
	need := func(vs []*value) []*Buffer {
		buffers := make([]*Buffer, len(vs))
		for k, v := range vs {
			if v != nil {
				buffers[k] = pl.need(v)
			}
		}
		return buffers
	}
	p.Outputs = need(outputs)
	forward := len(pl.list)
	keep(p.Outputs, forward-1)
	made := map[*value]*Buffer{}
	for v, b := range pl.made {
		made[v] = b
	}
	for i, v := range grads {
		if v != nil {
			pl.into(v, &Buffer{Space: SpaceGradient, Offset: layout[i].Offset, N: v.size()}, true)
		}
	}
	p.Encoded = need([]*value{encoded})[0]
	pullback := len(pl.list)
	keep([]*Buffer{p.Encoded}, pullback-1)
	pl.made = made
	p.Tangents = need(tangents)
	keep(p.Tangents, len(pl.list))
	p.Arena = allocate(pl.list, forward)
	p.Forward, p.Pullback, p.Push = pl.list[:forward], pl.list[forward:pullback], pl.list[pullback:]
}

// keep makes the results live until the given instruction.
func keep(results []*Buffer, last int) {
	for _, b := range results {
		if b != nil && b.Space == SpaceArena {
			b.last = last
		}
	}
}

// Size is how many rows of each kind a program computes, padding included.
type Size struct {
	Rows int // positions of all examples, rounded up by Bucket
	// pairs of positions of the same example, rounded up by PairBucket, or edges, by Bucket; 0 if the network makes no
	// pairs
	Pairs int
	Chars int // characters of all words, rounded up by CharBucket; 0 if the network reads none
}

// Bucket rounds a number of rows up: to a multiple of 8 up to 64, then to one of eight steps per doubling. So there are
// few distinct programs, and above 64 rows at most an eighth is padding.
func Bucket(rows int) int {
	if rows <= 64 {
		return max(8, roundUp(rows, 8))
	}
	return roundUp(rows, 1<<(bits.Len(uint(rows-1))-4))
}

// PairBucket rounds a number of pairs up to a power of two, at least 64. It is coarser than Bucket because each
// combination of the two needs a program, and because padding costs little here: the ops that make pairs skip it.
func PairBucket(pairs int) int { return 1 << bits.Len(uint(max(64, pairs)-1)) }

// rowsIn returns the number of rows of a table in a batch.
func rowsIn(batch *structured.Batch, table string) int {
	at := batch.Rows(table)
	return at[len(at)-1]
}

// Size returns the size of the program for a batch, of a network that reads n of it.
func (n Needs) Size(batch *structured.Batch) Size {
	s := Size{Rows: Bucket(batch.Positions())}
	switch {
	case n.Edges:
		s.Pairs = Bucket(rowsIn(batch, structured.Edges))
	case n.Pairs:
		var splits []int
		if n.Split {
			splits = splitsOf(nil, batch)
		}
		s.Pairs = PairBucket(pairs(batch.Offsets, splits))
	}
	if n.Characters {
		s.Chars = CharBucket(characters(batch))
	}
	return s
}

// pairs returns the number of pairs of positions of the same example: each position with each, itself included, or each
// source item with each target item.
func pairs(offsets, splits []int) int {
	all := 0
	for b := range len(offsets) - 1 {
		all += pairsOf(offsets, splits, b)
	}
	return all
}

// pairsOf returns the number of pairs of an example.
func pairsOf(offsets, splits []int, b int) int {
	n := offsets[b+1] - offsets[b]
	if len(splits) == 0 {
		return n * n
	}
	return splits[b] * (n - splits[b])
}

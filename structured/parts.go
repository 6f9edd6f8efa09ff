package structured

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Form describes the potentials of a structure: the structure, and the shape of each part.
type Form struct {
	Structure Structure
	Parts     []Shape
}

// Shape is the shape of one part of the potentials.
type Shape struct {
	Name  string // "node", "edge", "arc", …: its name in exported files
	Rows  string // the table of the data set that gives the rows (Table.Name), or Tied
	Width int    // numbers per row
}

// Tied, in place of a table, marks a part with a single row that all examples share. Its marginals have one row per
// example.
const Tied = ""

// Part is one part of the potentials or marginals of a batch: a ragged table. Example b owns rows Offsets[b] to
// Offsets[b+1]-1. The single row of a tied part of potentials belongs to every example, and its Offsets are nil.
type Part struct {
	Shape
	Offsets []int     // [B+1]
	Values  []float32 // [rows×Width]
}

// Of returns the numbers of example b: [rows of b × Width], or [Width] for tied potentials.
func (p *Part) Of(b int) []float32 {
	if p.Offsets == nil {
		return p.Values
	}
	return p.Values[p.Offsets[b]*p.Width : p.Offsets[b+1]*p.Width]
}

// resize sets the shape and the offsets of a part and reuses its memory. The values are undefined.
func (p *Part) resize(shape Shape, offsets []int) {
	rows := 1
	if offsets != nil {
		rows = offsets[len(offsets)-1]
	}
	p.Shape, p.Offsets, p.Values = shape, offsets, vec.Grow(p.Values, rows*shape.Width)
}

// Potentials are the scores θ of a ragged batch of B examples, in parts whose meaning the structure defines.
//
// −∞ forbids every output that uses the entry. +∞ and NaN are errors of the scorer.
type Potentials struct {
	Structure Structure
	Outputs   []int // [B+1]; the output of example b is y[Outputs[b]:Outputs[b+1]] of a batch's outputs y
	Parts     []Part
	// [B] gold outputs, for a GoldReader whose data has them; or what outputs must read, where Restrict says so; else
	// empty
	Gold   [][]int32
	Graphs []*Graph // [B] for a GraphReader; empty for other structures
}

// Len returns B, the number of examples.
func (θ *Potentials) Len() int { return len(θ.Outputs) - 1 }

// OutputSize returns the total length of the batch's outputs.
func (θ *Potentials) OutputSize() int { return θ.Outputs[len(θ.Outputs)-1] }

// Resize gives θ the form of a batch's potentials and reuses its memory. The values are undefined. It shares the
// batch's offsets.
func (θ *Potentials) Resize(batch *Batch, form Form) {
	θ.Reshape(form, batch.Outputs, batch.Rows)
	θ.Annotate(batch, form)
}

// Annotate makes θ carry what its structure reads of the batch's examples beside the parts: gold outputs and graphs.
// Resize does it, too.
func (θ *Potentials) Annotate(batch *Batch, form Form) {
	θ.Gold, θ.Graphs = form.gold(θ.Gold, batch), form.graphs(θ.Graphs, batch)
}

// gold returns the gold outputs of a batch in the memory of to, if the structure reads them and the data has them.
func (f Form) gold(to [][]int32, batch *Batch) [][]int32 {
	if _, reads := f.Structure.(GoldReader); !reads || batch.Data.Labels == nil {
		return nil
	}
	to = to[:0]
	for b := range batch.Len() {
		to = append(to, batch.Gold(b))
	}
	return to
}

// Reshape is Resize with explicit offsets: of the outputs, and of the rows of each table. It leaves Gold and Graphs
// empty.
func (θ *Potentials) Reshape(form Form, outputs []int, rows func(table string) []int) {
	θ.Structure, θ.Outputs, θ.Gold, θ.Graphs = form.Structure, outputs, θ.Gold[:0], θ.Graphs[:0]
	θ.Parts = growKeeping(θ.Parts, len(form.Parts))
	for k, shape := range form.Parts {
		var offsets []int
		if shape.Rows != Tied {
			offsets = rows(shape.Rows)
		}
		θ.Parts[k].resize(shape, offsets)
	}
}

// Like gives θ the form of other and reuses its memory. The values are undefined.
func (θ *Potentials) Like(other *Potentials) {
	θ.Structure, θ.Outputs = other.Structure, other.Outputs
	θ.Gold, θ.Graphs = append(θ.Gold[:0], other.Gold...), append(θ.Graphs[:0], other.Graphs...)
	θ.Parts = growKeeping(θ.Parts, len(other.Parts))
	for k := range θ.Parts {
		θ.Parts[k].resize(other.Parts[k].Shape, other.Parts[k].Offsets)
	}
}

// Score returns ⟨θ, 1_y⟩ for an output of example b, in float64.
func (θ *Potentials) Score(b int, y []int32) float64 { return θ.Structure.Score(θ, b, y) }

// View makes view a batch of example b alone. It shares the values of θ.
func (θ *Potentials) View(b int, view *Potentials) {
	view.Structure = θ.Structure
	view.Outputs = append(view.Outputs[:0], 0, θ.Outputs[b+1]-θ.Outputs[b])
	view.Gold, view.Graphs = only(view.Gold, θ.Gold, b), only(view.Graphs, θ.Graphs, b)
	view.Parts = growKeeping(view.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p, to := &θ.Parts[k], &view.Parts[k]
		offsets := to.Offsets
		*to = Part{Shape: p.Shape, Values: p.Of(b)}
		if p.Offsets != nil {
			to.Offsets = append(offsets[:0], 0, p.Offsets[b+1]-p.Offsets[b])
		}
	}
}

// Select makes selected a copy of the given examples.
func (θ *Potentials) Select(examples []int, selected *Potentials) {
	selected.Structure = θ.Structure
	selected.Outputs = sumLengths(selected.Outputs, θ.Outputs, examples)
	selected.Gold, selected.Graphs = only(selected.Gold, θ.Gold, examples...), only(selected.Graphs, θ.Graphs, examples...)
	selected.Parts = growKeeping(selected.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p, to := &θ.Parts[k], &selected.Parts[k]
		to.Shape, to.Values = p.Shape, to.Values[:0]
		if p.Offsets == nil {
			to.Offsets, to.Values = nil, append(to.Values, p.Values...)
			continue
		}
		to.Offsets = sumLengths(to.Offsets, p.Offsets, examples)
		for _, b := range examples {
			to.Values = append(to.Values, p.Of(b)...)
		}
	}
}

// MostPotential is the largest absolute value of a potential that is not −∞: sums of a hundred million of them stay
// within float32.
const MostPotential = 0x1p100

// NotValid says what is wrong with other potentials, in error messages.
const NotValid = "NaN, infinite or beyond ±1e30"

// ValidPotentials reports whether all numbers are −∞ or within ±MostPotential. Oracles answer for no others.
func ValidPotentials(xs []float32) bool { return vec.Within(MostPotential, xs) }

// Finite reports whether all potentials are valid: −∞ or within ±MostPotential.
func (θ *Potentials) Finite() bool {
	for k := range θ.Parts {
		if !ValidPotentials(θ.Parts[k].Values) {
			return false
		}
	}
	return true
}

// SetAllowed sets the entries of part k, except for those that are −∞, to value(i) for entry i.
func (θ *Potentials) SetAllowed(k int, value func(i int) float32) {
	for i, x := range θ.Parts[k].Values {
		if !math.IsInf(float64(x), -1) {
			θ.Parts[k].Values[i] = value(i)
		}
	}
}

// Copy makes θ a copy of other.
func (θ *Potentials) Copy(other *Potentials) {
	θ.Like(other)
	for k := range θ.Parts {
		copy(θ.Parts[k].Values, other.Parts[k].Values)
	}
}

// FirstNotFinite returns the first example whose own rows have a potential that is not valid, or −1 if there is none (a
// tied part may have one).
func (θ *Potentials) FirstNotFinite() int {
	for b := range θ.Len() {
		for k := range θ.Parts {
			if p := &θ.Parts[k]; p.Offsets != nil && !ValidPotentials(p.Of(b)) {
				return b
			}
		}
	}
	return -1
}

// Marginals are points u of the marginal polytope, one per example, in the space of Potentials, except that a tied part
// has one row per example. They also hold differences of such points, which a network pulls back.
type Marginals struct {
	Structure Structure
	Parts     []Part
	Gold      [][]int32 // as in Potentials
	Graphs    []*Graph  // as in Potentials

	tied []int // [B+1] offsets of tied parts: 0, 1, 2, …
}

// Like gives u the form of θ and reuses its memory. The values are undefined. It shares the offsets of θ.
func (u *Marginals) Like(θ *Potentials) {
	u.Structure, u.Gold, u.Graphs = θ.Structure, append(u.Gold[:0], θ.Gold...), append(u.Graphs[:0], θ.Graphs...)
	u.Parts = growKeeping(u.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p := &θ.Parts[k]
		offsets := p.Offsets
		if offsets == nil {
			offsets = u.tiedOffsets(θ.Len())
		}
		u.Parts[k].resize(p.Shape, offsets)
	}
}

// ReadAll gives marginals of all examples of d their gold outputs and graphs, if the structure reads them.
func (u *Marginals) ReadAll(d *Dataset) {
	u.Gold, u.Graphs = u.Gold[:0], u.Graphs[:0]
	if _, reads := u.Structure.(GoldReader); reads && d.Labels != nil {
		for i := range d.Len() {
			u.Gold = append(u.Gold, d.Gold(i))
		}
	}
	if _, reads := u.Structure.(GraphReader); reads {
		u.Graphs = append(u.Graphs, d.Graphs...)
	}
}

// Resize gives u the form of a batch's marginals and reuses its memory. The values are undefined. It shares the batch's
// offsets.
func (u *Marginals) Resize(batch *Batch, form Form) {
	u.Reshape(form, batch.Len(), batch.Rows)
	u.Gold, u.Graphs = form.gold(u.Gold, batch), form.graphs(u.Graphs, batch)
}

// Reshape is Resize for a number of examples, with explicit offsets of the rows of each table. It leaves Gold and
// Graphs empty.
func (u *Marginals) Reshape(form Form, examples int, rows func(table string) []int) {
	u.Structure, u.Gold, u.Graphs = form.Structure, u.Gold[:0], u.Graphs[:0]
	u.Parts = growKeeping(u.Parts, len(form.Parts))
	for k, shape := range form.Parts {
		var offsets []int
		if shape.Rows == Tied {
			offsets = u.tiedOffsets(examples)
		} else {
			offsets = rows(shape.Rows)
		}
		u.Parts[k].resize(shape, offsets)
	}
}

// tiedOffsets returns the offsets of one row per example: 0, 1, 2, …
func (u *Marginals) tiedOffsets(examples int) []int {
	for len(u.tied) <= examples {
		u.tied = append(u.tied, len(u.tied))
	}
	return u.tied[:examples+1]
}

// View makes view the marginals of example b alone. It shares the values of u.
func (u *Marginals) View(b int, view *Marginals) {
	view.Structure, view.Gold, view.Graphs = u.Structure, only(view.Gold, u.Gold, b), only(view.Graphs, u.Graphs, b)
	view.Parts = growKeeping(view.Parts, len(u.Parts))
	for k := range u.Parts {
		p, to := &u.Parts[k], &view.Parts[k]
		*to = Part{Shape: p.Shape, Values: p.Of(b), Offsets: append(to.Offsets[:0:0], 0, p.Offsets[b+1]-p.Offsets[b])}
	}
}

// AsPotentials makes θ a batch of one example whose potentials are the marginals of example b of u. output is the
// length of its output. They share memory.
func (u *Marginals) AsPotentials(b, output int, θ *Potentials) {
	θ.Structure, θ.Outputs = u.Structure, append(θ.Outputs[:0], 0, output)
	θ.Gold, θ.Graphs = only(θ.Gold, u.Gold, b), only(θ.Graphs, u.Graphs, b)
	θ.Parts = growKeeping(θ.Parts, len(u.Parts))
	for k := range u.Parts {
		p, to := &u.Parts[k], &θ.Parts[k]
		offsets := to.Offsets[:0]
		*to = Part{Shape: p.Shape, Values: p.Of(b)}
		if p.Rows != Tied {
			to.Offsets = append(offsets, 0, p.Offsets[b+1]-p.Offsets[b])
		}
	}
}

// Len returns B, the number of examples.
func (u *Marginals) Len() int { return len(u.Parts[0].Offsets) - 1 }

// Clear sets every entry to 0.
func (u *Marginals) Clear() {
	for k := range u.Parts {
		clear(u.Parts[k].Values)
	}
}

// Scale multiplies the entries of example b by c.
func (u *Marginals) Scale(b int, c float32) {
	for k := range u.Parts {
		vec.Scale(c, u.Parts[k].Of(b))
	}
}

// AddScaled adds c times example i of other to example b.
func (u *Marginals) AddScaled(b int, c float32, other *Marginals, i int) {
	for k := range u.Parts {
		vec.Axpy(c, other.Parts[k].Of(i), u.Parts[k].Of(b))
	}
}

// Set copies example i of other into example b.
func (u *Marginals) Set(b int, other *Marginals, i int) {
	for k := range u.Parts {
		copy(u.Parts[k].Of(b), other.Parts[k].Of(i))
	}
}

// Copy makes u a copy of other.
func (u *Marginals) Copy(other *Marginals) {
	u.Structure, u.Gold, u.Graphs = other.Structure, append(u.Gold[:0], other.Gold...),
		append(u.Graphs[:0], other.Graphs...)
	u.Parts = growKeeping(u.Parts, len(other.Parts))
	for k := range other.Parts {
		from, to := &other.Parts[k], &u.Parts[k]
		to.resize(from.Shape, from.Offsets)
		copy(to.Values, from.Values)
	}
}

// Add adds c·1_y to example b.
func (u *Marginals) Add(b int, y []int32, c float32) { u.Structure.Add(u, b, y, c) }

// Dot returns ⟨u, θ⟩ for example b of both, in float64. An entry u = 0 contributes 0 even where the potential is −∞.
func (u *Marginals) Dot(b int, θ *Potentials) float64 { return u.DotWith(b, θ, b) }

// DotWith is Dot for example i of u and example b of θ.
func (u *Marginals) DotWith(i int, θ *Potentials, b int) float64 {
	s := 0.0
	for k := range u.Parts {
		s += dot(u.Parts[k].Of(i), θ.Parts[k].Of(b))
	}
	return s
}

func dot(u, θ []float32) float64 {
	s := 0.0
	for i, v := range u {
		if v != 0 {
			s += float64(v) * float64(θ[i])
		}
	}
	return s
}

// Zero reports whether every entry of example b is zero.
func (u *Marginals) Zero(b int) bool {
	for k := range u.Parts {
		for _, v := range u.Parts[k].Of(b) {
			if v != 0 {
				return false
			}
		}
	}
	return true
}

// only returns the entries of the given examples, in the memory of to; none if there are no entries.
func only[E any](to, from []E, examples ...int) []E {
	to = to[:0]
	if len(from) > 0 {
		for _, b := range examples {
			to = append(to, from[b])
		}
	}
	return to
}

// growKeeping returns s with length n and keeps its elements, whose memory is reused.
func growKeeping[E any](s []E, n int) []E {
	if cap(s) < n {
		return append(s[:cap(s)], make([]E, n-cap(s))...)
	}
	return s[:n]
}

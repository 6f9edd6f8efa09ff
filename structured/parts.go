package structured

import (
	"math"

	"github.com/dsp-go/dsp/structured/vec"
)

// Form is what the potentials of a structure look like: the structure, and the shape of each of their parts.
type Form struct {
	Structure Structure
	Parts     []Shape
}

// Shape is the shape of one part of the potentials.
type Shape struct {
	Name  string // "node", "edge", "arc", …: its name in exported files
	Rows  string // the table of the data set whose rows it has (Table.Name), or Tied
	Width int    // numbers in a row
}

// Tied in place of a table says that a part has one row, which all examples share. Marginals have a row of it for every
// example.
const Tied = ""

// Part is one part of the potentials or marginals of a batch: a ragged table. Example b owns rows Offsets[b] to Offsets[b+1]-1; the
// one row of a tied part of potentials belongs to every example, and its Offsets are nil.
type Part struct {
	Shape
	Offsets []int     // [B+1]
	Values  []float32 // [rows×Width]
}

// Of returns the numbers of example b.
func (p *Part) Of(b int) []float32 {
	if p.Offsets == nil {
		return p.Values
	}
	return p.Values[p.Offsets[b]*p.Width : p.Offsets[b+1]*p.Width]
}

// resize gives a part a shape and reuses its memory; its content is undefined.
func (p *Part) resize(shape Shape, offsets []int) {
	rows := 1
	if offsets != nil {
		rows = offsets[len(offsets)-1]
	}
	p.Shape, p.Offsets, p.Values = shape, offsets, grow(p.Values, rows*shape.Width)
}

// Potentials are the scores θ of a ragged batch of B examples, in parts that their structure knows the meaning of.
//
// −∞ forbids whatever it scores; +∞ and NaN are errors of whoever wrote them.
type Potentials struct {
	Structure Structure
	Outputs   []int // [B+1]; the output of example b is y[Outputs[b]:Outputs[b+1]] of a batch's outputs y
	Parts     []Part
}

// Len returns B, the number of examples.
func (θ *Potentials) Len() int { return len(θ.Outputs) - 1 }

// OutputSize returns the length of all outputs of the batch together.
func (θ *Potentials) OutputSize() int { return θ.Outputs[len(θ.Outputs)-1] }

// Resize gives θ the form of a batch's potentials and reuses its memory; its content is undefined. It shares the batch's offsets.
func (θ *Potentials) Resize(batch *Batch, form Form) {
	θ.Reshape(form, batch.Outputs, batch.Rows)
}

// Reshape is Resize for outputs that lie at the given offsets, and tables whose rows lie where rows says.
func (θ *Potentials) Reshape(form Form, outputs []int, rows func(table string) []int) {
	θ.Structure, θ.Outputs = form.Structure, outputs
	θ.Parts = grow(θ.Parts, len(form.Parts))
	for k, shape := range form.Parts {
		var offsets []int
		if shape.Rows != Tied {
			offsets = rows(shape.Rows)
		}
		θ.Parts[k].resize(shape, offsets)
	}
}

// Like gives θ the form of other potentials and reuses its memory; its content is undefined.
func (θ *Potentials) Like(other *Potentials) {
	θ.Structure, θ.Outputs = other.Structure, other.Outputs
	θ.Parts = grow(θ.Parts, len(other.Parts))
	for k := range θ.Parts {
		θ.Parts[k].resize(other.Parts[k].Shape, other.Parts[k].Offsets)
	}
}

// Score returns ⟨θ, 1_y⟩ for an output of example b, in float64.
func (θ *Potentials) Score(b int, y []int32) float64 { return θ.Structure.Score(θ, b, y) }

// View makes one the batch of example b alone. It shares the numbers of θ.
func (θ *Potentials) View(b int, one *Potentials) {
	one.Structure = θ.Structure
	one.Outputs = append(one.Outputs[:0], 0, θ.Outputs[b+1]-θ.Outputs[b])
	one.Parts = grow(one.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p, to := &θ.Parts[k], &one.Parts[k]
		offsets := to.Offsets
		*to = Part{Shape: p.Shape, Values: p.Of(b)}
		if p.Offsets != nil {
			to.Offsets = append(offsets[:0], 0, p.Offsets[b+1]-p.Offsets[b])
		}
	}
}

// Select makes some a copy of the given examples alone.
func (θ *Potentials) Select(examples []int, some *Potentials) {
	some.Structure = θ.Structure
	some.Outputs = sumLengths(some.Outputs, θ.Outputs, examples)
	some.Parts = grow(some.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p, to := &θ.Parts[k], &some.Parts[k]
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

// Finite reports whether no potential is NaN or +∞.
func (θ *Potentials) Finite() bool {
	for k := range θ.Parts {
		if !finite(θ.Parts[k].Values) {
			return false
		}
	}
	return true
}

// Copy makes θ a copy of other.
func (θ *Potentials) Copy(other *Potentials) {
	θ.Like(other)
	for k := range θ.Parts {
		copy(θ.Parts[k].Values, other.Parts[k].Values)
	}
}

// FirstNotFinite returns the first example with a potential of its own that is NaN or +∞, or −1 if only a tied part has one.
func (θ *Potentials) FirstNotFinite() int {
	for b := range θ.Len() {
		for k := range θ.Parts {
			if p := &θ.Parts[k]; p.Offsets != nil && !finite(p.Of(b)) {
				return b
			}
		}
	}
	return -1
}

func finite(xs []float32) bool {
	for _, x := range xs {
		if x != x || x > math.MaxFloat32 {
			return false
		}
	}
	return true
}

// Marginals are points u of the marginal polytope, one per example, in the space of Potentials, but that a tied part has a
// row for every example. They also hold differences of such points, which is what a network pulls back.
type Marginals struct {
	Structure Structure
	Parts     []Part

	each []int // [B+1] offsets of tied parts: 0, 1, 2, …
}

// Like gives u the form of potentials and reuses its memory; its content is undefined. It shares offsets.
func (u *Marginals) Like(θ *Potentials) {
	u.Structure = θ.Structure
	u.Parts = grow(u.Parts, len(θ.Parts))
	for k := range θ.Parts {
		p := &θ.Parts[k]
		offsets := p.Offsets
		if offsets == nil {
			offsets = u.oneEach(θ.Len())
		}
		u.Parts[k].resize(p.Shape, offsets)
	}
}

// Resize gives u the form of a batch's marginals and reuses its memory; its content is undefined. It shares the batch's offsets.
func (u *Marginals) Resize(batch *Batch, form Form) { u.Reshape(form, batch.Len(), batch.Rows) }

// Reshape is Resize for so many examples, and tables whose rows lie where rows says.
func (u *Marginals) Reshape(form Form, examples int, rows func(table string) []int) {
	u.Structure = form.Structure
	u.Parts = grow(u.Parts, len(form.Parts))
	for k, shape := range form.Parts {
		var offsets []int
		if shape.Rows == Tied {
			offsets = u.oneEach(examples)
		} else {
			offsets = rows(shape.Rows)
		}
		u.Parts[k].resize(shape, offsets)
	}
}

// oneEach returns the offsets of one row per example.
func (u *Marginals) oneEach(examples int) []int {
	for len(u.each) <= examples {
		u.each = append(u.each, len(u.each))
	}
	return u.each[:examples+1]
}

// View makes one the marginals of example b alone. It shares the numbers of u.
func (u *Marginals) View(b int, one *Marginals) {
	one.Structure = u.Structure
	one.Parts = grow(one.Parts, len(u.Parts))
	for k := range u.Parts {
		p, to := &u.Parts[k], &one.Parts[k]
		*to = Part{Shape: p.Shape, Values: p.Of(b), Offsets: append(to.Offsets[:0:0], 0, p.Offsets[b+1]-p.Offsets[b])}
	}
}

// AsPotentials makes θ the numbers of example b of u as potentials of a batch of that example alone, whose output has that
// length. They share memory.
func (u *Marginals) AsPotentials(b, output int, θ *Potentials) {
	θ.Structure, θ.Outputs = u.Structure, append(θ.Outputs[:0], 0, output)
	θ.Parts = grow(θ.Parts, len(u.Parts))
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

// Clear sets every entry to zero.
func (u *Marginals) Clear() {
	for k := range u.Parts {
		clear(u.Parts[k].Values)
	}
}

// Scale multiplies example b by c.
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

// Set makes example b what example i of other is.
func (u *Marginals) Set(b int, other *Marginals, i int) {
	for k := range u.Parts {
		copy(u.Parts[k].Of(b), other.Parts[k].Of(i))
	}
}

// Copy makes u a copy of other.
func (u *Marginals) Copy(other *Marginals) {
	u.Structure = other.Structure
	u.Parts = grow(u.Parts, len(other.Parts))
	for k := range other.Parts {
		from, to := &other.Parts[k], &u.Parts[k]
		to.resize(from.Shape, from.Offsets)
		copy(to.Values, from.Values)
	}
}

// Add adds c·1_y to example b.
func (u *Marginals) Add(b int, y []int32, c float32) { u.Structure.Add(u, b, y, c) }

// Dot returns ⟨u, θ⟩ for example b of both, in float64. A zero entry counts nothing even where the potential is −∞.
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

func grow[E any](s []E, n int) []E {
	if cap(s) < n {
		return append(s[:cap(s)], make([]E, n-cap(s))...)
	}
	return s[:n]
}

package engine

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

func (d *hostDescent) adam(η, λ, β1 float64) {
	if !d.adams.on {
		d.adams.on = true
		d.wakeRows()
	}
	d.means.β = β1
	d.q = vec.Grow(d.q, blockWeights)
	d.steps++
	β, unbias, mean := float32(d.squares.β), d.squares.after(d.steps), d.means.after(d.steps)
	d.eachAwake(func(lo, hi int, rate float64) {
		g, v, m, w, q := d.g[lo:hi], d.v[lo:hi], d.m[lo:hi], d.W[lo:hi], d.q[:hi-lo]
		η := η * rate
		vec.Observe(β, unbias, g, v, q)
		keep := float32(1 - η*λ)
		if d.engine.Center != nil && λ != 0 {
			vec.Axpy(float32(-η*λ), d.fromCenter(lo, hi), w)
			keep = 1
		}
		vec.DescendMean(float32(β1), keep, float32(η)*mean, g, q, m, w)
	})
	d.rested(η * λ)
	d.stepped()
}

// adamRows are rows of large tables (nets.RowTable) that Adam's steps leave alone. A row rests when no batch has read
// it for restAfter steps: what is left of its mean of gradients would move it by β₁^restAfter, about a millionth, of a
// step, and is forgotten. The mean of its squares shrinks by β a step, and the row itself towards the centre of the
// regulariser. Both have closed forms, which are applied when a batch reads the row again, and at the end of a pass.
// There rows with a mean of gradients are as if they had just been read.
type adamRows struct {
	tables []adamTable
	on     bool    // Adam has taken a step
	shrunk float64 // Σ ηλ of all steps
}

type adamTable struct {
	k      int // among all tables
	awake  []int32
	read   []int32   // by row: the step before which a batch has read it last
	asleep []float64 // by row: shrunk when it fell asleep; negative: awake
	slept  []int32   // by row: the step when it fell asleep
}

const restAfter = 128

// openRows makes rows rest that have no mean of gradients, and wakes all others.
func (d *hostDescent) openRows() {
	d.adams = adamRows{}
	for k, t := range d.touched.tables {
		if !t.Large {
			continue
		}
		a := adamTable{k: k, read: make([]int32, t.Rows), asleep: make([]float64, t.Rows), slept: make([]int32, t.Rows)}
		for r := range t.Rows {
			lo := t.Offset + r*t.Cols
			if len(d.m) > 0 && slices.ContainsFunc(d.m[lo:lo+t.Cols], func(x float32) bool { return x != 0 }) {
				a.awake, a.read[r], a.asleep[r] = append(a.awake, int32(r)), int32(d.steps), -1
			} else {
				a.asleep[r], a.slept[r] = d.adams.shrunk, int32(d.steps)
			}
		}
		d.adams.tables = append(d.adams.tables, a)
	}
}

// wakeRows brings the rows up to date that the batch reads, if Adam takes the steps.
func (d *hostDescent) wakeRows() {
	if !d.adams.on {
		return
	}
	for i := range d.adams.tables {
		a := &d.adams.tables[i]
		n := len(a.awake)
		for _, r := range d.touched.rows[a.k] {
			a.read[r] = int32(d.steps)
			if a.asleep[r] >= 0 {
				d.catchRowUp(a, r)
				a.asleep[r] = -1
				a.awake = append(a.awake, r)
			}
		}
		if len(a.awake) > n {
			slices.Sort(a.awake)
		}
	}
}

// catchRowUp brings a resting row up to date.
func (d *hostDescent) catchRowUp(a *adamTable, r int32) {
	t := d.touched.tables[a.k]
	lo := t.Offset + int(r)*t.Cols
	hi := lo + t.Cols
	if missed := d.steps - int(a.slept[r]); missed > 0 && len(d.v) > 0 {
		root := d.root(missed)
		vec.Scale(float32(root*root), d.v[lo:hi])
	}
	if x := (d.adams.shrunk - a.asleep[r]) * d.engine.Rates.at(lo); x > 0 {
		if d.engine.Center == nil {
			vec.Scale(float32(math.Exp(-x)), d.W[lo:hi])
		} else {
			vec.Axpy(float32(math.Expm1(-x)), d.fromCenter(lo, hi), d.W[lo:hi])
		}
	}
	a.asleep[r], a.slept[r] = d.adams.shrunk, int32(d.steps)
}

// catchRowsUp brings all resting rows up to date, if Adam takes the steps.
func (d *hostDescent) catchRowsUp() {
	if !d.adams.on {
		return
	}
	for i := range d.adams.tables {
		a := &d.adams.tables[i]
		for r := range a.asleep {
			if a.asleep[r] >= 0 {
				d.catchRowUp(a, int32(r))
			}
		}
	}
}

// eachAwake calls do for blocks of all weights but those of resting rows.
func (d *hostDescent) eachAwake(do func(lo, hi int, rate float64)) {
	at, rates := 0, d.engine.Rates
	for _, a := range d.adams.tables {
		t := d.touched.tables[a.k]
		rates.blocks(at, t.Offset, do)
		for _, r := range a.awake {
			lo := t.Offset + int(r)*t.Cols
			rates.blocks(lo, lo+t.Cols, do)
		}
		at = t.Offset + t.Rows*t.Cols
	}
	rates.blocks(at, len(d.W), do)
}

// rested ends a step that shrinks weights by the given part: rows that no batch has read for long rest from now on.
func (d *hostDescent) rested(shrink float64) {
	d.adams.shrunk += shrink
	for i := range d.adams.tables {
		a := &d.adams.tables[i]
		t := d.touched.tables[a.k]
		a.awake = slices.DeleteFunc(a.awake, func(r int32) bool {
			if d.steps-int(a.read[r]) < restAfter {
				return false
			}
			lo := t.Offset + int(r)*t.Cols
			clear(d.m[lo : lo+t.Cols])
			a.asleep[r], a.slept[r] = d.adams.shrunk, int32(d.steps)
			return true
		})
	}
}

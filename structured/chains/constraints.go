package chains

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Constraints forbid labels and transitions of a chain. Nil slices forbid nothing.
type Constraints struct {
	Start      []bool // [Y] labels with which no chain may start
	End        []bool // [Y] labels with which no chain may end
	Transition []bool // [Y×Y] forbidden steps, row "from"
}

// Apply writes −∞ over the potentials that c forbids. Every oracle respects it.
func (c *Constraints) Apply(θ *structured.Potentials) {
	if c == nil {
		return
	}
	never, p := float32(math.Inf(-1)), Of(θ)
	y := p.Y
	for b := range p.Len() {
		lo, hi := p.Offsets[b], p.Offsets[b+1]
		if lo == hi {
			continue
		}
		for l := range y {
			if c.Start != nil && c.Start[l] {
				p.Node[lo*y+l] = never
			}
			if c.End != nil && c.End[l] {
				p.Node[(hi-1)*y+l] = never
			}
		}
	}
	if c.Transition == nil {
		return
	}
	for i := range p.Edge {
		if c.Transition[i%(y*y)] {
			p.Edge[i] = never
		}
	}
}

// Allows reports whether c allows the labeling.
func (c *Constraints) Allows(labels []int32) bool {
	if c == nil || len(labels) == 0 {
		return true
	}
	if c.Start != nil && c.Start[labels[0]] || c.End != nil && c.End[labels[len(labels)-1]] {
		return false
	}
	if c.Transition != nil {
		y := isqrt(len(c.Transition))
		for t := 1; t < len(labels); t++ {
			if c.Transition[int(labels[t-1])*y+int(labels[t])] {
				return false
			}
		}
	}
	return true
}

// AllowsSome reports whether c allows a labeling that agrees with the gold labels of example i of d, which may be sets.
func (c *Constraints) AllowsSome(d *structured.Dataset, i int) bool {
	gold := d.GoldOf(i)
	if c == nil || !gold.Partial() {
		return c.Allows(gold.Output)
	}
	y := d.Alphabet.Len()
	reached, next := make([]bool, y), make([]bool, y) // labels that end an allowed labeling of the first t positions
	var one [1]int32
	for t := range gold.Output {
		set := gold.Possible(t, &one)
		clear(next)
		for k := range y {
			if set != nil && !slices.Contains(set, int32(k)) || t == len(gold.Output)-1 && c.End != nil && c.End[k] {
				continue
			}
			if t == 0 {
				next[k] = c.Start == nil || !c.Start[k]
				continue
			}
			for from, ok := range reached {
				next[k] = next[k] || ok && (c.Transition == nil || !c.Transition[from*y+k])
			}
		}
		reached, next = next, reached
	}
	return slices.Contains(reached, true)
}

func isqrt(n int) int { return int(math.Round(math.Sqrt(float64(n)))) }

package structured

import "github.com/dsp-go/dsp/structured/sys/vec"

// Doubles are numbers in float64 that are laid out as the parts of Potentials or Marginals: number j of part k goes
// with Parts[k].Values[j].
type Doubles [][]float64

// Like gives d the layout of parts and reuses its memory. The numbers are undefined.
func (d *Doubles) Like(parts []Part) {
	*d = growKeeping(*d, len(parts))
	for k := range parts {
		(*d)[k] = vec.Grow((*d)[k], len(parts[k].Values))
	}
}

// Of returns the numbers of part k of example b, where p is that part: [rows of b × Width], or [Width] for tied
// potentials.
func (d Doubles) Of(k int, p *Part, b int) []float64 {
	if p.Offsets == nil {
		return d[k]
	}
	return d[k][p.Offsets[b]*p.Width : p.Offsets[b+1]*p.Width]
}

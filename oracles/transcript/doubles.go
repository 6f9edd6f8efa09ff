package transcript

import (
	"math"

	"github.com/dsp-go/dsp/structured/machine/vec"
)

// doubles sums over paths in plain float64, for strings that are not too improbable: everything else is for wide numbers, which take several times
// as long.
//
// The probabilities of the labels of the string are normalised in each frame. Then the weights of all beginnings of paths add up to at most 1, as those
// of all ends do: the labels of two paths from one state differ. So what underflows, at most 2^−1022 at each of T·S places, is nothing beside a sum
// that is at least leastSum, and no row needs a scale.
type doubles struct {
	p     []float64 // [T×(1+L)] probabilities of the blank, and of each symbol of the string
	each  []float64 // [Y] of the labels of the string, in one frame
	α     []float64 // [T×(1+2L)] weights of the beginnings that end in a blank, before each symbol and at last, then in each symbol
	β     []float64 // [2+2L] weights of the ends behind these states, with one state more that has none
	skips []float64 // [1+L] 1 if symbol k may follow symbol k−1 at once, else 0
}

const leastSum = 1e-200

// exp is lattice.exp. ok says that the sum is large enough.
func (d *doubles) exp(l *lattice, μ float64, u []float32) (value float64, ok bool) {
	symbols := len(l.label) / 2
	d.skips = vec.Grow(d.skips, symbols+1)
	d.skips[symbols] = 0 // there is no such symbol
	for k := range symbols {
		d.skips[k] = 0
		if l.skips[2*k+1] {
			d.skips[k] = 1
		}
	}
	scale, possible := d.weigh(l, μ, symbols)
	if !possible {
		return 0, false
	}
	sum := d.forward(l.frames, symbols)
	if !(sum >= leastSum) {
		return 0, false
	}
	if u != nil {
		d.marginals(l, symbols, sum, u)
	}
	return scale + μ*math.Log(sum), true
}

// weigh computes p. It returns μ times the logarithm of the product of what the rows were divided by, and whether every frame has a label.
func (d *doubles) weigh(l *lattice, μ float64, symbols int) (scale float64, possible bool) {
	d.p, d.each = vec.Grow(d.p, l.frames*(symbols+1)), vec.Grow(d.each, l.width)
	for t := range l.frames {
		row, p := l.frame[t*l.width:(t+1)*l.width], d.p[t*(symbols+1):(t+1)*(symbols+1)]
		most := float32(math.Inf(-1))
		for _, c := range l.used {
			most = max(most, row[c])
		}
		if math.IsInf(float64(most), -1) {
			return 0, false
		}
		sum := 0.0
		for _, c := range l.used {
			d.each[c] = math.Exp((float64(row[c]) - float64(most)) / μ)
			sum += d.each[c]
		}
		scale += float64(most) + μ*math.Log(sum)
		for _, c := range l.used {
			d.each[c] /= sum
		}
		p[0] = d.each[l.label[0]]
		for k := range symbols {
			p[k+1] = d.each[l.label[2*k+1]]
		}
	}
	return scale, true
}

// forward sets α, and returns the sum over all paths.
func (d *doubles) forward(frames, symbols int) float64 {
	states := 1 + 2*symbols
	d.α = vec.Grow(d.α, frames*states)
	clear(d.α[:states])
	d.α[0] = d.p[0]
	if symbols > 0 {
		d.α[symbols+1] = d.p[1]
	}
	for t := 1; t < frames; t++ {
		before, now := d.α[(t-1)*states:t*states], d.α[t*states:(t+1)*states]
		p := d.p[t*(symbols+1) : (t+1)*(symbols+1)]
		blank, blankNow := before[:symbols+1], now[:symbols+1]
		symbol, symbolNow, skips, q := before[symbols+1:][:symbols], now[symbols+1:][:symbols], d.skips[:symbols], p[1:][:symbols]
		last := 0.0 // the symbol before
		for k, x := range symbol {
			blankNow[k] = p[0] * (blank[k] + last)
			symbolNow[k] = q[k] * (x + blank[k] + skips[k]*last)
			last = x
		}
		blankNow[symbols] = p[0] * (blank[symbols] + last)
	}
	end := d.α[(frames-1)*states : frames*states]
	sum := end[symbols]
	if symbols > 0 {
		sum += end[states-1]
	}
	return sum
}

// marginals writes the marginals of all paths, whose weights add up to sum.
func (d *doubles) marginals(l *lattice, symbols int, sum float64, u []float32) {
	states := 1 + 2*symbols
	d.β = vec.Grow(d.β, states+1)
	β := d.β
	clear(β)
	blank, symbol := β[:symbols+1], β[symbols+1:][:symbols+1]
	blank[symbols] = 1
	if symbols > 0 {
		symbol[symbols-1] = 1
	}
	share := d.each
	for t := l.frames - 1; t >= 0; t-- {
		α := d.α[t*states : (t+1)*states]
		for _, c := range l.used {
			share[c] = 0
		}
		first := l.label[0]
		for k, x := range α[:symbols+1] {
			share[first] += x * blank[k]
		}
		for k, x := range α[symbols+1:] {
			share[l.label[2*k+1]] += x * symbol[k]
		}
		to := u[t*l.width : (t+1)*l.width]
		for _, c := range l.used {
			to[c] = float32(min(1, share[c]/sum))
		}
		p := d.p[t*(symbols+1) : (t+1)*(symbols+1)]
		for k := range symbols { // the ends from here on, this frame's label too
			blank[k], symbol[k] = blank[k]*p[0], symbol[k]*p[k+1]
		}
		blank[symbols] *= p[0]
		for k := range symbols {
			b, s := blank[k], symbol[k]
			blank[k] = b + s
			symbol[k] = s + blank[k+1] + d.skips[k+1]*symbol[k+1]
		}
	}
}

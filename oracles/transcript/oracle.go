// Package transcript holds the oracle of lines of frames (transcripts.Frames), and finds the strings that they read.
//
// Without a condition, frames are independent, and everything takes O(T·Y) for T frames and Y labels. Under the
// condition that a line reads a string of L symbols, it is a path through a lattice (Graves et al. 2006): state 2k+1 is
// symbol k, and the even ones are the blanks around the symbols. A path stays, moves on by one state, or skips a blank
// between two symbols that differ. Sums, best and K best paths, and samples take O(T·L). Sums are in float64 (paths),
// and where it is too narrow, in numbers of a wider range (wide).
//
// The probability of a string is the sum over such paths. Beam finds strings with large ones.
package transcript

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// Oracle implements oracles.Oracle and oracles.Sampler. It adds scores in float64.
type Oracle struct {
	lattice lattice
	share   []float32 // [T×Y]
	order   []int32
	lists   kBest
	beam    beam
}

func New() *Oracle { return newOf(fastest) }

func newOf(k *kernels) *Oracle { return &Oracle{lattice: lattice{paths: paths{k: k}}} }

var minusInf = math.Inf(-1)

// Max implements oracles.Maximiser. Of labels with equal scores, the first is better.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	for b := range θ.Len() {
		out, frame, width := y[θ.Outputs[b]:θ.Outputs[b+1]], θ.Parts[0].Of(b), θ.Parts[0].Width
		if !structured.ValidPotentials(frame) {
			value[b] = oracles.Refuse(out)
			continue
		}
		if reading, ok := transcripts.Required(θ, b); ok {
			clear(out)
			if value[b] = minusInf; o.lattice.open(θ, b, reading) {
				value[b] = o.lattice.max(out)
			}
			continue
		}
		value[b] = 0
		for t := range out {
			row := frame[t*width : (t+1)*width]
			best := 0
			for c, x := range row {
				if x > row[best] {
					best = c
				}
			}
			out[t] = int32(best)
			value[b] += float64(row[best])
		}
		if math.IsInf(value[b], -1) {
			clear(out)
		}
	}
}

// Exp implements oracles.Summer.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
	}
	for b := range θ.Len() {
		frame := θ.Parts[0].Of(b)
		var to []float32
		if u != nil {
			to = u.Parts[0].Of(b)
			clear(to)
		}
		if !structured.ValidPotentials(frame) {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		if reading, ok := transcripts.Required(θ, b); ok {
			if value[b] = minusInf; o.lattice.open(θ, b, reading) {
				value[b] = o.lattice.exp(μ, to)
			}
			continue
		}
		if value[b] = o.free(frame, θ.Parts[0].Width, μ, to); math.IsInf(value[b], -1) {
			clear(to)
		}
	}
}

// free returns μ log Σ exp(θ/μ) of frames that may read anything, and writes the probabilities of labels to u, unless
// it is nil.
func (o *Oracle) free(frame []float32, width int, μ float64, u []float32) (value float64) {
	if u == nil {
		o.share = vec.Grow(o.share, len(frame))
		u = o.share
	}
	k, scale := o.lattice.paths.k, float32(1/μ)
	for lo := 0; lo < len(frame); lo += width {
		most := float64(k.shift(u[lo:lo+width], frame[lo:lo+width], scale))
		if value += most; math.IsInf(most, -1) {
			return most
		}
	}
	vec.Exp(u, u)
	product := 1.0 // of sums, whose logarithms take long
	for ; len(u) > 0; u = u[width:] {
		sum := vec.Sum(u[:width])
		vec.Scale(float32(1/sum), u[:width])
		if product *= sum; product > 1e200 {
			value, product = value+μ*math.Log(product), 1
		}
	}
	return value + μ*math.Log(product)
}

// TopK implements oracles.Ranker.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	for b := range θ.Len() {
		frame, lo, hi := θ.Parts[0].Of(b), θ.Outputs[b], θ.Outputs[b+1]
		reading, conditioned := transcripts.Required(θ, b)
		yield := func(rank int, score float64, path func(y []int32)) {
			best.Score[b*k+rank] = score
			path(best.Output(rank, lo, hi))
		}
		switch {
		case !structured.ValidPotentials(frame):
			best.Refuse(θ, b)
		case conditioned && !o.lattice.open(θ, b, reading):
			best.Count[b] = 0
		case lo == hi:
			best.Count[b], best.Score[b*k] = 1, 0
		case conditioned:
			best.Count[b] = o.lattice.topK(k, yield)
		default:
			o.order = vec.Grow(o.order, θ.Parts[0].Width)
			best.Count[b] = o.lists.free(frame, θ.Parts[0].Width, k, o.order, yield)
		}
	}
}

// Sample implements oracles.Sampler.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	to.Resize(θ, n)
	width := θ.Parts[0].Width
	var draws oracles.Draws
	for b := range θ.Len() {
		frame, lo, hi := θ.Parts[0].Of(b), θ.Outputs[b], θ.Outputs[b+1]
		reading, conditioned := transcripts.Required(θ, b)
		draws.Seed(seed[b])
		switch {
		case !structured.ValidPotentials(frame) || conditioned && !o.lattice.open(θ, b, reading):
			to.Count[b] = 0
		case lo == hi:
		case conditioned:
			if math.IsInf(o.lattice.weigh(μ), -1) || o.lattice.forward().m == 0 {
				to.Count[b] = 0
				continue
			}
			for k := range n {
				o.lattice.sample(to.Output(k, lo, hi), &draws)
			}
		default:
			o.share = vec.Grow(o.share, len(frame))
			if math.IsInf(o.free(frame, width, μ, o.share), -1) {
				to.Count[b] = 0
				continue
			}
			for k := range n {
				for t, y := 0, to.Output(k, lo, hi); t < len(y); t++ {
					y[t] = int32(oracles.Pick(o.share[t*width:(t+1)*width], draws.Uniform()))
				}
			}
		}
	}
}

package transcript

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// lattice holds the paths through the frames of a line that read a string. State s stands for label[s].
type lattice struct {
	frame  []float32 // [T×Y] potentials
	width  int       // Y
	frames int       // T
	label  []int32   // [S] blank, symbol, blank, symbol, …, blank
	skips  []bool    // [S] a path may come from two states before

	p     []wide    // [T×Y] probabilities of the labels of the string, up to a factor for each frame
	α, β  []wide    // [T×S]
	used  []int32   // the labels of the string, each once
	has   []bool    // [Y]
	sums  []wide    // [Y]
	best  []float64 // [2×S]
	moves []uint8   // [T×S] how many states the best path moved on
	lists kBest

	paths paths
}

// open takes example b and the string that it must read. It reports whether there are such paths, but for potentials of
// −∞.
func (l *lattice) open(θ *structured.Potentials, b int, reading []int32) bool {
	part := &θ.Parts[0]
	l.frame, l.width = part.Of(b), part.Width
	l.frames = len(l.frame) / max(1, l.width)
	const blank = transcripts.Blank
	l.label, l.skips = append(l.label[:0], blank), append(l.skips[:0], false)
	l.has = vec.Grow(l.has, l.width)
	clear(l.has)
	l.used = append(l.used[:0], blank)
	l.has[blank] = true
	last := int32(blank)
	shortest := 0
	for _, symbol := range reading {
		c := symbol + 1
		if symbol < 0 || int(c) >= l.width {
			return false // a symbol that the model does not know
		}
		shortest++
		if c == last {
			shortest++
		}
		if !l.has[c] {
			l.has[c] = true
			l.used = append(l.used, c)
		}
		l.label = append(l.label, c, blank)
		l.skips = append(l.skips, c != last && last != blank, false)
		last = c
	}
	return shortest <= l.frames
}

// states returns the first and the last state that paths can be in at a frame.
func (l *lattice) states(t int) (from, to int) {
	last := len(l.label) - 1
	return max(0, last-1-2*(l.frames-1-t)), min(last, 2*t+1)
}

// weigh computes the probabilities of labels, up to a factor for each frame. It returns the logarithm of the product of
// the factors, times μ.
func (l *lattice) weigh(μ float64) float64 {
	l.p = vec.Grow(l.p, l.frames*l.width)
	sum := 0.0
	for t := range l.frames {
		row, p := l.frame[t*l.width:(t+1)*l.width], l.p[t*l.width:(t+1)*l.width]
		most := math.Inf(-1)
		for _, c := range l.used {
			most = max(most, float64(row[c]))
		}
		if sum += most; math.IsInf(most, -1) {
			return most
		}
		for _, c := range l.used {
			p[c] = exponential((float64(row[c]) - most) / μ)
		}
	}
	return sum
}

// forward sums over the beginnings of paths, and returns the sum over all.
func (l *lattice) forward() wide {
	states := len(l.label)
	l.α = vec.Grow(l.α, l.frames*states)
	for t := range l.frames {
		p, row := l.p[t*l.width:(t+1)*l.width], l.α[t*states:(t+1)*states]
		from, to := l.states(t)
		if t == 0 {
			for s := from; s <= to; s++ {
				row[s] = p[l.label[s]]
			}
			continue
		}
		before := l.α[(t-1)*states : t*states]
		lo, hi := l.states(t - 1)
		for s := from; s <= to; s++ {
			sum := zero
			if s >= lo && s <= hi {
				sum = before[s]
			}
			if s-1 >= lo && s-1 <= hi {
				sum = sum.plus(before[s-1])
			}
			if l.skips[s] && s-2 >= lo {
				sum = sum.plus(before[s-2])
			}
			row[s] = sum.times(p[l.label[s]])
		}
	}
	sum := zero
	from, to := l.states(l.frames - 1)
	for s := from; s <= to; s++ {
		sum = sum.plus(l.α[(l.frames-1)*states+s])
	}
	return sum
}

// backward sums over the ends of paths after each state.
func (l *lattice) backward() {
	states := len(l.label)
	l.β = vec.Grow(l.β, l.frames*states)
	for t := l.frames - 1; t >= 0; t-- {
		row := l.β[t*states : (t+1)*states]
		from, to := l.states(t)
		if t == l.frames-1 {
			for s := from; s <= to; s++ {
				row[s] = one
			}
			continue
		}
		after, p := l.β[(t+1)*states:(t+2)*states], l.p[(t+1)*l.width:(t+2)*l.width]
		lo, hi := l.states(t + 1)
		for s := from; s <= to; s++ {
			sum := zero
			if s >= lo && s <= hi {
				sum = after[s].times(p[l.label[s]])
			}
			if s+1 >= lo && s+1 <= hi {
				sum = sum.plus(after[s+1].times(p[l.label[s+1]]))
			}
			if s+2 <= hi && l.skips[s+2] {
				sum = sum.plus(after[s+2].times(p[l.label[s+2]]))
			}
			row[s] = sum
		}
	}
}

// exp returns μ times the logarithm of the sum over paths, and writes their marginals to u [T×Y], which is zero, unless
// it is nil.
func (l *lattice) exp(μ float64, u []float32) float64 {
	if l.frames == 0 {
		return 0
	}
	if value, ok := l.paths.sum(l, μ, u); ok {
		return value
	}
	return l.wideExp(μ, u)
}

// wideExp is exp for sums that leave the range of float64.
func (l *lattice) wideExp(μ float64, u []float32) float64 {
	scale := l.weigh(μ)
	if math.IsInf(scale, -1) {
		return scale
	}
	all := l.forward()
	if all.m == 0 {
		return math.Inf(-1)
	}
	if u != nil {
		l.backward()
		states := len(l.label)
		l.sums = vec.Grow(l.sums, l.width)
		for t := range l.frames {
			for _, c := range l.used {
				l.sums[c] = zero
			}
			from, to := l.states(t)
			for s := from; s <= to; s++ {
				c := l.label[s]
				l.sums[c] = l.sums[c].plus(l.α[t*states+s].times(l.β[t*states+s]))
			}
			for _, c := range l.used {
				u[t*l.width+int(c)] = float32(min(1, l.sums[c].over(all)))
			}
		}
	}
	return scale + μ*all.log()
}

// max finds the best path, and writes its labels. It returns the score, −∞ without a path.
func (l *lattice) max(y []int32) float64 {
	if l.frames == 0 {
		return 0
	}
	states := len(l.label)
	l.best, l.moves = vec.Grow(l.best, 2*states), vec.Grow(l.moves, l.frames*states)
	now, before := l.best[:states], l.best[states:]
	for s := range before {
		before[s] = math.Inf(-1)
	}
	for t := range l.frames {
		row := l.frame[t*l.width : (t+1)*l.width]
		from, to := l.states(t)
		for s := range now {
			now[s] = math.Inf(-1)
		}
		for s := from; s <= to; s++ {
			most, move := before[s], uint8(0)
			switch {
			case t == 0:
				most = 0
			default:
				if s > 0 && before[s-1] > most {
					most, move = before[s-1], 1
				}
				if l.skips[s] && before[s-2] > most {
					most, move = before[s-2], 2
				}
			}
			now[s], l.moves[t*states+s] = most+float64(row[l.label[s]]), move
		}
		now, before = before, now
	}
	s := states - 1
	if s > 0 && before[s-1] > before[s] {
		s--
	}
	value := before[s]
	if math.IsInf(value, -1) {
		clear(y)
		return value
	}
	for t := l.frames - 1; t >= 0; t-- {
		y[t] = l.label[s]
		s -= int(l.moves[t*states+s])
	}
	return value
}

// sample draws a path backwards, after forward.
func (l *lattice) sample(y []int32, r *oracles.Draws) {
	states := len(l.label)
	s := states // the end: the last two states lead there
	for t := l.frames - 1; t >= 0; t-- {
		row := l.α[t*states : (t+1)*states]
		lo, hi := l.states(t)
		sum, options := zero, [3]wide{zero, zero, zero}
		for k := range options {
			at := s - k
			if at < lo || at > hi || k == 2 && s < states && !l.skips[s] {
				continue
			}
			options[k] = row[at]
			sum = sum.plus(row[at])
		}
		var p [3]float64
		for k := range options {
			if options[k].m > 0 {
				p[k] = options[k].over(sum)
			}
		}
		s -= oracles.Pick(p[:], r.Uniform())
		y[t] = l.label[s]
	}
}

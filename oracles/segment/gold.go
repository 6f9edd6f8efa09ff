package segment

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// gold is what the loss of a segments.Counted does to the current sequence. With the price c of a wrong segment, every
// segment that counts costs c through its length, except that one of the gold output earns c in place of that, and c
// for each segment of the gold output is a constant: that is c times the number of wrong segments, since c per segment
// + c per gold one − 2c per common one.
type gold struct {
	known    bool
	price    float64
	outside  int // the label of segments that do not count, or −1
	constant float64
	count    int       // gold segments that count
	at       []int32   // [T] the entry of length of the gold segment that ends at a position, or −1
	score    []float64 // [T] what it scores there
	only     bool      // the price is −∞: nothing may be wrong
	covered  []bool    // [T] positions of gold segments that count, if only
	ended    []int32   // [T+1] how many gold segments that count end before a position
}

// wrong returns how many wrong segments the one of l positions with label y that ends at position t makes: itself, and
// each one of the gold output that ends in it, unless they are the same.
func (g *gold) wrong(t, l, y, stride int) int {
	n := int(g.ended[t+1] - g.ended[t-l+1])
	if y != g.outside {
		n++
	}
	if int(g.at[t]) == (l-1)*stride+y {
		n -= 2
	}
	return n
}

// mustCover reports whether a segment that counts must have position t.
func (g *gold) mustCover(t int) bool { return g.only && g.covered[t] }

// readGold prepares the length scores of example b, which are those of all examples without a loss.
func (o *Oracle) readGold(θ *structured.Potentials, b int) {
	g := &o.gold
	*g = gold{outside: -1, at: g.at, score: g.score, covered: g.covered, ended: g.ended}
	o.length = o.base
	if _, counted := θ.Structure.(segments.Counted); !counted {
		return
	}
	tags := segments.GoldOf(θ.Gold, b)
	if len(tags) == 0 || len(tags) != o.n {
		return
	}
	price := float64(θ.Parts[len(θ.Parts)-1].Of(b)[0]) * o.rate
	g.known, g.price, g.only, g.outside = true, price, price == minusInf, int(segments.Outside(o.s.Tags))
	g.at, g.score, g.covered, g.ended = vec.Grow(g.at, o.n), vec.Grow(g.score, o.n), vec.Grow(g.covered, o.n),
		vec.Grow(g.ended, o.n+1)
	for t := range g.at {
		g.at[t], g.covered[t] = -1, false
	}
	clear(g.ended)
	o.priced = append(o.priced[:0], o.base...)
	o.length = o.priced
	for l := range o.s.Longest {
		for y := range o.s.Labels {
			if y != g.outside {
				o.length[l*o.stride+y] += price
			}
		}
	}
	segments.Each(tags, func(s segments.Segment) {
		if int(s.Label) == g.outside {
			return
		}
		g.count++
		g.ended[s.Last+1] = 1
		for t := s.First; t <= s.Last; t++ {
			g.covered[t] = true
		}
		if l := s.Last - s.First; int(s.Label) < o.s.Labels && l < o.s.LongestOf(int(s.Label)) {
			at := l*o.stride + int(s.Label)
			g.at[s.Last], g.score[s.Last] = int32(at), o.base[at]
			if !g.only {
				g.score[s.Last] -= price
			}
		}
	})
	for t := range o.n {
		g.ended[t+1] += g.ended[t]
	}
	if !g.only && !o.direct {
		g.constant = float64(g.count) * price
	}
}

// swap gives the gold segment that ends at position t its own score of its length, and takes it off again when it is
// called once more.
func (o *Oracle) swap(t int) {
	if g := &o.gold; g.known && !o.direct && g.at[t] >= 0 {
		at := g.at[t]
		o.length[at], g.score[t] = g.score[t], o.length[at]
	}
}

// lengthScore returns length_t(l, y), where nothing is swapped.
func (o *Oracle) lengthScore(t, l, y int) float64 {
	if o.direct {
		return o.directLength(t, l, y)
	}
	at := (l-1)*o.stride + y
	score := o.length[at]
	if g := &o.gold; g.known && int(g.at[t]) == at {
		score = g.score[t]
	}
	if o.whole != nil {
		score += float64(o.whole[segments.Row(t, l, o.s.Longest)*o.s.Labels+y]) * o.rate
	}
	return score
}

// goldProbability returns the probability of the gold segment that ends at position t, given those that segments end
// there, and length_t with its score swapped in.
func (o *Oracle) goldProbability(t int, ending, length []float64) float64 {
	g := &o.gold
	if !g.known || o.direct || g.at[t] < 0 {
		return 0
	}
	l, y := int(g.at[t])/o.stride, int(g.at[t])%o.stride
	if float64(l+1) > o.row(o.reach, t)[y] {
		return 0
	}
	return ending[y] * math.Exp(o.h[(t-l)*o.stride+y]+length[g.at[t]]-o.row(o.a, t)[y])
}

// expectedWrong returns the expected number of wrong segments, given that of right ones and the marginals of lengths.
func (o *Oracle) expectedWrong(right float64) float32 {
	if o.gold.only {
		return 0
	}
	all := float64(o.gold.count)
	for l := range o.s.Longest {
		for y, p := range o.row(o.lengths, l)[:o.s.Labels] {
			if y != o.gold.outside {
				all += p
			}
		}
	}
	return float32(max(0, all-2*right))
}

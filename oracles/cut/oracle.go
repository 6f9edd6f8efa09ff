// Package cut finds the best labels of graphs with two labels whose edges favour equal labels: a minimum cut, found as
// a maximum flow. For more labels, Expansion improves labels by cuts.
package cut

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle is the oracle of graphs.Pairwise with two labels and submodular edges: θ(0,0) + θ(1,1) ≥ θ(0,1) + θ(1,0). It
// finds the best labels by one cut, all max-marginals by a small one for each variable, and the K best labelings by
// BMMF. There is no sum over all labelings: see WhyNoSums. Labels 0 and 1 that tie come out as 0 for as many variables
// as possible. The answer for an example has the same bits in every batch.
//
// Edges between the same two variables count as one. One that is not submodular is truncated: the oracle lowers the
// scores of different labels until it is. Then the labels may not be the best, their value is still their score, Bound
// bounds the best one, and max-marginals are those of the truncated potentials. Truncated counts these edges, but not
// those that lack at most a millionth of their potentials, which rounding in float32 may cause; Bound counts what they
// lack, too. An edge that forbids equal labels and allows different ones is not submodular either; truncated, it
// forbids nothing.
type Oracle struct {
	guard     oracles.Guard
	network   network
	clamping  clamping
	ranking   oracles.BMMF
	truncated int
	changes   bool      // some answer since TopK began is for truncated potentials
	upper     []float64 // [B] bounds of the latest answers
	exact     []bool    // [B]
	masks     oracles.Masks
	y         []int32
	all       []float64
}

func New() *Oracle {
	o := new(Oracle)
	o.ranking.Oracle = o
	return o
}

var (
	_ oracles.Ranker        = (*Oracle)(nil)
	_ oracles.MaxMarginaler = (*Oracle)(nil)
	_ oracles.Truncator     = (*Oracle)(nil)
	_ oracles.Bounder       = (*Oracle)(nil)
)

// WhyNoSums implements oracles.Unsummable.
func (*Oracle) WhyNoSums() string {
	return "the sum over all labelings is #P-complete even where cuts find the best one (Jerrum and Sinclair 1993)"
}

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.upper, o.exact = vec.Grow(o.upper, θ.Len()), vec.Grow(o.exact, θ.Len())
	o.guard.Begin(θ)
	for b := range θ.Len() {
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		value[b] = o.solve(θ, b, out)
		o.bound(θ, b, out, value[b])
	}
}

// Bound implements oracles.Bounder for the latest call of Max, MaxMarginals or TopK.
func (o *Oracle) Bound(b int) (upper float64, exact bool) { return o.upper[b], o.exact[b] }

// bound sets the bound of an answer that solve has just found. With θ′ ≤ θ the truncated potentials, whose scores of
// different labels are lower by the lack l_e ≥ 0 of each truncated edge, max_y ⟨θ, 1_y⟩ ≤ max_y ⟨θ′, 1_y⟩ + Σ_e l_e. y
// attains the maximum of θ′, so the bound is the score of y plus the lack of every truncated edge at whose ends y has
// equal labels. If there is none, y is the best for θ, too.
func (o *Oracle) bound(θ *structured.Potentials, b int, y []int32, score float64) {
	o.upper[b], o.exact[b] = score, len(o.network.illegal) == 0 && !math.IsNaN(score)
	if len(o.network.illegal) > 0 {
		o.upper[b] = inf // forbidden labels are allowed there
		return
	}
	for k, e := range o.network.negative {
		if ends := θ.Graphs[b].Ends[e]; y[ends[0]] == y[ends[1]] {
			o.upper[b] += o.network.lack[k]
			o.exact[b] = o.exact[b] && !(o.network.lack[k] > 0)
		}
	}
}

// solve finds the best labels of example b and returns their score, −∞ if no labels are allowed.
func (o *Oracle) solve(θ *structured.Potentials, b int, y []int32) float64 {
	if !o.guard.Valid(θ, b) {
		o.network.begin(θ.Graphs[b], len(y))
		return oracles.Refuse(y)
	}
	o.masks = oracles.FindMasks(θ, b, 0, 1)
	score := o.maximise(θ, b, y)
	if o.masks.Any() && score <= o.masks.Most {
		o.masks = oracles.NoMasks
		score = o.maximise(θ, b, y)
	}
	o.truncated += o.network.counted()
	o.changes = o.changes || o.network.changed()
	return score
}

// maximise finds the best labels that have no masks.
func (o *Oracle) maximise(θ *structured.Potentials, b int, y []int32) float64 {
	clear(y)
	if !o.network.read(θ, b, o.masks) || !o.network.maximise() {
		return -inf
	}
	o.network.labels(y)
	return θ.Score(b, y)
}

// labels gives label 1 to the nodes on the sink's side of the cut, and 0 to the others.
func (f *flow) labels(y []int32) {
	for v := range y {
		y[v] = 0
		if f.nodes[v].tree == sink {
			y[v] = 1
		}
	}
}

func (o *Oracle) MaxMarginals(θ *structured.Potentials, y []int32, value []float64, m *oracles.MaxMarginals) {
	m.Resize(θ, func(int) int { return 2 })
	o.upper, o.exact = vec.Grow(o.upper, θ.Len()), vec.Grow(o.exact, θ.Len())
	o.guard.Begin(θ)
	for b := range θ.Len() {
		out, to := y[θ.Outputs[b]:θ.Outputs[b+1]], m.Of(b)
		value[b] = o.solve(θ, b, out)
		o.bound(θ, b, out, value[b])
		if math.IsInf(value[b], -1) || math.IsNaN(value[b]) {
			for k := range to {
				to[k] = value[b]
			}
			continue
		}
		for v, l := range out {
			to[2*v+int(l)] = value[b]
		}
		if masked := o.others(out, value[b], to, o.masks.Most); masked {
			o.maximiseAll(θ, b, out, value[b], to)
		}
	}
}

// others writes the max-marginals of the labels that y, the best output, lacks. Those of at most least stay as they
// are; it reports whether there are any.
func (o *Oracle) others(y []int32, value float64, to []float64, least float64) (some bool) {
	o.clamping.begin(&o.network.flow)
	for v, l := range y {
		at := 2*v + 1 - int(l)
		switch found := value - o.clamping.cost(&o.network.flow, int32(v)); {
		case found > least || least == -inf:
			to[at] = found
		default:
			to[at], some = math.NaN(), true
		}
	}
	return some
}

// maximiseAll writes the max-marginals that others has left out, those of outputs with masks.
func (o *Oracle) maximiseAll(θ *structured.Potentials, b int, y []int32, value float64, to []float64) {
	masks := o.masks
	o.masks, o.y, o.all = oracles.NoMasks, vec.Grow(o.y, len(y)), vec.Grow(o.all, len(to))
	rough := o.maximise(θ, b, o.y) // finite, as value is
	for v, l := range o.y {
		o.all[2*v+int(l)] = rough
	}
	o.others(o.y, rough, o.all, -inf)
	for k, x := range to {
		if math.IsNaN(x) {
			to[k] = min(o.all[k], value)
		}
	}
	o.masks = masks
}

func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.changes = false
	o.ranking.TopK(θ, k, best)
	o.upper, o.exact = vec.Grow(o.upper, θ.Len()), vec.Grow(o.exact, θ.Len())
	changes := o.changes
	o.guard.Begin(θ)
	for b := range θ.Len() {
		o.upper[b], o.exact[b] = -inf, true
		if best.Count[b] > 0 && math.IsNaN(best.Score[b*k]) {
			o.upper[b], o.exact[b] = math.NaN(), false
			continue
		}
		if changes {
			before := o.truncated
			o.y = vec.Grow(o.y, θ.Outputs[b+1]-θ.Outputs[b])
			o.bound(θ, b, o.y, o.solve(θ, b, o.y))
			o.exact[b], o.truncated = !o.network.changed(), before
		}
	}
}

func (o *Oracle) Truncated() int { return o.truncated }

func (o *Oracle) ResetTruncated() { o.truncated = 0 }

func (o *Oracle) Check(θ *structured.Potentials) error {
	if labels := θ.Parts[0].Width; labels != 2 {
		return structured.BadInput("%d labels: cuts find the best of 2 labels", labels)
	}
	for b := range θ.Len() {
		o.network.read(θ, b, oracles.NoMasks)
		if o.network.counted() == 0 {
			continue
		}
		edges := append(o.network.illegal, o.network.broken...)
		e := edges[0]
		for _, other := range edges {
			e = min(e, other)
		}
		u, v := θ.Graphs[b].Ends[e][0], θ.Graphs[b].Ends[e][1]
		t := θ.Structure.(graphs.Pairwise).Table(θ, b, int(e))
		return structured.BadInput("example %d: edge %d between variables %d and %d scores labels 00, 01, 10, "+
			"11 with %g, %g, %g, %g: "+
			"expected equal labels to score at least as much in all as different ones", b, e, u, v, t[0], t[1], t[2], t[3])
	}
	return nil
}

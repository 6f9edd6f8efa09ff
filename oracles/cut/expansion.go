package cut

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Expansion finds good labels of graphs.Pairwise with any number of labels, by alpha-expansion (Boykov, Veksler and
// Zabih 2001). A move lets any variables change to one label α at once; the best move for each α is a cut. Moves go on
// until none raises the score.
//
// The labels need not be the best. With Potts edges that favour equal labels no single move can raise their score, and
// the score lies below the maximum by at most what the labels lose on edges, relative to equal ones, in the best
// labeling. Where a move is not submodular, its edges are truncated and counted, as in Oracle; the score still never
// falls.
type Expansion struct {
	guard     oracles.Guard
	network   network
	y, labels []int32
	truncated int
}

// NewExpansion returns a decoder.
func NewExpansion() *Expansion { return new(Expansion) }

var _ oracles.Decoder = (*Expansion)(nil)

func (x *Expansion) Decode(θ *structured.Potentials, y []int32, value []float64) {
	x.guard.Begin(θ)
	for b := range θ.Len() {
		if !x.guard.Valid(θ, b) {
			value[b] = oracles.Refuse(y[θ.Outputs[b]:θ.Outputs[b+1]])
			continue
		}
		value[b] = x.decode(θ, b, y[θ.Outputs[b]:θ.Outputs[b+1]])
	}
}

// Truncated returns how many edges were truncated, summed over all moves, since the last reset.
func (x *Expansion) Truncated() int { return x.truncated }

// ResetTruncated starts a new count.
func (x *Expansion) ResetTruncated() { x.truncated = 0 }

// decode improves the labels that are best for each variable alone.
func (x *Expansion) decode(θ *structured.Potentials, b int, y []int32) float64 {
	labels := θ.Parts[0].Width
	best(θ.Parts[0].Of(b), labels, y)
	score := θ.Score(b, y)
	x.y, x.labels = vec.Grow(x.y, len(y)), vec.Grow(x.labels, len(y))
	for since, α := 0, 0; since < labels; α = (α + 1) % labels { // moves since the last that raised the score
		since++
		possible := x.network.readMove(θ, b, y, α)
		x.truncated += x.network.counted()
		if !possible || !x.network.maximise() {
			continue
		}
		x.network.labels(x.labels)
		for v, moves := range x.labels {
			x.y[v] = y[v]
			if moves == 1 {
				x.y[v] = int32(α)
			}
		}
		if s := θ.Score(b, x.y); s > score {
			copy(y, x.y)
			score, since = s, 1
		}
	}
	return score
}

// best finds the best label of every variable alone.
func best(node []float32, labels int, y []int32) {
	for v := range y {
		scores := node[v*labels : (v+1)*labels]
		y[v] = 0
		for l, s := range scores {
			if s > scores[y[v]] {
				y[v] = int32(l)
			}
		}
	}
}

// readMove sets the capacities to those of a move from labels y to label α: 0 keeps a variable's label, 1 changes it.
// It returns false if that leaves some variable without labels.
func (w *network) readMove(θ *structured.Potentials, b int, y []int32, α int) bool {
	kind, g, labels := θ.Structure.(graphs.Pairwise).Edges, θ.Graphs[b], θ.Parts[0].Width
	node, edge := θ.Parts[0].Of(b), θ.Parts[1].Of(b)
	w.begin(g, len(y))
	for v, l := range y {
		w.nodes[v].excess = 0
		if int(l) != α {
			w.nodes[v].excess = difference(float64(node[v*labels+int(l)]), float64(node[v*labels+α]))
		}
	}
	for e, ends := range g.Ends {
		score := func(i, j int) float64 {
			switch {
			case kind == graphs.Own:
				return float64(edge[(e*labels+i)*labels+j])
			case kind == graphs.Typed:
				return float64(edge[(int(g.Types[e])*labels+i)*labels+j])
			case i == j:
				return float64(edge[e])
			}
			return 0
		}
		p, q := int(y[ends[0]]), int(y[ends[1]])
		if w.plan.of[e] < 0 {
			if p != α {
				w.nodes[ends[0]].excess += difference(score(p, p), score(α, α))
			}
			continue
		}
		if p == α && q == α {
			continue
		}
		t, legal := termOf(score(p, q), score(p, α), score(α, q), score(α, α))
		w.add(e, ends[0], ends[1], t, legal)
	}
	w.repair()
	return w.possible()
}

// Package choice holds the oracle of choices among candidates (choices.Choice). Everything is exact: Max and Exp take
// O(C) for C candidates, and the K best O(C + K log K) plus O(log K) for each candidate that enters the list.
package choice

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle implements oracles.Oracle. Among candidates with equal scores, the first is better.
type Oracle struct {
	best  []int32   // heap of the K best candidates, the worst on top
	share []float32 // [C] scratch memory of Exp
	sums  []float64 // [B] the same of Sample
	u     structured.Marginals
}

func New() *Oracle { return &Oracle{} }

var minusInf = float32(math.Inf(-1))

// candidates returns the scores of example b, or false if its only output is the empty one.
func candidates(θ *structured.Potentials, b int) ([]float32, bool) {
	return θ.Parts[0].Of(b), θ.Outputs[b+1] > θ.Outputs[b]
}

// Max implements oracles.Maximiser.
func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	for b := range θ.Len() {
		value[b] = 0
		if scores, some := candidates(θ, b); !some {
		} else if !structured.ValidPotentials(scores) {
			value[b] = oracles.Refuse(y[θ.Outputs[b]:θ.Outputs[b+1]])
		} else {
			at, best := largest(scores)
			y[θ.Outputs[b]], value[b] = int32(at), float64(best)
		}
	}
}

// largest returns the first candidate with the largest score. Without an allowed candidate it returns candidate 0 and
// −∞.
func largest(scores []float32) (at int, best float32) {
	best = minusInf
	for k, s := range scores {
		if s > best {
			at, best = k, s
		}
	}
	return at, best
}

// Exp implements oracles.Summer.
func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
	}
	scale := float32(min(1/μ, math.MaxFloat32))
	for b := range θ.Len() {
		scores, some := candidates(θ, b)
		if !some {
			value[b] = 0
			continue
		}
		o.share = vec.Grow(o.share, len(scores))
		share := o.share
		if u != nil {
			share = u.Parts[0].Of(b)
		}
		_, best := largest(scores)
		switch {
		case !structured.ValidPotentials(scores):
			value[b] = oracles.RefuseSums(u, b)
			continue
		case best == minusInf:
			clear(share)
			value[b] = math.Inf(-1)
			continue
		}
		for k, s := range scores {
			share[k] = (s - best) * scale
		}
		vec.Exp(share, share)
		sum := vec.Sum(share)
		value[b] = float64(best) + μ*math.Log(sum)
		if u != nil {
			vec.Scale(float32(1/sum), share)
		}
	}
}

// TopK implements oracles.Ranker.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	for b := range θ.Len() {
		scores, some := candidates(θ, b)
		if !some {
			best.Count[b], best.Score[b*k] = 1, 0
			continue
		}
		if !structured.ValidPotentials(scores) {
			best.Refuse(θ, b)
			continue
		}
		h := heap{scores, o.best[:0]}
		for c, s := range scores {
			switch {
			case s == minusInf:
			case len(h.worst) < k:
				h.push(int32(c))
			case s > scores[h.worst[0]]:
				h.worst[0] = int32(c)
				h.sink()
			}
		}
		o.best = h.worst
		best.Count[b] = len(h.worst)
		for len(h.worst) > 0 {
			last, c := len(h.worst)-1, h.worst[0]
			best.Output(last, θ.Outputs[b], θ.Outputs[b+1])[0] = c
			best.Score[b*k+last] = float64(scores[c])
			h.worst[0] = h.worst[last]
			h.worst = h.worst[:last]
			h.sink()
		}
	}
}

// heap holds candidates, the worst on top.
type heap struct {
	scores []float32
	worst  []int32
}

// worse reports whether candidate a ranks after candidate b.
func (h *heap) worse(a, b int32) bool {
	return h.scores[a] < h.scores[b] || h.scores[a] == h.scores[b] && a > b
}

func (h *heap) push(c int32) {
	h.worst = append(h.worst, c)
	for i := len(h.worst) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.worse(h.worst[i], h.worst[up]) {
			break
		}
		h.worst[i], h.worst[up] = h.worst[up], h.worst[i]
		i = up
	}
}

// sink moves the top down to its place.
func (h *heap) sink() {
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < len(h.worst) && h.worse(h.worst[down+1], h.worst[down]) {
			down++
		}
		if down >= len(h.worst) || !h.worse(h.worst[down], h.worst[i]) {
			return
		}
		h.worst[i], h.worst[down] = h.worst[down], h.worst[i]
		i = down
	}
}

package cut_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// With Potts edges that favour equal labels, no expansion raises the score, which lies below the best one by at most
// what the best labels lose on edges. With any edges the value is a score that is not above the best, nor below that of
// the best label of each variable.
func TestExpansion(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x, exact, inexact := cut.NewExpansion(), 0, 0
	for round := range 600 {
		kind := graphs.Pairwise{Edges: graphs.Edges(round % 3)}
		θ := kind.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.NormFloat64())
				if k == 1 && kind.Edges == graphs.Potts {
					θ.Parts[k].Values[i] = 2 * r.Float32()
				} else if round%7 == 0 && r.IntN(10) == 0 {
					θ.Parts[k].Values[i] = minusInf
				}
			}
		}
		y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		x.Decode(θ, y, value)
		for b := range value {
			out := y[θ.Outputs[b]:θ.Outputs[b+1]]
			oracletest.Near(t, "score of the labels", θ.Score(b, out), value[b], 0)
			all := oracletest.Enumerate(θ, b)
			if len(all) == 0 {
				continue
			}
			if value[b] > all[0].Score+1e-9 || value[b] < alone(θ, b) {
				t.Fatalf("%s: value %g, best %g, labels alone %g", kind.Name(), value[b], all[0].Score, alone(θ, b))
			}
			if kind.Edges != graphs.Potts {
				continue
			}
			if s := bestExpansion(θ, b, out); s > value[b]+1e-9 {
				t.Fatalf("an expansion raises the score %g to %g", value[b], s)
			}
			loss := 0.0
			for e, ends := range θ.Graphs[b].Ends {
				if p, q := all[0].Values[ends[0]], all[0].Values[ends[1]]; p != q {
					loss += float64(θ.Parts[1].Of(b)[e])
				}
			}
			if value[b] < all[0].Score-loss-1e-9 {
				t.Fatalf("score %g, best %g, which loses only %g on edges", value[b], all[0].Score, loss)
			}
			if value[b] > all[0].Score-1e-9 {
				exact++
			} else {
				inexact++
			}
		}
	}
	if exact < 9*inexact || exact == 0 {
		t.Errorf("expansion finds the best labels %d times and others %d times", exact, inexact)
	}
	if x.Truncated() <= 0 {
		t.Errorf("%d random edges are truncated", x.Truncated())
	}
	if x.ResetTruncated(); x.Truncated() != 0 {
		t.Error("the count stays")
	}
}

// alone returns the score of the best label of every variable alone.
func alone(θ *structured.Potentials, b int) float64 {
	node, labels := θ.Parts[0].Of(b), θ.Parts[0].Width
	y := make([]int32, len(node)/labels)
	for v := range y {
		for l := range labels {
			if node[v*labels+l] > node[v*labels+int(y[v])] {
				y[v] = int32(l)
			}
		}
	}
	return θ.Score(b, y)
}

// bestExpansion returns the best score of labels that differ from y by one move.
func bestExpansion(θ *structured.Potentials, b int, y []int32) float64 {
	most, moved := math.Inf(-1), make([]int32, len(y))
	for α := range int32(θ.Parts[0].Width) {
		for set := range 1 << len(y) {
			copy(moved, y)
			for v := range moved {
				if set>>v&1 == 1 {
					moved[v] = α
				}
			}
			most = max(most, θ.Score(b, moved))
		}
	}
	return most
}

// Every move counts the edges that it truncates: of two variables that are to differ, moves of both to one label are
// not submodular.
func TestTruncatedMovesAreCounted(t *testing.T) {
	form := graphs.Pairwise{Edges: graphs.Potts}
	var θ structured.Potentials
	θ.Reshape(form.Form(3, 0), []int{0, 2}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, 1}
		}
		return []int{0, 2}
	})
	θ.Graphs = []*structured.Graph{{Ends: [][2]int32{{0, 1}}}}
	copy(θ.Parts[0].Values, []float32{1, 0, 0, 1, 0, 0})
	θ.Parts[1].Values[0] = -5
	x, y, value := cut.NewExpansion(), make([]int32, 2), make([]float64, 1)
	x.Decode(&θ, y, value)
	once := x.Truncated()
	if x.Decode(&θ, y, value); once < 1 || x.Truncated() != 2*once {
		t.Errorf("%d edges are truncated, then %d", once, x.Truncated()-once)
	}
	θ.Parts[1].Values[0] = 5
	x.ResetTruncated()
	if x.Decode(&θ, y, value); x.Truncated() != 0 || y[0] != 0 || y[1] != 0 || value[0] != 7 {
		t.Errorf("labels %v of value %v, %d edges truncated", y, value, x.Truncated())
	}
}

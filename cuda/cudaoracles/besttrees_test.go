package cudaoracles_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// wholeNumbers rounds potentials to small whole numbers, so that many trees score the same.
func wholeNumbers(θ *structured.Potentials, most int32, r *rand.Rand) {
	for k := range θ.Parts {
		for i, x := range θ.Parts[k].Values {
			if x != never {
				θ.Parts[k].Values[i] = float32(r.Int32N(most))
			}
		}
	}
}

// drawGold draws heads and relations, some unknown, as cudaoracles.GoldTrees has them, and as structured.Gold for each
// sentence.
func drawGold(r *rand.Rand, θ *structured.Potentials) (head, relation []int32, gold []structured.Gold) {
	for b := range θ.Len() {
		n := (θ.Outputs[b+1] - θ.Outputs[b]) / 2
		output := make([]int32, 2*n)
		for d := range n {
			h, l := r.Int32N(int32(n)), r.Int32N(int32(θ.Parts[1].Width))
			output[d], output[n+d] = h+1, l
			if h == int32(d) {
				output[d] = 0
			}
			if r.IntN(5) == 0 {
				h, l, output[d], output[n+d] = -1, -1, -1, -1
			}
			head, relation = append(head, h), append(relation, l)
		}
		gold = append(gold, structured.Gold{Output: output})
	}
	return head, relation, gold
}

// Best trees are those of the CPU, with the same ties and values to the bit: of real and of whole numbers, few or many
// of them forbidden, with the loss and without, in shared memory and not.
func TestBestTreesAreThoseOfTheCPU(t *testing.T) {
	d := cudatest.Device(t)
	for _, nonProjective := range []bool{false, true} {
		for k, c := range []struct {
			scale, forbidden float64
			most             int32 // of whole numbers; 0: real ones
			relations        int
		}{{1, 0, 0, 1}, {1, 0.3, 0, 3}, {1e4, 0.1, 0, 40}, {1e-3, 0.6, 0, 2}, {0, 0, 1, 2}, {0, 0, 2, 1}, {0, 0.2, 2, 34},
			{0, 0.5, 3, 2}, {0, 0.8, 2, 1}} {
			for seed := range uint64(4) {
				r := rand.New(rand.NewPCG(seed, uint64(k)))
				lengths := []int{3, 0, 1, 2, 1 + r.IntN(9), 5, 4}
				if seed == 0 {
					lengths = append(lengths, 36+r.IntN(20))
				}
				θ := drawTrees(r, trees.SpanningTree{NonProjective: nonProjective}, c.relations, c.scale, c.forbidden, lengths...)
				if c.most > 0 {
					wholeNumbers(θ, c.most, r)
				}
				checkBestTrees(t, d, r, θ, fmt.Sprintf("non-projective %v, %v, seed %d", nonProjective, c, seed))
			}
		}
	}
}

func checkBestTrees(t *testing.T, d *device.Device, r *rand.Rand, θ *structured.Potentials, name string) {
	t.Helper()
	of := θ.Structure.(trees.SpanningTree)
	head, relation, gold := drawGold(r, θ)
	source := make([]int32, len(head))
	for k := range source {
		source[k] = int32(k)
	}
	for _, c := range []struct {
		loss   bool
		shared int
	}{{false, 12 << 10}, {true, 12 << 10}, {true, 2}} {
		before := cudaoracles.SetTreeShared(c.shared)
		on, o := cases.TreesOn(d, θ, 1+c.shared%7), cudaoracles.NewBestTrees(d)
		best, values := cudaoracles.NewHeads(d, on), cudatest.Uploaded(d, make([]float64, on.B))
		arcs, labels := device.New[float32](d, on.P, "arcs"), device.New[float32](d, on.P*on.R, "labels")
		a := cudaoracles.GoldTrees{Source: cudatest.Uploaded(d, source), Head: cudatest.Uploaded(d, head),
			Relation: cudatest.Uploaded(d, relation), Loss: c.loss}
		o.Max(on, a, best, values, cudaoracles.FiniteTrees{})
		o.Indicators(on, best, arcs, labels)
		cudatest.Must(t, d.Err())
		cudaoracles.SetTreeShared(before)

		augmented := &structured.Potentials{}
		augmented.Copy(θ)
		if c.loss {
			for b := range θ.Len() {
				trees.Hamming{}.Augment(augmented, b, gold[b])
			}
		}
		want, y := make([]float64, θ.Len()), make([]int32, θ.OutputSize())
		tree.New(of.NonProjective).Max(augmented, y, want)
		var u structured.Marginals
		u.Like(θ)
		u.Clear()
		column, label := cudatest.Downloaded(d, best.Column), cudatest.Downloaded(d, best.Relation)
		got := cudatest.Downloaded(d, values)
		for b := range want {
			if got[b] != want[b] {
				t.Fatalf("%s: sentence %d scores %.17g, want %.17g", name, b, got[b], want[b])
			}
			lo, hi := θ.Outputs[b], θ.Outputs[b+1]
			n := (hi - lo) / 2
			if want[b] != float64(never) {
				u.Add(b, y[lo:hi], 1)
			}
			for k := range n {
				word := lo/2 + k
				wantHead, wantLabel := int32(trees.Row(n, k, y[lo+k])-k*n), y[lo+n+k]
				if want[b] == float64(never) {
					wantHead, wantLabel = -1, -1
				}
				if column[word] != wantHead || label[word] != wantLabel {
					t.Fatalf("%s, loss %v: sentence %d of %d words: word %d has head %d and relation %d, want %d and %d", name, c.loss,
						b, n, k, column[word], label[word], wantHead, wantLabel)
				}
			}
		}
		arc := cudatest.Downloaded(d, arcs)
		if !slices.Equal(arc[:len(u.Parts[0].Values)], u.Parts[0].Values) ||
			slices.Max(append(arc[len(u.Parts[0].Values):], 0)) != 0 {
			t.Fatalf("%s: indicators of arcs", name)
		}
		rows := cudatest.Downloaded(d, labels)
		if !slices.Equal(rows[:len(u.Parts[1].Values)], u.Parts[1].Values) ||
			slices.Max(append(rows[len(u.Parts[1].Values):], 0)) != 0 {
			t.Fatalf("%s: indicators of relations", name)
		}
		o.Free()
	}
}

package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles/tree"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/engine"
)

func (g *rig) treeChecks() []Check {
	return []Check{
		{"sums over projective trees, and the best", g.treeSums(trees.SpanningTree{})},
		{"sums over all trees, and the best", g.treeSums(trees.SpanningTree{NonProjective: true})},
	}
}

// treeSums compares sums, marginals and the scores of best trees with the CPU's, for potentials within the range of
// float64, beyond it, and with forbidden arcs and relations. The longest sentence is too long for shared memory.
func (g *rig) treeSums(of trees.SpanningTree) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		for _, c := range []struct {
			draw      func(*rand.Rand) float32
			μ         float64
			relations int
		}{{plainPotential, 1, 1}, {plainPotential, 0.5, 40}, {forbiddingPotential, 1, 3}, {plainPotential, 0.002, 2}} {
			lengths := []int{g.pick(40, 4), 0, 1, 17, 2, g.pick(60, 3)}
			if c.relations == 3 {
				lengths = []int{g.pick(90, 50), 3}
			}
			for range g.pick(300, 0) {
				lengths = append(lengths, r.IntN(40))
			}
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := g.sumTrees(r, w, of, c.relations, c.μ, c.draw, lengths); err != nil {
				return "", fmt.Errorf("%d relations, temperature %v: %w", c.relations, c.μ, err)
			}
		}
		return "", nil
	}
}

func (g *rig) sumTrees(r *rand.Rand, w *worst, of trees.SpanningTree, relations int, μ float64, draw func(*rand.Rand) float32, lengths []int) error {
	θ := cases.DrawTrees(of, relations, lengths, func() float32 { return draw(r) })
	u, want := new(structured.Marginals), make([]float64, len(lengths))
	host, most := tree.New(of.NonProjective), make([]float64, len(lengths))
	host.Exp(θ, μ, want, u)
	host.Max(θ, make([]int32, θ.OutputSize()), most)

	on := cases.TreesOn(g.Device, θ, 0)
	defer cases.FreeTrees(g.Device, on)
	o := cudaoracles.NewTreeSums(g.Device)
	defer o.Free()
	value, arc, label := poisoned[float64](g, on.B), poisoned[float32](g, on.P), poisoned[float32](g, on.P*on.R)
	o.Exp(on, cudaoracles.GoldTrees{}, μ, value, arc, label, cudaoracles.FiniteTrees{})
	values, arcs, labels := download(g, value), download(g, arc), download(g, label)
	best, heads := cudaoracles.NewBestTrees(g.Device), cudaoracles.NewHeads(g.Device, on)
	defer best.Free()
	defer heads.Free(g.Device)
	best.Max(on, cudaoracles.GoldTrees{}, heads, value, cudaoracles.FiniteTrees{})
	scores := download(g, value)
	device.Free(g.Device, arc)
	device.Free(g.Device, label)
	device.Free(g.Device, value)
	if err := g.Sync(); err != nil {
		return err
	}
	for b, v := range want {
		if err := w.near("value", values[b], v, single); err != nil {
			return fmt.Errorf("sentence %d of %d words: %w", b, lengths[b], err)
		}
		if scores[b] != most[b] {
			return fmt.Errorf("sentence %d of %d words: the best tree scores %.17g, on the CPU %.17g", b, lengths[b], scores[b], most[b])
		}
	}
	for k, got := range [][]float32{arcs, labels} {
		for i, p := range u.Parts[k].Values {
			if err := w.near("probability", float64(got[i]), float64(p), single); err != nil {
				return err
			}
		}
	}
	return nil
}

// treeProblem draws sentences with trees for a network of word pairs, and initial weights.
func (g *rig) treeProblem(c methodCase, r *rand.Rand) (*engine.Objective, []float32, error) {
	var lengths []int
	for range g.pick(100, 8) {
		lengths = append(lengths, 1+r.IntN(g.pick(30, 6)))
	}
	const relations = 3
	input := graph.Input{Vocab: []int{g.pick(100, 20), 5}}
	d := randomSentences(r, input, lengths...)
	d.Labels, d.Outputs = nil, []int{0}
	for _, n := range lengths {
		heads := make([]int32, n)
		for t := 1; t < n; t++ { // a word depends on the one before, or on that one's head
			if heads[t] = int32(t); heads[t-1] > 0 && r.IntN(2) == 0 {
				heads[t] = heads[t-1]
			}
		}
		d.Labels = append(d.Labels, heads...)
		for t := range n {
			d.Labels = append(d.Labels, heads[t]%relations)
		}
		d.Outputs = append(d.Outputs, len(d.Labels))
	}
	form := trees.SpanningTree{NonProjective: c.crossing}.Form(relations)
	net, err := nets.Make(c.net, input, nets.Output{Labels: relations, Form: form})
	if err != nil {
		return nil, nil, err
	}
	o := &engine.Objective{Scorer: network{net}, Data: d, Loss: c.loss, Lambda: 0.1}
	return o, net.Init(1), o.Check()
}

package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/cases"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

func (g *rig) oracleChecks() []Check {
	return []Check{
		{"max vs enumeration", g.onSmallChains(checkMax)},
		{"top-K vs enumeration", g.onSmallChains(checkTopK)},
		{"exp vs enumeration", g.onSmallChains(checkExp)},
		{"l2 smoothing vs enumeration", g.onSmallChains(checkL2)},
		{"max with loss and gold score", g.onChains((*chainCase).checkMax)},
		{"top-K with loss", g.onChains((*chainCase).checkTopK)},
		{"exp with loss and gold score", g.onChains((*chainCase).checkExp)},
		{"smoothed answers", g.onChains((*chainCase).checkAnswers)},
		{"long chains", g.checkLongChains},
		{"many chains of many labels", g.checkManyChains},
	}
}

// onSmallChains runs one of the CPU oracle's checks on the device's oracle.
func (g *rig) onSmallChains(check checkOracle) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		kind, o := registry.Of(chains.Chain{}), cudaoracles.NewChainOracle(g.Device)
		for range g.pick(instances, 30) {
			err := ctx.Err()
			if err == nil {
				err = check(o, drawSmall(kind, r), r, w)
			}
			if failed := g.Err(); failed != nil {
				err = failed
			}
			if err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// onChains runs a check for every range of label counts that selects a kernel, for both kinds of edges, and for
// potentials that tie, that forbid outputs, and that do neither.
func (g *rig) onChains(check func(c *chainCase, r *rand.Rand, w *worst) error) func(context.Context, *rand.Rand, *worst) (string, error) {
	labels := []int{1, 2, 3, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129}
	if !g.small {
		labels = append(labels, 25, 256, 500, 1024)
	}
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		for _, y := range labels {
			for _, perPosition := range []bool{false, true} {
				for _, draw := range []func(r *rand.Rand) float32{plainPotential, wholePotential, forbiddingPotential} {
					if err := ctx.Err(); err != nil {
						return "", err
					}
					c := g.newChainCase(r, y, perPosition, g.lengths(r, y, perPosition), draw)
					err := check(c, r, w)
					c.free()
					if err == nil {
						err = g.Sync()
					}
					if err != nil {
						return "", fmt.Errorf("%d labels, edges per position %v: %w", y, perPosition, err)
					}
				}
			}
		}
		return "", nil
	}
}

// lengths draws the lengths of a ragged batch, including 0 and 1. More labels mean fewer positions, to limit the CPU's
// time.
func (g *rig) lengths(r *rand.Rand, labels int, perPosition bool) []int {
	most := 20_000_000 / (labels * labels)
	if perPosition {
		most /= 5
	}
	if most = min(most, g.pick(600, 1)); most < 60 {
		return []int{7, 0, 1, 3}
	}
	lengths := []int{40, 0, 1, 17}
	for n := 58; n < most; {
		t := r.IntN(60)
		lengths = append(lengths, t)
		n += t
	}
	return lengths
}

// values compares one number per chain and ignores entries beyond the batch.
func (c *chainCase) values(w *worst, what string, got device.Array[float64], want []float64) error {
	have := download(c.g, got)
	device.Free(c.g.Device, got)
	for b, v := range want {
		if err := w.near(what, have[b], v, c.tolerance); err != nil {
			return fmt.Errorf("chain %d of length %d: %w", b, c.host.Offsets[b+1]-c.host.Offsets[b], err)
		}
	}
	return nil
}

func (c *chainCase) checkMax(_ *rand.Rand, w *worst) error {
	g, θ := c.g, c.host
	y, value := make([]int32, θ.Positions()), make([]float64, θ.Len())
	chain.New().Max(θ.All, y, value)
	onY := upload(g, slices.Repeat([]int32{99999}, c.On.N))
	onValue, onGold := poisoned[float64](g, c.On.B), poisoned[float64](g, c.On.B)
	c.o.Max(c.On, c.Augmentation, onY, onValue, onGold)
	got := download(g, onY)
	device.Free(g.Device, onY)
	if err := c.values(w, "value", onValue, value); err != nil {
		return err
	}
	if err := c.values(w, "gold score", onGold, c.gold); err != nil {
		return err
	}
	for b, v := range value {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		if c.exact && !slices.Equal(got[lo:hi], y[lo:hi]) {
			return fmt.Errorf("chain %d: labels %v, want %v: ties are broken differently", b, got[lo:hi], y[lo:hi])
		}
		if math.IsInf(v, -1) {
			continue
		}
		if err := w.near("score of the labels", θ.Score(b, got[lo:hi]), v, c.tolerance); err != nil {
			return err
		}
	}
	return nil
}

func (c *chainCase) checkTopK(r *rand.Rand, w *worst) error {
	k, θ := []int{1, 2, 5, 16, 64}[r.IntN(5)], c.host
	var want oracles.KBest
	chain.New().TopK(θ.All, k, &want)
	var best cudaoracles.KBest
	c.o.TopK(c.On, c.Augmentation, k, &best)
	count, score, labels := download(c.g, best.Count), download(c.g, best.Score), download(c.g, best.Labels)
	best.Free(c.g.Device)
	if err := c.g.Sync(); err != nil {
		return err
	}
	for b := range θ.Len() {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		if int(count[b]) != want.Count[b] {
			return fmt.Errorf("chain %d: %d outputs in the top %d, want %d", b, count[b], k, want.Count[b])
		}
		for i := range want.Count[b] {
			if err := w.near("score", score[b*k+i], want.Score[b*k+i], c.tolerance); err != nil {
				return err
			}
			if err := w.near("score of the output", θ.Score(b, labels[i*c.On.N+lo:i*c.On.N+hi]), want.Score[b*k+i], c.tolerance); err != nil {
				return err
			}
			for j := range i {
				if slices.Equal(labels[i*c.On.N+lo:i*c.On.N+hi], labels[j*c.On.N+lo:j*c.On.N+hi]) {
					return fmt.Errorf("chain %d: outputs %d and %d are the same", b, j, i)
				}
			}
		}
	}
	return nil
}

func (c *chainCase) checkExp(r *rand.Rand, w *worst) error {
	g, θ, μ := c.g, c.host, []float64{10, 1, 0.1}[r.IntN(3)]
	value := make([]float64, θ.Len())
	var u structured.Marginals
	chain.NewPlain().Exp(θ.All, μ, value, &u)
	if !θ.PerPosition {
		countTransitions(θ, μ, &u)
	}
	onValue, onGold := poisoned[float64](g, c.On.B), poisoned[float64](g, c.On.B)
	node, edge := c.marginals()
	c.o.Exp(c.On, c.Augmentation, μ, onValue, node, edge, onGold)
	if err := c.values(w, "value", onValue, value); err != nil {
		return err
	}
	if err := c.values(w, "gold score", onGold, c.gold); err != nil {
		return err
	}
	return c.compareMarginals(w, node, edge, &u)
}

// countTransitions replaces the edge part of u by the sum, in float64, of the CPU's edge marginals at each step. The
// CPU sums shared edges in float32; over thousands of steps that is less accurate than the GPU.
func countTransitions(θ *cases.Potentials, μ float64, u *structured.Marginals) {
	each, steps := cases.NewPotentials(θ.Offsets, θ.Y, true), structured.Marginals{}
	copy(each.Node, θ.Node)
	copy(each.Edge, slices.Repeat(θ.Edge, θ.Positions()))
	chain.NewPlain().Exp(each.All, μ, make([]float64, θ.Len()), &steps)
	sum := make([]float64, θ.Y*θ.Y)
	for b := range θ.Len() {
		clear(sum)
		for i, p := range steps.Parts[1].Of(b) {
			sum[i%len(sum)] += float64(p)
		}
		for k, s := range sum {
			u.Parts[1].Of(b)[k] = float32(s)
		}
	}
}

// marginals allocates arrays for marginals.
func (c *chainCase) marginals() (node, edge device.Array[float32]) {
	of := c.On.B
	if c.On.PerPosition {
		of = c.On.N
	}
	return poisoned[float32](c.g, c.On.N*c.On.Y), poisoned[float32](c.g, of*c.On.Y*c.On.Y)
}

func (c *chainCase) compareMarginals(w *worst, node, edge device.Array[float32], u *structured.Marginals) error {
	gotNode, gotEdge := download(c.g, node), download(c.g, edge)
	device.Free(c.g.Device, node)
	device.Free(c.g.Device, edge)
	n := len(u.Parts[0].Values)
	for _, x := range gotNode[n:] {
		if x != 0 {
			return fmt.Errorf("a marginal beyond the batch is %v, want 0", x)
		}
	}
	for i, p := range u.Parts[0].Values {
		if err := w.near("node marginal", float64(gotNode[i]), float64(p), c.tolerance); err != nil {
			return err
		}
	}
	for i, p := range u.Parts[1].Values {
		if err := w.near("edge marginal", float64(gotEdge[i]), float64(p), c.tolerance); err != nil {
			return err
		}
	}
	return nil
}

func (c *chainCase) checkAnswers(_ *rand.Rand, w *worst) error {
	g, θ := c.g, c.host
	for _, s := range []oracles.Smoothing{
		{}, {Kind: oracles.L2, Mu: 0.7, K: 5}, {Kind: oracles.L2, Mu: 0.3}, {Kind: oracles.Entropy, Mu: 0.7},
	} {
		if c.ties && s.Kind == oracles.L2 {
			continue // any of the tied outputs may get the weight
		}
		var want oracles.Answer
		s.Answer(chain.NewPlain(), θ.All, &want, true)
		node, edge := c.marginals()
		out := &cudaoracles.Answer{Value: poisoned[float64](g, c.On.B), Max: poisoned[float64](g, c.On.B), Gold: poisoned[float64](g, c.On.B),
			Node: node, Edge: edge, Exact: upload(g, slices.Repeat([]int32{7}, c.On.B))}
		c.o.Answer(c.On, c.Augmentation, s, out, true)
		exact := download(g, out.Exact)
		device.Free(g.Device, out.Exact)
		for _, part := range []struct {
			what string
			got  device.Array[float64]
			want []float64
		}{{"value", out.Value, want.Value}, {"max", out.Max, want.Max}, {"gold score", out.Gold, c.gold}} {
			if err := c.values(w, s.Kind.String()+": "+part.what, part.got, part.want); err != nil {
				return err
			}
		}
		for b, e := range want.Exact {
			if e != (exact[b] == 1) {
				return fmt.Errorf("%s: chain %d: exactness %d, want %v", s.Kind, b, exact[b], e)
			}
		}
		if err := c.compareMarginals(w, node, edge, &want.U); err != nil {
			return fmt.Errorf("%s: %w", s.Kind, err)
		}
	}
	return nil
}

// checkLongChains compares chains that are long enough to be processed in parallel along time.
func (g *rig) checkLongChains(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
	for _, labels := range []int{1, g.pick(8, 3), g.pick(16, 9), g.pick(32, 17)} { // there are kernels for up to 8, 16 and 32 labels
		for _, perPosition := range []bool{false, true} {
			for _, draw := range []func(*rand.Rand) float32{plainPotential, wholePotential, forbiddingPotential} {
				if err := ctx.Err(); err != nil {
					return "", err
				}
				c := g.newChainCase(r, labels, perPosition, []int{g.pick(30000, 4096), 3}, draw)
				err := c.checkMax(r, w)
				if err == nil {
					err = c.checkExp(r, w)
				}
				c.free()
				if err == nil {
					err = g.Sync()
				}
				if err != nil {
					return "", fmt.Errorf("%d labels, edges per position %v: %w", labels, perPosition, err)
				}
				if g.small {
					break
				}
			}
		}
	}
	return "", nil
}

// checkManyChains compares batches large enough, in chains and labels, that one block processes several chains.
func (g *rig) checkManyChains(_ context.Context, r *rand.Rand, w *worst) (string, error) {
	lengths := make([]int, 600)
	for b := range lengths {
		lengths[b] = r.IntN(g.pick(20, 3))
	}
	c := g.newChainCase(r, 129, false, lengths, wholePotential)
	defer c.free()
	if err := c.checkMax(r, w); err != nil {
		return "", err
	}
	return "", c.checkNodeSums(w)
}

// checkNodeSums compares values and the marginals of nodes.
func (c *chainCase) checkNodeSums(w *worst) error {
	g, θ := c.g, c.host
	value := make([]float64, θ.Len())
	var u structured.Marginals
	chain.NewPlain().Exp(θ.All, 1, value, &u)
	onValue, node := poisoned[float64](g, c.On.B), poisoned[float32](g, c.On.N*c.On.Y)
	c.o.Exp(c.On, c.Augmentation, 1, onValue, node, device.Array[float32]{}, device.Array[float64]{})
	got := download(g, node)
	device.Free(g.Device, node)
	if err := c.values(w, "value", onValue, value); err != nil {
		return err
	}
	for i, p := range u.Parts[0].Values {
		if err := w.near("node marginal", float64(got[i]), float64(p), c.tolerance); err != nil {
			return err
		}
	}
	return nil
}

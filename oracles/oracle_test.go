package oracles

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// everyOracle runs a check on each oracle in the house, on every kind of vector that this build and machine have.
func everyOracle(t *testing.T, check func(t *rapid.T, o Oracle)) {
	for _, k := range available() {
		o := &Chain{k: k}
		t.Run(fmt.Sprintf("%s on %s", o.Structure(), k.name), rapid.MakeCheck(func(t *rapid.T) { check(t, o) }))
	}
}

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func near(t failer, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %g, want %g", what, got, want)
	}
}

func nearAll(t failer, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		near(t, fmt.Sprintf("%s[%d]", what, i), float64(got[i]), float64(want[i]), tolerance)
	}
}

func TestMaxIsBestOfAll(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, integers)
		y, value := make([]int32, θ.Positions()), make([]float64, θ.Len())
		o.Max(θ, y, value)
		for b := range value {
			all := enumerate(θ, b)
			if len(all) == 0 {
				near(t, "value", value[b], math.Inf(-1), 0)
				continue
			}
			near(t, "value", value[b], all[0].score, 0)
			if got := y[θ.Offsets[b]:θ.Offsets[b+1]]; !slices.Equal(got, all[0].labels) {
				t.Fatalf("labels %v, want %v", got, all[0].labels)
			}
		}
	})
}

func TestTopKIsBestOfAll(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, values(rapid.IntRange(0, 1).Draw(t, "kind")))
		k := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(10, 600)).Draw(t, "K")
		var best KBest
		o.TopK(θ, k, &best)
		for b := range θ.Len() {
			checkList(t, θ, b, &best, enumerate(θ, b))
		}
	})
}

// checkList compares a k-best list with all outputs: as many as there are, different ones, the same scores in order.
func checkList(t *rapid.T, θ *structured.Potentials, b int, best *KBest, all []output) {
	t.Helper()
	if want := min(best.K, len(all)); best.Count[b] != want {
		t.Fatalf("%d outputs, want %d", best.Count[b], want)
	}
	seen := map[string]bool{}
	for k := range best.Count[b] {
		labels, score := best.Output(k, θ.Offsets[b], θ.Offsets[b+1]), best.Score[b*best.K+k]
		near(t, "score of the labels", θ.Score(b, labels), score, 0)
		near(t, "score in order", score, all[k].score, 1e-5)
		if k > 0 && score > best.Score[b*best.K+k-1] {
			t.Fatalf("score %d rises", k)
		}
		if name := fmt.Sprint(labels); seen[name] {
			t.Fatalf("%s twice", name)
		} else {
			seen[name] = true
		}
	}
}

// Longer chains and more labels than enumeration can do.
func TestTopKOfLongChains(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		θ := longChain(r, 1+r.IntN(150), 1+r.IntN(40), r.IntN(2) == 0)
		k := 1 + r.IntN(8)
		var best KBest
		o.TopK(θ, k, &best)
		want := bestScores(θ, 0, k)
		if best.Count[0] != len(want) {
			t.Fatalf("%d outputs, want %d", best.Count[0], len(want))
		}
		for i, s := range want {
			near(t, "score", best.Score[i], s, 0)
			near(t, "score of the labels", θ.Score(0, best.Output(i, 0, best.N)), s, 0)
		}
	})
}

// Outputs that tie in float32 arithmetic still come best first.
func TestTopKOrderBelowFloat32(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := longChain(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), 20, 3, false)
		for i := range θ.Node {
			θ.Node[i] += 1e6 + float32(i%7)
		}
		for i := range θ.Edge {
			θ.Edge[i] *= 1e-3
		}
		var best KBest
		o.TopK(θ, 30, &best)
		if !slices.IsSortedFunc(best.Score, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Fatalf("scores %v", best.Score)
		}
	})
}

func drawMu(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{10, 1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4}).Draw(t, "μ")
}

func TestExpIsGibbs(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ, μ := drawPotentials(t, values(rapid.IntRange(0, 1).Draw(t, "kind"))), drawMu(t)
		value, u := make([]float64, θ.Len()), new(structured.Marginals)
		o.Exp(θ, μ, value, u)
		want := gibbs(θ, μ)
		nearAll(t, "node marginal", u.Node, want.Node, 2e-5)
		nearAll(t, "edge marginal", u.Edge, want.Edge, 2e-5)
		alone := make([]float64, θ.Len())
		o.Exp(θ, μ, alone, nil)
		for b, v := range value {
			near(t, "value", v, logPartition(enumerate(θ, b), μ), 1e-5*max(1, μ))
			near(t, "value without marginals", alone[b], v, 0)
		}
	})
}

// The marginals are the gradient of the value: checked by central differences along a random direction.
func TestExpMarginalsAreGradient(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, reals)
		μ := rapid.SampledFrom([]float64{2, 1, 0.5}).Draw(t, "μ")
		value, u := make([]float64, θ.Len()), new(structured.Marginals)
		o.Exp(θ, μ, value, u)
		const h = 1.0 / 64
		plus, minus := clone(θ), clone(θ)
		direction := rapid.SampledFrom([]float32{-1, 0, 1})
		move := func(plus, minus []float32) {
			for i := range plus {
				d := direction.Draw(t, "direction")
				plus[i] += h * d
				minus[i] -= h * d
			}
		}
		move(plus.Node, minus.Node)
		move(plus.Edge, minus.Edge)
		up, down := make([]float64, θ.Len()), make([]float64, θ.Len())
		o.Exp(plus, μ, up, nil)
		o.Exp(minus, μ, down, nil)
		for b := range up {
			if math.IsInf(value[b], -1) {
				continue
			}
			want := u.Dot(b, plus) - u.Dot(b, minus)
			near(t, "difference", up[b]-down[b], want, 1e-3)
		}
	})
}

func clone(θ *structured.Potentials) *structured.Potentials {
	c := *θ
	c.Node, c.Edge = slices.Clone(θ.Node), slices.Clone(θ.Edge)
	return &c
}

// Adding a number to all labels of a position adds it to the value and moves no marginal.
func TestShift(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ, μ := drawPotentials(t, integers), drawMu(t)
		shifted, by := clone(θ), make([]float64, θ.Len())
		for b := range by {
			for p := θ.Offsets[b]; p < θ.Offsets[b+1]; p++ {
				s := rapid.IntRange(-1000, 1000).Draw(t, "shift")
				by[b] += float64(s)
				for l := range θ.Y {
					shifted.Node[p*θ.Y+l] += float32(s)
				}
			}
		}
		for _, s := range []Smoothing{{Kind: None}, {Kind: L2, Mu: μ, K: 3}, {Kind: L2, Mu: μ}, {Kind: Entropy, Mu: μ}} {
			var before, after Answer
			s.Answer(o, θ, &before, true)
			s.Answer(o, shifted, &after, true)
			for b := range by {
				near(t, "value", after.Value[b], before.Value[b]+by[b], 1e-5*max(1, μ))
				near(t, "max", after.Max[b], before.Max[b]+by[b], 0)
			}
			if s.Kind != L2 { // which of tied outputs come first may change
				nearAll(t, "node marginal", after.U.Node, before.U.Node, 1e-5)
				nearAll(t, "edge marginal", after.U.Edge, before.U.Edge, 1e-5)
			}
		}
	})
}

// A chain's answer has the same bits alone, in any batch, and the second time.
func TestBatchDoesNotMatter(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ, μ := drawPotentials(t, reals), drawMu(t)
		for _, s := range []Smoothing{{Kind: None}, {Kind: L2, Mu: μ}, {Kind: Entropy, Mu: μ}} {
			var batch, again, alone Answer
			s.Answer(o, θ, &batch, true)
			s.Answer(o, θ, &again, true)
			nearAll(t, "node marginal, again", again.U.Node, batch.U.Node, 0)
			for b := range θ.Len() {
				alone.view(θ, b)
				single := alone.single
				s.Answer(o, &single, &alone, true)
				near(t, "value", alone.Value[0], batch.Value[b], 0)
				near(t, "max", alone.Max[0], batch.Max[b], 0)
				nearAll(t, "node marginal", alone.U.Node, batch.U.NodeOf(b), 0)
				nearAll(t, "edge marginal", alone.U.Edge, batch.U.EdgeOf(b), 0)
			}
		}
	})
}

// Chains too large to enumerate, with potentials of every size, few or many forbidden: probabilities agree with the log
// domain wherever they are used, and they are used where float32 holds them.
func TestExpOnProbabilitiesIsExpInLogDomain(t *testing.T) {
	used := map[[2]bool]int{}
	everyOracle(t, func(t *rapid.T, o Oracle) { checkProbabilities(t, o, rapid.Uint64().Draw(t, "seed")) })
	for seed := range uint64(30) { // which are known to need all three ways, as random ones may not
		used[checkProbabilities(t, &Chain{k: &plain}, seed)]++
	}
	t.Logf("float32 and float64 hold probabilities: %v times", used)
	for _, held := range [][2]bool{{true, true}, {false, true}, {false, false}} {
		if used[held] == 0 {
			t.Errorf("float32 and float64 hold probabilities: %v times", used)
		}
	}
}

// checkProbabilities says whether float32 and float64 hold the probabilities of the chain drawn from the seed.
func checkProbabilities(t failer, o Oracle, seed uint64) (held [2]bool) {
	r := rand.New(rand.NewPCG(seed, 0))
	θ := longChain(r, 1+r.IntN(60), 1+r.IntN(40), r.IntN(2) == 0)
	factor, forbidden := float32(math.Exp(9*r.Float64()-4)), 0.9*max(0, r.Float64()-0.5)
	for _, x := range [][]float32{θ.Node, θ.Edge} {
		for i := range x {
			x[i] *= factor
			if r.Float64() < forbidden {
				x[i] = never
			}
		}
	}
	value, u := make([]float64, 1), new(structured.Marginals)
	o.Exp(θ, 1, value, u)
	want := new(structured.Marginals)
	want.Resize(θ.Offsets, θ.Y, θ.PerPosition)
	want.Clear()
	c := &Chain{k: &plain}
	c.prepare(θ)
	logZ := c.logs.backward(c, 0, θ.Offsets[1], 1)
	if !math.IsInf(logZ, -1) {
		c.logs.forward(c, 0, 1, logZ, want)
	}
	near(t, "value", value[0], logZ, 1e-6*max(10, math.Abs(logZ)))
	nearAll(t, "node marginal", u.Node, want.Node, 5e-5)
	nearAll(t, "edge marginal", u.Edge, want.Edge, 5e-5)
	over := span{node: boundsOf(θ.Node), edge: boundsOf(θ.Edge)}
	if θ.PerPosition {
		over.edge = boundsOf(θ.Edge[θ.Y*θ.Y:])
	}
	c.single.begin(&c.k.single)
	c.double.begin(&c.k.double)
	_, held[0] = c.single.run(c, 0, over, 1, nil)
	_, held[1] = c.double.run(c, 0, over, 1, nil)
	return held
}

// Forbidden transitions under which one label cannot be reached, but would be ever more likely to stay in; and others
// that lead, step by step unlikely, to the only label allowed at the end.
func TestExpWhereLittleIsAllowed(t *testing.T) {
	stay := new(structured.Potentials)
	stay.Resize([]int{0, 50}, 2, false)
	clear(stay.Node)
	stay.Node[1] = never
	copy(stay.Edge, []float32{-15, never, never, 15})
	climb := new(structured.Potentials)
	climb.Resize([]int{0, 50}, 20, false)
	clear(climb.Node)
	for i := range climb.Edge {
		switch to, from := i%20, i/20; to {
		case from:
			climb.Edge[i] = 0
		case from + 1:
			climb.Edge[i] = -9
		default:
			climb.Edge[i] = never
		}
	}
	for l := range 19 {
		climb.Node[l+1] = never
		climb.Node[49*20+l] = never
	}
	// Two labels, each to be kept: the first costs 10 at each of the last 25 steps, the second at each of the 24 before.
	keep := new(structured.Potentials)
	keep.Resize([]int{0, 50}, 2, true)
	clear(keep.Node)
	for t := range 50 {
		first, second := float32(0), float32(-10)
		if t >= 25 {
			first, second = second, first
		}
		copy(keep.Edge[4*t:], []float32{first, never, never, second})
	}
	for _, k := range available() {
		o, value, u := &Chain{k: k}, make([]float64, 1), new(structured.Marginals)
		o.Exp(keep, 1, value, u)
		if want := -240 + math.Log1p(math.Exp(-10)); math.Abs(value[0]-want) > 1e-4 {
			t.Errorf("%s: value %g, want %g", k.name, value[0], want)
		}
		o.Exp(stay, 1, value, u)
		off := max(math.Abs(value[0]+15*49), math.Abs(float64(u.Node[2*49]-1)), math.Abs(float64(u.Edge[0]-49)))
		if !(off < 1e-4) || u.Node[2*49+1] != 0 || u.Edge[3] != 0 {
			t.Errorf("%s: value %g, last marginals %g, edges %g", k.name, value[0], u.Node[2*49:], u.Edge)
		}
		// 19 of 49 steps climb: C(49, 19) paths.
		paths, _ := math.Lgamma(50)
		for _, n := range []float64{20, 31} {
			less, _ := math.Lgamma(n)
			paths -= less
		}
		o.Exp(climb, 1, value, u)
		if want := paths - 19*9; math.Abs(value[0]-want) > 1e-3 || !(math.Abs(float64(u.Node[49*20+19]-1)) < 1e-5) {
			t.Errorf("%s: value %g, want %g; last marginals %g", k.name, value[0], want, u.Node[49*20:])
		}
	}
}

// Chains of great length and with many labels: the enumeration begins with the max,
// Exp lies above it by no more than μ log of the number of outputs, and node marginals sum to 1.
func TestGreatSizes(t *testing.T) {
	for _, size := range [][2]int{{50_000, 3}, {20, 700}} {
		θ := longChain(rand.New(rand.NewPCG(9, 9)), size[0], size[1], false)
		o, y, best, value := NewChain(), make([]int32, size[0]), make([]float64, 1), make([]float64, 1)
		o.Max(θ, y, best)
		var list KBest
		o.TopK(θ, 4, &list)
		if list.Count[0] != 4 || list.Score[0] != best[0] {
			t.Errorf("%v: %d outputs, best %g, max %g", size, list.Count[0], list.Score[0], best[0])
		}
		u := new(structured.Marginals)
		for _, μ := range []float64{1, 1e-3} {
			o.Exp(θ, μ, value, u)
			if above := value[0] - best[0]; above < -1e-3*μ || above > μ*float64(size[0])*math.Log(float64(size[1])) {
				t.Errorf("%v: at μ = %g the value is %g above the max", size, μ, above)
			}
			for p := 0; p < size[0]; p++ {
				sum := 0.0
				for _, v := range u.Node[p*size[1] : (p+1)*size[1]] {
					sum += float64(v)
				}
				if math.Abs(sum-1) > 1e-4 {
					t.Fatalf("%v: at μ = %g the marginals of position %d sum to %g", size, μ, p, sum)
				}
			}
		}
	}
}

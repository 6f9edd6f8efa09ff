package engine_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Chains of one position whose labels' scores are exact, so that everything but the roundings of certificates is known
// in closed form: with w = 0 every label has the probability 1/Y, and with all inputs different g has entries ±1/n(1 −
// 1/Y), 1/nY. Each of them is rounded to float32 alike.
func TestDoubleBoundOfGradientThatIsRoundedDown(t *testing.T) {
	const n, λ = 41, 1e-6
	net, err := sparse.NewChain(n, 0, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{Name: "an attribute each", Offsets: []int{0}, Alphabet: structured.NewAlphabet("a", "b"), Labels: make([]int32, n),
		Attributes: &structured.Sparse{Offsets: []int{0}}}
	for i := range n {
		d.Offsets = append(d.Offsets, i+1)
		d.Attributes.Offsets = append(d.Attributes.Offsets, i+1)
		d.Attributes.Index = append(d.Attributes.Index, int32(i))
	}
	e := engine.NewEngine(&engine.Objective{Scorer: net, Data: d, Loss: engine.CRF, Lambda: λ}, 1)
	if !e.UseDoubles() || e.UseDoubles() {
		t.Fatal("float64 is refused, or new twice")
	}
	pass, err := e.FullPass(t.Context(), make([]float32, net.Dim()), oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const exact = math.Ln2 - 1/(4*n*λ) // 2n entries of ±1/2n
	norm := 0.0
	for _, x := range pass.Grad {
		norm += float64(x) * float64(x)
	}
	u := engine.Recomposed{Grad: pass.Grad, Blur: pass.Blur}
	unrounded := pass.Central - norm/(2*λ)
	allowance := pass.Rounded + e.PlainAllowance(u, norm)
	if over := unrounded - exact; !(over <= allowance) || over < allowance/4 {
		t.Errorf("the bound is off by %g, with an allowance of %g", over, allowance)
	}
}

// Values and bounds of passes in float64 are within what they are rounded by of those in exact arithmetic, at any
// weights and for any potentials in memory; and what they are rounded by is next to nothing beside what passes in
// float32 are.
func TestDoublesAreWithinTheirAllowances(t *testing.T) {
	seed := seeds.Draw(t)
	var costs [4]float64 // of rounding, of all problems: of F in float64 and float32, and of D beside the gradient's in both
	beyond := 0          // runs in which rounding errs to the wrong side, if nothing were charged
	for k := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, k))
		e := doubleProblem(t, r, int(k))
		w := traintest.DrawWeights(r, e.Scorer.Dim(), math.Exp(4*r.Float64()-2))
		upper, rounded, err := e.Upper(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		single, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !e.UseDoubles() {
			t.Fatal("float64 is refused")
		}
		fine, finely, err := e.Upper(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Doubles() { // potentials too far apart
			continue
		}
		x := exactObjective(t, e.Objective, w, nil)
		if fine < x.f || fine > upper || fine-finely > x.f+finely {
			t.Errorf("%d: F is %.17g, in float64 %.17g rounded up by %.3g, in float32 %.17g", k, x.f, fine, finely, upper)
		}
		costs[0] += finely
		costs[1] += rounded
		if fine-finely < x.f {
			beyond++
		}
		pass, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		u := engine.Recomposed{Grad: pass.Grad, Central: pass.Central, Rounded: pass.Rounded, Blur: pass.Blur}
		beyond += checkBound(t, e, u, 0, x)
		costs[2] += pass.Rounded
		costs[3] += single.Rounded
		// potentials in memory, of all examples but the second
		m := engine.NewMemory(e.Objective)
		for p := range m.Parts {
			for j := range m.Parts[p].Values {
				m.Parts[p].Values[j] = float32(3 * r.NormFloat64())
			}
		}
		known := func(i int) bool { return i != 1 }
		v, h, ok, err := e.RecomposeDoubly(t.Context(), &m.Marginals, known)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		beyond += checkBound(t, e, v, h, exactObjective(t, e.Objective, nil, func(i int) *structured.Marginals {
			if !known(i) {
				return nil
			}
			return &m.Marginals
		}))
	}
	if costs[0] > costs[1]/10 || costs[2] > costs[3]/10 {
		t.Errorf("rounding costs F %.3g in float64 and %.3g in float32, and D %.3g and %.3g", costs[0], costs[1], costs[2], costs[3])
	}
	if beyond < 3 {
		t.Errorf("only %d of up to 36 values need what they are rounded by", beyond)
	}
}

// checkBound compares a bound, and its parts, with those in exact arithmetic. It returns 1 if the bound would be above
// its value if nothing were charged, and else 0.
func checkBound(t *testing.T, e *engine.Engine, u engine.Recomposed, entropy float64, x exact) (above int) {
	t.Helper()
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	value := num(u.Central + entropy)
	if off, _ := num(0).Sub(value, x.value).Float64(); !(math.Abs(off) <= u.Rounded) {
		t.Errorf("the bound at the origin is off by %g, expected something up to %g", off, u.Rounded)
	}
	norm, square, off2 := num(0), 0.0, 0.0
	for j, g := range e.WideGradient() {
		off, _ := num(0).Sub(num(g), num(0).Mul(x.g[j], num(float64(e.Len())))).Float64()
		off2 += off * off
		b := num(float64(u.Grad[j]))
		norm.Add(norm, b.Mul(b, b))
		square += float64(u.Grad[j]) * float64(u.Grad[j])
	}
	if off := math.Sqrt(off2) / float64(e.Len()); !(off <= u.Blur) {
		t.Errorf("the gradient in float64 is off by %g, expected something up to %g", off, u.Blur)
	}
	bound := num(0).Sub(value, norm.Quo(norm, num(2*e.Lambda)))
	off, _ := bound.Sub(bound, x.d).Float64()
	if allowance := u.Rounded + e.PlainAllowance(u, square); !(math.Abs(off) <= allowance) {
		t.Errorf("the bound is off by %g, with an allowance of %g", off, allowance)
	}
	if off > 0 {
		return 1
	}
	return 0
}

// doubleProblem draws a small problem that certificates in float64 take.
func doubleProblem(t *testing.T, r *rand.Rand, k int) *engine.Engine {
	t.Helper()
	edges := 3 * (k % 2)
	loss := []engine.Loss{engine.CRF, engine.SoftmaxMargin}[k/2%2]
	p := traintest.AttributeProblem(t, 6, 4, 3, edges, loss, 0.01+r.Float64())
	if k >= 4 {
		for range p.Len() {
			p.Data.Weights = append(p.Data.Weights, []float64{0, 1e-3, 1, 1000}[r.IntN(4)])
		}
		for j := range p.Data.Attributes.Value {
			p.Data.Attributes.Value[j] *= float32(math.Pow(10, float64(r.IntN(3))))
		}
	}
	return engine.NewEngine(p.Objective, 1+k%2)
}

// exact are F(w), rounded to float64, and the bound of a dual point: its value at the origin, its gradient, and its
// least value with the regulariser.
type exact struct {
	f     float64
	value *big.Float
	g     []*big.Float
	d     *big.Float
}

// exactObjective returns F at w, and D at the marginals there; or D at those of potentials in memory, or at the gold
// output where there are none. It enumerates outputs, with 200 bits.
func exactObjective(t *testing.T, o *engine.Objective, w []float32, φ func(i int) *structured.Marginals) exact {
	t.Helper()
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
	n := float64(o.Data.Len())
	f, d, g := num(0), num(0), make([]*big.Float, o.Scorer.Dim())
	for j := range g {
		g[j] = num(0)
	}
	var batch structured.Batch
	for i := range o.Data.Len() {
		batch.Reset(o.Data, []int{i})
		var θ, ℓ structured.Potentials
		θ.Resize(&batch, o.Scorer.Form())
		ℓ.Resize(&batch, o.Scorer.Form())
		for k := range ℓ.Parts {
			clear(ℓ.Parts[k].Values)
		}
		if o.Loss.Augments() {
			o.Scorer.Form().Structure.TaskLoss().Augment(&ℓ, 0, batch.GoldOf(0))
		}
		// each score of an output is a sum over weights with factors that a pullback of its indicator tells
		var outputs [][]int32
		θ.Structure.Each(&θ, 0, func(y []int32) { outputs = append(outputs, append([]int32(nil), y...)) })
		worker := o.Scorer.NewWorker()
		if err := worker.Score(make([]float32, o.Scorer.Dim()), &batch, &θ); err != nil {
			t.Fatal(err)
		}
		var of structured.Marginals
		of.Like(&θ)
		indicators, slopes := [][][]float32{}, [][]float32{}
		indicate := func(y []int32) ([][]float32, []float32) {
			of.Clear()
			of.Add(0, y, 1)
			parts := [][]float32{}
			for k := range of.Parts {
				parts = append(parts, append([]float32(nil), of.Parts[k].Of(0)...))
			}
			slope := make([]float32, o.Scorer.Dim()) // sums of few small numbers, exact
			if err := worker.Pullback(&of, slope); err != nil {
				t.Fatal(err)
			}
			return parts, slope
		}
		for _, y := range outputs {
			a, s := indicate(y)
			indicators, slopes = append(indicators, a), append(slopes, s)
		}
		_, goldSlope := indicate(batch.Gold(0))
		dot := func(a [][]float32, x func(k, j int) float64) *big.Float {
			sum := num(0)
			for k := range a {
				for j, v := range a[k] {
					if v != 0 {
						sum.Add(sum, mul(num(float64(v)), num(x(k, j))))
					}
				}
			}
			return sum
		}
		along := func(slope []float32) *big.Float {
			sum := num(0)
			for j, s := range slope {
				if s != 0 {
					sum.Add(sum, mul(num(float64(s)), num(float64(w[j]))))
				}
			}
			return sum
		}
		c := o.Data.Weight(i) / n
		var memory *structured.Marginals
		if φ != nil {
			if memory = φ(i); memory == nil {
				continue
			}
		}
		scores, z := []*big.Float{}, num(0)
		for k := range outputs {
			s := num(0)
			if memory != nil {
				s = dot(indicators[k], func(part, j int) float64 { return float64(memory.Parts[part].Of(i)[j]) })
			} else {
				s.Add(along(slopes[k]), dot(indicators[k], func(part, j int) float64 { return float64(ℓ.Parts[part].Values[j]) }))
			}
			scores = append(scores, s)
			z.Add(z, bigExp(s))
		}
		logZ := bigLog(z)
		if φ == nil {
			f.Add(f, mul(num(0).Sub(logZ, along(goldSlope)), num(c)))
		}
		point := num(0).Set(logZ) // entropy, then the loss
		for k, s := range scores {
			p := num(0).Quo(bigExp(s), z)
			point.Sub(point, mul(p, s))
			point.Add(point, mul(p, dot(indicators[k], func(part, j int) float64 { return float64(ℓ.Parts[part].Values[j]) })))
			for j, x := range slopes[k] {
				if x != 0 {
					g[j].Add(g[j], mul(mul(p, num(float64(x))), num(c)))
				}
			}
		}
		for j, x := range goldSlope {
			if x != 0 {
				g[j].Sub(g[j], mul(num(float64(x)), num(c)))
			}
		}
		d.Add(d, mul(point, num(c)))
	}
	origin := num(0).Set(d)
	for j, x := range g {
		d.Sub(d, num(0).Quo(mul(x, x), num(2*o.Lambda)))
		if φ == nil {
			v := num(float64(w[j]))
			f.Add(f, mul(mul(v, v), num(o.Lambda/2)))
		}
	}
	value, _ := f.Float64()
	return exact{value, origin, g, d}
}

// bigExp returns eˣ: the series at x/2ᵏ, squared k times.
func bigExp(x *big.Float) *big.Float {
	const k = 40
	r := new(big.Float).SetPrec(300).Set(x)
	r.SetMantExp(r, -k)
	sum, term := new(big.Float).SetPrec(300).SetInt64(1), new(big.Float).SetPrec(300).SetInt64(1)
	for n := int64(1); n < 14; n++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog returns log x, by Newton's method.
func bigLog(x *big.Float) *big.Float {
	mantissa := new(big.Float)
	exponent := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := new(big.Float).SetPrec(300).SetFloat64(math.Log(m) + float64(exponent)*math.Ln2)
	for range 4 {
		e := bigExp(new(big.Float).SetPrec(300).Neg(y))
		e.Mul(e, x)
		y.Add(y, e)
		y.Sub(y, new(big.Float).SetInt64(1))
	}
	return y
}

package engine_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// rowProblems are problems with row tables: weights of attributes, and embeddings under a network.
func rowProblems() map[string]*train.Problem {
	return map[string]*train.Problem{
		"attributes": traintest.SparseProblem(40, engine.CRF, oracles.Smoothing{}, 0.02),
		"hinge":      traintest.SparseProblem(40, engine.Hinge, oracles.Smoothing{}, 0.02),
		"embeddings": traintest.EmbeddingProblem(30, engine.CRF, 0.02),
		"shifted":    shifted(traintest.EmbeddingProblem(30, engine.CRF, 0.02)),
		"large":      shifted(large(traintest.EmbeddingProblem(30, engine.CRF, 0.02))),
		"few":        withL1(traintest.EmbeddingProblem(30, engine.CRF, 0.02), 0.03),
		"few, λ = 0": withL1(traintest.EmbeddingProblem(30, engine.Hinge, 0), 0.03),
	}
}

// shifted gives a problem a regulariser with a centre, and weights step lengths of their own.
func shifted(p *train.Problem) *train.Problem {
	o := *p.Objective
	o.Center = traintest.DrawWeights(rand.New(rand.NewPCG(4, 4)), o.Scorer.Dim(), 0.3)
	o.Rates = engine.Rates{{End: 200, Factor: 2}, {End: 215, Factor: 0.5}, {End: 300, Factor: 0.1}, {End: o.Scorer.Dim() - 5, Factor: 1.5}}
	q := *p
	q.Engine = engine.NewEngine(&o, p.Threads())
	return &q
}

// withL1 gives a problem λ₁‖w‖₁.
func withL1(p *train.Problem, λ1 float64) *train.Problem {
	o := *p.Objective
	o.L1 = λ1
	q := *p
	q.Engine = engine.NewEngine(&o, p.Threads())
	return &q
}

// large makes the row tables of a problem large.
func large(p *train.Problem) *train.Problem {
	o := *p.Objective
	o.Scorer = largeTables{o.Scorer.(nets.RowScorer)}
	q := *p
	q.Engine = engine.NewEngine(&o, p.Threads())
	return &q
}

type largeTables struct{ nets.RowScorer }

func (l largeTables) RowTables() []nets.RowTable {
	tables := slices.Clone(l.RowScorer.RowTables())
	for k := range tables {
		tables[k].Large = true
	}
	return tables
}

// denseDescent follows the formulas of Descent in float64, with every weight visited in every step.
type denseDescent struct {
	w, v, m []float64
	common  float64 // V
	c       float64
	adam    bool
	center  []float32 // or nil
	rates   engine.Rates
	λ1      float64 // of ProxRule
}

// rate returns the factor of the step length of weight j.
func (d *denseDescent) rate(j int) float64 {
	for _, r := range d.rates {
		if j < r.End {
			return r.Factor
		}
	}
	return 1
}

// step takes a step with the mean gradient g and the dual variable γ; reads tells which weights the batch reads.
func (d *denseDescent) step(g []float32, reads []bool, γ, η, λ, β1 float64) {
	const β, floor = 0.99, 1e-8
	d.c++
	square, read := 0.0, 0
	for j, x := range g {
		square += float64(x) * float64(x)
		if reads[j] {
			read++
		}
	}
	d.common = β*d.common + (1-β)*square/float64(read)
	H := math.Sqrt(d.common/(1-math.Pow(β, d.c))) + floor
	for j := range g {
		x := float64(g[j])
		d.v[j] = β*d.v[j] + (1-β)*x*x
		d.m[j] = β1*d.m[j] + (1-β1)*x
		h := math.Sqrt(d.v[j]/(1-math.Pow(β, d.c))) + floor
		if !d.adam {
			h = math.Sqrt(h * H)
		}
		η, center := η*d.rate(j), 0.0
		if d.center != nil {
			center = float64(d.center[j])
		}
		d.w[j] -= center
		switch {
		case d.adam:
			d.w[j] *= 1 - η*λ
			if d.v[j] > 0 {
				d.w[j] -= η * d.m[j] / (1 - math.Pow(β1, d.c)) / h
			}
		case d.v[j] == 0:
		case reads[j]:
			d.w[j] -= η / (h + η*λ) * (γ*x + λ*d.w[j])
			d.threshold(j, η/(h+η*λ)*d.λ1)
		default:
			d.w[j] *= math.Exp(-η * λ / h)
			if λ > 0 {
				d.threshold(j, d.λ1/λ*-math.Expm1(-η*λ/h))
			} else {
				d.threshold(j, η/h*d.λ1)
			}
		}
		d.w[j] += center
	}
}

func (d *denseDescent) threshold(j int, τ float64) {
	d.w[j] = math.Copysign(max(math.Abs(d.w[j])-τ, 0), d.w[j])
}

// A descent that catches rows up when they are read equals one that visits every weight in every step.
func TestDescentIsLazyAboutRows(t *testing.T) {
	for name, p := range rowProblems() {
		for _, adam := range []bool{false, true} {
			if adam && p.L1 > 0 { // no rule
				continue
			}
			t.Run(fmt.Sprintf("%s adam %v", name, adam), func(t *testing.T) {
				w0 := traintest.Initial(p)
				n := len(w0)
				dense := &denseDescent{w: make([]float64, n), v: make([]float64, n), m: make([]float64, n), adam: adam, center: p.Center, rates: p.Rates, λ1: p.L1}
				mean := make([]float64, n)
				for j, x := range w0 {
					dense.w[j] = float64(x)
				}
				var d engine.ScaledDescent
				d.Start(p.Engine, w0, 0.99)
				scorer := p.Scorer.(nets.RowScorer)
				reference := engine.NewEngine(p.Objective, 1)
				r, included, steps := rand.New(rand.NewPCG(1, 1)), 0, 40
				if adam && name == "large" {
					steps = 400
				}
				for step := range steps {
					batch := []int{r.IntN(p.Len()), r.IntN(p.Len())}
					if step > steps/8 && step < steps*7/8 { // some rows are not read for long
						batch = []int{0, 1}
					}
					η := 0.1 / float64(1+step)
					move := engine.Move{Rule: engine.ProxRule, Eta: η, Lambda: p.Lambda}
					if adam {
						move.Rule, move.Beta = engine.AdamRule, 0.9
					}
					γ, err := d.Step(t.Context(), engine.Question{Examples: batch}, move)
					if err != nil {
						t.Fatal(err)
					}
					at := make([]float32, n)
					for j, x := range dense.w {
						at[j] = float32(x)
					}
					want, err := reference.Step(t.Context(), at, batch, oracles.Smoothing{}, nil)
					if err != nil {
						t.Fatal(err)
					}
					g := make([]float32, n)
					want.Grad.AddTo(0.5, g)
					dense.step(g, readsOf(scorer, p.Data, batch), γ, η, p.Lambda, 0.9)
					if step%7 == 6 {
						included++
						d.Include(1 / float64(included))
						for j, x := range dense.w {
							mean[j] += (x - mean[j]) / float64(included)
						}
					}
				}
				if err := d.Finish(); err != nil {
					t.Fatal(err)
				}
				near := func(what string, got []float32, want []float64) {
					for j := range want {
						if math.Abs(float64(got[j])-want[j]) > 2e-4*(1+math.Abs(want[j])) {
							t.Fatalf("%s[%d] is %g, the dense descent has %g", what, j, got[j], want[j])
						}
					}
				}
				near("w", d.W, dense.w)
				near("mean", d.Mean, mean)
				if zeros := n - engine.Nonzeros(d.W); p.L1 > 0 && zeros < n/20 {
					t.Errorf("%d of %d weights are 0: the test checks too little", zeros, n)
				}
			})
		}
	}
}

// readsOf returns whether the batch reads each weight.
func readsOf(s nets.RowScorer, data *structured.Dataset, examples []int) []bool {
	var batch structured.Batch
	batch.Reset(data, examples)
	reads := make([]bool, s.Dim())
	for j := range reads {
		reads[j] = true
	}
	for k, table := range s.RowTables() {
		clear(reads[table.Offset : table.Offset+table.Rows*table.Cols])
		for _, r := range s.RowsRead(k, &batch, nil) {
			for c := range table.Cols {
				reads[table.Offset+int(r)*table.Cols+c] = true
			}
		}
	}
	return reads
}

// The step solves its subproblem: no γ on a fine grid has a larger dual value, with the entropies of mixed
// distributions summed over all outputs; and for the hinge the primal value at the new weights equals the dual value.
func TestProxStepSolvesItsModel(t *testing.T) {
	for _, λ1 := range []float64{0, 0.01} {
		for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin} {
			t.Run(fmt.Sprint(loss, " ", λ1), func(t *testing.T) { testProxStep(t, loss, λ1) })
		}
	}
}

func testProxStep(t *testing.T, loss engine.Loss, λ1 float64) {
	const η, λ = 0.3, 0.05
	p := traintest.ShortNetProblem(12)
	p.Loss, p.L1 = loss, λ1
	p.Data.Weights = []float64{1, 0.5, 2, 1, 1, 3, 1, 1, 0.25, 1, 1, 1}
	w := p.Scorer.(*traintest.Net).Glorot(2)
	var d engine.ScaledDescent
	d.Start(p.Engine, w, 0.999)
	inside, common := 0, 0.0
	for step := range 12 {
		before := make([]float64, len(w))
		for j, x := range d.W {
			before[j] = float64(x)
		}
		batch := []int{step, (step + 5) % 12}
		mixed := entropies(t, p, d.W, batch)
		squares := make([]float32, len(w))
		copy(squares, d.Squares())
		γ, err := d.Step(t.Context(), engine.Question{Examples: batch}, engine.Move{Rule: engine.ProxRule, Eta: η, Lambda: λ})
		if err != nil {
			t.Fatal(err)
		}
		f, g := d.Asked()
		G := 0.0
		for _, x := range g {
			G += float64(x) * float64(x) / float64(len(g))
		}
		common = 0.999*common + 0.001*G
		scale := func(v float64) float64 { return math.Sqrt(v/(1-math.Pow(0.999, float64(step+1)))) + 1e-8 }
		h := make([]float64, len(w)) // tempered
		for j := range h {
			v := 0.999*float64(squares[j]) + 0.001*float64(g[j])*float64(g[j])
			h[j] = math.Sqrt(scale(v) * scale(common))
		}
		model := func(γ float64) (dual, primal float64) {
			linear, rest := f, 0.0
			for j, x := range before {
				if g[j] == 0 && squares[j] == 0 {
					continue
				}
				to := x - η/(h[j]+η*λ)*(γ*float64(g[j])+λ*x)
				to = math.Copysign(max(math.Abs(to)-η/(h[j]+η*λ)*λ1, 0), to)
				linear += float64(g[j]) * (to - x)
				rest += λ/2*to*to + λ1*math.Abs(to) + h[j]/(2*η)*(to-x)*(to-x)
			}
			dual = γ*linear + rest
			if loss.Smooth() { // γf counts the entropy as if it were linear in γ
				dual += mixed(γ) - γ*mixed(1)
			}
			return dual, max(0, linear) + rest
		}
		best, primal := model(γ)
		for k := range 1001 {
			if value, _ := model(float64(k) / 1000); value > best+1e-5*math.Abs(best) {
				t.Fatalf("%v: γ = %g has dual value %g, γ = %g has %g", loss, γ, best, float64(k)/1000, value)
			}
		}
		if !loss.Smooth() && math.Abs(primal-best) > 1e-4*math.Abs(best) {
			t.Errorf("%v: step %d: primal value %g, dual value %g at γ = %g", loss, step, primal, best, γ)
		}
		if γ > 0 && γ < 1 {
			inside++
		}
	}
	if inside == 0 {
		t.Errorf("%v: every γ is 0 or 1: the test checks too little", loss)
	}
}

// entropies returns the mean entropy over a batch, weighted, of the distribution of outputs at w mixed with share γ
// into the gold output.
func entropies(t *testing.T, p *train.Problem, w []float32, batch []int) func(γ float64) float64 {
	t.Helper()
	ln := p.NewLane()
	ln.Batch.Reset(p.Data, batch)
	if err := p.Potentials(ln, engine.At(w)); err != nil {
		t.Fatal(err)
	}
	y := traintest.LabelsOf(p)
	gold := make([]float64, len(batch)) // probability
	others := make([][]float64, len(batch))
	for b, i := range batch {
		labels := make([]int32, p.Data.Length(i))
		total := 0.0
		for k := range int(math.Pow(float64(y), float64(len(labels)))) {
			for t := range labels {
				labels[t] = int32(k % y)
				k /= y
			}
			x := math.Exp(ln.Theta.Structure.Score(&ln.Theta, b, labels))
			if total += x; slices.Equal(labels, p.Data.Gold(i)) {
				gold[b] = x
			} else {
				others[b] = append(others[b], x)
			}
		}
		gold[b] /= total
		for k := range others[b] {
			others[b][k] /= total
		}
	}
	return func(γ float64) float64 {
		mean := 0.0
		for b, i := range batch {
			kept := 1 - γ + γ*gold[b]
			h := -kept * math.Log(kept)
			for _, x := range others[b] {
				if γ > 0 {
					h -= γ * x * math.Log(γ*x)
				}
			}
			mean += p.Data.Weight(i) * h / float64(len(batch))
		}
		return mean
	}
}

// Steps of a descent and other steps on the same engine do not disturb each other's gradients.
func TestStepsAfterADescent(t *testing.T) {
	p := rowProblems()["embeddings"]
	w := traintest.Initial(p)
	gradient := func(e *engine.Engine, batch []int) []float32 {
		st, err := e.Step(t.Context(), w, batch, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float32, len(w))
		st.Grad.AddTo(1, g)
		if norm := vec.Norm2(g); st.Grad.Norm2() != norm {
			t.Errorf("batch %v: the gradient's norm is %g, that of its entries %g", batch, st.Grad.Norm2(), norm)
		}
		return g
	}
	var d engine.ScaledDescent
	d.Start(p.Engine, w, 0.999)
	r := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		q := engine.Question{Examples: r.Perm(p.Len())[:1+r.IntN(20)]}
		if _, err := d.Step(t.Context(), q, engine.Move{Rule: engine.ProxRule}); err != nil {
			t.Fatal(err)
		}
		batch := r.Perm(p.Len())[:1+r.IntN(20)]
		if got, want := gradient(p.Engine, batch), gradient(engine.NewEngine(p.Objective, 1), batch); !slices.Equal(got, want) {
			t.Fatalf("batch %v: the gradient after a step of a descent differs from that of a new engine", batch)
		}
		if r.IntN(3) == 0 {
			if _, err := p.Value(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Once it has seen batches of every size, a step of a descent allocates no more than the few closures that it passes to
// the lanes and to the group.
func TestDescentAllocatesNoArrays(t *testing.T) {
	p := traintest.EmbeddingProblem(64, engine.CRF, 0.02)
	e := engine.NewEngine(p.Objective, 1)
	var d engine.ScaledDescent
	d.Start(e, traintest.Initial(p), 0.999)
	var batches [8][]int
	for b := range batches {
		for i := range 8 {
			batches[b] = append(batches[b], 8*b+i)
		}
	}
	k := 0
	step := func() {
		at := k * 8 % 64
		k++
		move := engine.Move{Rule: engine.ProxRule, Eta: 0.1, Lambda: p.Lambda}
		if _, err := d.Step(t.Context(), engine.Question{Examples: batches[at/8]}, move); err != nil {
			t.Fatal(err)
		}
	}
	for range 32 {
		step()
	}
	if n := testing.AllocsPerRun(64, step); n > 8 {
		t.Errorf("a step makes %g allocations", n)
	}
}

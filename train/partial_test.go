package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/vec"
)

// hide makes that share of d's labels known in part: any label, or one of two, the right one among them. Whole examples
// stay as they are, too. It returns what the labels were.
func hide(d *structured.Dataset, share float64, seed uint64) []int32 {
	r, was := rand.New(rand.NewPCG(seed, 8)), slices.Clone(d.Labels)
	d.LabelSets = [][]int32{nil}
	y := int32(slices.Max(d.Labels)) + 1
	d.Alphabet = structured.NewAlphabet()
	for l := range y {
		d.Alphabet.Add(string(rune('a' + l)))
	}
	for a := range y {
		for b := a + 1; b < y; b++ {
			d.LabelSets = append(d.LabelSets, []int32{a, b})
		}
	}
	for i := range d.Len() {
		if i%4 == 3 {
			continue
		}
		for t, l := range d.Gold(i) {
			if r.Float64() >= share {
				continue
			}
			k := r.IntN(len(d.LabelSets))
			for k > 0 && !slices.Contains(d.LabelSets[k], l) {
				k = r.IntN(len(d.LabelSets))
			}
			d.Gold(i)[t] = int32(-1 - k)
		}
	}
	return was
}

// everyLabeling calls do with all labelings of so many positions.
func everyLabeling(positions, y int, do func(labels []int32)) {
	labels := make([]int32, positions)
	var fill func(t int)
	fill = func(t int) {
		if t == positions {
			do(labels)
			return
		}
		for l := range int32(y) {
			labels[t] = l
			fill(t + 1)
		}
	}
	fill(0)
}

// agrees reports whether a labeling is one that example i's labels allow.
func agrees(d *structured.Dataset, i int, labels []int32) bool {
	for t, g := range d.Gold(i) {
		if g >= 0 && g != labels[t] || g < 0 && d.LabelSets[-1-g] != nil && !slices.Contains(d.LabelSets[-1-g], labels[t]) {
			return false
		}
	}
	return true
}

// softmax returns μ log Σ exp(z/μ), or max z with μ = 0.
func softmax(z []float64, μ float64) float64 {
	most, sum := slices.Max(z), 0.0
	if μ == 0 {
		return most
	}
	for _, x := range z {
		sum += math.Exp((x - most) / μ)
	}
	return most + μ*math.Log(sum)
}

// enumerated is the mean loss at w by its definition, labeling by labeling: h over all of them, with the loss to the
// nearest allowed one, less h over those allowed.
func enumerated(t *testing.T, p *Problem, w []float32, μ float64) float64 {
	t.Helper()
	d, y, total := p.Data, labelsOf(p), 0.0
	worker := p.Scorer.NewWorker()
	for i := range d.Len() {
		var batch structured.Batch
		var θ structured.Potentials
		batch.Reset(d, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		var allowed [][]int32
		everyLabeling(d.Length(i), y, func(labels []int32) {
			if agrees(d, i, labels) && allows(p, labels) {
				allowed = append(allowed, slices.Clone(labels))
			}
		})
		var all, some []float64
		everyLabeling(d.Length(i), y, func(labels []int32) {
			if !allows(p, labels) {
				return
			}
			loss := 0.0
			for t, g := range d.Gold(i) { // allowed labelings are a product of sets, and the loss is a sum
				least := math.Inf(1)
				for k := range int32(y) {
					if g == k || g < 0 && (d.LabelSets[-1-g] == nil || slices.Contains(d.LabelSets[-1-g], k)) {
						least = min(least, p.Task.Loss(labels[t:t+1], []int32{k}))
					}
				}
				loss += least
			}
			if p.Loss == CRF {
				loss = 0
			}
			all = append(all, θ.Score(0, labels)+loss)
		})
		for _, labels := range allowed {
			some = append(some, θ.Score(0, labels))
		}
		total += d.Weight(i) * (softmax(all, μ) - softmax(some, μ))
	}
	return total / float64(d.Len())
}

// shortChains cuts chains to at most so many positions.
func shortChains(d *structured.Dataset, most int) *structured.Dataset {
	s := &structured.Dataset{Name: d.Name, Dim: d.Dim, Alphabet: d.Alphabet, Offsets: []int{0}}
	if d.Attributes != nil {
		s.Attributes = &structured.Sparse{Offsets: []int{0}}
	}
	for i := range d.Len() {
		for t := d.Offsets[i]; t < min(d.Offsets[i+1], d.Offsets[i]+most); t++ {
			s.Labels = append(s.Labels, d.Labels[t])
			s.Features = append(s.Features, d.Features[t*d.Dim:(t+1)*d.Dim]...)
			if x := d.Attributes; x != nil {
				s.Attributes.Index = append(s.Attributes.Index, x.Index[x.Offsets[t]:x.Offsets[t+1]]...)
				s.Attributes.Offsets = append(s.Attributes.Offsets, len(s.Attributes.Index))
			}
		}
		s.Offsets = append(s.Offsets, len(s.Labels))
	}
	return s
}

// partialProblems are small problems with labels known in part: dense and sparse, with edges shared and per position, with
// and without constraints, weights and costs.
func partialProblems(t *testing.T, loss Loss) map[string]*Problem {
	problems := map[string]*Problem{}
	add := func(name string, o *Objective) {
		o.Loss, o.Lambda = loss, 0.1
		hide(o.Data, 0.6, 1)
		problems[name] = &Problem{Engine: NewEngine(o, 2), Seed: 3}
	}
	add("dense", &Objective{Scorer: &testNet{dim: 4, labels: 3}, Data: shortChains(noisyChains(1, 20, 4, 3), 5)})
	costs := chains.Hamming{LabelWeights: []float32{0.5, 2, 3}}
	add("costs", &Objective{Scorer: &testNet{dim: 4, labels: 3}, Data: shortChains(noisyChains(2, 20, 4, 3), 5), Task: costs})
	shifted(problems["costs"])

	data := shortChains(noisyChains(3, 20, 4, 3), 5)
	c := &chains.Constraints{Transition: make([]bool, 9), Start: make([]bool, 3)}
	for i := range c.Transition {
		c.Transition[i] = true
	}
	for i := range data.Len() { // all that gold outputs do is allowed
		for t, l := range data.Gold(i) {
			if t > 0 {
				c.Transition[data.Gold(i)[t-1]*3+l] = false
			}
		}
	}
	c.Transition[slices.Index(c.Transition, false)] = true
	add("constraints", &Objective{Scorer: &testNet{dim: 4, labels: 3}, Data: data, Constraints: c})
	kept := []int{}
	for i := range data.Len() {
		if c.AllowsSome(data, i) {
			kept = append(kept, i)
		}
	}
	problems["constraints"].Engine = NewEngine(&Objective{
		Scorer: &testNet{dim: 4, labels: 3}, Data: data.Subset(kept), Constraints: c, Loss: loss, Lambda: 0.1}, 2)

	for name, edges := range map[string]int{"sparse": 0, "sparse, edges per position": 12} {
		data := shortChains(sparseChains(4, 20, 12, 3, false), 5)
		if edges > 0 {
			data.EdgeAttributes = data.Attributes
		}
		net, err := sparse.NewChain(12, edges, 3, nets.EdgesTransition)
		if err != nil {
			t.Fatal(err)
		}
		add(name, &Objective{Scorer: net, Data: data})
	}
	return problems
}

// Values are those of the definition, gradients those of the values, for full passes and for steps.
func TestPartialLosses(t *testing.T) {
	ctx := context.Background()
	for _, c := range fullPassCases {
		for name, p := range partialProblems(t, c.loss) {
			t.Run(c.name+", "+name, func(t *testing.T) {
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
				if !p.Partial() {
					t.Fatal("all labels are known")
				}
				r := rand.New(rand.NewPCG(5, 6))
				w := drawWeights(r, p.Scorer.Dim(), 0.7)
				pass, err := p.FullPass(ctx, w, c.smoothing, nil)
				if err != nil {
					t.Fatal(err)
				}
				μ := 0.0
				if c.loss.Smooth() {
					μ = 1
				}
				near(t, "F(w)", pass.Primal, enumerated(t, p, w, μ)+p.regulariser(w), 1e-6)
				near(t, "F(w) alone", value(t, p.Engine, w), pass.Primal, 1e-9)
				if c.smoothing.Kind == oracles.Entropy {
					near(t, "F_μ(w)", pass.Smoothed, enumerated(t, p, w, c.smoothing.Mu)+p.regulariser(w), 1e-6)
				}
				if pass.Smoothed < p.regulariser(w) {
					t.Errorf("the mean loss is %g", pass.Smoothed-p.regulariser(w))
				}

				// Along a random direction.
				ε := float32(1. / 256)
				if c.name == "hinge" { // which has kinks
					ε /= 16
				}
				direction := drawWeights(r, len(w), 1)
				smoothed := func(ε float32) float64 {
					at := slices.Clone(w)
					vec.Axpy(ε, direction, at)
					pass, err := p.FullPass(ctx, at, c.smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					return pass.Smoothed - p.regulariser(at)
				}
				if c.name != "hinge, l2 on 3" { // which is not smooth
					near(t, "slope", vec.Dot64(pass.Grad, direction), (smoothed(ε)-smoothed(-ε))/(2*float64(ε)), 2e-3)
				}

				g := make([]float32, len(w))
				loss := 0.0
				for lo := 0; lo < p.Len(); lo += 7 {
					batch := []int{}
					for i := lo; i < min(lo+7, p.Len()); i++ {
						batch = append(batch, i)
					}
					st, err := p.Step(ctx, w, batch, c.smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					st.Grad.AddTo(1/float32(p.Len()), g)
					loss += st.Smoothed / float64(p.Len())
				}
				nearAll(t, "gradient by steps", g, pass.Grad, 1e-5)
				near(t, "loss by steps", loss+p.regulariser(w), pass.Smoothed, 1e-9)
			})
		}
	}
}

// Labels that say nothing cost nothing, and those that are all known cost what they did, to the bit.
func TestPartialEnds(t *testing.T) {
	ctx := context.Background()
	for _, c := range fullPassCases {
		p := noisyProblem(20, c.loss, c.smoothing, 0.1)
		w := drawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 0.5)
		want, err := p.FullPass(ctx, w, c.smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Data.LabelSets = [][]int32{nil}
		got, err := p.FullPass(ctx, w, c.smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Partial() || got.Primal != want.Primal || got.Smoothed != want.Smoothed || !slices.Equal(got.Grad, want.Grad) {
			t.Errorf("%s: other bits where there might have been sets of labels", c.name)
		}
		for i := range p.Data.Labels {
			p.Data.Labels[i] = -1
		}
		if got, err = p.FullPass(ctx, w, c.smoothing, nil); err != nil {
			t.Fatal(err)
		}
		if f := p.regulariser(w); got.Primal != f || got.Smoothed != f || vec.Norm2(got.Grad) != 0 {
			t.Errorf("%s: F is %g, want the regulariser's %g alone; ‖g‖² %g", c.name, got.Primal, f, vec.Norm2(got.Grad))
		}
	}
}

package models

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/seeds"
)

// distribution returns the probabilities of all labelings of each example.
func distribution(t *testing.T, m *Model, d *structured.Dataset) (all [][]float64, outputs [][][]int32) {
	t.Helper()
	θ, err := m.Potentials(context.Background(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Len() {
		ys := labelings(d.Length(i), 3)
		p, sum := make([]float64, len(ys)), 0.0
		for k, y := range ys {
			p[k] = math.Exp(θ.Score(i, y) / m.Temper())
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		all, outputs = append(all, p), append(outputs, ys)
	}
	return all, outputs
}

// Entropies, log-probabilities of gold outputs, known whole or in part, and divergences are those of enumeration.
func TestQuestionsAgainstEnumeration(t *testing.T) {
	d := toyData(5)
	m, other := toyModel(t, d, nil), toyModel(t, d, func(c *config.Config) { c.Edges = "position" })
	rng := seeds.Rand(t)
	for i := range other.W {
		other.W[i] = float32(rng.NormFloat64())
	}
	m.Temperature, other.Temperature = 0.8, 1.7
	p, ys := distribution(t, m, d)
	q, _ := distribution(t, other, d)
	for _, partial := range []bool{false, true} {
		if partial {
			d.LabelSets = [][]int32{nil, {0, 2}}
			d.Labels[0], d.Labels[3], d.Labels[9] = -1, -2, -2
		}
		entropy, cross, nll := make([]float64, d.Len()), 0.0, 0.0
		for i := range p {
			gold := 0.0
			for k, y := range ys[i] {
				entropy[i] -= p[i][k] * math.Log(p[i][k])
				cross -= p[i][k] * math.Log(q[i][k])
				agrees := true
				for at, l := range d.Gold(i) {
					agrees = agrees && (l == y[at] || l == -1 || l == -2 && y[at] != 1)
				}
				if agrees {
					gold += p[i][k]
				}
			}
			nll -= math.Log(gold)
		}
		n, total := float64(d.Len()), 0.0
		err := m.Predict(context.Background(), d, predictions.Options{Entropy: true}, func(i int, a *predictions.Prediction) error {
			if total += a.Entropy; math.Abs(a.Entropy-entropy[i]) > 1e-5 {
				t.Errorf("example %d: entropy %v, want %v", i, a.Entropy, entropy[i])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.NLL(context.Background(), d, 2)
		if err != nil || math.Abs(l.NLL-nll/n) > 1e-5 || l.Examples != d.Len() || l.Impossible != 0 || math.Abs(l.Per*float64(d.Positions())-nll) > 1e-4 {
			t.Errorf("%+v, %v: want %v", l, err, nll/n)
		}
		v, err := m.Divergence(context.Background(), d, other, d, 2)
		if want := cross/n - total/n; err != nil || math.Abs(v.KL-want) > 1e-5 || math.Abs(v.CrossEntropy-cross/n) > 1e-5 || v.KL < 0.01 {
			t.Errorf("%+v, %v: want %v", v, err, want)
		}
	}
	d.Labels[1] = 3 // a label that the model does not know
	if l, err := m.NLL(context.Background(), d, 1); err != nil || l.Impossible != 1 || l.Examples != d.Len()-1 {
		t.Errorf("%+v, %v: one example has an unknown label", l, err)
	}
}

// Samples do not depend on the number of threads, differ between examples and seeds, and follow the model's
// distribution.
func TestSamples(t *testing.T) {
	d := many(toyData(5), 20)
	m := toyModel(t, d, nil)
	draw := func(o predictions.Options) (all [][][]int32) {
		o.Samples = 40
		if err := m.Predict(context.Background(), d, o, func(_ int, p *predictions.Prediction) error {
			all = append(all, p.Samples)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	one, two := draw(predictions.Options{Seed: 7, Threads: 1}), draw(predictions.Options{Seed: 7, Threads: 2})
	other, cold := draw(predictions.Options{Seed: 8}), draw(predictions.Options{Seed: 7, SampleTemperature: 1e-4})
	differ, repeats := 0, 0
	for i := range one {
		for k := range one[i] {
			if !slices.Equal(one[i][k], two[i][k]) {
				t.Fatalf("example %d, sample %d: %v and %v", i, k, one[i][k], two[i][k])
			}
			if !slices.Equal(one[i][k], other[i][k]) {
				differ++
			}
			if i >= 9 && slices.Equal(one[i][k], one[i-9][k]) && len(one[i][k]) > 2 {
				repeats++
			}
			if !slices.Equal(cold[i][k], cold[i][0]) {
				t.Fatalf("example %d: at a temperature near 0, samples %v and %v", i, cold[i][k], cold[i][0])
			}
		}
	}
	if differ < len(one) || repeats > len(one)*20 {
		t.Errorf("%d samples differ between two seeds, %d are those of an equal example", differ, repeats)
	}
}

// Potentials whose edges are tied have the same sums as those with the same edges at each position, and marginals that
// Tie adds up to theirs.
func TestTiedAndUntiedForms(t *testing.T) {
	d := toyData(1)
	var batch structured.Batch
	batch.Reset(d, []int{1, 3, 4})
	tied, own := chains.Form(3, false), chains.Form(3, true)
	form, err := structured.Common(tied, own)
	if back, e := structured.Common(own, tied); err != nil || e != nil || form.Parts[1] != own.Parts[1] || back.Parts[1] != own.Parts[1] {
		t.Fatalf("%v %v %v", form, err, e)
	}
	if _, err := structured.Common(tied, chains.Form(4, false)); err == nil {
		t.Error("3 labels and 4 have a common form")
	}
	var θ, untied structured.Potentials
	var u, v, back structured.Marginals
	θ.Resize(&batch, tied)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(math.Sin(float64(7*i + k)))
		}
	}
	θ.Untie(&batch, form, &untied)
	a, b := make([]float64, 3), make([]float64, 3)
	chain.New().Exp(&θ, 1, a, &u)
	chain.New().Exp(&untied, 1, b, &v)
	v.Tie(&batch, tied, &back)
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-5 {
			t.Errorf("sums %v and %v", a[i], b[i])
		}
	}
	for k := range u.Parts {
		for i, x := range u.Parts[k].Values {
			if math.Abs(float64(x-back.Parts[k].Values[i])) > 1e-5 {
				t.Errorf("part %d: marginals %v and %v", k, u.Parts[k].Values, back.Parts[k].Values)
				break
			}
		}
	}
}

// Models that number their labels differently are not compared.
func TestDivergenceOfOtherLabels(t *testing.T) {
	d := toyData(5)
	m := toyModel(t, d, nil)
	other := toyModel(t, d, nil)
	other.Labels = structured.NewAlphabet("a", "ç", "b")
	if _, err := m.Divergence(context.Background(), d, other, d, 1); err == nil {
		t.Error("models with other labels are compared")
	}
}

// Counts of a linear model, in the data and in expectation, are those of enumeration, and of what is known where gold
// outputs are known in part.
func TestCountsAgainstEnumeration(t *testing.T) {
	d := toyData(5)
	m := toyModel(t, d, func(c *config.Config) { c.Net, c.Hidden = "linear", nil })
	m.Temperature = 0.8
	p, ys := distribution(t, m, d)
	for _, partial := range []bool{false, true} {
		if partial {
			d.LabelSets = [][]int32{nil, {0, 2}}
			d.Labels[0], d.Labels[3], d.Labels[9] = -1, -2, -2
		}
		want := map[string][2][]float64{} // of each parameter, observed and expected counts
		for _, a := range m.Net.Layout() {
			want[a.Name] = [2][]float64{make([]float64, a.Len()), make([]float64, a.Len())}
		}
		for i := range p {
			agreeing := 0.0
			agrees := make([]bool, len(ys[i]))
			for k, y := range ys[i] {
				agrees[k] = true
				for at, l := range d.Gold(i) {
					agrees[k] = agrees[k] && (l == y[at] || l == -1 || l == -2 && y[at] != 1)
				}
				if agrees[k] {
					agreeing += p[i][k]
				}
			}
			for k, y := range ys[i] {
				q := [2]float64{0, p[i][k]}
				if agrees[k] {
					q[0] = p[i][k] / agreeing
				}
				for e, q := range q {
					for t, l := range y {
						for j := range d.Dim {
							want["node.weight"][e][j*3+int(l)] += q * float64(d.Features[(d.Offsets[i]+t)*d.Dim+j])
						}
						want["node.bias"][e][l] += q
						if t > 0 {
							want["transition"][e][y[t-1]*3+l] += q
						}
					}
				}
			}
		}
		c, err := m.Counts(context.Background(), d, 2)
		if err != nil || c.Examples != d.Len() || c.Impossible != 0 || len(want["node.weight"][0]) != 3*d.Dim {
			t.Fatalf("%+v, %v", c, err)
		}
		for _, a := range m.Net.Layout() {
			for e, got := range [2][]float64{c.Observed, c.Expected} {
				for k, x := range want[a.Name][e] {
					if a.Name != "ends" && math.Abs(got[a.Offset+k]-x) > 1e-4 {
						t.Errorf("%s[%d]: count %v, want %v (expected: %v)", a.Name, k, got[a.Offset+k], x, e == 1)
					}
				}
			}
		}
	}
	d.Labels[1] = 3 // a label that the model does not know
	before, _ := m.Counts(context.Background(), d, 1)
	d.Weights = slices.Repeat([]float64{2}, d.Len())
	if c, err := m.Counts(context.Background(), d, 1); err != nil || c.Impossible != 1 || c.Examples != d.Len()-1 || math.Abs(c.Expected[0]-2*before.Expected[0]) > 1e-6 {
		t.Errorf("%+v, %v: one example has an unknown label, and all have the weight 2", c, err)
	}
	if _, err := toyModel(t, toyData(5), nil).Counts(context.Background(), toyData(5), 1); !structured.IsBadInput(err) {
		t.Errorf("counts of a net that is not linear: %v", err)
	}
}

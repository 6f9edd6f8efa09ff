package calibration

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// drawn returns a chain model with random weights, and data whose labels are drawn from its distribution at a
// temperature.
func drawn(t *testing.T, examples int, temperature float64) (*models.Model, *structured.Dataset) {
	t.Helper()
	return drawnOf(t, examples, temperature, "a", "b", "c")
}

// drawnOf is drawn for three labels with these names.
func drawnOf(t *testing.T, examples int, temperature float64, labels ...string) (*models.Model, *structured.Dataset) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	d := &structured.Dataset{Name: "drawn", Alphabet: structured.NewAlphabet(labels...), Dim: 2, Offsets: []int{0}}
	for i := range examples {
		for range i % 4 {
			d.Features = append(d.Features, float32(r.NormFloat64()), float32(r.NormFloat64()))
			d.Labels = append(d.Labels, r.Int32N(3))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	c := config.Default()
	c.Net = "linear"
	m, err := models.NewModel(c, &models.Data{Train: d})
	if err != nil {
		t.Fatal(err)
	}
	for k := range m.W {
		m.W[k] = float32(3 * r.NormFloat64())
	}
	θ, err := m.Potentials(context.Background(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for b := range θ.Len() {
		var outputs [][]int32
		var weights []float64
		sum := 0.0
		θ.Structure.Each(θ, b, func(y []int32) {
			outputs = append(outputs, append([]int32(nil), y...))
			weights = append(weights, math.Exp(θ.Score(b, y)/temperature))
			sum += weights[len(weights)-1]
		})
		at := r.Float64() * sum
		k := 0
		for at -= weights[0]; at > 0 && k+1 < len(outputs); at -= weights[k] {
			k++
		}
		copy(d.Labels[d.Offsets[b]:], outputs[k])
	}
	return m, d
}

// The temperature that labels were drawn at is found, from whole outputs and from tokens, and falls on a minimum.
func TestFitFindsTemperature(t *testing.T) {
	for _, temperature := range []float64{0.4, 1, 6} {
		m, d := drawn(t, 4000, temperature)
		for _, by := range []By{Tokens, Sequences} {
			r, err := Fit(context.Background(), m, d, by, 2)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(math.Log(r.Temperature/temperature)) > 0.1 || !r.Bounded || r.After > r.Before+1e-12 {
				t.Errorf("temperature %v, by %v: %+v", temperature, by, r)
			}
			s := search{ctx: context.Background(), model: m, data: d, by: by}
			at := math.Log2(r.Temperature)
			around, _, err := s.measure([]float64{at - 0.01, at, at + 0.01}, true)
			if err != nil || around[1] > around[0] || around[1] > around[2] {
				t.Errorf("temperature %v, by %v: no minimum in %v, %v", temperature, by, around, err)
			}
		}
	}
}

// Entities that are right as often as their probabilities say keep the temperature, and the value is that of its
// definition.
func TestFitEntities(t *testing.T) {
	m, d := drawnOf(t, 4000, 1.7, "O", "B-x", "I-x")
	r, err := Fit(context.Background(), m, d, Entities, 2)
	if err != nil || math.Abs(math.Log(r.Temperature/1.7)) > 0.1 || !r.Bounded {
		t.Fatalf("%+v, %v", r, err)
	}
	m.Temperature = 3
	rules, want, count := chains.NewEntities(m.Labels), 0.0, 0
	err = m.Predict(context.Background(), d, predictions.Options{Spans: true},
		func(i int, p *predictions.Prediction) error {
			gold := rules.Of(nil, d.Gold(i))
			for _, s := range p.Spans {
				if count++; slices.Contains(gold, s.Entity) {
					want -= math.Log(s.Probability)
				} else {
					want -= math.Log(1 - s.Probability)
				}
			}
			return nil
		})
	s := search{ctx: context.Background(), model: m, data: d, by: Entities, rules: rules}
	got, _, wrong := s.measure([]float64{math.Log2(3)}, true)
	if err != nil || wrong != nil || count == 0 || s.count != count || math.Abs(got[0]-want/float64(count)) > 1e-6 {
		t.Errorf("%v over %d, expected %v over %d, %v %v", got, s.count, want/float64(count), count, err, wrong)
	}
	plain, _ := drawn(t, 40, 1)
	if _, err := Fit(context.Background(), plain, d, Entities, 1); !structured.IsBadInput(err) {
		t.Errorf("labels that are no tags: %v", err)
	}
}

// Weights twice as large need twice the temperature; the model's own temperature only changes where the fit starts
// from.
func TestFitScales(t *testing.T) {
	m, d := drawn(t, 400, 2)
	before, err := Fit(context.Background(), m, d, Tokens, 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range m.W {
		m.W[k] *= 2
	}
	m.Temperature = 17
	after, err := Fit(context.Background(), m, d, Tokens, 2)
	if err != nil || math.Abs(after.Temperature/before.Temperature-2) > 0.01 ||
		math.Abs(after.After-before.After) > 1e-6 || after.Before == before.Before {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
}

// The value is that of its definition; unknown labels are left out, and whole outputs with them are all that agree.
func TestMeasure(t *testing.T) {
	m, d := drawn(t, 40, 1)
	d.LabelSets, d.Labels[0] = [][]int32{nil}, -1
	θ, err := m.Potentials(context.Background(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []By{Tokens, Sequences} {
		s := search{ctx: context.Background(), model: m, data: d, by: by}
		got, _, err := s.measure([]float64{1}, true)
		if err != nil {
			t.Fatal(err)
		}
		want, count := 0.0, 0
		for b := range θ.Len() {
			n, gold := d.Length(b), d.Gold(b)
			z, all, parts := 0.0, 0.0, make([]float64, n)
			θ.Structure.Each(θ, b, func(y []int32) {
				p, same := math.Exp(θ.Score(b, y)/2), true
				z += p
				for t := range n {
					same = same && (y[t] == gold[t] || gold[t] < 0)
					if y[t] == gold[t] {
						parts[t] += p
					}
				}
				if same {
					all += p
				}
			})
			switch {
			case by == Sequences:
				want -= math.Log(all / z)
				count++
			case by == Tokens:
				for t := range n {
					if gold[t] >= 0 {
						want -= math.Log(parts[t] / z)
						count++
					}
				}
			}
		}
		if math.Abs(got[0]-want/float64(count)) > 1e-5 || s.count != count {
			t.Errorf("by %v: %v over %d, expected %v over %d", by, got[0], s.count, want/float64(count), count)
		}
	}
}

// Data that the model predicts without a doubt at every temperature, and data without labels.
func TestFitBounds(t *testing.T) {
	m, d := drawn(t, 40, 1)
	clear(m.W)
	if r, err := Fit(context.Background(), m, d, Tokens, 1); err != nil || r.Temperature != 1 || r.After != r.Before {
		t.Errorf("without weights: %+v, %v", r, err)
	}
	d.Labels = nil
	if _, err := Fit(context.Background(), m, d, Tokens, 1); !structured.IsBadInput(err) {
		t.Errorf("without labels: %v", err)
	}
}

// Of every task with sums, what Fit says of a temperature is what Measure, and for whole outputs NLL, say of the model
// that has it, also where weights are so large that gold parts are rare. No fit makes a likelihood worse, and no
// temperature is beyond the range that is searched.
func TestFitIsWhatTheModelHas(t *testing.T) {
	fitted := 0
	for _, task := range tasks.All() {
		if task.Draw == nil {
			continue
		}
		given := config.Default()
		given.Task, given.Examples, given.Format = task.Name, settings.Sizes{4, 1, 4}, "builtin"
		resolved, err := models.Resolve(given)
		if err != nil {
			t.Fatal(task.Name, err)
		}
		raw, err := resolved.Read()
		if err != nil {
			t.Fatal(task.Name, err)
		}
		c := resolved.Config()
		data, err := raw.Fit(&c)
		if err != nil {
			t.Fatal(task.Name, err)
		}
		m, err := models.NewModel(c, data)
		if err != nil {
			t.Fatal(task.Name, err)
		}
		d := data.Train
		for _, spread := range []float64{0.3, 50} {
			r := rand.New(rand.NewPCG(9, 1))
			for k := range m.W {
				m.W[k] = float32(spread * r.NormFloat64())
			}
			for _, by := range []By{Tokens, Sequences, Entities} {
				m.Temperature = 1.5
				if !Has(m, d, by) {
					continue
				}
				fit, err := Fit(t.Context(), m, d, by, 2)
				if structured.IsBadInput(err) { // no entities were found
					continue
				}
				if err != nil {
					t.Fatal(task.Name, by, err)
				}
				fitted++
				before, err := Measure(t.Context(), m, d, by, 2)
				if err != nil {
					t.Fatal(task.Name, by, err)
				}
				m.Temperature = fit.Temperature
				after, err := Measure(t.Context(), m, d, by, 1)
				if err != nil {
					t.Fatal(task.Name, by, err)
				}
				near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
				if !near(before.NLL, fit.Before) || !near(after.NLL, fit.After) || after.Count != fit.Count ||
					fit.After > fit.Before || math.Abs(math.Log2(fit.Temperature)) > octaves {
					t.Errorf("%s, %v, weights of %v: %+v, before %+v, after %+v", task.Name, by, spread, fit, before, after)
				}
				if by != Sequences {
					continue
				}
				if whole, err := m.NLL(t.Context(), d, 1); err == nil &&
					(!near(whole.NLL, fit.After) || whole.Examples != fit.Count || whole.Impossible != fit.Skipped) {
					t.Errorf("%s, weights of %v: %+v, %+v", task.Name, spread, whole, fit)
				}
			}
		}
	}
	if fitted < 12 {
		t.Errorf("only %d fits", fitted)
	}
}

// Probabilities of 1e-400 count as what they are: one token that the model is sure of and wrong about outweighs a
// thousand right ones.
func TestFitHasNoLeastProbability(t *testing.T) {
	names := structured.NewAlphabet("O", "B-x")
	d := &structured.Dataset{Name: "d", Alphabet: names, Dim: 1, Offsets: []int{0}}
	for i := range 1001 {
		x, label := float32(3), int32(1)
		switch {
		case i == 1000:
			x, label = 1000, 0
		case i%2 == 0:
			x, label = -3, 0
		}
		d.Features, d.Labels, d.Offsets = append(d.Features, x), append(d.Labels, label), append(d.Offsets, i+1)
	}
	c := config.Default()
	c.Net = "linear"
	m, err := models.NewModel(c, &models.Data{Train: d})
	if err != nil {
		t.Fatal(err)
	}
	clear(m.W)
	m.W[0], m.W[1] = -0.5, 0.5 // p(B-x) = 1/(1 + exp(-x/T))
	least := func(t float64, entities bool) float64 {
		sum := 0.0
		for i, x := range d.Features {
			z := float64(x) / t
			switch {
			case entities && x < 0:
			case i == 1000:
				sum += z + math.Log1p(math.Exp(-z))
			default:
				sum += math.Log1p(math.Exp(-math.Abs(z)))
			}
		}
		if entities {
			return sum / 501
		}
		return sum / 1001
	}
	for _, by := range []By{Tokens, Sequences, Entities} {
		r, err := Fit(t.Context(), m, d, by, 1)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for log := -10.0; log <= 10; log += 0.01 {
			best = min(best, least(math.Exp2(log), by == Entities))
		}
		if math.Abs(r.Before-least(1, by == Entities)) > 1e-6 || math.Abs(r.After-best) > 1e-4 || r.Temperature < 2 {
			t.Errorf("%v: %+v, want %v, then %v", by, r, least(1, by == Entities), best)
		}
	}
}

// Where every temperature beyond the range would be better, the value is that of the end of the range.
func TestFitAtTheEndOfTheRange(t *testing.T) {
	m, d := drawn(t, 60, 1)
	for k := range m.W {
		m.W[k] *= 1e5
	}
	r, err := Fit(t.Context(), m, d, Sequences, 1)
	m.Temperature = r.Temperature
	if l, wrong := m.NLL(t.Context(), d, 1); err != nil || wrong != nil || r.Bounded || r.Temperature != 1<<octaves ||
		math.Abs(l.NLL-r.After) > 1e-9*l.NLL {
		t.Errorf("%+v, %v; the model has %+v, %v", r, err, l, wrong)
	}
}

// Of data that the model gets right everywhere, the lower the temperature the likelier: no minimum is found, and the
// result says so.
func TestFitOfSeparableData(t *testing.T) {
	m, d := drawn(t, 40, 1)
	err := m.Predict(context.Background(), d, predictions.Options{}, func(i int, p *predictions.Prediction) error {
		copy(d.Labels[d.Offsets[i]:d.Offsets[i+1]], p.Labels)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []By{Tokens, Sequences} {
		if r, err := Fit(context.Background(), m, d, by, 1); err != nil || r.Bounded || r.Temperature > 0.01 {
			t.Errorf("by %v: %+v, %v", by, r, err)
		}
	}
}

// A label that the model does not know is none of its outputs: it is left out and counted, and so is a sentence with
// it.
func TestUnknownLabelsAreSkipped(t *testing.T) {
	m, d := drawn(t, 20, 1)
	d.Alphabet = structured.NewAlphabet("a", "b", "c", "d")
	d.Labels[d.Offsets[2]] = 3 // the first of two
	for by, want := range map[By][2]int{Tokens: {d.Positions() - 1, 1}, Sequences: {19, 1}} {
		if r, err := Fit(context.Background(), m, d, by, 1); err != nil || r.Count != want[0] || r.Skipped != want[1] {
			t.Errorf("by %v: %d counted, %d skipped, %v; want %v", by, r.Count, r.Skipped, err, want)
		}
	}
}

// Of lines of which it is known what they read, the likelihood is that of all labelings that read so, whatever the
// number of temperatures, and lines that are too short for it are left out.
func TestReadings(t *testing.T) {
	kind, r := registry.Of(transcripts.Frames{}), rand.New(rand.NewPCG(3, 1))
	offsets := []int{0, 4, 5, 9}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(2), offsets, func(string) []int { return offsets })
	for k := range θ.Parts[0].Values {
		θ.Parts[0].Values[k] = float32(r.NormFloat64())
	}
	readings := [][]int32{{0, 1}, {0, 0}, {}}
	s := search{data: &structured.Dataset{Name: "lines", Offsets: offsets, Readings: readings}, by: Sequences}
	logs := []float64{0, 1, -1}
	got, err := s.batch(kind.Oracle().(oracles.Summer), []int{0, 1, 2}, θ, logs, true)
	if err != nil || got.count != 2 || got.skipped != 1 {
		t.Errorf("%d lines counted, %d skipped, %v", got.count, got.skipped, err)
	}
	for k, log := range logs {
		temperature, want := math.Exp2(log), 0.0
		for b, reading := range readings {
			so, all := 0.0, 0.0
			θ.Structure.Each(θ, b, func(y []int32) {
				p := math.Exp(θ.Score(b, y) / temperature)
				if all += p; slices.Equal(transcripts.Read([]int32{}, y), reading) {
					so += p
				}
			})
			if so > 0 {
				want -= math.Log(so / all)
			}
		}
		if math.Abs(got.sums[k]-want) > 1e-5 {
			t.Errorf("at %g: %g, want %g", temperature, got.sums[k], want)
		}
	}
}

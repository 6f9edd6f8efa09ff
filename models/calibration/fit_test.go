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
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// drawn returns a chain model with random weights, and data whose labels are drawn from its distribution at a temperature.
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
			around, err := s.measure([]float64{at - 0.01, at, at + 0.01})
			if err != nil || around[1] > around[0] || around[1] > around[2] {
				t.Errorf("temperature %v, by %v: no minimum in %v, %v", temperature, by, around, err)
			}
		}
	}
}

// Entities that are right as often as their probabilities say keep the temperature, and the value is that of its definition.
func TestFitEntities(t *testing.T) {
	m, d := drawnOf(t, 4000, 1.7, "O", "B-x", "I-x")
	r, err := Fit(context.Background(), m, d, Entities, 2)
	if err != nil || math.Abs(math.Log(r.Temperature/1.7)) > 0.1 || !r.Bounded {
		t.Fatalf("%+v, %v", r, err)
	}
	m.Temperature = 3
	rules, want, count := chains.NewEntities(m.Labels), 0.0, 0
	err = m.Predict(context.Background(), d, predictions.Options{Spans: true}, func(i int, p *predictions.Prediction) error {
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
	got, wrong := s.measure([]float64{math.Log2(3)})
	if err != nil || wrong != nil || count == 0 || s.count != count || math.Abs(got[0]-want/float64(count)) > 1e-6 {
		t.Errorf("%v over %d, expected %v over %d, %v %v", got, s.count, want/float64(count), count, err, wrong)
	}
	plain, _ := drawn(t, 40, 1)
	if _, err := Fit(context.Background(), plain, d, Entities, 1); !structured.IsBadInput(err) {
		t.Errorf("labels that are no tags: %v", err)
	}
}

// Weights twice as large need twice the temperature; the model's own temperature only changes where the fit starts from.
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
	if err != nil || math.Abs(after.Temperature/before.Temperature-2) > 0.01 || math.Abs(after.After-before.After) > 1e-6 || after.Before == before.Before {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
}

// The value is that of its definition; unknown labels and whole outputs with them are left out.
func TestMeasure(t *testing.T) {
	m, d := drawn(t, 40, 1)
	d.LabelSets, d.Labels[0] = [][]int32{nil}, -1
	θ, err := m.Potentials(context.Background(), d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []By{Tokens, Sequences} {
		s := search{ctx: context.Background(), model: m, data: d, by: by}
		got, err := s.measure([]float64{1})
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
					same = same && y[t] == gold[t]
					if y[t] == gold[t] {
						parts[t] += p
					}
				}
				if same {
					all += p
				}
			})
			switch {
			case by == Sequences && n > 0 && !d.Partial(b):
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

// Of data that the model gets right everywhere, the lower the temperature the likelier: no minimum is found, and the result says so.
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

// A label that the model does not know is none of its outputs: it is left out and counted, and so is a sentence with it.
func TestUnknownLabelsAreSkipped(t *testing.T) {
	m, d := drawn(t, 20, 1)
	d.Alphabet = structured.NewAlphabet("a", "b", "c", "d")
	d.Labels[d.Offsets[2]] = 3 // the first of two
	for by, want := range map[By][2]int{Tokens: {d.Positions() - 1, 1}, Sequences: {14, 1}} {
		if r, err := Fit(context.Background(), m, d, by, 1); err != nil || r.Count != want[0] || r.Skipped != want[1] {
			t.Errorf("by %v: %d counted, %d skipped, %v; want %v", by, r.Count, r.Skipped, err, want)
		}
	}
}

// Of lines of which it is known what they read, the likelihood is that of all labelings that read so, whatever the number of temperatures, and lines that are too short for it
// are left out.
func TestReadings(t *testing.T) {
	kind, r := kinds.Of(transcripts.Frames{}), rand.New(rand.NewPCG(3, 1))
	offsets := []int{0, 4, 5, 9}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(2), offsets, func(string) []int { return offsets })
	for k := range θ.Parts[0].Values {
		θ.Parts[0].Values[k] = float32(r.NormFloat64())
	}
	readings := [][]int32{{0, 1}, {0, 0}, {}}
	s := search{data: &structured.Dataset{Name: "lines", Offsets: offsets, Readings: readings}, by: Sequences}
	logs := []float64{0, 1, -1}
	got := s.batch(kind.Oracle().(oracles.Summer), []int{0, 1, 2}, θ, logs)
	if got.count != 2 || got.skipped != 1 {
		t.Errorf("%d lines counted, %d skipped", got.count, got.skipped)
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

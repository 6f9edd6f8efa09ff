package training

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Training from partial labels recovers the labels of the training data, with every method that accepts them; others
// refuse.
func TestTrainOnPartialLabels(t *testing.T) {
	want := []string{"A", "B", "C", "B", "A", "C", "C", "A", "B", "C", "A"}
	clear := strings.Repeat("z C\nz C\n\nz C\nx A\ny B\n\n", 3)
	for _, method := range []string{"auto", "sgd", "lbfgs", "prox-linear"} {
		c := partialConfig(t)
		c.Train = file(t, "train.conll", partialText+clear)
		c.Method, c.Passes, c.Baselines = method, 12, "off"
		result, err := Train(t.Context(), c, TrainOptions{})
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if !math.IsNaN(float64(result.Dual)) {
			t.Errorf("%s: a dual value, %v, of what is not convex", method, result.Dual)
		}
		m, err := models.Load(result.Model)
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.ReadData(models.Request{Path: file(t, "some.conll", partialText), Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		metrics, err := m.Evaluate(context.Background(), d, false, 1)
		if err != nil || metrics.Get("tokens") != 7 || metrics.Get("token_error") != 0 || metrics.Get("sequences") != 1 {
			t.Errorf("%s: %+v, %v", method, metrics, err)
		}
		var got []string
		err = m.Predict(context.Background(), d, predictions.Options{}, func(_ int, p *predictions.Prediction) error {
			for _, l := range p.Labels {
				got = append(got, m.Labels.Name(l))
			}
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v (%v)", method, got, want, err)
		}
	}
	for _, change := range []func(*config.Config){
		func(c *config.Config) { c.Method = "svrg" },
		func(c *config.Config) { c.Method = "sdca" },
		func(c *config.Config) { c.Method, c.Loss = "bcfw", "hinge" },
		func(c *config.Config) { c.Method, c.Gap = "lbfgs", 0.01 },
	} {
		c := partialConfig(t)
		change(&c)
		if _, err := Train(t.Context(), c, TrainOptions{}); !structured.IsBadInput(err) {
			t.Errorf("--method %s --gap %v: %v, want a refusal", c.Method, c.Gap, err)
		}
	}
}

// Partial labels that no valid tagging completes are refused, with their line.
func TestPartialLabelsBreakConstraints(t *testing.T) {
	c := partialConfig(t)
	c.Train = file(t, "train.conll", "x B-X\ny I-X\n\nx O\ny ?\n\nx B-X|I-X\ny I-X\nz ?\n\nx O\ny I-X\nz ?\n\n")
	c.Constraints, c.Method = "iob2", "lbfgs"
	_, err := Train(t.Context(), c, TrainOptions{})
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "train.conll:11: ") {
		t.Errorf("got %v, want an error about line 11", err)
	}
}

// Class weights weigh sequences by the mean weight of their known labels.
func TestClassWeights(t *testing.T) {
	c := partialConfig(t)
	c.ClassWeights = settings.LabelWeights{"B": 4, "C": 0}
	data, err := readData(&c)
	if err != nil {
		t.Fatal(err)
	}
	data.Train.Weights = []float64{1, 2, 1, 1}
	d, err := weighted(&c, data.Train, data.Train.Alphabet)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.5, 8, 1, 5. / 3}; !slices.EqualFunc(d.Weights, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("weights %v, want %v", d.Weights, want)
	}
	if want := []float64{1, 2, 1, 1}; !slices.Equal(data.Train.Weights, want) {
		t.Errorf("the data's own weights are now %v", data.Train.Weights)
	}
	for _, weights := range []settings.LabelWeights{{"D": 1}, {"A": -1}, {"A": math.NaN()}} {
		c.ClassWeights = weights
		if _, err := weighted(&c, data.Train, data.Train.Alphabet); !structured.IsBadInput(err) {
			t.Errorf("%v: %v, want bad input", weights, err)
		}
	}
}

// Without --partial, a warning says that ? became a label.
func TestUnknownLabelsWithoutPartialWarn(t *testing.T) {
	for _, partial := range []bool{false, true} {
		c := partialConfig(t)
		c.Partial, c.Passes = partial, 1
		var log bytes.Buffer
		if _, err := Train(context.Background(), c, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "label ? is learned like any other"); said == partial {
			t.Errorf("partial %v: the log is %s", partial, log.String())
		}
	}
}

// dsp predict --force keeps what the label column says.
func TestForcedText(t *testing.T) {
	c := partialConfig(t)
	c.Method, c.Passes = "lbfgs", 12
	result, err := Train(t.Context(), c, TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Load(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	predict := func(text string, o predictions.Options) (string, error) {
		var out bytes.Buffer
		err := m.PredictText(t.Context(), strings.NewReader(text), &out, models.Request{Path: "in.conll"}, o, false)
		return out.String(), err
	}
	text := "x C\ny ?\nz A|B\n\nx _\n"
	got, err := predict(text, predictions.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got, "\n")
	if lines[0] != "x C C" || !strings.HasPrefix(lines[1], "y ? ") || lines[2] != "z A|B A" && lines[2] != "z A|B B" || lines[4] != "x _ A" {
		t.Errorf("got %q", lines)
	}
	if free, err := predict(text, predictions.Options{}); err != nil || !strings.HasPrefix(free, "x C A\n") {
		t.Errorf("without --force: %q, %v", free, err)
	}
	if _, err := predict("x A\ny D\n", predictions.Options{Force: true}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), `in.conll:2: label "D"`) {
		t.Errorf("an unknown label: %v", err)
	}
	if _, err := predict("x\ny\n", predictions.Options{Force: true}); !structured.IsBadInput(err) {
		t.Errorf("no labels: %v", err)
	}
}

package models

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// partialText has tokens of three labels, each determined by the word; some are hidden.
const partialText = "x A\ny ?\nz C\n\ny B\nx A|B\n\nz _\nz C|A\nx A\n\ny B\nz C\nx A\n\n"

func partialConfig(t *testing.T) Config {
	c := textConfig(file(t, "train.conll", partialText))
	c.Columns = ""
	c.Format, c.Partial, c.Out, c.Quiet = "conll", true, t.TempDir(), true
	return c
}

func TestReadPartialConll(t *testing.T) {
	c := partialConfig(t)
	c.Dev = file(t, "dev.conll", "x A\nx ?\n\nz B|C\n\ny C\n\n")
	d, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(d.Train.Alphabet.Names(), want) || d.Dev.Alphabet != d.Train.Alphabet {
		t.Errorf("labels %q, want %q", d.Train.Alphabet.Names(), want)
	}
	if want := []int32{0, -1, 2, 1, -2, -1, -3, 0, 1, 2, 0}; !slices.Equal(d.Train.Labels, want) {
		t.Errorf("training labels %v, want %v", d.Train.Labels, want)
	}
	if want := []int32{0, -1, -2, 2}; !slices.Equal(d.Dev.Labels, want) {
		t.Errorf("development labels %v, want %v", d.Dev.Labels, want)
	}

	c.Dev = file(t, "dev.conll", "x A\ny B|D\n\n")
	if _, err := ReadData(&c); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), `dev.conll:2: label "D" in "B|D"`) {
		t.Errorf("an unknown label: %v", err)
	}
	c.Dev, c.Partial = "", false
	if d, err = ReadData(&c); err != nil || d.Train.Alphabet.Index("?") < 0 || d.Train.LabelSets != nil {
		t.Errorf("without --partial, ? is no label: %v", err)
	}
	c.Partial, c.Scheme = true, "bioes"
	if _, err := ReadData(&c); !structured.IsBadInput(err) {
		t.Errorf("converting tags that are not known: %v", err)
	}
}

// Training from partial labels recovers the labels of the training data, with every method that accepts them; others refuse.
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
		m, err := Load(result.Model)
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.ReadData(file(t, "some.conll", partialText), DataOptions{Labels: true})
		if err != nil {
			t.Fatal(err)
		}
		metrics, err := m.Evaluate(context.Background(), d, false, 1)
		if err != nil || metrics.Get("tokens") != 7 || metrics.Get("token_error") != 0 || metrics.Get("sequences") != 1 {
			t.Errorf("%s: %+v, %v", method, metrics, err)
		}
		var got []string
		err = m.Predict(context.Background(), d, PredictOptions{}, func(_ int, p *Prediction) error {
			for _, l := range p.Labels {
				got = append(got, m.Labels.Name(l))
			}
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v (%v)", method, got, want, err)
		}
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Method = "svrg" },
		func(c *Config) { c.Method = "sdca" },
		func(c *Config) { c.Method, c.Loss = "bcfw", "hinge" },
		func(c *Config) { c.Method, c.Gap = "lbfgs", 0.01 },
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

// Forcing labels conditions exactly: best outputs, n-best lists, probabilities and marginals.
func TestForcedLabelsAgainstEnumeration(t *testing.T) {
	d := toyData(2)
	d.LabelSets = [][]int32{nil, {0, 2}}
	for t := range d.Labels {
		if t%3 > 0 {
			d.Labels[t] = int32(-(t % 3))
		}
	}
	for _, edges := range []string{"transition", "position", "none"} {
		m := toyModel(t, d, func(c *Config) { c.Edges = edges })
		m.Constraints = &chains.Constraints{Transition: []bool{8: false, 1: true}}
		θ, err := m.Potentials(context.Background(), d, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Len() {
			θ.Structure.Restrict(θ, i, d.GoldOf(i))
		}
		o := PredictOptions{NBest: 1000, Marginals: true, Probability: true, Force: true, Threads: 3}
		err = m.Predict(context.Background(), d, o, func(i int, p *Prediction) error {
			for t, g := range d.Gold(i) {
				if l := p.Labels[t]; g >= 0 && l != g || g == -2 && l == 1 {
					return structured.BadInput("example %d: labels %v, given %v", i, p.Labels, d.Gold(i))
				}
			}
			checkPrediction(t, θ, i, p)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		m.Constraints.End = []bool{true, true, false} // the last label of some chain is another
		err = m.Predict(context.Background(), d, o, func(int, *Prediction) error { return nil })
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "keeps the model's constraints and the labels that are given") {
			t.Errorf("impossible labels: %v", err)
		}
	}
	unlabelled := *d
	unlabelled.Labels = nil
	m := toyModel(t, d, nil)
	if err := m.Predict(context.Background(), &unlabelled, PredictOptions{Force: true}, nil); !structured.IsBadInput(err) {
		t.Errorf("no labels to keep: %v", err)
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
	m, err := Load(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	predict := func(text string, o PredictOptions) (string, error) {
		var out bytes.Buffer
		err := m.PredictText(t.Context(), strings.NewReader(text), "in.conll", &out, DataOptions{}, o, false)
		return out.String(), err
	}
	text := "x C\ny ?\nz A|B\n\nx _\n"
	got, err := predict(text, PredictOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got, "\n")
	if lines[0] != "x C C" || !strings.HasPrefix(lines[1], "y ? ") || lines[2] != "z A|B A" && lines[2] != "z A|B B" || lines[4] != "x _ A" {
		t.Errorf("got %q", lines)
	}
	if free, err := predict(text, PredictOptions{}); err != nil || !strings.HasPrefix(free, "x C A\n") {
		t.Errorf("without --force: %q, %v", free, err)
	}
	if _, err := predict("x A\ny D\n", PredictOptions{Force: true}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), `in.conll:2: label "D"`) {
		t.Errorf("an unknown label: %v", err)
	}
	if _, err := predict("x\ny\n", PredictOptions{Force: true}); !structured.IsBadInput(err) {
		t.Errorf("no labels: %v", err)
	}
}

// Class weights weigh sequences by the mean weight of their known labels.
func TestClassWeights(t *testing.T) {
	c := partialConfig(t)
	c.ClassWeights = settings.LabelWeights{"B": 4, "C": 0}
	data, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	data.Train.Weights = []float64{1, 2, 1, 1}
	d, err := c.weighted(data.Train, data.Train.Alphabet)
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
		if _, err := c.weighted(data.Train, data.Train.Alphabet); !structured.IsBadInput(err) {
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

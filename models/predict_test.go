package models

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// toyData are chains of lengths 0 to 4 with 3 labels and 2 features per position.
func toyData(seed uint64) *structured.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := &structured.Dataset{Name: "toy", Alphabet: structured.NewAlphabet("a", "b", "ç"), Dim: 2, Offsets: []int{0}}
	for i := range 9 {
		for range i % 5 {
			d.Features = append(d.Features, rng.Float32(), rng.Float32()-0.5)
			d.Labels = append(d.Labels, rng.Int32N(3))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// toyModel is a small network on d with random weights.
func toyModel(t *testing.T, d *structured.Dataset, change func(*config.Config)) *Model {
	t.Helper()
	c := config.Default()
	c.Net, c.Hidden = "mlp", settings.Sizes{4}
	if change != nil {
		change(&c)
	}
	m, err := NewModel(c, &Data{Train: d})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range m.W {
		m.W[i] = float32(rng.NormFloat64())
	}
	return m
}

// labelings lists all outputs of a length.
func labelings(length, labels int) [][]int32 {
	all := [][]int32{{}}
	for range length {
		var longer [][]int32
		for _, y := range all {
			for l := range labels {
				longer = append(longer, append(slices.Clone(y), int32(l)))
			}
		}
		all = longer
	}
	return all
}

func TestPredictAgainstEnumeration(t *testing.T) {
	d := toyData(1)
	for _, edges := range []string{"transition", "position", "none"} {
		for _, constrained := range []bool{false, true} {
			m := toyModel(t, d, func(c *config.Config) { c.Edges = edges })
			if constrained {
				m.Temperature = 2.5
				m.Constraints = &chains.Constraints{Start: []bool{false, true, false}, Transition: []bool{
					false, false, true,
					false, false, false,
					false, true, false,
				}}
			}
			θ, err := m.Potentials(context.Background(), d, 2)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			o := predictions.Options{NBest: 1000, Marginals: true, Probability: true, Threads: 3}
			err = m.Predict(context.Background(), d, o, func(i int, p *predictions.Prediction) error {
				if i != seen {
					t.Fatalf("example %d came when %d was due", i, seen)
				}
				seen++
				if !m.Constraints.Allows(p.Labels) {
					t.Errorf("example %d: %v breaks the constraints", i, p.Labels)
				}
				checkPrediction(t, θ, m.Temper(), i, p)
				return nil
			})
			if err != nil || seen != d.Len() {
				t.Fatalf("%s: %d predictions of %d, %v", edges, seen, d.Len(), err)
			}
		}
	}
}

func checkPrediction(t *testing.T, θ *structured.Potentials, temperature float64, i int, p *predictions.Prediction) {
	t.Helper()
	length, y := θ.Outputs[i+1]-θ.Outputs[i], chains.Of(θ).Y
	var want []predictions.Output
	z, marginals := 0.0, make([]float64, length*y)
	for _, labels := range labelings(length, y) {
		if s := θ.Score(i, labels); !math.IsInf(s, -1) {
			want = append(want, predictions.Output{Labels: labels, Score: s})
			z += math.Exp(s / temperature)
		}
	}
	for k := range want {
		want[k].Probability = math.Exp(want[k].Score/temperature) / z
		for t, l := range want[k].Labels {
			marginals[t*y+int(l)] += want[k].Probability
		}
	}
	slices.SortFunc(want, func(a, b predictions.Output) int {
		if a.Score > b.Score {
			return -1
		}
		return 1
	})
	same := func(got, want predictions.Output) bool {
		return slices.Equal(got.Labels, want.Labels) && math.Abs(got.Score-want.Score) < 1e-4 &&
			math.Abs(got.Probability-want.Probability) < 1e-4
	}
	if !same(p.Output, want[0]) {
		t.Errorf("example %d: got %v, want %v", i, p.Output, want[0])
	}
	if !slices.EqualFunc(p.NBest, want, same) {
		t.Errorf("example %d: n-best\n%v, want\n%v", i, p.NBest, want)
	}
	for k, q := range marginals {
		if math.Abs(float64(p.Marginals[k])-q) > 1e-4 {
			t.Errorf("example %d: marginals %v, want %v", i, p.Marginals, marginals)
			break
		}
	}
}

// many repeats a data set until it fills several batches.
func many(d *structured.Dataset, times int) *structured.Dataset {
	var examples []int
	for range times {
		for i := range d.Len() {
			examples = append(examples, i)
		}
	}
	return d.Subset(examples)
}

func TestPredictionsDoNotDependOnThreads(t *testing.T) {
	d := many(toyData(2), 300)
	m := toyModel(t, d, nil)
	o := predictions.Options{Marginals: true, Probability: true}
	var want []byte
	for _, threads := range []int{1, 2, 7, 0} {
		var out bytes.Buffer
		o.Threads = threads
		if err := m.Print(t.Context(), d, &out, o, true); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = out.Bytes()
		} else if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%d threads: other predictions than one", threads)
		}
	}
}

func TestPotentialsOfManyBatches(t *testing.T) {
	d := toyData(2)
	for _, edges := range []string{"transition", "position"} {
		m := toyModel(t, d, func(c *config.Config) { c.Edges = edges })
		one, err := m.Potentials(context.Background(), d, 1)
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Potentials(context.Background(), many(d, 300), 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all.Len() {
			for t2, labels := 0, d.Gold(i%d.Len()); t2 < 3; t2++ {
				if got, want := all.Score(i, labels), one.Score(i%d.Len(), labels); math.Abs(got-want) > 1e-5 {
					t.Fatalf("%s, example %d: a labeling scores %v, alone %v", edges, i, got, want)
				}
				labels = slices.Repeat([]int32{int32(t2)}, len(labels))
			}
		}
	}
}

func TestPredictStops(t *testing.T) {
	d := many(toyData(2), 300)
	m := toyModel(t, d, nil)
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := m.Predict(ctx, d, predictions.Options{Threads: 2}, func(int, *predictions.Prediction) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	})
	if err != context.Canceled {
		t.Errorf("got %v after %d predictions, want %v", err, n, context.Canceled)
	}
	m.W[0] = float32(math.NaN())
	err = m.Predict(context.Background(), d, predictions.Options{}, func(int, *predictions.Prediction) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN weights: got %v", err)
	}
	for k := range m.W {
		m.W[k] = -3e30
	}
	// They are finite, and too large for sums in float32: labels from them would be made up.
	err = m.Predict(context.Background(), d, predictions.Options{}, func(int, *predictions.Prediction) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "beyond ±1e30") {
		t.Errorf("weights of 3e30: got %v", err)
	}
}

func TestColumnLayout(t *testing.T) {
	d := toyData(1).Subset([]int{2, 0, 1})
	m := toyModel(t, d, nil)
	p := []predictions.Prediction{
		{Output: predictions.Output{Labels: []int32{0, 2}, Score: 1.5, Probability: 0.25}, Marginals: []float32{1, 0, 0, 0.5, 0.25, 0.25}, NBest: []predictions.Output{{Labels: []int32{0, 2}, Score: 1.5, Probability: 0.25}, {Labels: []int32{1, 1}, Score: -2, Probability: 0.125}}},
		{Output: predictions.Output{Labels: []int32{}, Score: 0, Probability: 1}, NBest: []predictions.Output{{Labels: []int32{}, Score: 0, Probability: 1}}},
		{Output: predictions.Output{Labels: []int32{1}, Score: 3, Probability: 0.5}, Marginals: []float32{0.25, 0.5, 0.25}, NBest: []predictions.Output{{Labels: []int32{1}, Score: 3, Probability: 0.5}}},
	}
	write := func(d *structured.Dataset, o predictions.Options, p []predictions.Prediction) string {
		var text []byte
		for i := range p {
			p := p[i]
			if !o.Marginals {
				p.Marginals = nil
			}
			text, _ = m.Layout(o, false).Add(text, d, i, &p)
		}
		return string(text)
	}
	d.Labels = nil
	if got, want := write(d, predictions.Options{}, p), "0\t0\ta\n0\t1\tç\n\n\n2\t0\tb\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d.Labels = []int32{0, 0, 1}
	d.IDs = []string{"x", "y", "z"}
	if got, want := write(d, predictions.Options{Probability: true, Marginals: true}, p),
		"# 1.5 0.25\nx\t0\ta\ta/1.000000\tb/0.000000\tç/0.000000\ta\nx\t1\ta\ta/0.500000\tb/0.250000\tç/0.250000\tç\n\n"+
			"# 0 1\n\n# 3 0.5\nz\t0\tb\ta/0.250000\tb/0.500000\tç/0.250000\tb\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d.Columns = [][]string{{"the", "dog", "#"}, {"a", "a", "b"}}
	if got, want := write(d, predictions.Options{NBest: 2}, p),
		"# 0 1.5 0.25\nthe\ta\ta\ndog\ta\tç\n\n# 1 -2 0.125\nthe\ta\tb\ndog\ta\tb\n\n# 0 0 1\n\n# 0 3 0.5\n#\tb\tb\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Files in columns keep their lines, and every line of columns gets the same additional ones.
func TestColumnLayoutKeepsLines(t *testing.T) {
	conll := "-DOCSTART- x\n\n\na O\nb B-x\n\n-DOCSTART-\n\nc O"
	d, err := text.Conll{}.Read(strings.NewReader(conll), "x")
	if err != nil {
		t.Fatal(err)
	}
	token := func(id, word string) string { return id + "\t" + word + strings.Repeat("\t_", 7) + "\tK=B\n" }
	conllu := "# sent_id = s\n1-2" + strings.Repeat("\t_", 9) + "\n" + token("1", "a") + "1.1" + strings.Repeat("\t_", 9) + "\n" + token("2", "b") + "\n" + token("1", "c") + "\n"
	u, err := text.Conllu{Label: "misc:K"}.Read(strings.NewReader(conllu), "x")
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Labels: structured.NewAlphabet("O", "P")}
	for _, test := range []struct {
		d    *structured.Dataset
		o    predictions.Options
		want string
	}{
		{d, predictions.Options{}, "-DOCSTART- x O\n\n\na O P\nb B-x P\n\n-DOCSTART- O O\n\nc O P\n"},
		{d, predictions.Options{Marginals: true}, "-DOCSTART- x O O O\n\n\na O O/0.250000 P/0.750000 P\nb B-x O/0.250000 P/0.750000 P\n\n" +
			"-DOCSTART- O O O O\n\nc O O/0.250000 P/0.750000 P\n"},
		{d, predictions.Options{NBest: 2}, "-DOCSTART- x O\n\n\n# 0 2 1\na O P\nb B-x P\n\n# 1 1 0\na O O\nb B-x O\n\n" +
			"-DOCSTART- O O\n\n# 0 2 1\nc O P\n\n# 1 1 0\nc O O\n"},
		{u, predictions.Options{}, strings.NewReplacer("K=B\n", "K=B\tP\n", "_\n", "_\t_\n").Replace(conllu)},
	} {
		var text []byte
		for i := range test.d.Len() {
			best, other := predictions.Output{Labels: make([]int32, test.d.Length(i)), Score: 2, Probability: 1}, predictions.Output{Labels: make([]int32, test.d.Length(i)), Score: 1, Probability: 0}
			for t := range best.Labels {
				best.Labels[t] = 1
			}
			p := predictions.Prediction{Output: best, NBest: []predictions.Output{best, other}}
			for range test.d.Length(i) {
				p.Marginals = append(p.Marginals, 0.25, 0.75)
			}
			text, _ = m.Layout(test.o, false).Add(text, test.d, i, &p)
		}
		if string(text) != test.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", test.o, text, test.want)
		}
	}
}

func TestPrintJSON(t *testing.T) {
	d := toyData(1).Subset([]int{2, 0})
	m := toyModel(t, d, nil)
	var out bytes.Buffer
	o := predictions.Options{NBest: 2, Marginals: true, Confidence: true, Probability: true}
	if err := m.Print(t.Context(), d, &out, o, true); err != nil {
		t.Fatal(err)
	}
	decode := json.NewDecoder(&out)
	decode.DisallowUnknownFields()
	for i := range d.Len() {
		var line struct {
			ID                 string
			Labels             []string
			Score, Probability *float64
			NBest              []struct {
				Labels             []string
				Score, Probability *float64
			}
			Confidence []float64
			Marginals  [][]float64
			Calibrated *bool
		}
		if err := decode.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.ID != d.ID(i) || line.Labels == nil || len(line.Labels) != d.Length(i) || line.Score == nil || line.Probability == nil ||
			len(line.Confidence) != d.Length(i) || len(line.NBest) == 0 || !slices.Equal(line.NBest[0].Labels, line.Labels) || len(line.Marginals) != d.Length(i) ||
			line.Calibrated == nil || *line.Calibrated {
			t.Errorf("example %d: %+v", i, line)
		}
	}
}

func TestEvaluate(t *testing.T) {
	d := toyData(1)
	m := toyModel(t, d, nil)
	wrong := 0
	err := m.Predict(context.Background(), d, predictions.Options{}, func(i int, p *predictions.Prediction) error {
		for t, l := range d.Gold(i) {
			if l != p.Labels[t] {
				wrong++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Evaluate(context.Background(), d, false, 1)
	if want := float64(wrong) / float64(d.Positions()); err != nil || got.Get("token_error") != want || got.Get("sequences") != float64(d.Len()) {
		t.Errorf("got %+v, %v; want token error %v", got, err, want)
	}
	d.Labels = nil
	if _, err := m.Evaluate(context.Background(), d, false, 1); !structured.IsBadInput(err) {
		t.Errorf("no gold labels: got %v, want bad input", err)
	}
	d.Dim = 3
	if _, err := m.Potentials(context.Background(), d, 1); !structured.IsBadInput(err) {
		t.Errorf("other features: got %v, want bad input", err)
	}
}

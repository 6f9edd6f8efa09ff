package training

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// vast is a scorer with more weights than any memory holds.
type vast struct{ nets.Scorer }

func (vast) Dim() int { return 1 << 45 }

// Weights and steps that do not fit into memory are refused before training.
func TestTooManyWeightsForMemory(t *testing.T) {
	if _, known := host.AvailableMemory(); !known {
		t.Skip("nobody knows here how much memory there is")
	}
	c := textConfig(file(t, "train.conll", trainConll))
	data, err := readData(&c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewProblem(c, data, TrainOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSteps(&r.config, r.problem); err != nil {
		t.Error(err)
	}
	r.problem.Scorer = vast{r.problem.Scorer}
	if err := checkSteps(&r.config, r.problem); err == nil || structured.IsBadInput(err) || !strings.Contains(err.Error(), "lower --batch") {
		t.Errorf("got %v", err)
	}
}

// The estimate counts the vectors of a descent, and the examples of a model of a batch.
func TestTrainingBytesOfDescents(t *testing.T) {
	d := toyData()
	m := toyModel(t, d, func(*config.Config) {})
	o, err := objective(&m.Config, m, d)
	if err != nil {
		t.Fatal(err)
	}
	p := &train.Problem{Engine: engine.NewEngine(o, 1)}
	path := tasks.TrainingBytes(float64(o.Scorer.Dim()), p.StepBytes(1))
	for _, x := range []struct {
		change  func(*config.Config)
		vectors int // of weights, more than a path needs
	}{
		{func(c *config.Config) { c.Method = "sgd" }, 0},
		{func(c *config.Config) { c.Method, c.Momentum = "sgd", 0.9 }, 2},
		{func(c *config.Config) { c.Method = "adam" }, 4},
		{func(c *config.Config) { c.Method, c.ModelBatch = "prox-linear", 4 }, 3},
		{func(c *config.Config) { c.Method, c.ModelBatch, c.InnerSteps = "prox-linear", 4, 3 }, 5},
		{func(c *config.Config) { c.Method, c.ModelBatch = "prox-linear", settings.AllExamples }, 0},
	} {
		c := m.Config
		x.change(&c)
		got, _ := trainingBytes(&c, p)
		if want := path + tasks.TrainingBytes(0, 4*float64(x.vectors*o.Scorer.Dim())); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %g bytes, want %g", c.Method, got, want)
		}
	}
	c := m.Config
	c.Method, c.ModelBatch = "prox-linear", 400
	setting, _, examples := stepSetting(&c, p)
	got, _ := trainingBytes(&c, p)
	if all := tasks.TrainingBytes(float64(o.Scorer.Dim()), p.StepBytes(d.Len())); setting != "model-batch" || examples != d.Len() || got < all {
		t.Errorf("--%s %d: %g bytes, want at least %g", setting, examples, got, all)
	}
	tokens := 0
	for i := range d.Len() {
		tokens += d.Length(i)
	}
	p.Tokens = (tokens + 1) / 2
	setting, value, examples := stepSetting(&c, p)
	got, _ = trainingBytes(&c, p)
	if all := tasks.TrainingBytes(float64(o.Scorer.Dim()), p.StepBytes((d.Len()+1)/2)); setting != "batch-tokens" || value != p.Tokens || examples != (d.Len()+1)/2 || got < all {
		t.Errorf("--%s %d: %d examples, %g bytes, want %d and at least %g", setting, value, examples, got, (d.Len()+1)/2, all)
	}
}

// With many labels, sdca would remember too much: 600 sentences times the square of 1,000 labels. With λ₁, lbfgs is no
// way out.
func TestAutoAvoidsMethodsThatRememberTooMuch(t *testing.T) {
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "a X L%d\nb X L%d\n\n", i%1000, (i+500)%1000)
	}
	c := textConfig(file(t, "train.conll", text.String()))
	data, err := readData(&c)
	if err != nil {
		t.Fatal(err)
	}
	for l1, want := range map[float64]string{0: "lbfgs", 1: "owl-qn"} {
		var log bytes.Buffer
		c.L1 = l1
		r, err := NewProblem(c, data, TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if r.config.Method != want || !strings.Contains(log.String(), "as sdca does") || !strings.Contains(log.String(), "with 1000 labels") {
			t.Errorf("method %s, want %s: %s", r.config.Method, want, log.String())
		}
	}
}

// readData resolves c, reads or draws the data sets that it names, and makes their inputs.
func readData(c *config.Config) (*models.Data, error) {
	r, err := models.Resolve(*c)
	if err != nil {
		return nil, err
	}
	*c = r.Config()
	return r.Data()
}

// Where a method remembers much of the examples, a checkpoint takes no copy of it, and the estimate counts none.
func TestNoCopyOfALargeMemory(t *testing.T) {
	for examples, want := range map[int]bool{100: false, 2000: true} { // each with the square of 100 labels, 16 bytes an entry
		d := &structured.Dataset{Name: "many labels", Alphabet: structured.NewAlphabet(), Dim: 1, Offsets: []int{0}}
		for k := range 100 {
			d.Alphabet.Add(fmt.Sprint(k))
		}
		for i := range examples {
			d.Features, d.Labels, d.Offsets = append(d.Features, 1), append(d.Labels, int32(i%100)), append(d.Offsets, i+1)
		}
		m := toyModel(t, d, func(c *config.Config) { c.Net, c.Loss, c.Hidden = "linear", "crf", nil })
		o, err := objective(&m.Config, m, d)
		if err != nil {
			t.Fatal(err)
		}
		p := &train.Problem{Engine: engine.NewEngine(o, 1)}
		c := m.Config
		c.Method = "sdca"
		sdca, _ := c.Optimiser()
		whole := sdca.Remembered(o)
		_, remembered := trainingBytes(&c, p)
		if large(&c, p) != want || (remembered < whole) != want {
			t.Errorf("%d examples: large %v, %.0f of %.0f bytes", examples, large(&c, p), remembered, whole)
		}
		if c.Method = "lbfgs"; large(&c, p) {
			t.Error("lbfgs remembers nothing of examples")
		}
	}
}

package training

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

func TestObjective(t *testing.T) {
	d := toyData()
	m := toyModel(t, d, func(*config.Config) {})
	c := m.Config
	c.Reg, c.Loss, c.LossByLength, c.LabelWeights = 4.5, "softmax-margin", true, settings.LabelWeights{"b": 3}
	o, err := objective(&c, m, d)
	if err != nil {
		t.Fatal(err)
	}
	want := chains.Hamming{ByLength: true, LabelWeights: []float32{1, 3, 1}}
	if o.Lambda != 0.5 || o.Loss != engine.SoftmaxMargin || !reflect.DeepEqual(o.Task, want) ||
		o.Data != d || o.Constraints != nil {
		t.Errorf("%+v", o)
	}
	m.Constraints = &chains.Constraints{}
	if o, err = objective(&c, m, d); err != nil || o.Constraints != m.Constraints {
		t.Errorf("with constraints: %+v, %v", o, err)
	}
}

func TestChooseMethod(t *testing.T) {
	d := toyData()
	for _, c := range []struct {
		change                   func(*config.Config)
		method, inner, smoothing string
	}{
		{func(c *config.Config) {}, "prox-linear", "auto", "none"},
		{func(c *config.Config) { c.Mu = 1 }, "prox-linear", "auto", "entropy"},
		{func(c *config.Config) { c.Finish = 1 }, "prox-linear", "bcfw", "none"},
		{func(c *config.Config) { c.ModelBatch = settings.AllExamples }, "prox-linear", "bcfw", "none"},
		{func(c *config.Config) { c.ModelBatch, c.Loss = settings.AllExamples, "crf" }, "prox-linear", "casimir", "none"},
		{func(c *config.Config) { c.Inner = "svrg" }, "prox-linear", "svrg", "entropy"},
		{func(c *config.Config) { c.Method = "sgd" }, "sgd", "auto", "none"},
		{func(c *config.Config) { c.Method = "adam" }, "adam", "auto", "none"},
		{func(c *config.Config) { c.Method, c.Smoothing, c.Mu = "sgd", "l2", 1 }, "sgd", "auto", "l2"},
		{func(c *config.Config) { c.Net, c.Hidden = "linear", nil }, "casimir", "auto", "entropy"},
		{func(c *config.Config) { c.Net, c.Hidden, c.K = "linear", nil, 9 }, "casimir", "auto", "l2"},
		{func(c *config.Config) { c.Net, c.Hidden, c.Method = "linear", nil, "bcfw" }, "bcfw", "auto", "none"},
	} {
		m := toyModel(t, d, c.change)
		o, err := objective(&m.Config, m, d)
		if err != nil {
			t.Fatal(err)
		}
		given := config.Default()
		given.Net, given.Hidden = "mlp", settings.Sizes{4}
		c.change(&given)
		resolved, method, _, err := resolve(given, m, o, 1)
		if err != nil {
			t.Fatal(err)
		}
		smooth, err := smoothing(&resolved)
		if err != nil {
			t.Fatal(err)
		}
		kind, err := oracles.ParseKind(c.smoothing)
		if err != nil {
			t.Fatal(err)
		}
		if method.Name() != c.method || resolved.Method != c.method || resolved.Inner != c.inner || smooth.Kind != kind || resolved.Passes == 0 {
			t.Errorf("want %s, %s, %s; got %s, smoothing %v, %+v", c.method, c.inner, c.smoothing, method.Name(), smooth, resolved)
		}
		if err := tasks.Validate(resolved); err != nil {
			t.Errorf("the resolved configuration is refused: %v", err)
		}
	}
}

// By default a pass of prox-linear has at least 128 models, where there are so many examples, of at most 8 examples
// each.
func TestModelsOfFewExamplesAreSmall(t *testing.T) {
	d := toyData()
	for n, want := range map[int]settings.ModelBatch{1: 1, 100: 1, 255: 1, 256: 2, 300: 2, 1000: 7, 1023: 7, 1024: 8, 5000: 8} {
		m := toyModel(t, d, func(*config.Config) {})
		o, err := objective(&m.Config, m, d)
		if err != nil {
			t.Fatal(err)
		}
		many, of := *d, *o
		many.Offsets = make([]int, n+1)
		of.Data = &many
		given := config.Default()
		given.Net, given.Hidden = "mlp", settings.Sizes{4}
		resolved, _, _, err := resolve(given, m, &of, 1)
		if err != nil {
			t.Fatal(err)
		}
		if resolved.ModelBatch != want {
			t.Errorf("%d examples: models of %v, want %v", n, resolved.ModelBatch, want)
		}
	}
}

// A device that is not asked for by name leaves runs to the CPU whose steps need it.
func TestInnerStepsNeedTheCPU(t *testing.T) {
	c := config.Default()
	c.Method, c.ModelBatch, c.InnerSteps = "prox-linear", 4, 3
	if err := checkAccelerated(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "use --device cpu, or leave out --inner-steps") {
		t.Errorf("got %v", err)
	}
	c.InnerSteps = 1
	if err := checkAccelerated(&c); err != nil {
		t.Errorf("the exact step is refused: %v", err)
	}
}

// Asynchronous threads take examples one at a time.
func TestAsyncTakesNoBatch(t *testing.T) {
	c := config.Default()
	c.Parallel = "async"
	c.Method = "sdca"
	d, _ := c.Optimiser()
	method, err := d.New(c.Run())
	if err != nil || !method.(*sdca.SDCA).Async {
		t.Errorf("%+v, %v", method, err)
	}
	c.Batch = 4
	if err := c.CheckMethod(); !structured.IsBadInput(err) {
		t.Errorf("a batch gives %v", err)
	}
}

// Settings that have no effect with the method that the data and the other settings choose are refused.
func TestSettingsWithoutEffectOnBatches(t *testing.T) {
	d := toyData()
	for want, change := range map[string]func(*config.Config){
		"--lr 0.1 has no effect":                  func(c *config.Config) { c.LR, c.Loss = 0.1, "crf" },
		"--kappa 0.1 has no effect":               func(c *config.Config) { c.Kappa, c.Loss = 0.1, "crf" },
		"--inner casimir has no effect":           func(c *config.Config) { c.ModelBatch, c.Inner = 4, "casimir" },
		"--inner-passes 3 has no effect":          func(c *config.Config) { c.ModelBatch, c.InnerPasses = 4, 3 },
		"--inner-gap 1 has no effect":             func(c *config.Config) { c.ModelBatch, c.InnerGap = 4, 1 },
		"--constant-mu true has no effect":        func(c *config.Config) { c.ModelBatch, c.ConstantMu = 4, true },
		"--warm-up 2 is for":                      func(c *config.Config) { c.ModelBatch, c.WarmUp = 4, 2 },
		"--warm-up 3 is for":                      func(c *config.Config) { c.Finish, c.WarmUp = 2, 3 },
		"--finish 20: expected fewer":             func(c *config.Config) { c.Finish = 20 },
		"--batch 2 is for":                        func(c *config.Config) { c.ModelBatch, c.Batch = 4, 2 },
		"--average pass has no effect":            func(c *config.Config) { c.ModelBatch, c.Average = 4, "pass" },
		"--average ema is for":                    func(c *config.Config) { c.ModelBatch, c.Average = settings.AllExamples, "ema" },
		"--lr 1 has no effect with --schedule":    func(c *config.Config) { c.Method, c.Schedule, c.LR = "sgd", "pegasos", 1 },
		"--warm-up 1 has no effect with --schedu": func(c *config.Config) { c.Method, c.Schedule, c.WarmUp = "sgd", "pegasos", 1 },
	} {
		m := toyModel(t, d, change)
		given := config.Default()
		given.Net, given.Hidden, given.Loss = "mlp", settings.Sizes{4}, m.Config.Loss
		change(&given)
		o, err := objective(&m.Config, m, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := resolve(given, m, o, 1); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Where n-slack would be chosen, a setting that casimir alone takes decides for casimir.
func TestOnlyCasimirTakes(t *testing.T) {
	for want, change := range map[string]func(c *config.Config){
		"":      func(c *config.Config) { c.Passes, c.Gap = 7, 0.1 },
		"mu":    func(c *config.Config) { c.Mu = 1 },
		"k":     func(c *config.Config) { c.K = 9 },
		"kappa": func(c *config.Config) { c.Kappa = 1 },
	} {
		c := config.Default()
		change(&c)
		if got := onlyCasimirTakes(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

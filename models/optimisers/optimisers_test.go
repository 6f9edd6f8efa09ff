package optimisers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// Every descriptor is complete, and agrees with the method that it makes.
func TestDescriptors(t *testing.T) {
	names := map[string]bool{}
	taken := map[string]bool{}
	for _, d := range All() {
		if d.Name == "" || names[d.Name] || d.Summary == "" || d.When == "" {
			t.Errorf("%+v: a method needs a name of its own, a summary, and when to use it", d)
		}
		names[d.Name] = true
		r := &Run{Settings: Default()}
		r.Method = d.Name
		if err := d.Validate(r); err != nil {
			t.Errorf("%s refuses the defaults: %v", d.Name, err)
		}
		if m, err := d.New(r); err != nil || m.Name() != d.Name {
			t.Errorf("%s: %v", d.Name, err)
		}
		if d.StepSetting != "" && !d.Takes(d.StepSetting) {
			t.Errorf("%s has no setting %s", d.Name, d.StepSetting)
		}
		if d.Certified && !d.Convex() {
			t.Errorf("%s certifies what it minimises although that need not be convex", d.Name)
		}
		if by, ok := Find(d.Inner); d.Inner != "" && (!ok || !by.CanBeInner() || !by.Convex()) {
			t.Errorf("%s names %s as the inner method, which is none", d.Name, d.Inner)
		}
		if d.L1OnCPU && !(d.TakesL1() && d.OnDevice()) {
			t.Errorf("%s does not run on a device, or takes no λ₁", d.Name)
		}
		_, all := settings.Fresh(d.Settings)
		for _, s := range all {
			taken[s.Name] = true
		}
	}
	for _, s := range settings.Of(&Settings{}) {
		if every := slices.Contains([]string{"method", "passes", "gap", "evaluate", "patience", OwnSettingsName}, s.Name); !every && !taken[s.Name] {
			t.Errorf("no method takes --%s", s.Name)
		}
	}
}

// Soft thresholds run on the CPU, but for those of owl-qn: other methods that run on a GPU are refused there with --l1.
func TestSoftThresholdsOnDevices(t *testing.T) {
	thresholds := 0
	for _, d := range All() {
		r := &Run{Settings: Default()}
		r.Method = d.Name
		without, with := d.CheckDevice(r, 0), d.CheckDevice(r, 0.1)
		switch {
		case !d.TakesL1():
		case without == nil && d.Name != "owl-qn":
			if thresholds++; with == nil || !strings.Contains(with.Error(), d.Name) || !strings.Contains(with.Error(), "--l1") {
				t.Errorf("%s with --l1 on a device: %v", d.Name, with)
			}
		case without == nil && with != nil:
			t.Errorf("%s with --l1 on a device: %v", d.Name, with)
		}
	}
	if thresholds < 4 {
		t.Errorf("%d methods with soft thresholds run on a device", thresholds)
	}
}

// Ranks that step on their own do not search for a step size together: sgd needs one, unless its schedule says it.
func TestStepsOfRanksNeedAStepSize(t *testing.T) {
	d, ok := Find("sgd")
	if !ok {
		t.Fatal("there is no sgd")
	}
	for _, c := range []struct {
		steps    int
		lr       float64
		schedule string
		refused  bool
	}{{0, 0, "", false}, {4, 0, "", true}, {4, 0.5, "", false}, {4, 0, "pegasos", false}} {
		r := &Run{Settings: Default()}
		r.Method, r.LocalSteps, r.LR = d.Name, c.steps, c.lr
		if c.schedule != "" {
			r.Schedule = c.schedule
		}
		if err := d.Validate(r); (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "give --lr") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Every method that certifies a gap narrows it on the problems that its traits name, and all intervals on a problem
// have a point in common.
func TestCertifiedMethodsAgree(t *testing.T) {
	const n, λ = 12, 0.1
	for _, x := range []struct {
		name  string
		loss  engine.Loss
		of    func(p *train.Problem) *train.Problem
		takes func(d *Descriptor) bool
	}{
		{"hinge", engine.Hinge, nil, nil},
		{"crf", engine.CRF, nil, nil},
		{"crf with another centre", engine.CRF, traintest.Shifted, func(d *Descriptor) bool { return d.Prior }},
		{"hinge with another centre", engine.Hinge, traintest.Shifted, func(d *Descriptor) bool { return d.Prior }},
		{"sparse crf", engine.CRF, withL1, (*Descriptor).TakesL1},
		{"sparse hinge", engine.Hinge, withL1, (*Descriptor).TakesL1},
		{"bounded crf", engine.CRF, bounded, (*Descriptor).TakesBounds},
		{"bounded hinge", engine.Hinge, bounded, (*Descriptor).TakesBounds},
	} {
		low, high, count := math.Inf(-1), math.Inf(1), 0
		for _, d := range All() {
			if !d.Certified || !d.Losses.Takes(x.loss.String()) || x.takes != nil && !x.takes(d) || d.TakesRadius() {
				continue
			}
			smoothing := traintest.Entropy
			if d.Smoothing == NotSmoothed {
				smoothing.Kind = 0
			}
			p := traintest.NoisyProblem(n, x.loss, smoothing, λ)
			if x.of != nil {
				p = x.of(p)
			}
			m, err := d.New(&Run{Settings: Default()})
			if err != nil {
				t.Fatal(err)
			}
			passes := 200
			switch d {
			case FW: // its rate is 1/passes
				passes = 500
			case OEG: // its steps are short where marginals are near 0
				passes = 2000
			}
			r, err := (&train.Trainer{Problem: p, Method: m, Passes: passes, Gap: 0.02}).Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
			if err != nil {
				t.Fatalf("%s, %s: %v", x.name, d.Name, err)
			}
			if gap := r.Last.RelativeGap(); !(gap <= 0.02) {
				t.Errorf("%s, %s: a gap of %g after %d passes", x.name, d.Name, gap, r.Last.Pass)
			}
			low, high, count = max(low, float64(r.Last.Dual)), min(high, float64(r.Last.Objective)), count+1
		}
		if low > high || count < 2 {
			t.Errorf("%s: %d methods, a lower bound of %g, an objective of %g", x.name, count, low, high)
		}
	}
}

// Methods that are said to be certified bound the optimum from below, and others do not.
func TestCertifiedMethodsHaveABound(t *testing.T) {
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF} {
		for _, d := range All() {
			if !d.Losses.Takes(loss.String()) || d == Counts { // which reads attributes alone
				continue
			}
			smoothing := traintest.Entropy
			if d.Smoothing == NotSmoothed {
				smoothing.Kind = 0
			}
			p := traintest.NoisyProblem(12, loss, smoothing, 0.1)
			if d.TakesRadius() {
				p.Radius, p.Lambda = 3, 0
			}
			m, err := d.New(&Run{Settings: Default()})
			if err != nil {
				t.Fatal(err)
			}
			r, err := (&train.Trainer{Problem: p, Method: m, Passes: 2}).Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
			if err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			if bounds := !math.IsNaN(float64(r.Last.Dual)); bounds != d.Certified {
				t.Errorf("%s, %s: certified %t, and a lower bound of %g", d.Name, loss, d.Certified, r.Last.Dual)
			}
		}
	}
}

// withL1 gives a problem λ₁.
func withL1(p *train.Problem) *train.Problem {
	o := *p.Objective
	o.L1 = 0.05
	q := *p
	q.Engine = engine.NewEngine(&o, 1)
	return &q
}

// bounded gives a problem bounds of the weights.
func bounded(p *train.Problem) *train.Problem {
	o := *p.Objective
	o.Bounds = &engine.Bounds{Low: -0.05, High: 0.1}
	q := *p
	q.Engine = engine.NewEngine(&o, 1)
	return &q
}

// Helps name methods by their traits.
func TestHelp(t *testing.T) {
	for text, want := range map[string]string{
		"for {l1}":     "for agm, bcfw, bcpfw, oeg, owl-qn, prox-linear, saga, sdca and svrg",
		"for {bounds}": "for bcfw, bcpfw, fw, saga, sgd and svrg",
		"for {hinge}":  "for bcfw, bcpfw, cutting-plane, fw, n-slack, sp-bcfw and sp-fw",
		"for {plain}":  "for adam, bcfw, bcpfw, cutting-plane, fw, n-slack, oeg, sgd, sp-bcfw and sp-fw",
		"{passes}":     "1 for counts, 20 for adam, prox-linear and sgd, 500 for agm, cutting-plane, fw, lbfgs, owl-qn and sp-fw, else 100",
		"0":            "0",
	} {
		if got := Help(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// own is a method under another name.
type own struct {
	methods.SVRG
	name string
}

func (o *own) Name() string { return o.name }

func TestRegister(t *testing.T) {
	make := func(*Run) (train.Method, error) { return &own{name: "mine"}, nil }
	clear := descriptors.Put
	was := All()
	defer clear(was)
	for want, d := range map[string]*Descriptor{
		"expected a name without":           {Name: "a b", Summary: "x", Make: make},
		"another one has this name":         {Name: "svrg", Summary: "x", Make: make},
		`"auto": another one has this name`: {Name: "auto", Summary: "x", Make: make},
		"it has no summary":                 {Name: "mine", Make: make},
		"it has no function":                {Name: "mine", Summary: "x"},
		"expected a struct":                 {Name: "mine", Summary: "x", Make: make, Settings: 3},
		"that of other methods a f": {Name: "mine", Summary: "x", Make: make, Settings: struct {
			LR int `yaml:"lr" help:"x"`
		}{}},
		"needs an exported field": {Name: "mine", Summary: "x", Make: make, Settings: struct {
			x int `yaml:"x" help:"x"`
		}{}},
		"needs a tag help": {Name: "mine", Summary: "x", Make: make, Settings: struct {
			X int `yaml:"x"`
		}{}},
		"it has no setting lr": {Name: "mine", Summary: "x", Make: make, StepSetting: "lr"},
		`with the name "mine"`: {Name: "yours", Summary: "x", Make: make},
	} {
		clear(was)
		if Register(d); !structured.IsBadInput(Failed()) || !strings.Contains(Failed().Error(), want) {
			t.Errorf("got %v, want %q", Failed(), want)
		}
		if d, _ := Find("mine"); d != nil {
			t.Errorf("%s: it is registered", want)
		}
	}
	clear(was)
	Register(&Descriptor{Name: "mine", Summary: "x", Make: make, Inner: "mine", Settings: struct {
		StepSize
		X int `yaml:"x" help:"x" min:"1"`
	}{X: 2}})
	d, ok := Find("mine")
	if !ok || Failed() != nil || !HasOwnSettings() || !d.Takes("lr") || !d.Takes(OwnSettingsName) || d.Takes("batch") {
		t.Fatalf("%+v, %v", d, Failed())
	}
	r := &Run{Settings: Default()}
	r.Method, r.Inner, r.ModelBatch, r.Extra = ProxLinear.Name, "mine", settings.AllExamples, settings.Texts{"x": "3"}
	if err := ProxLinear.Validate(r); err != nil {
		t.Errorf("a setting of the inner method is refused: %v", err)
	}
	r.Extra["x"] = "0"
	if err := ProxLinear.Validate(r); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "expected at least 1") {
		t.Errorf("got %v", err)
	}
}

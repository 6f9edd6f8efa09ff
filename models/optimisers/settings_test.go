package optimisers

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Settings that say the same twice, or have no effect with others, are refused; what is next to them is taken.
func TestSettingsRefuse(t *testing.T) {
	for _, x := range []struct {
		set  func(s *Settings)
		want string
	}{
		{func(*Settings) {}, ""}, {func(s *Settings) { s.Batch = 3 }, ""}, {func(s *Settings) { s.BatchTokens = 3 }, ""},
		{func(s *Settings) { s.Batch, s.BatchTokens = 1, 1 }, "--batch 1 and --batch-tokens 1 both say"},
		{func(s *Settings) { s.LR, s.Lipschitz = 1, 1 }, "--lr 1 and --lipschitz 1 both say"}, {func(s *Settings) { s.LR = 1 }, ""},
		{func(s *Settings) { s.LR, s.Schedule = 1, "pegasos" }, "--lr 1 has no effect with --schedule pegasos"},
		{func(s *Settings) { s.LR, s.Schedule = 1, "sqrt" }, ""}, {func(s *Settings) { s.Schedule = "pegasos" }, ""},
		{func(s *Settings) { s.WarmUp, s.Schedule = 1, "pegasos" }, "--warm-up 1 has no effect with --schedule pegasos"},
		{func(s *Settings) { s.WarmUp = -2 }, "--warm-up -2: expected a number of passes, or -1"}, {func(s *Settings) { s.WarmUp = -1 }, ""},
		{func(s *Settings) { s.Momentum = 1 }, "--momentum 1: expected a number below 1"}, {func(s *Settings) { s.Momentum = 0.99 }, ""},
		{func(s *Settings) { s.Nesterov = true }, "--nesterov has no effect without --momentum"},
		{func(s *Settings) { s.Nesterov, s.Momentum = true, 0.5 }, ""},
	} {
		s := Default()
		x.set(&s)
		if err := s.Check(); (err == nil) != (x.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), x.want)) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// Of prox-linear's settings those of models of batches and those of models of all examples exclude each other.
func TestProxLinearRefuses(t *testing.T) {
	const all = settings.AllExamples
	for _, x := range []struct {
		set  func(s *Settings)
		want string
	}{
		{func(*Settings) {}, ""}, {func(s *Settings) { s.ModelBatch = all }, ""}, {func(s *Settings) { s.ModelBatch = 8 }, ""},
		{func(s *Settings) { s.ModelBatch, s.LREncoder = all, 0.1 }, "--lr-encoder 0.1 is for steps"},
		{func(s *Settings) { s.ModelBatch, s.LREncoder = 8, 0.1 }, ""},
		{func(s *Settings) { s.ModelBatch, s.LayerDecay = all, 0.9 }, "--layer-decay 0.9 is for steps"},
		{func(s *Settings) { s.ModelBatch, s.LayerDecay = 8, 0.9 }, ""},
		{func(s *Settings) { s.WarmUp, s.LayerDecay = 1, 0.9 }, "--layer-decay 0.9 is for steps"},
		{func(s *Settings) { s.ModelBatch, s.WarmUp = all, 0.5 }, "--warm-up 0.5: prox-linear warms up by whole"},
		{func(s *Settings) { s.ModelBatch, s.WarmUp = all, 2 }, ""},
		{func(s *Settings) { s.ModelBatch, s.InnerSteps = all, 1 }, "--inner-steps 1 is for models of batches"},
		{func(s *Settings) { s.ModelBatch, s.InnerSteps = 8, 2 }, ""},
		{func(s *Settings) { s.ModelBatch, s.Finish = all, 1 }, "--finish 1 has no effect"},
		{func(s *Settings) { s.ModelBatch, s.Finish, s.Passes = 8, 1, 2 }, ""},
		{func(s *Settings) { s.Finish, s.Passes = 2, 2 }, "--finish 2: expected fewer than --passes 2"},
		{func(s *Settings) { s.Finish, s.Passes = 1, 2 }, ""},
		{func(s *Settings) { s.ModelBatch, s.WarmUp = 8, 1 }, "--warm-up 1 is for --model-batch all"},
		{func(s *Settings) { s.ModelBatch, s.Batch = 8, 2 }, "--batch 2 is for the inner method"},
		{func(s *Settings) { s.ModelBatch, s.Batch = all, 2 }, ""},
		{func(s *Settings) { s.ModelBatch, s.BatchTokens = all, 2 }, "--batch-tokens 2 is for models of batches"},
		{func(s *Settings) { s.ModelBatch, s.LocalSteps = all, 2 }, "--local-steps 2 is for models of batches"},
		{func(s *Settings) { s.ModelBatch, s.LocalSteps, s.InnerSteps = 8, 2, 2 }, "--local-steps 2 is for"},
		{func(s *Settings) { s.ModelBatch, s.LocalSteps, s.InnerSteps = 8, 2, 1 }, ""},
		{func(s *Settings) { s.ModelBatch, s.LocalSteps, s.Finish, s.Passes = 8, 2, 1, 3 }, "--local-steps 2 is for"},
		{func(s *Settings) { s.ModelBatch, s.Inner = 8, "bcfw" }, "--inner bcfw has no effect with --model-batch 8"},
		{func(s *Settings) { s.ModelBatch, s.Inner = all, "bcfw" }, ""},
		{func(s *Settings) { s.ModelBatch, s.InnerPasses = 8, 2 }, "--inner-passes 2 has no effect"},
		{func(s *Settings) { s.ModelBatch, s.InnerGap = 8, 0.1 }, "--inner-gap 0.1 has no effect"},
		{func(s *Settings) { s.ModelBatch, s.ConstantMu = 8, true }, "--constant-mu true has no effect"},
		{func(s *Settings) { s.ModelBatch, s.ConstantMu = all, true }, ""},
	} {
		r := &Run{Settings: Default()}
		r.Method = "prox-linear"
		x.set(&r.Settings)
		if err := checkProxLinear(r); (err == nil) != (x.want == "") || err != nil &&
			(!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), x.want)) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// Losses are taken or not, by their names, as the words that stand for the choice list them.
func TestLossesOfMethods(t *testing.T) {
	for _, l := range []Losses{HingeOnly, SmoothOnly, SmoothLosses, SmoothObjectives, OutputLosses} {
		listed := strings.Split(l.String(), ", ")
		for _, loss := range []string{"hinge", "crf", "softmax-margin", "quadratic"} {
			want := false
			for _, name := range listed {
				want = want || name == loss
			}
			if got := l.Takes(loss); got != want {
				t.Errorf("%v takes %s: %v", l, loss, got)
			}
		}
	}
	for _, loss := range []string{"hinge", "crf", "softmax-margin", "quadratic"} {
		if !AnyLoss.Takes(loss) || AnyLoss.String() != "any" {
			t.Errorf("any loss is not %s", loss)
		}
	}
}

// The method of auto minimises the objective: with bounds, λ₁ or a ball, for a smooth loss or the hinge, it takes what
// there is, certifies where a regulariser allows it, and on a device it runs there.
func TestAutoTakesTheObjective(t *testing.T) {
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin, engine.Quadratic} {
		for name, p := range map[string]engine.Objective{
			"dense":      *traintest.NoisyProblem(10, loss, traintest.Entropy, 0.1).Objective,
			"attributes": *traintest.SparseProblem(10, loss, traintest.Entropy, 0.1).Objective,
		} {
			for kind, set := range map[string]func(o *engine.Objective){
				"plain": func(*engine.Objective) {}, "l1": func(o *engine.Objective) { o.L1 = 0.1 },
				"bounds":         func(o *engine.Objective) { o.Bounds = &engine.Bounds{Low: -1, High: 1} },
				"no regulariser": func(o *engine.Objective) { o.Lambda = 0 },
			} {
				o := p
				set(&o)
				for _, onDevice := range []bool{false, true} {
					r := &Run{Settings: Default()}
					d, why := Auto(r, &o, "linear", onDevice)
					takes := d.Losses.Takes(loss.String()) || d.Smoothing == Smooths
					if !takes || why == "" || kind == "l1" && !d.TakesL1() || !d.Convex() || kind != "no regulariser" && !d.Certified {
						t.Errorf("%s, %s of %s: auto chose %s, because %s", loss, kind, name, d.Name, why)
					}
					if kind == "bounds" && !d.TakesBounds() && !(loss == engine.Quadratic) && !onDevice {
						t.Errorf("%s, %s of %s: auto chose %s, which takes no bounds", loss, kind, name, d.Name)
					}
					if onDevice && kind != "bounds" && d.CheckDevice(r, o.L1) != nil {
						t.Errorf("%s, %s of %s: auto chose %s for a device: %v", loss, kind, name, d.Name, d.CheckDevice(r, o.L1))
					}
				}
			}
		}
	}
}

// Where training continues for other numbers of passes, schedules that end with them change the bits of a run.
func TestSchedulesThatEnd(t *testing.T) {
	for schedule, want := range map[string]bool{"sqrt": false, "constant": false, "inverse": false, "stairs": false,
		"pegasos": false, "auto": false, "cosine": true, "geometric": true, "linear": true} {
		s := Default()
		s.Schedule = schedule
		if got := ofSchedule(&s) != ""; got != want {
			t.Errorf("%s: %v", schedule, got)
		}
	}
	s := Default()
	if s.FirstStep() != s.Eta || !s.Lazy() {
		t.Errorf("first step %g, lazy %v", s.FirstStep(), s.Lazy())
	}
	s.LR, s.Eta, s.Evaluate = 0.25, 0.5, "every"
	if s.FirstStep() != 0.25 || s.Lazy() {
		t.Errorf("first step %g, lazy %v", s.FirstStep(), s.Lazy())
	}
	if s.LR = 0; s.FirstStep() != 0.5 {
		t.Errorf("first step %g", s.FirstStep())
	}
	if manyWeightsBatch(1<<17) != 0 || manyWeightsBatch(1<<17+1) < 2 {
		t.Errorf("%d and %d examples in a step", manyWeightsBatch(1<<17), manyWeightsBatch(1<<17+1))
	}
}

package optimisers

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

func TestAuto(t *testing.T) {
	net := traintest.NetProblem(10, 1, 1).Objective
	linear := traintest.NoisyProblem(10, engine.Hinge, traintest.Entropy, 0.1).Objective
	crf := traintest.NoisyProblem(10, engine.CRF, traintest.Entropy, 0.1).Objective
	d := traintest.NoisyChains(1, 10, 3, 4)
	dense := &engine.Objective{Scorer: &traintest.Linear{Inputs: 3, Structure: chains.Form(4, false)}, Data: d, Loss: engine.CRF, Lambda: 0.1}
	sparse := traintest.AttributeProblem(t, 10, 3, 3, 0, engine.SoftmaxMargin, 0.1).Objective
	hinge := traintest.SparseProblem(10, engine.Hinge, traintest.Entropy, 0.1).Objective
	for want, o := range map[string]*engine.Objective{"prox-linear": net, "casimir": linear, "svrg": crf, "lbfgs": dense, "sdca": sparse, "bcpfw": hinge} {
		if got, why := Auto(&Run{Settings: Default()}, o, "cnn", false); got.Name != want || why == "" {
			t.Errorf("auto chose %s (%s), want %s", got.Name, why, want)
		}
	}
	max := *dense
	max.Loss, max.Scorer = engine.Hinge, &traintest.Linear{Inputs: fewColumns - 1, Structure: chains.Form(4, false)}
	if got, _ := Auto(&Run{Settings: Default()}, &max, "linear", false); got != Casimir {
		t.Errorf("for the hinge on few dense inputs, auto chose %s", got.Name)
	}
	max.Scorer = &traintest.Linear{Inputs: fewColumns, Structure: chains.Form(4, false)}
	if got, why := Auto(&Run{Settings: Default()}, &max, "linear", false); got != NSlack || why == "" {
		t.Errorf("for the hinge on dense inputs, auto chose %s (%s)", got.Name, why)
	}
	for inputs, want := range map[int]*Descriptor{4_400_000: NSlack, 4_550_000: Casimir} { // three planes of 10 examples with 4 labels, in float32, are 2 GiB with 4,473,924 inputs
		max.Scorer = &traintest.Linear{Inputs: inputs, Structure: chains.Form(4, false)}
		if got, _ := Auto(&Run{Settings: Default()}, &max, "linear", false); got != want {
			t.Errorf("for the hinge on %d dense inputs, auto chose %s, want %s", inputs, got.Name, want.Name)
		}
	}
	max.Scorer = &traintest.Linear{Inputs: 1 << 28, Structure: chains.Form(4, false)}
	if got, _ := Auto(&Run{Settings: Default()}, &max, "linear", false); got != Casimir {
		t.Errorf("for planes of %d numbers, auto chose %s", 1<<30, got.Name)
	}
	if got, _ := Auto(&Run{Settings: Default()}, dense, "linear", true); got.Name != "svrg" {
		t.Errorf("on a device, where there is no metric, auto chose %s", got.Name)
	}
}

// Without a regulariser, and without a ball of weights, nothing bounds the optimum: the reason of a choice says so, and
// no gap is asked for.
func TestAutoWithoutRegulariser(t *testing.T) {
	for name, o := range map[string]*engine.Objective{
		"hinge": traintest.NoisyProblem(10, engine.Hinge, traintest.Entropy, 0).Objective, "crf": traintest.NoisyProblem(10, engine.CRF, traintest.Entropy, 0).Objective,
		"quadratic": traintest.NoisyProblem(10, engine.Quadratic, traintest.Entropy, 0).Objective,
	} {
		d, why := Auto(&Run{Settings: Default()}, o, "linear", false)
		if !strings.Contains(why, "nothing is certified") || d.DefaultGap(o) != 0 {
			t.Errorf("%s: %s because %s, to the gap %v", name, d.Name, why, d.DefaultGap(o))
		}
		if name == "hinge" {
			o.Radius = 1
			if d, why := Auto(&Run{Settings: Default()}, o, "linear", false); d != SPBCFW || strings.Contains(why, "nothing is certified") || d.DefaultGap(o) != convexGap {
				t.Errorf("in a ball: %s because %s, to the gap %v", d.Name, why, d.DefaultGap(o))
			}
		}
	}
}

// Several ranks keep what Auto chose for one only if they share all its passes with the bits of one; else they take the
// batch method of the problem, and why is told. Only where no batch method takes the problem they keep the method of
// one.
func TestForRanks(t *testing.T) {
	crf := traintest.NoisyProblem(10, engine.CRF, traintest.Entropy, 0.1).Objective
	hinge := traintest.NoisyProblem(10, engine.Hinge, traintest.Entropy, 0.1).Objective
	with := func(o *engine.Objective, change func(o *engine.Objective)) *engine.Objective {
		to := *o
		change(&to)
		return &to
	}
	unregularised := with(crf, func(o *engine.Objective) { o.Lambda = 0 })
	sparse := with(crf, func(o *engine.Objective) { o.L1 = 0.1 })
	sparseHinge := with(hinge, func(o *engine.Objective) { o.L1 = 0.1 })
	ball := with(hinge, func(o *engine.Objective) { o.Radius = 1 })
	bounded := with(crf, func(o *engine.Objective) { o.Bounds = new(engine.Bounds) })
	matching := matchings.Matching{}.Form() // which has no sums
	best := with(hinge, func(o *engine.Objective) { o.Scorer = &traintest.Linear{Inputs: 3, Structure: matching} })
	sparseBest := with(best, func(o *engine.Objective) { o.L1 = 0.1 })
	for _, d := range []*Descriptor{LBFGS, OWLQN, AGM, FW, SPFW, NSlack, ProxLinear, SGD} {
		for _, o := range []*engine.Objective{crf, hinge, unregularised, sparse, ball, bounded, best} {
			if got, why := ForRanks(d, o); got != d || why != "" {
				t.Errorf("%s becomes %s (%s)", d.Name, got.Name, why)
			}
		}
	}
	for _, c := range []struct {
		of   *Descriptor
		o    *engine.Objective
		want *Descriptor
	}{
		{SVRG, crf, LBFGS}, {SDCA, crf, LBFGS}, {OEG, crf, LBFGS}, {Casimir, crf, LBFGS},
		{Casimir, unregularised, Casimir}, {SVRG, unregularised, LBFGS},
		{BCFW, hinge, LBFGS}, {BCPFW, best, FW}, {Casimir, hinge, LBFGS},
		{SVRG, sparse, OWLQN}, {Casimir, sparseHinge, AGM}, {BCFW, sparseBest, BCFW},
		{SPBCFW, ball, SPFW}, {SVRG, bounded, SVRG}, {SDCA, bounded, SDCA},
	} {
		got, why := ForRanks(c.of, c.o)
		if got != c.want || (why == "") != (got == c.of) || why != "" && !strings.Contains(why, c.of.Name) {
			t.Errorf("%s becomes %s (%q), want %s", c.of.Name, got.Name, why, c.want.Name)
		}
	}
}

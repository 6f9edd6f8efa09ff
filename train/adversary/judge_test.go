package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

// judged is a method, and the problem as it needs it.
type judged struct {
	name string
	make func() train.Method
	on   func(p *train.Problem) *train.Problem // the problem as it needs it, nil if it is not judged on that; nil: as it is
}

// all are the methods. A method that refuses a problem is not judged on it.
var all = []judged{
	{"svrg", func() train.Method { return &methods.SVRG{} }, nil},
	{"saga", func() train.Method { return &methods.SAGA{} }, nil},
	{"saga, asynchronous", func() train.Method { return &methods.SAGA{Async: true} }, nil},
	{"casimir", func() train.Method { return &methods.Casimir{} }, nil},
	{"casimir-adapt", func() train.Method { return &methods.Casimir{Adaptive: true} }, nil},
	{"bcfw", func() train.Method { return &methods.BCFW{} }, nil},
	{"bcpfw", func() train.Method { return &methods.BCPFW{} }, nil},
	{"bcpfw, cache", func() train.Method { return &methods.BCPFW{CacheLocal: 0.25, CacheGlobal: 0.01} }, nil},
	{"bcpfw, away and drawn", func() train.Method { return &methods.BCPFW{Draw: true, Away: true} }, nil},
	{"fw", func() train.Method { return &methods.FrankWolfe{} }, plain},
	{"fw, harmonic", func() train.Method { return &methods.FrankWolfe{Harmonic: true} }, plain},
	{"cutting-plane", func() train.Method { return &methods.CuttingPlane{} }, plain},
	{"cutting-plane, few", func() train.Method { return &methods.CuttingPlane{Planes: 4} }, plain},
	{"n-slack", func() train.Method { return &methods.NSlack{} }, plain},
	{"oeg", func() train.Method { return &sdca.SDCA{Online: true} }, plain},
	{"sdca", func() train.Method { return &sdca.SDCA{} }, nil},
	{"sdca, float64", func() train.Method { return &sdca.SDCA{} }, doubly},
	{"oeg, float64", func() train.Method { return &sdca.SDCA{Online: true} }, doubly},
	{"lbfgs, float64", func() train.Method { return &quasinewton.LBFGS{} }, doubly},
	{"owl-qn, float64", func() train.Method { return &quasinewton.OWLQN{} }, doubly},
	{"agm, float64", func() train.Method { return &methods.AGM{} }, doubly},
	{"agm", func() train.Method { return &methods.AGM{} }, nil},
	{"agm, one", func() train.Method { return &methods.AGM{One: true} }, nil},
	{"lbfgs", func() train.Method { return &quasinewton.LBFGS{} }, withMu},
	{"owl-qn", func() train.Method { return &quasinewton.OWLQN{} }, withMu},
	{"sgd", func() train.Method { return &methods.SGD{} }, plain},
	{"prox-linear", func() train.Method { return &methods.ProxLinear{} }, plain},
}

// withMu gives the problem of a hinge a fixed μ.
func withMu(p *train.Problem) *train.Problem {
	q := *p
	q.Smoothing.Mu = 0.1
	return &q
}

// of returns the problem as the method needs it, or nil if it is not judged on it.
func (j judged) of(p *train.Problem) *train.Problem {
	if j.on == nil {
		return p
	}
	return j.on(p)
}

// doubly gives the problem an engine whose certificates are in float64, and no method one that cannot have it: nil.
func doubly(p *train.Problem) *train.Problem {
	q := *p
	q.Engine = engine.NewEngine(p.Objective, p.Threads())
	if !q.UseDoubles() {
		return nil
	}
	return &q
}

// plain takes the smoothing off.
func plain(p *train.Problem) *train.Problem {
	q := *p
	q.Smoothing = oracles.Smoothing{}
	return &q
}

// verdict is what a run has shown.
type verdict struct {
	refused bool
	gap     float64 // relative, at the end; NaN without a certificate
	rounded float64 // the most that was subtracted from the dual, relative
	w       []float32
	primal  float64 // of w, as stated
}

// tally counts the runs with each kind of fault.
type tally struct{ runs, high, low, aborted, vacuous int }

// judge runs a method for a number of passes, whatever its gap. After each it compares what it states, and what it
// would certify then, with the enclosure of the optimum. It reports the worst fault of each kind.
func (n *tally) judge(t *testing.T, what string, j judged, p *train.Problem, best *enclosure, passes int) verdict {
	t.Helper()
	return n.run(t, what, j, p, best, passes, &seen{lower: math.Inf(-1), upper: math.Inf(1)})
}

// seen is the interval that a run has stated: its largest dual and its least objective.
type seen struct {
	lower, upper float64
	start        []float32 // nil: the origin
	extreme      bool      // potentials may become infinite
	exact        *explicit // the objective, whose value at the weights is no more than what is stated; nil: not compared
}

// run is judge, and notes what the run states.
func (n *tally) run(t *testing.T, what string, j judged, p *train.Problem, best *enclosure, passes int, states *seen) (v verdict) {
	t.Helper()
	if p = j.of(p); p == nil {
		return verdict{refused: true}
	}
	m := j.make()
	if p.Loss == engine.Quadratic {
		giveStep(t, m, p)
	}
	abort := func(format string, args ...any) verdict {
		t.Helper()
		n.aborted++
		t.Errorf(what+"; "+j.name+": aborted: "+format, args...)
		return verdict{gap: math.NaN()}
	}
	start := make([]float32, p.Scorer.Dim())
	if states.start != nil {
		start = slices.Clone(states.start)
	}
	s := train.NewState(start)
	if train.CheckTerms(m, p.Objective, false) != nil || p.Completion != nil && !p.Soft && j.name == "prox-linear" { // whose own models fix what replaces unknown labels
		return verdict{refused: true}
	}
	ctx := context.Background()
	if err := m.Start(ctx, p, s); err != nil {
		var infinite *engine.NonFiniteError
		if structured.IsBadInput(err) || states.extreme && errors.As(err, &infinite) {
			return verdict{refused: true}
		}
		return abort("start: %v", err)
	}
	n.runs++
	v.gap = math.NaN()
	var high, low, lost fault
	defer func() {
		t.Helper()
		if high.by > 0 {
			n.high++
			t.Errorf("%s; %s: %v", what, j.name, high.text("dual", "above", best))
		}
		if low.by > 0 {
			n.low++
			t.Errorf("%s; %s: %v", what, j.name, low.text("objective", "below", best))
		}
		if lost.by > 0 {
			n.low++
			t.Errorf("%s; %s: the stated objective is below F(w) %d times, most after pass %d: %.12g, off by %.2g", what, j.name, lost.count, lost.pass, lost.value, lost.by)
		}
	}()
	for range passes {
		if err := train.Pass(ctx, m, p, s); err != nil {
			var infinite *engine.NonFiniteError
			if (!m.Traits().Convex || states.extreme) && errors.As(err, &infinite) { // stochastic gradients with a step that is too long for an offset of 1e6: nothing was certified
				return verdict{gap: math.NaN()}
			}
			return abort("pass %d: %v", s.Passes, err)
		}
		at := *s
		certifier, certifies := m.(train.Certifier)
		for _, certified := range []bool{false, true} {
			if certified {
				if !certifies {
					break
				}
				if err := certifier.Certify(ctx, p, &at, false); err != nil {
					return abort("certificate after pass %d: %v", s.Passes, err)
				}
			}
			if at.Dual > states.lower {
				states.lower = at.Dual
			}
			states.upper = min(states.upper, at.Primal)
			high.note(s.Passes, at.Dual, at.Dual-best.upper)
			low.note(s.Passes, at.Primal, best.lower-at.Primal)
			if states.exact != nil && !certified {
				least, _ := states.exact.at(at.W)
				lost.note(s.Passes, at.Primal, least-at.Primal)
			}
			if err := at.Check(m.Name()); err != nil {
				return abort("%v (the optimum is in [%.12g, %.12g])", err, best.lower, best.upper)
			}
		}
		v.gap = at.Gap() / math.Abs(at.Primal)
		if !math.IsNaN(at.Dual) {
			v.rounded = max(v.rounded, at.Rounding/math.Abs(at.Primal))
		}
		if s.Done {
			break
		}
	}
	v.primal = s.Primal
	v.w = slices.Clone(s.W)
	return v
}

// giveStep gives a method that would measure its step size one, for the quadratic loss, with which they refuse to: the
// largest ‖J_i‖² bounds the curvature of f_i.
func giveStep(t *testing.T, m train.Method, p *train.Problem) {
	t.Helper()
	most := 0.0
	for i, potentials := range jacobians(t, p) {
		total := 0.0
		for _, e := range potentials {
			for _, s := range e.slopes {
				total += s.x * s.x
			}
		}
		most = max(most, p.Data.Weight(i)*total)
	}
	pace := methods.Pace{Lipschitz: most}
	switch m := m.(type) {
	case *methods.SVRG:
		m.Pace = pace
	case *methods.SAGA:
		m.Pace = pace
	case *methods.Casimir:
		m.Pace = pace
	}
}

// tight reports what a run gives away to rounding on a benign problem.
func (n *tally) tight(t *testing.T, what string, j judged, v verdict, x *explicit) {
	t.Helper()
	if v.refused || v.w == nil || math.IsNaN(v.primal) {
		return
	}
	_, f := x.at(v.w)
	if above := (v.primal - f) / math.Abs(f); above > benignRounding || v.rounded > benignRounding {
		n.vacuous++
		t.Errorf("%s; %s: rounding costs %.2g of the objective %.9g above F(w) = %.9g, and %.2g below the dual; expected at most %.2g", what, j.name, above,
			v.primal, f, v.rounded, benignRounding)
	}
}

// at is value of weights in float32.
func (x *explicit) at(w []float32) (low, high float64) {
	to := make([]float64, len(w))
	for j, v := range w {
		to[j] = float64(v)
	}
	return x.value(to)
}

// fault is the worst of one kind in a run.
type fault struct {
	pass, count int
	value, by   float64
}

func (f *fault) note(pass int, value, by float64) {
	if !(by > 0) {
		return
	}
	f.count++
	if by > f.by {
		f.pass, f.value, f.by = pass, value, by
	}
}

func (f *fault) text(end, side string, best *enclosure) string {
	return fmt.Sprintf("%s %s the optimum %d times, most after pass %d: %.12g, the optimum is in [%.12g, %.12g]: off by %.2g, relative %.2g", end, side, f.count, f.pass,
		f.value, best.lower, best.upper, f.by, f.by/math.Abs(best.upper))
}

// loose reports a gap that is not within what is expected of a method on a benign problem.
func (n *tally) loose(t *testing.T, what string, j judged, v verdict, most float64) {
	t.Helper()
	if !v.refused && v.gap > most {
		n.vacuous++
		t.Errorf("%s; %s: relative gap %.3g, expected at most %.3g", what, j.name, v.gap, most)
	}
}

func (n *tally) log(t *testing.T) {
	t.Helper()
	t.Logf("%d runs: %d with a dual above the optimum, %d with an objective below it, %d aborted, %d with a wide gap", n.runs, n.high, n.low, n.aborted, n.vacuous)
}

// benignGap is the relative gap that the best method reaches on a benign problem.
func benignGap(loss engine.Loss) float64 {
	if loss == engine.Hinge {
		return 0.1
	}
	return 1e-3
}

// benignRounding is the most that rounding may cost on a benign problem, at either end, relative to the objective.
const benignRounding = 1e-4

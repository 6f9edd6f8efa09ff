package train_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

// deferring are methods that may leave F unknown, by name, each with a loss.
var deferring = map[string]struct {
	loss engine.Loss
	make func() train.Method
}{
	"sdca":         {engine.CRF, func() train.Method { return &sdca.SDCA{Resync: 7} }},
	"oeg":          {engine.CRF, func() train.Method { return &sdca.SDCA{Online: true} }},
	"oeg, hinge":   {engine.Hinge, func() train.Method { return &sdca.SDCA{Online: true} }},
	"bcfw":         {engine.Hinge, func() train.Method { return &methods.BCFW{} }},
	"bcfw, last":   {engine.Hinge, func() train.Method { return &methods.BCFW{Averaging: methods.NoAverage} }},
	"bcpfw":        {engine.Hinge, func() train.Method { return &methods.BCPFW{} }},
	"bcpfw, cache": {engine.Hinge, func() train.Method { return &methods.BCPFW{CacheLocal: 0.25} }},
}

// eachDeferring runs each method on sparse inputs, as a trainer says whose problem and method are still to be set.
func eachDeferring(t *testing.T, do func(t *testing.T, run func(tr train.Trainer) (*train.Result, []record.Record))) {
	for name, c := range deferring {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, func(tr train.Trainer) (*train.Result, []record.Record) {
				t.Helper()
				tr.Problem = traintest.SparseProblem(40, c.loss, traintest.Entropy, 0.1)
				history := &record.History{}
				tr.Method, tr.Recorders = c.make(), []record.Recorder{history}
				r, err := tr.Run(t.Context(), train.NewState(make([]float32, tr.Problem.Scorer.Dim())))
				if err != nil {
					t.Fatal(err)
				}
				for i := range history.Records {
					history.Records[i].Seconds = 0
				}
				return r, history.Records
			})
		})
	}
}

// known lists the passes with an objective, each of which has a dual value and a gap; others have none of these.
func known(t *testing.T, records []record.Record) (passes []int) {
	t.Helper()
	for _, r := range records {
		has := !math.IsNaN(float64(r.Objective))
		if has {
			passes = append(passes, r.Pass)
		}
		if has == math.IsNaN(float64(r.Dual)) || has == math.IsNaN(float64(r.Gap)) {
			t.Errorf("pass %d: objective %v, dual %v, gap %v", r.Pass, r.Objective, r.Dual, r.Gap)
		}
	}
	return passes
}

// Without a gap to reach, F is computed in every tenth pass and in the last one, and the dual takes the same steps.
func TestLazyRunsComputeFSeldom(t *testing.T) {
	eachDeferring(t, func(t *testing.T, run func(train.Trainer) (*train.Result, []record.Record)) {
		every, all := run(train.Trainer{Passes: 23})
		lazy, some := run(train.Trainer{Passes: 23, Lazy: true})
		if got := known(t, all); len(got) != every.Last.Pass {
			t.Errorf("a run that is not lazy has an objective in passes %v", got)
		}
		want := slices.Compact([]int{min(10, lazy.Last.Pass), min(20, lazy.Last.Pass), lazy.Last.Pass})
		if got := slices.DeleteFunc(known(t, some), func(pass int) bool { return pass == 1 }); !slices.Equal(got, want) { // before the first the dual may be −∞
			t.Errorf("objectives in passes %v, expected %v", got, want)
		}
		if lazy.Last.FullPasses >= every.Last.FullPasses {
			t.Errorf("%d full passes, %d if not lazy", lazy.Last.FullPasses, every.Last.FullPasses)
		}
		if lazy.Last.Pass != every.Last.Pass { // it went on, because it did not look
			lazy, _ = run(train.Trainer{Passes: every.Last.Pass, Lazy: true})
		}
		if a, b := float64(lazy.Last.Dual), float64(every.Last.Dual); math.Abs(a-b) > 1e-6*math.Abs(b) {
			t.Errorf("dual %v, %v if not lazy", a, b)
		}
		if a, b := lazy.Last.RelativeGap(), every.Last.RelativeGap(); !(a <= 1.5*b+1e-6) {
			t.Errorf("relative gap %g, %g if not lazy", a, b)
		}
	})
}

// A lazy run certifies the gap that it is asked for, soon after a run that looks in every pass, and looks less often.
func TestLazyRunsReachTheirGap(t *testing.T) {
	eachDeferring(t, func(t *testing.T, run func(train.Trainer) (*train.Result, []record.Record)) {
		for _, gap := range []float64{0.1, 0.02} {
			every, _ := run(train.Trainer{Passes: 500, Gap: gap})
			lazy, some := run(train.Trainer{Passes: 500, Gap: gap, Lazy: true})
			if !strings.HasPrefix(lazy.Reason, "relative gap") || lazy.Last.RelativeGap() > gap {
				t.Errorf("gap %g after %d passes: %s", lazy.Last.RelativeGap(), lazy.Last.Pass, lazy.Reason)
			}
			if a, b := lazy.Last.Pass, every.Last.Pass; a > b+max(2, b/4) {
				t.Errorf("gap %g after %d passes, %d if F is known in every pass", gap, a, b)
			}
			if got := known(t, some); len(some) > 12 && len(got) > 2*len(some)/3 {
				t.Errorf("gap %g: objectives in passes %v of %d", gap, got, len(some))
			}
		}
	})
}

// A lazy run that is stopped after any pass and resumed goes on with the same bits and ends alike.
func TestLazyRunsResume(t *testing.T) {
	eachDeferring(t, func(t *testing.T, run func(train.Trainer) (*train.Result, []record.Record)) {
		const passes, gap = 14, 0.01
		want, records := run(train.Trainer{Passes: passes, Gap: gap, Lazy: true})
		for stop := 1; stop < want.Last.Pass; stop += 2 {
			dir := t.TempDir()
			if r, _ := run(train.Trainer{Passes: stop, Gap: gap, Lazy: true, Checkpoint: newCheckpoint(t, dir)}); r.Last.RelativeGap() <= gap {
				continue // since the last pass always looks, which the whole run did not do here
			}
			got, rest := run(train.Trainer{Passes: passes, Gap: gap, Lazy: true, Checkpoint: openCheckpoint(t, dir)})
			if !slices.Equal(got.W, want.W) {
				t.Errorf("stopped after pass %d: other weights", stop)
			}
			if a, b := asJSON(t, rest), asJSON(t, records[stop:]); a != b {
				t.Errorf("stopped after pass %d: records\n%s\nwant\n%s", stop, a, b)
			}
		}
	})
}

// The objective of the pass that is best on development data is known at the end, and that of a pass which runs out of
// patience.
func TestLazyRunsKnowWhatTheyKeep(t *testing.T) {
	eachDeferring(t, func(t *testing.T, run func(train.Trainer) (*train.Result, []record.Record)) {
		pass := 0
		dev := func(context.Context, []float32) (dev, test *structured.Metrics, err error) {
			pass++
			return tokenError(math.Abs(float64(pass) - 3)), nil, nil
		}
		r, records := run(train.Trainer{Passes: 30, Patience: 2, Lazy: true, Evaluate: dev})
		if r.Best.Pass != 3 || r.Last.Pass != 5 || len(records) != 5 {
			t.Fatalf("best pass %d, last pass %d of %d: %s", r.Best.Pass, r.Last.Pass, len(records), r.Reason)
		}
		for name, x := range map[string]record.Record{"best": r.Best, "last": r.Last} {
			if !(x.Objective > 0) || !(x.Gap >= 0) || !(x.Gap <= x.Objective) {
				t.Errorf("%s pass: objective %v, dual %v, gap %v", name, x.Objective, x.Dual, x.Gap)
			}
		}
		if got := known(t, records); got[len(got)-1] != 5 {
			t.Errorf("objectives in passes %v, expected the last one", got)
		}
		for k, x := range records {
			if x.Dev == nil {
				t.Errorf("pass %d is not measured on development data", k+1)
			}
		}
	})
}

// Where the allowance for rounding is larger than the gap that is asked for, the run says so and ends.
func TestLazyRunsEndAtRounding(t *testing.T) {
	for _, name := range []string{"sdca", "bcpfw"} {
		p := traintest.SparseProblem(40, deferring[name].loss, traintest.Entropy, 1)
		p.Center = make([]float32, p.Scorer.Dim()) // with a prior no certificate is in float64
		trainer := &train.Trainer{Problem: p, Method: deferring[name].make(), Passes: 400, Gap: 1e-6, Lazy: true}
		r, err := trainer.Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("relative gap %.2g reached; rounding hides what is below", r.Last.RelativeGap()); !strings.HasPrefix(r.Reason, want) || r.Last.Pass > 200 {
			t.Errorf("%s, %d passes: %s, expected %s", name, r.Last.Pass, r.Reason, want)
		}
	}
}

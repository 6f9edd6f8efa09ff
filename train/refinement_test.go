package train_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// Rounding in float32 hides a gap of 1e-6 from certificates of long chains with weak regularisation. Runs reach it, and
// more, in float64; those with a wide target stay in float32. A run that ends and goes on has the same bits.
func TestNarrowTargets(t *testing.T) {
	problem := func() *train.Problem { return traintest.AttributeProblem(t, 60, 40, 6, 0, engine.CRF, 0.003) }
	for _, c := range []struct {
		name string
		make func() train.Method
	}{
		{"sdca", func() train.Method { return &sdca.SDCA{} }},
		{"oeg", func() train.Method { return &sdca.SDCA{Online: true} }},
		{"lbfgs", func() train.Method { return &quasinewton.LBFGS{} }},
		{"owl-qn", func() train.Method { return &quasinewton.OWLQN{} }},
		{"agm", func() train.Method { return &methods.AGM{} }},
	} {
		run := func(gap float64, passes int, checkpoint *train.Checkpoint) (*train.Result, *train.Problem) {
			p := problem()
			s := train.NewState(make([]float32, p.Scorer.Dim()))
			r, err := (&train.Trainer{Problem: p, Method: c.make(), Passes: passes, Gap: gap, Lazy: true, Checkpoint: checkpoint}).Run(t.Context(), s)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			return r, p
		}
		if _, p := run(1e-2, 300, nil); p.Doubles() {
			t.Errorf("%s: float64 for a gap of 1e-2", c.name)
		}
		target := 2e-6
		whole, p := run(target, 600, nil)
		if !p.Doubles() || !strings.Contains(whole.Reason, "reached") || whole.Last.RelativeGap() > target {
			t.Errorf("%s: relative gap %.3g after %d passes, %s; float64: %v", c.name, whole.Last.RelativeGap(), whole.Last.Pass, whole.Reason, p.Doubles())
		}
		dir := t.TempDir()
		checkpoint, err := train.NewCheckpoint(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		run(target, whole.Last.Pass*4/5, checkpoint)
		if checkpoint, err = train.OpenCheckpoint(dir, nil); err != nil {
			t.Fatal(err)
		}
		again, p := run(target, 600, checkpoint)
		if !slices.Equal(again.W, whole.W) || again.Last.Gap != whole.Last.Gap || again.Last.Pass != whole.Last.Pass || !p.Doubles() {
			t.Errorf("%s: a resumed run ends after pass %d with the gap %.9g, a whole one after %d with %.9g", c.name, again.Last.Pass, float64(again.Last.Gap), whole.Last.Pass, float64(whole.Last.Gap))
		}
	}
}

package methods

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/traintest"
)

// Methods for nonconvex objectives learn to read lines whose frames have no gold labels, and the other methods say why
// they do not.
func TestLearningToTranscribe(t *testing.T) {
	p := traintest.TranscriptProblem(60, 1./60)
	error := func(w []float32) float64 {
		worker, oracle := p.Scorer.NewWorker(), p.Kind().Oracle()
		var batch structured.Batch
		var θ structured.Potentials
		var e transcripts.Evaluator
		for i := range p.Len() {
			batch.Reset(p.Data, []int{i})
			if err := worker.Score(w, &batch, &θ); err != nil {
				t.Fatal(err)
			}
			y := make([]int32, p.Data.Length(i))
			oracle.Max(&θ, y, make([]float64, 1))
			e.Add(p.Data.Readings[i], transcripts.Read(nil, y))
		}
		return e.Metrics().CER
	}
	for _, m := range []train.Method{&SGD{}, &Adam{}, &ProxLinear{}, &quasinewton.LBFGS{}} {
		s := traintest.Start(t, m, p)
		before := math.Inf(1)
		for range 25 {
			traintest.Passes(t, m, p, s, 1)
			switch m.(type) {
			case *ProxLinear, *quasinewton.LBFGS:
				if s.Primal > before {
					t.Errorf("%s: F rose from %g to %g", m.Name(), before, s.Primal)
				}
			}
			before = s.Primal
		}
		if !math.IsNaN(s.Dual) {
			t.Errorf("%s: a dual value, %g, of what is not convex", m.Name(), s.Dual)
		}
		if got := error(s.W); got > 0.2 {
			t.Errorf("%s: F %.4g, character error %.3f", m.Name(), s.Primal, got)
		} else {
			t.Logf("%s: F %.4g, character error %.3f", m.Name(), s.Primal, got)
		}
	}
	for _, m := range append(convexMethods(), &BCFW{}, &BCPFW{}) {
		s := train.NewState(make([]float32, p.Scorer.Dim()))
		err := m.Start(t.Context(), p, s)
		if !structured.IsBadInput(err) {
			t.Errorf("%s: %v, want a refusal", m.Name(), err)
		} else if strings.Contains(err.Error(), "gold labels") && !strings.Contains(err.Error(), "which frame shows which symbol") {
			t.Errorf("%s: %v does not say what is not known", m.Name(), err)
		}
	}
}

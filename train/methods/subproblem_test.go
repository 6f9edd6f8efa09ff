package methods

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Certificates of a subproblem are rounded by the potentials at its centre, which moves: its bounds do not depend on
// where the problem was posed before, as it was not after a resume.
func TestSubproblemForgetsItsCentres(t *testing.T) {
	none := oracles.Smoothing{}
	for name, p := range map[string]*train.Problem{
		"dense": linearNetProblem(t, nets.EdgesTransition), "sparse": traintest.SparseProblem(20, engine.CRF, none, 0.1),
	} {
		w := make([]float32, p.Scorer.Dim())
		for j := range w {
			w[j] = float32(j%7-3) * 100
		}
		bound := func(earlier ...[]float32) float64 {
			s := &subproblem{}
			if err := s.begin(p); err != nil {
				t.Fatal(err)
			}
			pass := &engine.FullPass{}
			for _, at := range append(earlier, w) {
				err := s.pose(t.Context(), at, 1, none, 0)
				if err == nil {
					pass, err = s.FullPass(t.Context(), at, none, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return pass.Rounded
		}
		fresh, moved := bound(), bound(make([]float32, len(w)))
		if fresh != moved {
			t.Errorf("%s: rounding is charged %g at a point, and %g if the problem was at another one before", name, fresh, moved)
		}
	}
}

package foreign

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

var notScores = []float32{notANumber, float32(math.Inf(1)), 1e31, -1e31}

// Of potentials that are no numbers, every structure answers with an output that a caller can use, and says NaN.
func TestBestOutputOfNaN(t *testing.T) {
	for _, kind := range registry.All {
		if _, second := kind.Structure.(chains.Second); second {
			kind.Small = smallSecond
		}
		tree, _ := kind.Structure.(trees.SpanningTree)
		for _, roots := range []bool{false, true} {
			if roots && (tree == trees.SpanningTree{Siblings: true} || kind.Structure.Name() != tree.Name()) {
				continue
			}
			name, seen := kind.Name(), 0
			for seed := range uint64(30) {
				r := rand.New(rand.NewPCG(seed, 3))
				wrong := kind.Small(r)
				for k := range wrong.Parts {
					x := wrong.Parts[k].Values
					for i := range x {
						if x[i] = float32(r.NormFloat64()); r.IntN(6) == 0 {
							x[i] = forbidden
						}
					}
					if len(x) > 0 {
						x[r.IntN(len(x))] = notScores[r.IntN(len(notScores))]
					}
				}
				seen += checkStandIns(t, name, wrong, roots)
			}
			if seen < 20 {
				t.Errorf("%s: %d examples whose potentials are not valid", name, seen)
			}
		}
	}
}

// checkStandIns returns how many examples it has checked.
func checkStandIns(t *testing.T, name string, wrong *structured.Potentials, roots bool) (seen int) {
	t.Helper()
	zero := new(structured.Potentials)
	zero.Copy(wrong)
	for k := range zero.Parts {
		for i, x := range zero.Parts[k].Values {
			if !structured.ValidPotentials([]float32{x}) {
				zero.Parts[k].Values[i] = 0
			}
		}
	}
	b, values := (&asked{roots: roots}).batch(wrong)
	y, value := make([]int32, b.Numbers()), make([]float64, b.Len())
	if _, err := b.Max(values, Run{}, y, value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	top, score, count := make([]int32, 2*b.Numbers()), make([]float64, 2*b.Len()), make([]int, b.Len())
	if b.form.Description.Ranks {
		if _, err := b.TopK(values, Run{}, 2, top, score, count); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	check := func(e int, y []int32) {
		best, any := math.Inf(-1), false
		for _, o := range oracletest.Enumerate(zero, e) {
			best, any = max(best, o.Score), true
		}
		if !any || math.IsInf(best, -1) { // nothing is allowed
			return
		}
		seen++
		if err := b.form.output(example{b, e, len(y)}, y); err != nil {
			t.Errorf("%s: the best output of %v is none: %v", name, y, err)
		}
		switch got := zero.Score(e, y); {
		case b.form.Settings.Inference == "cut" || !b.form.Description.Exact: // edges that do not favour equal labels have bounds
		case roots && got < best-1e-5: // of trees with one root
			t.Errorf("%s: %v has the score %g, and another tree %g", name, y, got, best)
		case !roots:
			oracletest.Near(t, name, got, best, 1e-5)
		}
	}
	for e := range b.Len() {
		lo, hi := b.outputs[e], b.outputs[e+1]
		if math.IsNaN(value[e]) {
			check(e, y[lo:hi])
		}
		if count[e] > 0 && math.IsNaN(score[2*e]) {
			check(e, top[2*lo:][:hi-lo])
		}
	}
	return seen
}

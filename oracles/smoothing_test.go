package oracles_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

func TestKindNames(t *testing.T) {
	for _, k := range []oracles.Kind{oracles.None, oracles.L2, oracles.Entropy} {
		if got, err := oracles.ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := oracles.ParseKind("l3"); !structured.IsBadInput(err) {
		t.Errorf("ParseKind of nonsense: %v", err)
	}
}

// Oracles with fewer capabilities than the oracle of chains.
type (
	maximiser struct{}
	ranker    struct{ maximiser }
	summer    struct{ maximiser }
)

func (maximiser) Max(*structured.Potentials, []int32, []float64) {}

func (ranker) TopK(*structured.Potentials, int, *oracles.KBest) {}

func (summer) Exp(*structured.Potentials, float64, []float64, *structured.Marginals) {}

// Check refuses a smoothing that the oracle cannot support, and says what the oracle supports.
func TestSmoothingCheck(t *testing.T) {
	const sums, best = "entropy smoothing needs sums over all outputs, which the oracle of a lattice does not compute",
		"l2 smoothing needs the K best outputs"
	for _, test := range []struct {
		o    oracles.Maximiser
		want [3]string // for none, l2 and entropy; empty: no error
	}{
		{maximiser{}, [3]string{"", best, sums + "; it supports only the max itself"}},
		{ranker{}, [3]string{"", "", sums + "; it supports l2"}},
		{summer{}, [3]string{"", best, ""}},
	} {
		for kind, want := range test.want {
			err := oracles.Smoothing{Kind: oracles.Kind(kind), Mu: 1}.Check(test.o, "lattice")
			if want == "" && err != nil || want != "" && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%T, %v: got %v, want %q", test.o, oracles.Kind(kind), err, want)
			}
		}
	}
}

// sureOf is an oracle that is sure of lists of some length, and knows a bound for longer ones.
type sureOf struct {
	oracles.Ranker
	length int
	asked  *int
}

func (o sureOf) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	*o.asked = k
	o.Ranker.TopK(θ, k, best)
}

func (o sureOf) Bound(int) (upper float64, exact bool) { return 0.5, *o.asked <= o.length }

// An answer that needs longer lists of best outputs is as sure as the longest of them, not as the first.
func TestAnswersAreAsSureAsTheirLongestList(t *testing.T) {
	for length, sure := range map[int]bool{5: false, 1000: true} {
		θ := new(structured.Potentials)
		chains.Resize(θ, []int{0, 3}, 3, false) // all 27 outputs are equally good, and all get weight
		var a oracles.Answer
		oracles.Smoothing{Kind: oracles.L2, Mu: 10}.Answer(sureOf{chain.New(), length, new(int)}, θ, &a, true)
		most := 0.0
		if !sure {
			most = 0.5
		}
		if a.Exact[0] != sure || a.Max[0] != most {
			t.Errorf("sure of %d outputs: exact %v, at most %g", length, a.Exact[0], a.Max[0])
		}
	}
}

// Potentials that are not valid make those examples invalid that have them: all, where examples share them.
func TestGuard(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		node, edge float32
		want       [2]bool
	}{{1, 1, [2]bool{true, true}}, {nan, 1, [2]bool{true, false}}, {1, nan, [2]bool{false, false}}} {
		θ := new(structured.Potentials)
		chains.Resize(θ, []int{0, 2, 4}, 2, false)
		θ.Parts[0].Of(1)[0] = c.node
		θ.Parts[1].Values[0] = c.edge
		var g oracles.Guard
		g.Begin(θ)
		if got := [2]bool{g.Valid(θ, 0), g.Valid(θ, 1)}; got != c.want {
			t.Errorf("node %g, shared edge %g: valid %v, expected %v", c.node, c.edge, got, c.want)
		}
	}
}

package selftest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// garbled is an oracle with one slightly wrong answer.
type garbled struct {
	oracles.Oracle
	question string
}

func (g garbled) Max(θ *structured.Potentials, y []int32, value []float64) {
	g.Oracle.Max(θ, y, value)
	if g.question == "max" {
		value[0] += 0.01
	}
}

func (g garbled) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	g.Oracle.TopK(θ, k, best)
	if (g.question == "top-K" || g.question == "l2 smoothing") && best.Count[0] > 1 {
		best.Count[0]--
	}
}

func (g garbled) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	g.Oracle.Exp(θ, μ, value, u)
	if last := u.Parts[len(u.Parts)-1].Of(0); g.question == "exp" && len(last) > 0 {
		last[0] += 0.01
	}
}

// Every kind's oracle passes all of its checks, and fails each check whose answer is garbled.
func TestEveryKindIsCheckedAgainstEnumeration(t *testing.T) {
	for _, kind := range registry.All {
		right := kind.Oracle()
		if relaxed(right) {
			continue
		}
		for _, question := range []string{"max", "top-K", "l2 smoothing", "exp"} {
			t.Run(kind.Name()+"/"+question, func(t *testing.T) {
				if _, ranks := right.(oracles.Ranker); !ranks && (question == "top-K" || question == "l2 smoothing") {
					t.Skip("the oracle does not rank outputs")
				}
				if _, sums := right.(oracles.Summer); !sums && question == "exp" {
					t.Skip("the oracle does not sum over outputs")
				}
				if found, ok := check(t, kind, question); !ok {
					t.Errorf("the oracle fails: %s", found)
				}
				all, ok := right.(oracles.Oracle)
				if !ok {
					t.Skip("garbled needs an oracle with every answer")
				}
				wrong := kind
				wrong.Oracle = func() oracles.Maximiser { return garbled{all, question} }
				if _, ok := check(t, wrong, question); ok {
					t.Error("a wrong oracle passes")
				}
			})
		}
	}
}

// check runs one check of a kind's oracle.
func check(t *testing.T, kind registry.Kind, question string) (found string, ok bool) {
	for _, c := range kindChecks(kind) {
		if strings.HasPrefix(c.Name, kind.Name()+" "+question+" vs") {
			r := c.Do(t.Context(), 1)
			return r.Found, r.OK
		}
	}
	t.Fatalf("no check of %s %s", kind.Name(), question)
	return "", false
}

// Small batches have allowed and forbidden outputs, and outputs that tie.
func TestSmallBatchesVary(t *testing.T) {
	for _, kind := range registry.All {
		r := rand.New(rand.NewPCG(1, 0))
		var none, some, ties int
		for range instances {
			θ := drawSmall(kind, r)
			for b := range θ.Len() {
				all := enumerate(θ, b)
				switch {
				case len(all) == 0:
					none++
				case len(all) > 1 && all[0].score == all[1].score:
					ties++
				default:
					some++
				}
			}
		}
		if none == 0 || some == 0 || ties == 0 {
			t.Errorf("%s: %d examples without outputs, %d with a best one, %d with ties", kind.Name(), none, some, ties)
		}
	}
}

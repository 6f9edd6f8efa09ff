package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// copies is how often each example is there, so that every rank has some. The mean loss is the same.
const copies = 200

// What several ranks certify together holds as well. Methods that divide dual variables among ranks take other steps
// than one process does, and charge what each rank has found.
func TestRanks(t *testing.T) {
	divided := append(pick("lbfgs", "owl-qn", "svrg", "casimir", "fw", "cutting-plane", "n-slack", "sdca", "oeg", "bcpfw", "bcpfw, cache"),
		judged{"bcfw, divided", func() train.Method { return &methods.BCFW{Divide: true} }, nil})
	count, least := 8, 8 // cells at most, and runs at least; of some cells few methods take what they ask
	if os.Getenv("DSP_LONG") != "" {
		count, least = 400, math.MaxInt
	}
	n, ran := &tally{}, map[string]int{}
	for _, c := range some(seeds.Draw(t), count, func(c cell) bool {
		return !c.extreme() && c.terms != "tangent" && c.terms != "teacher" && c.loss != engine.Quadratic && c.nasty != "duplicates"
	}) {
		if n.runs >= least {
			break
		}
		p := c.problem(t)
		best := list(t, p).minimise()
		var repeated []int
		for k := range copies * p.Len() {
			repeated = append(repeated, k%p.Len())
		}
		for _, j := range divided {
			q := j.of(p)
			if q == nil {
				continue
			}
			if !trainable(t, j.make(), q) {
				continue
			}
			for _, size := range []int{2, 3} {
				what := fmt.Sprintf("%v; %s, %d ranks", c, j.name, size)
				stated := make([][2]float64, size) // the largest dual and the least objective of each rank
				err := rankstest.InProcess(t.Context(), size, func(ctx context.Context, g ranks.Group) error {
					o := *q.Objective
					o.Data = q.Data.Subset(repeated)
					r := &train.Problem{Engine: engine.NewEngine(&o, 1), Smoothing: q.Smoothing, Seed: q.Seed}
					if err := r.Join(g); err != nil {
						return err
					}
					lower, upper, err := statements(ctx, j.make(), r)
					stated[g.Rank()] = [2]float64{lower, upper}
					return err
				})
				var infinite *engine.NonFiniteError
				if errors.Is(err, engine.ErrFewStrands) || j.name == "oeg" && errors.As(err, &infinite) { // whose ranks step too far together where weights and inputs are 1e6: it says so
					continue
				}
				if err != nil {
					n.aborted++
					t.Errorf("%s: %v", what, err)
					continue
				}
				n.runs++
				ran[j.name]++
				for r, of := range stated {
					if of != stated[0] {
						t.Errorf("%s: rank %d states %v, rank 0 %v", what, r, of, stated[0])
					}
				}
				if lower := stated[0][0]; lower > best.upper {
					n.high++
					t.Errorf("%s: a dual of %.12g, the optimum is in [%.12g, %.12g]", what, lower, best.lower, best.upper)
				}
				if upper := stated[0][1]; upper < best.lower {
					n.low++
					t.Errorf("%s: an objective of %.12g, the optimum is in [%.12g, %.12g]", what, upper, best.lower, best.upper)
				}
			}
		}
	}
	n.log(t)
	t.Log(ran)
	if n.runs < min(least, 400) {
		t.Errorf("%d runs", n.runs)
	}
}

// statements returns the largest dual and the least objective that a run of a few passes states, and what it would
// certify then.
func statements(ctx context.Context, m train.Method, p *train.Problem) (lower, upper float64, err error) {
	lower, upper = math.Inf(-1), math.Inf(1)
	note := func(s *train.State) {
		if s.Dual > lower {
			lower = s.Dual
		}
		upper = min(upper, s.Primal)
	}
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	if err := m.Start(ctx, p, s); err != nil {
		return 0, 0, err
	}
	for range 12 {
		if err := train.Pass(ctx, m, p, s); err != nil {
			return 0, 0, err
		}
		note(s)
		if certifier, certifies := m.(train.Certifier); certifies {
			at := *s
			if err := certifier.Certify(ctx, p, &at, false); err != nil {
				return 0, 0, err
			}
			note(&at)
		}
		if s.Done {
			break
		}
	}
	return lower, upper, nil
}

package query

import (
	"context"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// Questions, by the names of the UAI competitions' tasks.
const (
	MAP = "map" // the best assignment
	PR  = "pr"  // log Z
	MAR = "mar" // the marginals of all variables, and log Z
)

// Names of oracles.
const (
	Auto     = "auto"
	Tree     = "tree"
	Cut      = "cut"
	Junction = "junction"
	Search   = "search"
	Relaxed  = "relaxed"
)

// Settings say how to answer.
type Settings struct {
	Oracle string  // one of the names above
	Table  float64 // the most entries of a junction tree, and of the tables of Search together
	Bucket float64 // the most entries of a mini-bucket
	Passes int     // the most passes of Relaxed
	Gap    float64 // Search and Relaxed stop where the bound is above the value by this part of it
	Seed   uint64  // of Search

	Report func(*Answer) // hears of what Search has found so far; may be nil
	Decide func(string)  // hears why Auto passes over an oracle, when it does; may be nil
}

func (s *Settings) report(a *Answer) {
	if s.Report != nil {
		s.Report(a)
	}
}

// Answer is what an oracle found. Values are natural logarithms, −∞ for probability 0.
type Answer struct {
	Oracle    string
	Exact     bool    // Value is the best value or log Z, up to rounding
	Value     float64 // of States; for PR and MAR log Z, or a lower bound of it
	Bound     float64 // at least the best value or log Z
	Width     int     // of the junction tree
	States    []int   // of MAP
	Marginals [][]float64
	Rounding  float64 // by which an exact Value may be off
	Doing     string  // what runs
	Nodes     int     // of a search
}

// Gap returns how far the bound is above the value: 0 if both are −∞, and where only rounding puts the value above.
func (a *Answer) Gap() float64 {
	if a.Value >= a.Bound {
		return 0
	}
	return a.Bound - a.Value
}

// Solve answers a question about a model. Where the context ends before there is an exact answer, the answer is what is known then. The error says what keeps
// the oracle that was asked for from answering.
func Solve(ctx context.Context, m *factors.Model, question string, s Settings) (*Answer, error) {
	if s.Oracle != Auto {
		return by(ctx, s.Oracle, m, question, s)
	}
	for _, oracle := range []string{Tree, Cut, Junction} {
		if oracle == Cut && question != MAP {
			continue
		}
		a, err := by(ctx, oracle, m, question, s)
		if err == nil {
			return a, nil
		}
		if s.Decide != nil {
			s.Decide(oracle + ": " + err.Error())
		}
	}
	a, err := by(ctx, Search, m, question, s)
	if err != nil {
		return nil, fmt.Errorf("no oracle fits; %s: %w", Search, err)
	}
	return a, nil
}

func by(ctx context.Context, oracle string, m *factors.Model, question string, s Settings) (*Answer, error) {
	switch oracle {
	case Tree:
		plan, err := junction.NewForest(m)
		if err != nil {
			return nil, err
		}
		return exact(Tree, m, plan, question)
	case Cut:
		return byCut(m, question)
	case Junction:
		plan, entries := junction.PlanWithin(m, s.Table)
		if plan == nil {
			return nil, fmt.Errorf("the tables of the junction tree have %.3g entries or more (%.3g GiB), above the limit of %.3g (--max-table)", entries, 8*entries/(1<<30), s.Table)
		}
		return exact(Junction, m, plan, question)
	}
	if question == MAP && oracle == Search {
		return searchBest(ctx, m, s), nil
	}
	if question == MAP {
		return relaxedBest(m, s), nil
	}
	a, err := relaxedSum(m, s)
	if err == nil && question == PR {
		a.Marginals = nil
	}
	return a, err
}

func exact(oracle string, m *factors.Model, plan *junction.Plan, question string) (*Answer, error) {
	if err := host.CheckMemory("the tables of the junction tree", 8*plan.Entries); err != nil {
		return nil, err
	}
	a, t := &Answer{Oracle: oracle, Exact: true, Width: plan.Width}, junction.NewTree(m, plan)
	switch question {
	case MAP:
		a.States, a.Value = t.Max()
	case PR:
		a.Value = t.Sum()
	default:
		a.Value, a.Marginals = t.Marginals()
	}
	a.Bound = a.Value
	return a, nil
}

func byCut(m *factors.Model, question string) (*Answer, error) {
	if question != MAP {
		return nil, fmt.Errorf("cuts find the best assignment only: %s", cut.New().WhyNoSums())
	}
	states, err := cut.Solve(m)
	if err != nil {
		return nil, err
	}
	a := &Answer{Oracle: Cut, Exact: true, States: states, Value: math.Inf(-1)}
	if states != nil {
		a.Value = m.Value(states)
	}
	a.Bound = a.Value
	return a, nil
}

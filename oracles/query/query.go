// Package query answers questions about a factor graph by the oracle that is asked for, or by the cheapest exact one
// that fits it:
//
//	tree      exact, for graphs without loops: the tables of a junction tree are those of the factors
//	cut       exact, best assignment only: one minimum cut, for variables of two states and factors that favour equal ones
//	junction  exact; its tables grow exponentially with the width of the graph
//	search    at any time an answer and how good it is, in the end exact: branch and bound for the best assignment, conditioning for sums
//	relaxed   bounds for every graph: reweighted messages for the best assignment, mini-buckets and a mean field for sums
package query

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
	"github.com/dsp-go/dsp/oracles/minibucket"
	"github.com/dsp-go/dsp/structured/sys/host"
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
	// hears of decisions when they are made: why Auto passes over an oracle, what an exact one will need; may be nil
	Decide func(string)
}

func (s *Settings) decide(what string) {
	if s.Decide != nil {
		s.Decide(what)
	}
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
	Estimate  float64 // of log Z, from Value to Bound: Value where the answer is exact
	Deviation float64 // standard error of Estimate in nats; +∞ where it is only a bound
	Width     int     // of the junction tree
	States    []int   // of MAP
	Marginals [][]float64
	Rounding  float64 // by which an exact Value may be off
	Doing     string  // what runs
	Nodes     int     // of a search

	drawn float64 // the estimate of sampling alone
}

// Gap returns how far the bound is above the value: 0 if both are −∞, and where only rounding puts the value above.
func (a *Answer) Gap() float64 {
	if a.Value >= a.Bound {
		return 0
	}
	return a.Bound - a.Value
}

// estimate takes what a sampler says of log Z if that is surer than what is known, and its best assignment's value for
// a lower bound.
func (a *Answer) estimate(s *minibucket.Sampler) {
	if _, value := s.Best(); value > a.Value {
		a.Value = value
	}
	if log, deviation := s.Estimate(); deviation < a.Deviation {
		a.drawn, a.Deviation = log, deviation
	}
	a.settle()
}

// settle keeps the estimate between the bounds. Without one it is the upper bound.
func (a *Answer) settle() {
	if a.Value = min(a.Value, a.Bound); a.Exact {
		a.Estimate, a.Deviation = a.Value, 0
		return
	}
	a.Estimate = a.Bound
	if !math.IsInf(a.Deviation, 1) {
		a.Estimate = max(a.Value, min(a.drawn, a.Bound))
	}
}

// Within reports whether the answer is exact, or gap > 0 and the bound is above the value by at most this part of the
// value. What rounding the tables of an exact answer may change is no gap.
func (a *Answer) Within(gap float64) bool {
	return a.Exact || gap > 0 && a.Gap() <= gap*math.Abs(a.Value)+a.Rounding
}

// grace is how long an oracle may take to notice that its context ended; then Solve answers with what it told last.
// Tests change it.
var grace = time.Second

// direct is the most entries of a junction tree that Auto builds before it has any other answer: they take a moment.
const direct = 1 << 22

// Solve answers a question about a model. Where the context ends before there is an exact answer, the answer is what is
// known then; it is an error where nothing is. The error says otherwise what keeps the oracle that was asked for from
// answering.
func Solve(ctx context.Context, m *factors.Model, question string, s Settings) (*Answer, error) {
	type result struct {
		a   *Answer
		err error
	}
	var lock sync.Mutex
	var known *Answer
	report := s.Report
	s.Report = func(a *Answer) {
		lock.Lock()
		defer lock.Unlock()
		if known = a; report != nil && ctx.Err() == nil {
			report(a)
		}
	}
	done := make(chan result, 1)
	go func() {
		var r result
		if err := host.Guard(func() error {
			r.a, r.err = solve(m, question, s, func() bool { return ctx.Err() != nil })
			return nil
		}); err != nil {
			r.err = err
		}
		done <- r
	}()
	select {
	case r := <-done:
		return r.a, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.a, r.err
	case <-time.After(grace):
	}
	lock.Lock()
	defer lock.Unlock()
	if known == nil {
		return nil, ctx.Err()
	}
	a := *known
	if question == PR {
		a.Marginals = nil
	}
	return &a, nil
}

// solve is Solve with a question whether to stop instead of a context.
func solve(m *factors.Model, question string, s Settings, stop func() bool) (*Answer, error) {
	if s.Oracle != Auto {
		return by(s.Oracle, m, question, s, stop)
	}
	for _, oracle := range []string{Tree, Cut, Junction} {
		if oracle == Cut && question != MAP {
			continue
		}
		if oracle == Junction && question == MAP {
			// Search eliminates as well, and knows something all the while.
			if plan, entries := junction.PlanWithin(m, min(s.Table, direct)); plan == nil && entries <= s.Table {
				s.decide(fmt.Sprintf("auto passes over %s: its tables have %.3g entries or more (%.3g GiB), and search knows an "+
					"answer while it fills them", oracle, entries, 8*entries/(1<<30)))
				continue
			}
		}
		a, err := by(oracle, m, question, s, stop)
		if err == nil {
			return a, nil
		}
		s.decide("auto passes over " + oracle + ": " + err.Error())
	}
	a, err := by(Search, m, question, s, stop)
	if err != nil {
		return nil, fmt.Errorf("no oracle fits; %s: %w", Search, err)
	}
	return a, nil
}

func by(oracle string, m *factors.Model, question string, s Settings, stop func() bool) (*Answer, error) {
	var a *Answer
	var err error
	switch oracle {
	case Tree:
		plan, err := junction.NewForest(m)
		if err != nil {
			return nil, err
		}
		return exact(Tree, m, plan, question, s)
	case Cut:
		return byCut(m, question)
	case Junction:
		plan, entries := junction.PlanWithin(m, s.Table)
		if plan == nil {
			return nil, fmt.Errorf("the tables of the junction tree have %.3g entries or more (%.3g GiB), "+
				"above the limit of %.3g", entries, 8*entries/(1<<30), s.Table)
		}
		if plan.Entries > direct { // it takes long: know something before
			quick := s
			quick.Passes, quick.Report = min(s.Passes, together), nil
			if a, err := by(Relaxed, m, question, quick, stop); err == nil {
				a.Doing = "junction tree"
				s.report(a)
			}
		}
		return exact(Junction, m, plan, question, s)
	case Search:
		if question == MAP {
			return searchBest(m, s, stop), nil
		}
		a, err = searchSum(m, question, s, stop)
	default:
		if question == MAP {
			return relaxedBest(m, s, stop), nil
		}
		a, err = relaxedSum(m, s, stop)
	}
	if err == nil && question == PR {
		a.Marginals = nil
	}
	return a, err
}

func exact(oracle string, m *factors.Model, plan *junction.Plan, question string, s Settings) (*Answer, error) {
	if err := host.CheckMemory("the tables of the junction tree", 8*plan.Entries); err != nil {
		return nil, err
	}
	s.decide(fmt.Sprintf("%s: %.3g table entries, width %d", oracle, plan.Entries, plan.Width))
	a, t := &Answer{Oracle: oracle, Exact: true, Width: plan.Width}, junction.NewTree(m, plan)
	switch question {
	case MAP:
		a.States, a.Value = t.Max()
	case PR:
		a.Value = t.Sum()
	default:
		a.Value, a.Marginals = t.Marginals()
	}
	a.Bound, a.Estimate = a.Value, a.Value
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

package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/branching"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/minibucket"
)

// searchBest looks for the best assignment until it is proven, or the gap is as small as asked for, or stop says so.
func searchBest(m *factors.Model, s Settings, stop func() bool) *Answer {
	limits := branching.Settings{Entries: s.Table, Seed: s.Seed, Gap: s.Gap}
	translate := func(b *branching.Answer) *Answer {
		return &Answer{Oracle: Search, Exact: b.Proven, Value: b.Value, Bound: b.Bound, Width: b.Width, States: b.States,
			Rounding: b.Error, Doing: b.Doing, Nodes: b.Nodes}
	}
	return translate(branching.New(m, limits).Solve(limits, stop, func(b *branching.Answer) { s.report(translate(b)) }))
}

// Of sums.
const (
	guide       = 200     // how often per variable the search for an assignment may ask whether to stop
	guided      = 1 << 20 // entries of its tables
	nearBest    = 1e-3    // the gap where it ends
	bucketsGrow = 8       // by what tables grow where a round has not settled the sum
	visitsFor   = 64      // entries that a pass computes in the time of a node's visit
	quickly     = 64      // entries of the tables of the first estimate
	visitsAt    = 64      // nodes that are visited between two reports
)

// searchSum bounds log Z from both sides, ever closer: rounds of mini-buckets with larger tables, after each of which
// loops are cut by conditioning for about as long as the tables took. An assignment that is allowed, and a mean field,
// keep the lower bound above −∞. States that no allowed assignment has are left out.
func searchSum(m *factors.Model, question string, s Settings, stop func() bool) (*Answer, error) {
	kept := branching.Possible(m, stop)
	if kept == nil {
		return nothing(m), nil
	}
	report := s.Report
	whole := func(a *Answer) *Answer {
		b := *a
		b.settle()
		b.Marginals = nil
		for v, p := range a.Marginals {
			q := make([]float64, m.States[v])
			for k, x := range p {
				q[kept[v][k]] = x
			}
			b.Marginals = append(b.Marginals, q)
		}
		return &b
	}
	s.Report = func(a *Answer) {
		if report != nil {
			report(whole(a))
		}
	}
	a, err := sumOf(m.Keep(kept), question, s, stop)
	if err != nil {
		return nil, err
	}
	return whole(a), nil
}

// nothing answers for a model all of whose assignments are forbidden.
func nothing(m *factors.Model) *Answer {
	a := &Answer{Oracle: Search, Exact: true, Value: math.Inf(-1), Bound: math.Inf(-1), Estimate: math.Inf(-1)}
	for _, n := range m.States {
		a.Marginals = append(a.Marginals, make([]float64, n))
	}
	return a
}

// sumOf is searchSum for a model whose states may all be possible.
func sumOf(m *factors.Model, question string, s Settings, stop func() bool) (*Answer, error) {
	slack := rounding(m)
	a := &Answer{Oracle: Search, Value: math.Inf(-1), Bound: anyBound(m) + slack, Deviation: math.Inf(1)}
	asked := 0
	if size := min(s.Bucket, quickly); bucketMemory(minibucket.Entries(m, size)) == nil { // something to say at once
		b := minibucket.New(m, size)
		for pass := 0; pass < min(s.Passes, together) && !stop() && b.Pass(); pass++ {
		}
		a.Bound = min(a.Bound, b.Upper()+slack)
		draws := b.Sampler(s.Seed)
		draws.Draw(samples/16, stop)
		a.estimate(draws)
	}
	a.Doing = "search for an allowed assignment"
	s.report(a)
	limits := branching.Settings{Entries: guided, Seed: s.Seed, Gap: nearBest}
	found := branching.New(m, limits).Solve(limits, func() bool { asked++; return asked > guide || stop() },
		func(b *branching.Answer) {
			a.Value, a.Bound = max(a.Value, b.Value), min(a.Bound, b.Bound+assignments(m)+slack)
			s.report(a)
		})
	if found.States == nil && found.Proven {
		return nothing(m), nil
	}
	for size, last := s.Bucket, false; ; size *= bucketsGrow {
		entries := minibucket.Entries(m, size)
		if err := bucketMemory(entries); err != nil {
			if size > s.Bucket { // what earlier rounds found is an answer
				return a, nil
			}
			return nil, err
		}
		next := minibucket.Entries(m, size*bucketsGrow)
		last = next > s.Table || bucketMemory(next) != nil
		a.Doing = fmt.Sprintf("mini-buckets of %.0f entries", size)
		s.report(a)
		b := minibucket.New(m, size)
		a.Bound = min(a.Bound, b.Upper()+slack)
		before := b.Upper()
		for pass := 1; pass <= s.Passes && !stop() && b.Pass(); pass++ {
			a.Bound = min(a.Bound, b.Upper()+slack)
			if pass%together == 0 {
				if before-b.Upper() <= sumsFall*(1+math.Abs(before)) {
					break
				}
				before = b.Upper()
			}
		}
		a.Marginals = b.Marginals()
		if b.Exact() {
			a.Value, a.Bound, a.Exact = b.Upper(), b.Upper(), true
			return a, nil
		}
		a.Value = max(a.Value, meanField(m, a, found.States))
		draws := b.Sampler(s.Seed)
		draws.Draw(samples, stop)
		a.estimate(draws)
		a.Doing = "conditioning"
		s.report(a)
		c := b.Condition()
		if found.States != nil {
			c.Follow(found.States)
		}
		budget := max(1<<12, int(entries*float64(s.Passes)/visitsFor))
		if last {
			budget = math.MaxInt
		}
		if question == MAR {
			budget = 0 // conditioning brings bounds together, not marginals
		}
		for ; ; budget -= visitsAt * visitsAt {
			a.Value, a.Bound = max(a.Value, c.Lower()-slack), min(a.Bound, c.Upper()+slack)
			s.report(a)
			if c.Exact() || c.Upper()-c.Lower() <= slack {
				a.Value, a.Bound, a.Exact = c.Upper(), c.Upper(), question == PR
			}
			if a.Within(s.Gap) || budget <= 0 || stop() {
				break
			}
			c.Visit(visitsAt*visitsAt, stop)
			draws.Draw(samples/16, stop)
			a.estimate(draws)
		}
		if a.Within(s.Gap) || last || stop() {
			return a, nil
		}
	}
}

// assignments returns the logarithm of how many there are: by so much log Z is above the best value at most.
func assignments(m *factors.Model) float64 {
	sum := 0.0
	for _, n := range m.States {
		sum += math.Log(float64(n))
	}
	return sum
}

// anyBound returns a bound of log Z that takes no time.
func anyBound(m *factors.Model) float64 {
	sum := assignments(m)
	for _, f := range m.Factors {
		sum += slices.Max(f.Table)
	}
	return sum
}

// meanField returns a lower bound of log Z from the answer's marginals, and from an assignment.
func meanField(m *factors.Model, a *Answer, states []int) float64 {
	q, tolerance := make([][]float64, len(a.Marginals)), sumsFall*(1+math.Abs(a.Bound))
	for v, p := range a.Marginals {
		q[v] = append(q[v], p...)
	}
	value := minibucket.MeanField(m, q, sweeps, tolerance)
	if states == nil {
		return value
	}
	for v, state := range states {
		clear(q[v])
		q[v][state] = 1
	}
	return max(value, minibucket.MeanField(m, q, sweeps, tolerance))
}

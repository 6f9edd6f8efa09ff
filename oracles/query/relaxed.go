package query

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/minibucket"
	"github.com/dsp-go/dsp/oracles/relaxation"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// settled is the part of a bound of the best value by which passes lower it when they end.
const settled = 1e-12

// enough is the part of a value by which messages may leave the bound above it where no gap is asked for: they come
// ever closer, and never there.
const enough = 1e-9

// rounding bounds the rounding errors of values and bounds of a model: 64 units of float64 for each variable and
// factor, of the sum of every factor's largest |logarithm|. An assignment whose bound is no further away counts as the
// best one, whatever gap was asked for.
func rounding(m *factors.Model) float64 {
	size := 0.0
	for _, f := range m.Factors {
		most := 0.0
		for _, x := range f.Table {
			if !math.IsInf(x, -1) {
				most = max(most, math.Abs(x))
			}
		}
		size += most
	}
	return 64 * float64(len(m.States)+len(m.Factors)) * oracles.Double * size
}

// relaxedBest passes messages until the bound meets the value or does not fall any more.
func relaxedBest(m *factors.Model, s Settings, stop func() bool) *Answer {
	a, r := &Answer{Oracle: Relaxed}, relaxation.New(m)
	a.Bound = r.Bound()
	for range s.Passes {
		r.Pass()
		a.States, a.Value = r.Best()
		last := a.Bound
		if a.Bound = min(last, r.Bound()); a.meets(max(s.Gap, enough)) || last-a.Bound <= settled*math.Abs(a.Bound) ||
			stop() {
			break
		}
	}
	if near := rounding(m); math.IsInf(a.Bound, -1) {
		a.Exact = true
	} else if a.Bound-a.Value <= near {
		a.Exact, a.Rounding = true, near
	}
	return a
}

// meets reports whether the bound is above the value by at most that part of it.
func (a *Answer) meets(part float64) bool {
	if math.IsInf(a.Value, -1) {
		return math.IsInf(a.Bound, -1)
	}
	return a.Bound-a.Value <= part*math.Abs(a.Value)
}

// Of sums.
const (
	together  = 10   // passes
	sumsFall  = 1e-6 // that many passes end if they lower the bound of log Z by no more than this part of it
	sweeps    = 100  // of the mean field
	samples   = 4096 // assignments from which log Z is estimated
	decodings = 10   // passes of messages that find an assignment to begin the mean field with
)

// bucketMemory returns an error where so many entries do not fit.
func bucketMemory(entries float64) error {
	const bytes = 24 // per entry: factors, values, and messages, which are smaller
	return host.CheckMemory("the tables of the mini-buckets", bytes*entries)
}

// relaxedSum bounds log Z from above by mini-buckets and from below by a mean field, which begins with the marginals of
// the upper bound or with a good assignment.
func relaxedSum(m *factors.Model, s Settings, stop func() bool) (*Answer, error) {
	if err := bucketMemory(minibucket.Entries(m, s.Bucket)); err != nil {
		return nil, err
	}
	b := minibucket.New(m, s.Bucket)
	last := b.Upper()
	for pass := 1; pass <= s.Passes; pass++ {
		if stop() || !b.Pass() {
			break
		}
		if pass%together == 0 {
			if last-b.Upper() <= sumsFall*(1+math.Abs(last)) {
				break
			}
			last = b.Upper()
		}
	}
	a := &Answer{Oracle: Relaxed, Bound: b.Upper(), Marginals: b.Marginals(), Exact: b.Exact() ||
		math.IsInf(b.Upper(), -1)}
	a.Deviation = math.Inf(1)
	if a.Value = a.Bound; a.Exact {
		a.settle()
		return a, nil
	}
	a.Value = min(a.Bound, meanField(m, a, relaxedBest(m, Settings{Passes: decodings}, stop).States))
	draws := b.Sampler(s.Seed)
	draws.Draw(samples, stop)
	a.estimate(draws)
	return a, nil
}

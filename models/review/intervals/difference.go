package intervals

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Significant is the level of tests: the chance that any of the differences that are tested together is claimed
// although there is none.
const Significant = 0.05

// Difference compares a metric of two models on the same examples.
type Difference struct {
	Metric   string  `json:"metric"`
	Label    string  `json:"-"`
	Value    float64 `json:"value"`   // of the first model
	Other    float64 `json:"against"` // of the second
	Gain     float64 `json:"gain"`    // Value − Other
	Interval         // of the gain
	P        float64 `json:"p"`      // of the paired test, by itself
	Adjusted float64 `json:"p_holm"` // with those of the tests that it was made together with

	alone Interval // of the test by itself
}

// decided reports whether the models differ in the metric: whether the test rejects that they do not.
func (d Difference) decided() bool { return d.Adjusted <= Significant }

// String says which model is better, and whether the data can tell.
func (d Difference) String() string {
	text := fmt.Sprintf("%s %.2f %% against %.2f %%: %+.2f points, 95 %% interval %+.2f to %+.2f, p = %.2g",
		d.Label, 100*d.Value, 100*d.Other, 100*d.Gain, 100*d.Low, 100*d.High, d.Adjusted)
	if !d.decided() {
		text += "; the data cannot tell them apart"
	}
	return text + d.caution()
}

// ExplainDifferences says in a sentence what the intervals and tests of that many differences are.
func ExplainDifferences(n int) string {
	text := fmt.Sprintf("Intervals of differences are Newcombe's, for models that answered the same outputs; p is how "+
		"often chance alone gives "+
		"such a difference: by %d random swaps of their outputs or, if that is more, by the interval that just reaches 0",
		swaps)
	if n > 1 {
		text += fmt.Sprintf("; corrected for %d tests (Holm's method)", n)
	}
	return text + "."
}

// Compare compares a metric by the counts of two models on the same examples. The test stands alone: see Correct.
func Compare(a, b Counts) Difference { return compare(a, b, swaps) }

func compare(a, b Counts, swaps int) Difference {
	x, ofX := a.influences()
	y, ofY := b.influences()
	d := Difference{Value: x, Other: y, Gain: x - y}
	terms := make([]float64, len(ofX))
	for i := range terms {
		terms[i] = ofX[i] - ofY[i]
	}
	ρ := correlation(ofX, ofY)
	// How far each end of the two intervals is from its metric stands for a standard deviation there.
	first, second := a.ends(), b.ends()
	both := func(outside float64) Interval {
		i, j := first(outside), second(outside)
		reach := func(u, v float64) float64 { return math.Sqrt(max(0, u*u-2*ρ*u*v+v*v)) }
		return Interval{
			Deviation: deviation(terms, max(a.counted(), b.counted())), Method: recovered, Caution: cmp.Or(i.Caution, j.Caution),
			Low: d.Gain - reach(x-i.Low, j.High-y), High: d.Gain + reach(i.High-x, y-j.Low),
		}
	}
	d.Interval, d.P = both(outside), inverted(both, paired(a, b, swaps))
	d.alone = d.Interval
	d.adjust(d.P)
	return d
}

// adjust sets p and, where it does not reject that there is no difference, has 0 in the interval, too.
func (d *Difference) adjust(p float64) {
	d.Adjusted, d.Interval = p, d.alone
	if !d.decided() {
		d.Low, d.High = min(d.Low, 0), max(d.High, 0)
	}
}

// inverted returns the largest p, and at least the one given, at which the interval with a chance of 1 − p still has 0
// in it, to a few hundredths of p, so that p and the interval say the same.
func inverted(of ends, least float64) float64 {
	has := func(log float64) bool {
		x := of(math.Exp(log) / 2)
		return x.Low <= 0 && x.High >= 0
	}
	from, to := math.Log(least), math.Log(Significant)
	switch {
	case !has(from):
		return least
	case from >= to || has(to):
		from, to = max(from, to), 0
	}
	for range 8 {
		if middle := (from + to) / 2; has(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return math.Exp(to)
}

// The paired test takes swaps random sets of outputs, and swaps at most units of them one by one, else in blocks.
const (
	swaps = 9999
	units = 2000
	seed  = 0x73776170
)

// paired returns the chance that the metrics of two models differ by as much as they do, or more, if each of their
// outputs could as well be that of the other model. It counts the outcome itself, so that it is exact for every number
// of swaps.
func paired(a, b Counts, swaps int) float64 {
	both := a.sum()
	var apart Counts // a − b, of outputs that differ
	for i := range a {
		row := make([]float64, len(a[i]))
		differs := false
		for k := range row {
			row[k] = a[i][k] - b[i][k]
			both[k] += b[i][k]
			differs = differs || row[k] != 0
		}
		if differs {
			apart = append(apart, row)
		}
	}
	apart = apart.blocks(units)
	first, second := make([]float64, len(both)), make([]float64, len(both))
	gain := func(difference []float64) float64 {
		for k := range both {
			first[k], second[k] = (both[k]+difference[k])/2, (both[k]-difference[k])/2
		}
		return math.Abs(valueOf(first) - valueOf(second))
	}
	if len(apart) == 0 {
		return 1
	}
	least := gain(apart.sum()) * (1 - rounding)
	random, reached := rand.New(rand.NewPCG(seed, uint64(len(apart)))), 1
	difference := make([]float64, len(both))
	for range swaps {
		clear(difference)
		bits := uint64(0)
		for i, row := range apart {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			sign := float64(2*int(bits&1) - 1)
			bits >>= 1
			for k, x := range row {
				difference[k] += sign * x
			}
		}
		if !(gain(difference) < least) { // also where a metric is not defined
			reached++
		}
	}
	return float64(reached) / float64(swaps+1)
}

// Correct adjusts the tests of differences that are made together by Holm's method. family is how many tests there are,
// if others are made with them whose p is larger or is not known.
func Correct(all []*Difference, family int) {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *Difference) int { return cmp.Compare(a.P, b.P) })
	least := 0.0
	for k, d := range sorted {
		least = max(least, min(1, d.P*float64(max(family, len(all))-k)))
		d.adjust(least)
	}
}

// Differences compares the first sample with the second, in every metric that both have, and corrects for their number.
// Both must be of the same examples in the same order; whatever else the models read of them may differ.
func Differences(first, second *Sample) ([]Difference, error) {
	if err := sameExamples(first.data, second.data); err != nil {
		return nil, err
	}
	if err := first.enough(); err != nil {
		return nil, err
	}
	var all []Difference
	for k, m := range first.metrics {
		for j, other := range second.metrics {
			if m.Name == other.Name && first.has(k) && second.has(j) && alike(first, second, k) {
				d := Compare(first.counts[k], second.counts[j])
				d.Metric, d.Label, d.Value, d.Other = m.Name, m.Label, first.value(k), second.value(j)
				d.Gain = d.Value - d.Other
				all = append(all, d)
			}
		}
	}
	if all == nil {
		return nil, structured.BadInput("%s: the two models have no metric in common", first.data.Name)
	}
	tests := make([]*Difference, len(all))
	for k := range all {
		tests[k] = &all[k]
	}
	Correct(tests, len(tests))
	return all, nil
}

// alike reports whether a metric is made of the same shares for two models. Models with other labels have other
// classes, and of tags in another scheme other labels are right: such models have the entities in common.
func alike(first, second *Sample, metric int) bool {
	if slices.Equal(first.names, second.names) {
		return true
	}
	if otherTags(first.data, second.data) && first.metrics[metric].Name != "f1" {
		return false
	}
	return len(first.counts[metric][0]) == 2
}

// otherTags reports whether both data have entity tags, written differently: some gold labels have other names.
func otherTags(a, b *structured.Dataset) bool {
	if len(a.Labels) != len(b.Labels) || !chains.EntityTags(a.Alphabet) || !chains.EntityTags(b.Alphabet) {
		return false
	}
	for t, l := range a.Labels {
		if o := b.Labels[t]; l >= 0 && o >= 0 && a.Alphabet.Name(l) != b.Alphabet.Name(o) {
			return true
		}
	}
	return false
}

// sameExamples refuses data sets whose examples differ in number, length, words or gold labels.
func sameExamples(a, b *structured.Dataset) error {
	if a.Len() != b.Len() {
		return structured.BadInput("%s has %d examples for one model and %d for the other; they are "+
			"compared on the same ones", a.Name, a.Len(), b.Len())
	}
	words, others := a.Column("word"), b.Column("word")
	var entities *entityNames
	if otherTags(a, b) {
		entities = &entityNames{of: [2]*chains.Entities{chains.NewEntities(a.Alphabet), chains.NewEntities(b.Alphabet)}}
	}
	for i := range a.Len() {
		same := a.OutputLength(i) == b.OutputLength(i)
		for t := 0; same && words != nil && others != nil && t < a.Length(i); t++ {
			same = words[a.Offsets[i]+t] == others[b.Offsets[i]+t]
		}
		x, y := a.Gold(i), b.Gold(i)
		if unknown := func(l int32) bool { return l < 0 }; entities != nil && !slices.ContainsFunc(x, unknown) &&
			!slices.ContainsFunc(y, unknown) {
			same = same && slices.Equal(entities.names(0, x), entities.names(1, y))
			x = nil
		}
		if brackets.Is(a) {
			words, tags := brackets.WordsOf(a, i)
			same = same && string(brackets.FromOutput(x, words, tags, a.Alphabet).Append(nil)) == string(brackets.FromOutput(y,
				words, tags, b.Alphabet).Append(nil))
			x = nil
		}
		for t := 0; same && a.OutputLength(i) == a.Length(i) && t < len(x); t++ {
			switch {
			case x[t] < 0 || y[t] < 0: // not known for certain
				same = x[t] < 0 && y[t] < 0
			case a.Alphabet.Len() == 0 || b.Alphabet.Len() == 0: // numbers without names
				same = x[t] == y[t]
			default:
				same = a.Alphabet.Name(x[t]) == b.Alphabet.Name(y[t])
			}
		}
		if !same {
			return structured.BadInput("%s: the two models read other words or gold labels here; they are "+
				"compared on the same ones "+
				"(drawn data depend on a model's settings: write them to files with dsp data)", a.Where(i))
		}
	}
	return nil
}

// entityNames reads the entities of tags in two notations.
type entityNames struct {
	of    [2]*chains.Entities
	found []chains.Entity
}

type entityName struct {
	first, last int
	typ         string
}

func (e *entityNames) names(notation int, labels []int32) (all []entityName) {
	of := e.of[notation]
	e.found = of.Of(e.found[:0], labels)
	for _, x := range e.found {
		all = append(all, entityName{x.First, x.Last, of.Types().Name(x.Type)})
	}
	return all
}

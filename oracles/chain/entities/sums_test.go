package entities

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// alphabets are tags of every scheme, in orders that are not sorted. An empty scheme has no constraints.
var alphabets = []struct {
	scheme string
	labels []string
}{
	{"iob1", []string{"O", "B-x", "I-x", "I-y"}}, {"iob2", []string{"I-x", "B-y", "O", "B-x", "I-y"}}, {"bioes", []string{"O", "B-x", "I-x", "E-x", "S-x"}},
	{"", []string{"B-x", "O", "I-x", "I-y", "B-y"}}, {"", []string{"S-x", "E-x", "B-x", "O", "S-y"}}, {"", []string{"I-x", "O", "L-x", "U-y"}},
	{"", []string{"B", "I", "O"}}, {"", []string{"B-x", "I-x"}},
}

// draw draws potentials of a few chains, some empty, some with forbidden labels and steps.
func draw(r *rand.Rand, labels int, spread float64) *structured.Potentials {
	offsets := []int{0}
	for range 3 {
		offsets = append(offsets, offsets[len(offsets)-1]+r.IntN(6))
	}
	θ := new(structured.Potentials)
	chains.Resize(θ, offsets, labels, r.IntN(2) == 0)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(spread * r.NormFloat64())
			if r.IntN(12) == 0 {
				θ.Parts[k].Values[i] = float32(math.Inf(-1))
			}
		}
	}
	return θ
}

// brute returns the probability of every entity by enumeration.
func brute(θ *structured.Potentials, b int, μ float64, rules *chains.Entities) map[chains.Entity]float64 {
	top := math.Inf(-1)
	chains.Chain{}.Each(θ, b, func(y []int32) { top = math.Max(top, θ.Score(b, y)) })
	all, z := map[chains.Entity]float64{}, 0.0
	if math.IsInf(top, -1) {
		return all
	}
	chains.Chain{}.Each(θ, b, func(y []int32) {
		p := math.Exp((θ.Score(b, y) - top) / μ)
		z += p
		for _, e := range rules.Of(nil, y) {
			all[e] += p
		}
	})
	for e := range all {
		all[e] /= z
	}
	return all
}

func TestProbabilitiesByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 240 {
		a := alphabets[round%len(alphabets)]
		labels := structured.NewAlphabet(a.labels...)
		rules := chains.NewEntities(labels)
		μ := []float64{1, 0.3, 4}[r.IntN(3)]
		θ := draw(r, labels.Len(), []float64{0, 1, 30, 3000}[r.IntN(4)])
		if a.scheme != "" {
			c, err := chains.SchemeConstraints(labels, a.scheme)
			if err != nil {
				t.Fatal(err)
			}
			c.Apply(θ)
		}
		view, s := chains.Of(θ), New(rules, labels.Len())
		for b := range θ.Len() {
			want, logs := brute(θ, b, μ, rules), bruteLogs(θ, b, μ, rules)
			s.Reset(&view, b, μ)
			n := θ.Outputs[b+1] - θ.Outputs[b]
			for x := range int32(rules.Types().Len()) {
				for first := range n {
					for last := first; last < n; last++ {
						e := chains.Entity{First: first, Last: last, Type: x}
						if (first+last+round)%4 == 0 { // enumeration takes long
							checkLogs(t, s, e, logs)
						}
						if got := s.Probability(e); math.Abs(got-want[e]) > 1e-9 {
							t.Fatalf("%v, μ %v, chain of %d: %+v has %v, expected %v", a.labels, μ, n, e, got, want[e])
						}
					}
				}
			}
			for _, p := range []float64{1e-6, 0.05, 0.5} {
				checkAtLeast(t, s, p, want)
			}
		}
	}
}

// bruteLogs returns, by enumeration, log sums over the labelings that have an entity, over those that have not, and
// over all.
func bruteLogs(θ *structured.Potentials, b int, μ float64, rules *chains.Entities) func(e chains.Entity) (with, without, all float64) {
	var scores []float64
	var found [][]chains.Entity
	chains.Chain{}.Each(θ, b, func(y []int32) {
		if score := θ.Score(b, y) / μ; !math.IsInf(score, -1) {
			scores, found = append(scores, score), append(found, rules.Of(nil, y))
		}
	})
	all := logSum(scores)
	return func(e chains.Entity) (with, without, _ float64) {
		with, without = math.Inf(-1), math.Inf(-1)
		for k, score := range scores {
			if slices.Contains(found[k], e) {
				with = logAdd(with, score)
			} else {
				without = logAdd(without, score)
			}
		}
		return with, without, all
	}
}

// checkLogs compares the logarithms of the probability and the doubt of an entity, however small, with enumeration.
func checkLogs(t *testing.T, s *Sums, e chains.Entity, sums func(e chains.Entity) (with, without, all float64)) {
	t.Helper()
	with, without, all := sums(e)
	if math.IsInf(all, -1) {
		return
	}
	near := func(got, want float64) bool {
		return got == want || math.Abs(got-want) <= 1e-9*(1+math.Abs(all)+math.Abs(want))
	}
	if p, doubt := s.LogProbability(e), s.LogDoubt(e); !near(p, with-all) || !near(doubt, without-all) {
		t.Fatalf("%+v: log p %v, want %v; log(1 − p) %v, want %v", e, p, with-all, doubt, without-all)
	}
}

// checkAtLeast compares the entities with a probability of at least p with those that enumeration finds.
func checkAtLeast(t *testing.T, s *Sums, p float64, want map[chains.Entity]float64) {
	t.Helper()
	found, probabilities := s.AtLeast(p, nil, nil)
	seen := map[chains.Entity]bool{}
	for k, e := range found {
		if math.Abs(probabilities[k]-want[e]) > 1e-9 || probabilities[k] < p || seen[e] {
			t.Fatalf("%+v with %v, expected once, with %v", e, probabilities[k], want[e])
		}
		if k > 0 && (found[k-1].First > e.First || found[k-1].First == e.First && found[k-1].Last > e.Last) {
			t.Fatalf("%+v before %+v", found[k-1], e)
		}
		seen[e] = true
	}
	for e, q := range want {
		if q > p+1e-9 && !seen[e] {
			t.Fatalf("%+v with %v is missing at %v", e, q, p)
		}
	}
}

// The entities that start anywhere with a label sum to the probability of starting there, for chains too long to
// enumerate.
func TestLongChain(t *testing.T) {
	labels := structured.NewAlphabet("O", "B-x", "I-x", "B-y", "I-y")
	rules := chains.NewEntities(labels)
	c, err := chains.SchemeConstraints(labels, "iob2")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	const n = 400
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, n}, labels.Len(), false)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(2 * r.NormFloat64())
		}
	}
	c.Apply(θ)
	view, s := chains.Of(θ), New(rules, labels.Len())
	s.Reset(&view, 0, 1)
	all, probabilities := s.AtLeast(1e-12, nil, nil)
	starts := make([]float64, n)
	for k, e := range all {
		if e.Type == 0 {
			starts[e.First] += probabilities[k]
		}
	}
	for first, got := range starts { // B-x is the only label that starts an x
		want := math.Exp(s.row(s.α, first)[1] + s.row(s.β, first)[1] - s.value)
		if math.Abs(got-want) > 1e-8 {
			t.Fatalf("position %d: %v, expected %v", first, got, want)
		}
	}
}

func BenchmarkSums(b *testing.B) {
	names := []string{"O"}
	for _, x := range []string{"ADJP", "ADVP", "CONJP", "INTJ", "LST", "NP", "PP", "PRT", "SBAR", "UCP", "VP"} {
		names = append(names, "B-"+x, "I-"+x)
	}
	labels := structured.NewAlphabet(names...)
	rules, r := chains.NewEntities(labels), rand.New(rand.NewPCG(1, 1))
	θ := new(structured.Potentials)
	chains.Resize(θ, []int{0, 25}, labels.Len(), false)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(2 * r.NormFloat64())
		}
	}
	view, s := chains.Of(θ), New(rules, labels.Len())
	var found []chains.Entity
	var p []float64
	for b.Loop() {
		s.Reset(&view, 0, 1)
		found, p = s.AtLeast(0.1, found[:0], p[:0])
	}
}

package transcript

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// draw draws lines, with potentials on a scale, some of them −∞.
func draw(r *rand.Rand, scale float64) *structured.Potentials {
	θ := transcripts.Small(r)
	for k := range θ.Parts[0].Values {
		θ.Parts[0].Values[k] = float32(scale * r.NormFloat64())
		if r.IntN(20) == 0 {
			θ.Parts[0].Values[k] = float32(math.Inf(-1))
		}
	}
	return θ
}

// labeling is one of a line, with its score and what it reads.
type labeling struct {
	y, reading []int32
	score      float64
}

// enumerate lists the labelings of example b.
func enumerate(θ *structured.Potentials, b int) (all []labeling) {
	θ.Structure.Each(θ, b, func(y []int32) {
		s := 0.0
		for t, l := range y {
			s += float64(θ.Parts[0].Of(b)[t*θ.Parts[0].Width+int(l)])
		}
		all = append(all, labeling{slices.Clone(y), transcripts.Read([]int32{}, y), s})
	})
	return all
}

// sumOf returns μ log Σ exp(score/μ) of labelings.
func sumOf(all []labeling, μ float64) float64 {
	most, sum := math.Inf(-1), 0.0
	for _, l := range all {
		most = max(most, l.score)
	}
	if math.IsInf(most, -1) {
		return most
	}
	for _, l := range all {
		sum += math.Exp((l.score - most) / μ)
	}
	return most + μ*math.Log(sum)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// condition makes example b read something: what one of its labelings reads, what none of them does, or a symbol that
// is not known.
func condition(r *rand.Rand, θ *structured.Potentials, b int, all []labeling) []int32 {
	reading := slices.Clone(all[r.IntN(len(all))].reading)
	if r.IntN(8) == 0 {
		reading = append(reading, int32(r.IntN(θ.Parts[0].Width)))
	}
	θ.Structure.(structured.Restricter).Restrict(θ, b, structured.Gold{Reading: reading})
	return reading
}

// Sums, marginals, best and K best labelings that read a string are those of enumeration, at any temperature and scale.
func TestConditioned(t *testing.T) {
	r := seeds.Rand(t)
	o := New()
	for range 300 {
		scale, μ := []float64{1, 10, 1000}[r.IntN(3)], []float64{1, 0.3, 4}[r.IntN(3)]
		θ := draw(r, scale)
		var all [][]labeling
		for b := range θ.Len() {
			of := enumerate(θ, b)
			reading := condition(r, θ, b, of)
			all = append(all, slices.DeleteFunc(of, func(l labeling) bool {
				return !slices.Equal(l.reading, reading) || math.IsInf(l.score, -1)
			}))
		}
		value, most, y := make([]float64, θ.Len()), make([]float64, θ.Len()), make([]int32, θ.OutputSize())
		var u structured.Marginals
		o.Exp(θ, μ, value, &u)
		o.Max(θ, y, most)
		var best oracles.KBest
		k := 1 + r.IntN(30)
		o.TopK(θ, k, &best)
		for b, of := range all {
			name := fmt.Sprintf("example %d of %v", b, θ.Outputs)
			want := sumOf(of, μ)
			near(t, name+": sum", value[b], want, 1e-12)
			slices.SortStableFunc(of, func(a, b labeling) int { return cmp.Compare(b.score, a.score) })
			if best.Count[b] != min(k, len(of)) {
				t.Fatalf("%s: %d labelings, want %d", name, best.Count[b], min(k, len(of)))
			}
			for rank := range best.Count[b] {
				near(t, name+": score", best.Score[b*k+rank], of[rank].score, 1e-12)
				near(t, name+": score of the output", θ.Score(b, best.Output(rank, θ.Outputs[b], θ.Outputs[b+1])), of[rank].score,
					1e-12)
			}
			near(t, name+": max", most[b], sumOf(of[:min(1, len(of))], 1), 1e-12)
			if len(of) == 0 {
				if !u.Zero(b) {
					t.Fatalf("%s: marginals without a labeling", name)
				}
				continue
			}
			near(t, name+": score of the best", θ.Score(b, y[θ.Outputs[b]:θ.Outputs[b+1]]), most[b], 1e-12)
			p := make([]float64, len(u.Parts[0].Of(b)))
			for _, l := range of {
				for t, c := range l.y {
					p[t*u.Parts[0].Width+int(c)] += math.Exp((l.score - want) / μ)
				}
			}
			for i, q := range u.Parts[0].Of(b) {
				near(t, fmt.Sprintf("%s: marginal %d", name, i), float64(q), p[i], 1e-6)
			}
		}
	}
}

// Long lines of improbable symbols do not underflow: with equal potentials, the sum is the logarithm of the number of
// labelings, here of a string of different symbols, which are C(T+L, 2L). Potentials far apart leave the only path
// there is.
func TestLongLines(t *testing.T) {
	const frames, symbols = 3000, 400
	offsets := []int{0, frames}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(symbols), offsets, func(string) []int { return offsets })
	reading := make([]int32, symbols)
	for k := range reading {
		reading[k] = int32(k)
	}
	clear(θ.Parts[0].Values)
	θ.Structure.(structured.Restricter).Restrict(θ, 0, structured.Gold{Reading: reading})
	value := make([]float64, 1)
	New().Exp(θ, 1, value, nil)
	choose := func(n, k float64) float64 {
		a, _ := math.Lgamma(n + 1)
		b, _ := math.Lgamma(k + 1)
		c, _ := math.Lgamma(n - k + 1)
		return a - b - c
	}
	near(t, "the number of labelings", value[0], choose(frames+symbols, 2*symbols), 1e-9)

	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = -5000
	}
	for t := range frames { // blanks are sure, but the line must read all symbols
		θ.Parts[0].Values[t*(symbols+1)] = 0
	}
	var u structured.Marginals
	New().Exp(θ, 1, value, &u)
	// each symbol takes one frame
	near(t, "improbable symbols", value[0], -5000*symbols+choose(frames, symbols), 1e-9)
	for k := range reading {
		sum := 0.0
		for t := range frames {
			sum += float64(u.Parts[0].Values[t*(symbols+1)+k+1])
		}
		near(t, "frames of a symbol", sum, 1, 1e-4)
	}
}

// The beam finds all strings if it is wide enough, best first with their probabilities, and never less than the greedy
// string.
func TestBeam(t *testing.T) {
	r := seeds.Rand(t)
	o := New()
	for range 100 {
		θ, μ := draw(r, []float64{1, 5}[r.IntN(2)]), []float64{1, 2}[r.IntN(2)]
		for b := range θ.Len() {
			all := enumerate(θ, b)
			total := sumOf(all, μ)
			if math.IsInf(total, -1) {
				if got := o.Beam(θ, b, μ, 5, 5); got != nil {
					t.Fatalf("strings of nothing: %v", got)
				}
				continue
			}
			byString := map[string][]labeling{}
			for _, l := range all {
				if !math.IsInf(l.score, -1) {
					byString[fmt.Sprint(l.reading)] = append(byString[fmt.Sprint(l.reading)], l)
				}
			}
			var want []float64
			for _, of := range byString {
				want = append(want, (sumOf(of, μ)-total)/μ)
			}
			slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
			got := o.Beam(θ, b, μ, 100000, 100000)
			if len(got) != len(want) {
				t.Fatalf("%d strings, want %d", len(got), len(want))
			}
			for k, s := range got {
				near(t, "log-probability in order", s.LogP, want[k], 1e-5)
				near(t, "log-probability", s.LogP, (sumOf(byString[fmt.Sprint(s.Symbols)], μ)-total)/μ, 1e-5)
			}
			greedy := o.Greedy(θ, b, μ)
			narrow := o.Beam(θ, b, μ, 1+r.IntN(3), 2)
			if narrow[0].LogP < greedy.LogP || len(narrow) > 1 && narrow[1].LogP > narrow[0].LogP {
				t.Fatalf("a narrow beam finds %v, greedily it is %v", narrow, greedy)
			}
		}
	}
}

// In thousands of frames, whose strings are too improbable for float64, the beam finds the best one, which greedy
// decoding misses: a symbol that two frames are each less sure of than of the blank is more probable than none.
func TestBeamOfLongLines(t *testing.T) {
	const frames, symbols = 2001, 7
	offsets := []int{0, frames}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(symbols), offsets, func(string) []int { return offsets })
	for t := range frames {
		row := θ.Parts[0].Values[t*(symbols+1):][:symbols+1]
		for k := range row {
			p := 0.
			switch blank, next := k == 0, k == 1+t/3%symbols; {
			case t%3 == 2 && blank:
				p = 1
			case t%3 < 2 && blank:
				p = 0.34
			case t%3 < 2 && next:
				p = 0.3
			case t%3 < 2:
				p = 0.06
			}
			row[k] = float32(math.Log(p))
		}
	}
	o := New()
	greedy, beam := o.Greedy(θ, 0, 1), o.Beam(θ, 0, 1, 8, 2)
	right := 0
	for k, c := range beam[0].Symbols {
		if int(c) == k%symbols {
			right++
		}
	}
	if len(greedy.Symbols) > 0 || len(beam) < 2 || right != frames/3 || len(beam[0].Symbols) != right ||
		beam[0].LogP > -750 {
		t.Errorf("greedily %d symbols; by beam %d strings, the first of %d symbols, %d of them right, with "+
			"the log-probability %g",
			len(greedy.Symbols), len(beam), len(beam[0].Symbols), right, beam[0].LogP)
	}
}

// A frame that forbids every label leaves nothing to read.
func TestNothingToRead(t *testing.T) {
	offsets := []int{0, 2}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(1), offsets, func(string) []int { return offsets })
	copy(θ.Parts[0].Values, []float32{0, 1, float32(math.Inf(-1)), float32(math.Inf(-1))})
	if s := New().Greedy(θ, 0, 1); !math.IsInf(s.LogP, -1) {
		t.Errorf("log-probability %g", s.LogP)
	}
}

// Samples under a condition are labelings that read so, as often as they are probable.
func TestConditionedSamples(t *testing.T) {
	offsets := []int{0, 5}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(2), offsets, func(string) []int { return offsets })
	r := rand.New(rand.NewPCG(3, 4))
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = float32(r.NormFloat64())
	}
	reading := []int32{0, 1, 1}
	all := enumerate(θ, 0)
	θ.Structure.(structured.Restricter).Restrict(θ, 0, structured.Gold{Reading: reading})
	all = slices.DeleteFunc(all, func(l labeling) bool { return !slices.Equal(l.reading, reading) })
	const n, μ = 200_000, 1.5
	var s oracles.Samples
	New().Sample(θ, μ, n, []uint64{7}, &s)
	counts, total, χ := map[string]int{}, sumOf(all, μ), 0.0
	for k := range n {
		counts[fmt.Sprint(s.Output(k, 0, 5))]++
	}
	for _, l := range all {
		want := n * math.Exp((l.score-total)/μ)
		χ += (float64(counts[fmt.Sprint(l.y)]) - want) * (float64(counts[fmt.Sprint(l.y)]) - want) / want
		delete(counts, fmt.Sprint(l.y))
	}
	if len(counts) > 0 || χ > float64(len(all))+12*math.Sqrt(2*float64(len(all))) {
		t.Errorf("χ² is %g for %d labelings; others: %v", χ, len(all), counts)
	}
}

package oracletest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// falseAlarm bounds the probability that the samples of a right sampler seem wrong, in one comparison.
const falseAlarm = 1e-9

// MostDivergence returns the bound of n·KL(p̂‖p) for the empirical distribution p̂ of n draws from p over k outcomes,
// which the draws exceed with a probability of at most δ, whatever n and p: the t > k−1 at which
// e^{−t}(e·t/(k−1))^{k−1} = δ (Agrawal 2020, Finite-sample concentration of the multinomial in relative entropy). 2n·KL
// is the statistic of the likelihood-ratio test, χ² of k−1 degrees of freedom for large n; the bound holds for small n,
// too.
func MostDivergence(k int, δ float64) float64 {
	if k < 2 {
		return 0
	}
	d := float64(k - 1)
	exceeds := func(t float64) float64 { return -t + d*(1+math.Log(t/d)) } // its logarithm
	lo, hi := d, d+100*(1+math.Sqrt(d)-math.Log(δ))
	for range 100 {
		if mid := (lo + hi) / 2; exceeds(mid) > math.Log(δ) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Divergence returns n·KL(p̂‖p) of counts that sum to n; +∞ if something was drawn that has no probability.
func Divergence(counts []int, p []float64) float64 {
	n, sum := 0, 0.0
	for _, c := range counts {
		n += c
	}
	for i, c := range counts {
		if c > 0 {
			sum += float64(c) * math.Log(float64(c)/(float64(n)*p[i]))
		}
	}
	return sum
}

// Samples follow the Gibbs distribution, and depend on their example's potentials and seed alone.
func samplesAreGibbs(t *rapid.T, kind registry.Kind, o oracles.Sampler) {
	const n = 5_000
	θ := drawPotentials(t, kind, anyNumbers)
	μ, seed := drawMu(t), make([]uint64, θ.Len())
	for b := range seed {
		seed[b] = rapid.Uint64().Draw(t, "seed of samples")
	}
	var s, alone oracles.Samples
	var view structured.Potentials
	o.Sample(θ, μ, n, seed, &s)
	for b := range θ.Len() {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			if s.Count[b] != 0 {
				t.Fatalf("%d samples of nothing", s.Count[b])
			}
			continue
		}
		if s.Count[b] != n {
			t.Fatalf("%d samples, want %d", s.Count[b], n)
		}
		value, place := logPartition(all, μ), map[string]int{}
		p, counts := make([]float64, len(all)), make([]int, len(all))
		for k, out := range all {
			p[k], place[key(out.Values)] = math.Exp((out.Score-value)/μ), k
		}
		for k := range n {
			out := s.Output(k, θ.Outputs[b], θ.Outputs[b+1])
			at, ok := place[key(out)]
			if !ok {
				t.Fatalf("sample %v is no allowed output", out)
			}
			counts[at]++
		}
		possible := 0
		for _, q := range p {
			if q > 0 {
				possible++
			}
		}
		if d, most := Divergence(counts, p), MostDivergence(possible, falseAlarm); d > most {
			t.Fatalf("temperature %v: samples diverge by %v from their distribution, more than %v: %d of %d outputs\n%v\n%v", μ,
				d, most, n, possible, counts, p)
		}
		θ.View(b, &view)
		o.Sample(&view, μ, n, seed[b:b+1], &alone)
		for k := range n {
			if !slices.Equal(alone.Output(k, 0, view.OutputSize()), s.Output(k, θ.Outputs[b], θ.Outputs[b+1])) {
				t.Fatalf("sample %d alone is %v, in a batch %v", k, alone.Output(k, 0, view.OutputSize()),
					s.Output(k, θ.Outputs[b], θ.Outputs[b+1]))
			}
		}
	}
	if θ.Len() == 0 || len(θ.Parts[0].Of(0)) == 0 {
		return
	}
	θ.Parts[0].Of(0)[0] = float32(math.NaN())
	o.Sample(θ, μ, n, seed, &s)
	if s.Count[0] != 0 && θ.Outputs[1] > θ.Outputs[0] {
		t.Fatalf("%d samples of NaN", s.Count[0])
	}
}

func key(y []int32) string {
	text := make([]byte, 0, 4*len(y))
	for _, v := range y {
		text = append(text, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return string(text)
}

package minibucket

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sampled returns a sampler that has drawn assignments of these values less the logarithms of their probabilities, and
// some that are not allowed.
func sampled(logs []float64, forbidden int) *Sampler {
	s := &Sampler{drawn: len(logs) + forbidden, logs: logs, sum: logSum{top: minusInf}, square: logSum{top: minusInf}}
	for _, x := range logs {
		s.sum.add(x)
		s.square.add(2 * x)
	}
	return s
}

// The estimate is the mean of the weights of all draws, of which forbidden ones have none, and its error their
// standard error relative to the mean.
func TestEstimateIsMeanAndStandardError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	logs, weights := make([]float64, 900), make([]float64, 1000)
	for k := range logs {
		logs[k] = 3 + r.NormFloat64()
		weights[k] = math.Exp(logs[k])
	}
	mean, variance := 0.0, 0.0
	for _, w := range weights {
		mean += w / 1000
	}
	for _, w := range weights {
		variance += (w - mean) * (w - mean) / 1000
	}
	log, deviation := sampled(logs, 100).Estimate()
	if want := math.Sqrt(variance/999) / mean; math.Abs(log-math.Log(mean)) > 1e-12 || math.Abs(deviation-want) > 1e-12 {
		t.Errorf("%v ± %v, expected %v ± %v", log, deviation, math.Log(mean), want)
	}
}

// Where the standard error is not sure, the error is that of the logarithms, if it is larger.
func TestEstimateOfFewLargeWeights(t *testing.T) {
	log, deviation := sampled([]float64{0, 0, 0, 8}, 0).Estimate()
	// of 0, 0, 0 and 8, whose mean is 2
	if want := math.Sqrt(12); math.Abs(log-math.Log((3+math.Exp(8))/4)) > 1e-12 || math.Abs(deviation-want) > 1e-12 {
		t.Errorf("%v ± %v, expected a deviation of %v", log, deviation, want)
	}
	if log, deviation := sampled([]float64{1}, 5).Estimate(); !math.IsInf(log, -1) || !math.IsInf(deviation, 1) {
		t.Errorf("%v ± %v of a single draw", log, deviation)
	}
	if _, deviation := sampled([]float64{1, 1}, 0).Estimate(); deviation != 0 {
		t.Errorf("± %v of two draws that agree", deviation)
	}
}

// Draws are what the sampler counts: their weights and the squares of these, and the best of them.
func TestDrawCounts(t *testing.T) {
	m := grid(rand.New(rand.NewPCG(7, 26)), 3, 1)
	s := New(m, 4).Sampler(1)
	left := 50
	s.Draw(100, func() bool { left--; return left < 0 })
	if s.drawn != 50 || len(s.logs) != 50 {
		t.Fatalf("%d drawn, %d allowed, expected 50 before the stop", s.drawn, len(s.logs))
	}
	again := sampled(s.logs, 0)
	if math.Abs(s.sum.value()-again.sum.value()) > 1e-9 || math.Abs(s.square.value()-again.square.value()) > 1e-9 {
		t.Errorf("the sums are %v and %v, expected %v and %v", s.sum.value(), s.square.value(),
			again.sum.value(), again.square.value())
	}
}

package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// zipf draws chains of positions with each attributes per position, one per template. As with words, attribute
// frequencies follow Zipf's law, and frequent attributes have low numbers.
func zipf(positions, length, attributes, each int) *structured.Dataset {
	rng := rand.New(rand.NewPCG(7, 7))
	d := &structured.Dataset{Offsets: []int{0}, Attributes: &structured.Sparse{Offsets: []int{0}}}
	for t := 1; t <= positions; t++ {
		for template := range each {
			rank := math.Pow(float64(attributes/each), rng.Float64())
			d.Attributes.Index = append(d.Attributes.Index, int32((int(rank)-1)*each+template))
		}
		d.Attributes.Offsets = append(d.Attributes.Offsets, len(d.Attributes.Index))
		if t%length == 0 {
			d.Offsets = append(d.Offsets, t)
		}
	}
	return d
}

// Score and Scatter of chains of 20 positions with 30 attributes each, by each set of loops. A step does both on one
// chain, so its Scatter finds the rows in the cache.
func BenchmarkSparse(b *testing.B) {
	const positions, length, attributes, each = 20000, 20, 300000, 30
	data := zipf(positions, length, attributes, each)
	perPosition := func(b *testing.B, do func(i int)) {
		b.Helper()
		i := 0
		for b.Loop() {
			do(i)
			i = (i + 1) % data.Len()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/length, "ns/position")
		b.ReportMetric(0, "ns/op")
	}
	for _, y := range []int{9, 17, 23, 50} {
		s, err := NewChain(attributes, 0, y, nets.EdgesTransition)
		must(b, err)
		w := gaussians(rand.New(rand.NewPCG(1, 1)), s.Dim())
		batches := make([]structured.Batch, data.Len())
		for i := range batches {
			batches[i].Reset(data, []int{i})
		}
		var θ structured.Potentials
		var v structured.Marginals
		v.Resize(&batches[0], s.Form())
		for i := range v.Parts[0].Values {
			v.Parts[0].Values[i] = 1e-3
		}
		clear(v.Parts[1].Values)
		norms := make([]float64, Stripes)
		defer func(kept *kernels.SparseLoops) { kernels.Sparse = kept }(kernels.Sparse)
		for _, loops := range kernels.AvailableSparse() {
			kernels.Sparse = loops
			worker := s.NewWorker()
			run := func(name string, do func(i int)) {
				b.Run(fmt.Sprintf("Y=%d/%s/%s", y, name, loops.Name), func(b *testing.B) { perPosition(b, do) })
			}
			score := func(i int) { must(b, worker.Score(w, &batches[i], &θ)) }
			scatter := func(lo, hi int, norms []float64) func(i int) {
				return func(i int) { s.Scatter(1, &v, &batches[i], lo, hi, w, norms) }
			}
			run("score", score)
			run("scatter", scatter(0, Stripes, nil))
			run("half", scatter(0, Stripes/2, nil))
			run("norms", scatter(0, Stripes, norms))
			run("step", func(i int) { score(i); scatter(0, Stripes, nil)(i) })
		}
	}
}

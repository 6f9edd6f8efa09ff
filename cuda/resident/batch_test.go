package resident_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/structured"
)

func TestBatchIsThatOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(1, 2))
	set := cudatest.ChainData(rng, 3, 4, 0, 1, 300, 2, 5)
	set.Labels[1] = -1
	set.Weights = []float64{1, 2, 0.5, 3, 4, 5}
	data := resident.NewData(d, set)
	batch := resident.NewBatch(data, 5, 310, 300)
	for _, examples := range [][]int{{5, 3, 0}, {}, {1}, {2, 1, 5, 4, 0}, {3}} {
		batch.Set(examples)
		var host structured.Batch
		host.Reset(set, examples)
		var source, chain, gold []int32
		for b, i := range examples {
			for p := set.Offsets[i]; p < set.Offsets[i+1]; p++ {
				source, chain, gold = append(source, int32(p)), append(chain, int32(b)), append(gold, set.Labels[p])
			}
		}
		if batch.B != len(examples) || batch.N != len(source) {
			t.Fatalf("%v: %d chains and %d positions", examples, batch.B, batch.N)
		}
		for what, pair := range map[string][2][]int32{
			"source": {cudatest.Downloaded(d, batch.Source), padded(source, 310, -1)},
			"chain":  {cudatest.Downloaded(d, batch.Chain), padded(chain, 310, -1)},
			"gold":   {cudatest.Downloaded(d, batch.Gold), padded(gold, 310, -1)},
		} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("%v: %s is %v, expected %v", examples, what, pair[0], pair[1])
			}
		}
		which, offsets, weights := cudatest.Downloaded(d, batch.Examples), cudatest.Downloaded(d, batch.Offsets),
			cudatest.Downloaded(d, batch.Weight)
		for b := range 5 {
			i, offset, c := int32(-1), batch.N, float32(0)
			if b < len(examples) {
				i, offset, c = int32(examples[b]), host.Offsets[b], float32(set.Weights[examples[b]])
			}
			if which[b] != i || int(offsets[b]) != offset || weights[b] != c {
				t.Errorf("%v: chain %d is example %d at %d with weight %v", examples, b, which[b], offsets[b], weights[b])
			}
		}
		if int(offsets[5]) != batch.N {
			t.Errorf("%v: the last chain ends at %d", examples, offsets[5])
		}
	}
}

func TestBatchRefusesWhatDoesNotFit(t *testing.T) {
	d := cudatest.Device(t)
	data := resident.NewData(d, cudatest.ChainData(rand.New(rand.NewPCG(1, 2)), 3, 4, 3))
	batch := resident.NewBatch(data, 2, 7, 3)
	if batch.Fits([]int{0}) || !batch.Fits([]int{1}) || batch.Fits([]int{1, 1, 1}) {
		t.Error("Fits accepts examples that exceed a capacity, or refuses others")
	}
}

// padded returns x extended to n elements with y.
func padded(x []int32, n int, y int32) []int32 {
	x = slices.Clone(x)
	for len(x) < n {
		x = append(x, y)
	}
	return x
}

package sparse

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// The gradient of dense inputs counts every position with a marginal, also where only one of a batch has one, and where
// none has it is zero.
func TestDensePullbackOfFewRows(t *testing.T) {
	net, err := NewDenseChain(0, 0, 2, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{Name: "three positions", Dim: 2, Features: []float32{1, 2, 3, 4, 5, 6}, Offsets: []int{0, 3}, Labels: []int32{0, 0, 0}}
	var batch structured.Batch
	batch.Reset(d, []int{0})
	for _, rows := range [][]int{{}, {0}, {1}, {0, 2}, {0, 1, 2}} {
		worker := net.NewWorker()
		var θ structured.Potentials
		if err := worker.Score(make([]float32, net.Dim()), &batch, &θ); err != nil {
			t.Fatal(err)
		}
		var v structured.Marginals
		v.Like(&θ)
		v.Clear()
		want := make([]float32, net.Dim())
		of := func(name string) []float32 {
			a, ok := net.layout.Find(name)
			if !ok {
				t.Fatalf("no weights are called %s", name)
			}
			return a.Of(want)
		}
		dense, bias := of("dense"), of("bias")
		for _, at := range rows {
			for l, x := range []float32{1, -1} {
				v.Parts[0].Of(0)[2*at+l] = x
				bias[l] += x
				for k := range 2 {
					dense[2*k+l] += x * d.Features[2*at+k]
				}
			}
		}
		got := make([]float32, net.Dim())
		if err := worker.Pullback(&v, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("marginals at %v: the gradient is %v, want %v", rows, got, want)
		}
	}
}

package accelerator_test

import (
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// A captured step stays when batches of another size come, unless they make scratch memory move.
func TestGraphsStayUntilMemoryMoves(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.CRF, oracles.Smoothing{})
	a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
	cudatest.Must(t, err)
	defer a.Close()
	w := p.Scorer.(network).Init(1)
	step := func(examples ...int) (primal float64, launches int) {
		before := d.Launches("difference")
		cudatest.Must(t, a.Step(t.Context(), engine.OnHost(w), examples, oracles.Smoothing{}, nil, 0))
		sums, err := a.Sums()
		cudatest.Must(t, err)
		return sums.Primal, d.Launches("difference") - before
	}
	four := []int{0, 2, 4, 5}
	first, _ := step(four...)
	for call, want := range []int{1, 0} { // captured, replayed
		if again, launches := step(four...); launches != want || again != first {
			t.Errorf("call %d: %d launches, %v; expected %d, %v", call, launches, again, want, first)
		}
	}
	step(1)
	step(1)
	if again, launches := step(four...); launches != 0 || again != first {
		t.Errorf("after a smaller batch: %d launches, %v; expected a replay, %v", launches, again, first)
	}
	var many []int
	for range 40 {
		many = append(many, four...)
	}
	moves := d.Moves()
	step(many...)
	if d.Moves() == moves {
		t.Fatal("a large batch did not move the scratch memory")
	}
	if again, launches := step(four...); launches != 1 || again != first {
		t.Errorf("after a larger batch: %d launches, %v; expected a new capture, %v", launches, again, first)
	}
}

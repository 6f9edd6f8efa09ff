package engine_test

import (
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Once it has seen batches of every size, a step of a descent allocates no more than the few closures that it passes to the lanes.
func TestDescentAllocatesNoArrays(t *testing.T) {
	p := traintest.EmbeddingProblem(64, engine.CRF, 0.02)
	e := engine.NewEngine(p.Objective, 1)
	var d engine.Descent
	d.Start(e, traintest.Initial(p), 0.999)
	var batches [8][]int
	for b := range batches {
		for i := range 8 {
			batches[b] = append(batches[b], 8*b+i)
		}
	}
	k := 0
	step := func() {
		at := k * 8 % 64
		k++
		if err := d.Ask(t.Context(), batches[at/8], oracles.Smoothing{}, 0); err != nil {
			t.Fatal(err)
		}
		d.ProxStep(0.1, p.Lambda)
	}
	for range 32 {
		step()
	}
	if n := testing.AllocsPerRun(64, step); n > 4 {
		t.Errorf("a step makes %g allocations", n)
	}
}

package methods

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A damaged checkpoint of outputs is refused; an intact one is restored as it was.
func TestDamagedCornersAreRefused(t *testing.T) {
	p, other := traintest.NoisyProblem(2, engine.Hinge, oracles.Smoothing{}, 1), traintest.NoisyProblem(3, engine.Hinge, oracles.Smoothing{}, 1)
	c := newActiveOutputs(p.Data)
	wrong := slices.Clone(p.Data.Gold(0))
	wrong[0] = 1 - min(1, wrong[0])
	c.find(0, wrong)
	saved := &traintest.Shelf{Values: map[string]any{}}
	c.archive(saved)
	saved.Restoring = true
	var again activeOutputs
	again.archive(saved)
	if err := again.fit(p); err != nil || len(again[0]) != 2 || !slices.Equal(again[0][1].labels, wrong) {
		t.Fatalf("restored %v: %v", again, err)
	}
	if err := again.fit(other); !structured.IsBadInput(err) {
		t.Errorf("of other data: %v", err)
	}
	for what, damage := range map[string]func(values map[string]any){
		"a count":        func(values map[string]any) { values["corners.counts"].([]int32)[0] = 7 },
		"a length":       func(values map[string]any) { values["corners.lengths"].([]int32)[0] = -1 },
		"a label":        func(values map[string]any) { values["corners.outputs"].([]int32)[0] = 1 << 30 },
		"a label below":  func(values map[string]any) { values["corners.outputs"].([]int32)[0] = -1 },
		"no share":       func(values map[string]any) { values["corners.shares"].([]float64)[0] = 0 },
		"a share over 1": func(values map[string]any) { values["corners.shares"].([]float64)[0] = 1.1 },
		"a share below":  func(values map[string]any) { values["corners.shares"].([]float64)[1] = -1e-9 },
		"NaN":            func(values map[string]any) { values["corners.shares"].([]float64)[2] = math.NaN() },
	} {
		damaged := &traintest.Shelf{Values: map[string]any{}}
		c.archive(damaged)
		damage(damaged.Values)
		damaged.Restoring = true
		var broken activeOutputs
		broken.archive(damaged)
		if err := broken.fit(p); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

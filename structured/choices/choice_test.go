package choices_test

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
)

// The loss is what a candidate costs more than the gold one, never below 0.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		gold  structured.Gold
		costs []float32 // of each candidate
	}{
		{structured.Gold{Output: []int32{1}}, []float32{1, 0, 1, 1}},
		{structured.Gold{Output: []int32{1}, Costs: []float32{0.5, 0.25, 1, 0.125}}, []float32{0.25, 0, 0.75, 0}},
		{structured.Gold{Output: []int32{-1}, Sets: [][]int32{{0, 2}}, Costs: []float32{0.5, 0.75, 1, 0.125}},
			[]float32{0, 0.25, 0, 0}},
		{structured.Gold{Output: []int32{-1}, Sets: [][]int32{{0, 2}}}, []float32{0, 1, 0, 1}},
		{structured.Gold{Output: []int32{-1}, Sets: [][]int32{nil}, Costs: []float32{0.5, 0.75, 1, 0.125}},
			[]float32{0, 0, 0, 0}},
	} {
		θ := new(structured.Potentials)
		θ.Reshape(choices.Form(), []int{0, 1}, func(string) []int { return []int{0, 4} })
		clear(θ.Parts[0].Values)
		choices.Cost{}.Augment(θ, 0, c.gold)
		for k, want := range c.costs {
			if got := θ.Parts[0].Values[k]; got != want {
				t.Errorf("%+v: candidate %d costs %g, want %g", c.gold, k, got, want)
			}
			if c.gold.Partial() {
				continue
			}
			if got := (choices.Cost{}).Loss([]int32{int32(k)}, c.gold); got != float64(want) {
				t.Errorf("%+v: the loss of candidate %d is %g, want %g", c.gold, k, got, want)
			}
		}
	}
}

func TestCheckData(t *testing.T) {
	for want, d := range map[string]*structured.Dataset{
		"": {Offsets: []int{0, 2, 3}, Outputs: []int{0, 1, 2}, Labels: []int32{1, 0},
			Costs: []float32{1, 0, 0}, CostRows: structured.Positions},
		"example 1: no candidates":         {Offsets: []int{0, 2, 2}, Outputs: []int{0, 1, 2}, Labels: []int32{1, 0}},
		"example 1: candidate 1, expected": {Offsets: []int{0, 2, 3}, Outputs: []int{0, 1, 2}, Labels: []int32{1, 1}},
		"example 0: candidate 2, expected": {Offsets: []int{0, 2}, Outputs: []int{0, 1}, Labels: []int32{-1},
			LabelSets: [][]int32{{0, 2}}},
		"example 0: a gold output of 2": {Offsets: []int{0, 2}, Labels: []int32{0, 1}},
		"2 costs per":                   {Offsets: []int{0, 3}, Costs: []float32{1, 2}, CostRows: structured.Positions},
		"example 0: candidate 1 costs -1": {Offsets: []int{0, 3}, Costs: []float32{1, -1, 0},
			CostRows: structured.Positions},
		`3 costs per "example", expected one`: {Offsets: []int{0, 3}, Costs: []float32{1, 1, 0},
			CostRows: structured.Examples},
	} {
		err := choices.Choice{}.CheckData(d)
		if want == "" && err == nil {
			continue
		}
		if want == "" || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

package matchings_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
)

// all lists the outputs of example b.
func all(s matchings.Matching, θ *structured.Potentials, b int) (outputs [][]int32) {
	s.Each(θ, b, func(y []int32) { outputs = append(outputs, append([]int32(nil), y...)) })
	return outputs
}

// The weighted loss counts missing links and the costs of false ones, and is linear, whatever the weights and costs.
func TestLoss(t *testing.T) {
	for _, s := range []matchings.Matching{{}, {Complete: true}} {
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 1))
			θ := s.Small(r)
			loss := matchings.Loss{Miss: r.Float32(), False: 3 * r.Float32()}
			for b := range θ.Len() {
				outputs := all(s, θ, b)
				gold := structured.Gold{Output: outputs[r.IntN(len(outputs))]}
				n, m := matchings.Sizes(len(gold.Output), len(θ.Parts[0].Of(b)))
				if r.IntN(2) == 0 {
					gold.Costs = make([]float32, n*m)
					for k := range gold.Costs {
						gold.Costs[k] = float32(r.IntN(3)) / 2
					}
				}
				var u structured.Marginals
				u.Like(θ)
				u.Clear()
				for k := range θ.Parts {
					clear(θ.Parts[k].Values)
				}
				loss.Augment(θ, b, gold)
				for _, y := range outputs {
					want := 0.0
					for i, g := range gold.Output {
						if g > 0 && y[i] != g {
							want += float64(loss.Miss)
						}
						if y[i] > 0 && y[i] != g {
							cost := 1.0
							if gold.Costs != nil {
								cost = float64(gold.Costs[i*m+int(y[i])-1])
							}
							want += float64(loss.False) * cost
						}
					}
					u.Add(b, y, 1)
					for name, got := range map[string]float64{"Loss": loss.Loss(y, gold), "Dot": loss.Dot(&u, b, gold),
						"Augment": θ.Score(b, y)} {
						if math.Abs(got-want) > 1e-5 {
							t.Fatalf("%s of %v is %g where %v is right, want %g", name, y, got, gold.Output, want)
						}
					}
					u.Add(b, y, -1)
				}
			}
		}
	}
}

// A source with several possible numbers costs nothing with any of them, and the least of their losses else.
func TestPartialLoss(t *testing.T) {
	s, θ := matchings.Matching{}, new(structured.Potentials)
	s.Resize(θ, []int{1}, []int{3})
	for _, test := range []struct {
		set  []int32
		want [4]float64
	}{
		{nil, [4]float64{}}, {[]int32{0, 2}, [4]float64{0, 3, 0, 3}}, {[]int32{1, 2}, [4]float64{2, 0, 0, 5}},
		{[]int32{0}, [4]float64{0, 3, 3, 3}},
	} {
		for k := range θ.Parts {
			clear(θ.Parts[k].Values)
		}
		matchings.Loss{Miss: 2, False: 3}.Augment(θ, 0, structured.Gold{Output: []int32{-1}, Sets: [][]int32{test.set}})
		for number, want := range test.want {
			if got := θ.Score(0, []int32{int32(number)}); got != want {
				t.Errorf("number %d costs %g where %v are possible, want %g", number, got, test.set, want)
			}
		}
	}
}

// Examples without a complete matching have no output, and the logarithm of their number is −∞.
func TestInfeasible(t *testing.T) {
	s, θ := matchings.Matching{Complete: true}, new(structured.Potentials)
	s.Resize(θ, []int{3}, []int{2})
	d := &structured.Dataset{Offsets: []int{0, 5}, Outputs: []int{0, 3},
		Tables: []*structured.Table{{Name: matchings.PairRows, Offsets: []int{0, 6}}}}
	if got := s.LogOutputs(d, s.Form()); len(all(s, θ, 0)) > 0 || !math.IsInf(got, -1) {
		t.Errorf("%d outputs, log of the number %g", len(all(s, θ, 0)), got)
	}
	large := &structured.Dataset{Offsets: []int{0, 1}, Outputs: []int{0, 300},
		Tables: []*structured.Table{{Name: matchings.PairRows, Offsets: []int{0, 90000}}}}
	// 300! alone is e^1414.9
	if got := (matchings.Matching{}).LogOutputs(large, matchings.Matching{}.Form()); !(got > 1414 && got < 1500) {
		t.Errorf("the log of the number of matchings of 300 by 300 is %g", got)
	}
}

func TestCheck(t *testing.T) {
	for want, y := range map[string][]int32{
		"": {0, 3, -1, -2, 1}, "source 2 is linked to target 4, expected at most 3": {0, 4},
		"sources 1 and 3 are both linked to target 2": {2, 0, 2},
	} {
		if err := matchings.Check(y, 3); want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v: %v, want %q", y, err, want)
		}
	}
}

// data is one example of 2 sources and 3 targets.
func data(labels []int32) *structured.Dataset {
	return &structured.Dataset{Name: "pairs", Offsets: []int{0, 5}, Outputs: []int{0, 2}, Labels: labels,
		Tables: []*structured.Table{{Name: matchings.PairRows, Offsets: []int{0, 6}}}}
}

func TestCheckData(t *testing.T) {
	costs, odd, sets, wide := data([]int32{1, 0}), data(nil), data([]int32{-1, 2}), data(nil)
	costs.Costs, costs.CostRows = []float32{0, 1, 1, 0, -1, 0}, matchings.PairRows
	odd.Tables[0].Offsets[1] = 5
	sets.LabelSets = [][]int32{{1, 4}}
	wide.Outputs[1] = 3
	few := data(nil)
	few.Costs, few.CostRows = []float32{1}, matchings.PairRows
	for _, test := range []struct {
		d        *structured.Dataset
		complete bool
		want     string
	}{
		{data([]int32{3, 0}), false, ""}, {data(nil), true, ""},
		{data([]int32{3, 0}), true, "example 0: source 2 is unmatched"},
		{data([]int32{3, 3}), false, "sources 1 and 2 are both linked to target 3"},
		{data([]int32{4, 0}), false, "source 1 is linked to target 4, expected at most 3"},
		{data([]int32{1, -1}), false, "source 2 has the gold number -1, expected 0 (unmatched) to 3"},
		{sets, false, "source 1 may have the number 4"},
		{costs, false, "a false link of source 2 with target 2 costs -1"},
		{few, false, `1 costs per "pair", expected one for each of the 6 pairs`},
		{odd, false, "5 pairs of 2 sources"},
		{wide, true, "3 sources and 2 targets"},
	} {
		err := matchings.Matching{Complete: test.complete}.CheckData(test.d)
		if test.want == "" && err != nil || test.want != "" &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

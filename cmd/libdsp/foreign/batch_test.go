package foreign

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// The loss is log Z less the score of the output, by enumeration, and its gradient the marginals less the output's
// indicator.
func TestLoss(t *testing.T) {
	for _, kind := range registry.All {
		r := rand.New(rand.NewPCG(4, 4))
		if kind.Structure.Name() == "second-order chain" {
			kind.Small = smallSecond
		}
		θ := kind.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.NormFloat64())
			}
		}
		b, values := new(asked).batch(θ)
		if !b.form.Description.Sums || !b.form.Description.Exact {
			continue
		}
		var y []int32
		var want []float64
		var u structured.Marginals
		u.Copy(oracletest.Gibbs(θ, 1))
		for e := range θ.Len() {
			all := oracletest.Enumerate(θ, e)
			chosen := all[r.IntN(len(all))]
			for math.IsInf(chosen.Score, -1) {
				chosen = all[r.IntN(len(all))]
			}
			sum := 0.0
			for _, o := range all {
				sum += math.Exp(o.Score)
			}
			y, want = append(y, chosen.Values...), append(want, math.Log(sum)-chosen.Score)
			u.Add(e, chosen.Values, -1)
		}
		value, gradient := make([]float64, b.Len()), [][]float32(nil)
		for k := range b.Parts() {
			gradient = append(gradient, make([]float32, b.MarginalSize(k)))
		}
		if _, err := b.Loss(values, Run{}, y, value, gradient); err != nil {
			t.Fatalf("%s: %v", kind.Name(), err)
		}
		for e := range want {
			oracletest.Near(t, kind.Name(), value[e], want[e], 1e-4)
		}
		for k := range gradient {
			oracletest.NearAll(t, kind.Name(), gradient[k], u.Parts[k].Values, 1e-4)
		}
	}
}

// A probability of 1 has the loss 0 and not less, and a forbidden output the loss +∞.
func TestLossAtTheEnds(t *testing.T) {
	form, err := NewForm([]byte(`{"structure": "chain", "labels": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	o := []int{0, 3, 6}
	b, err := form.NewBatch(Layout{Outputs: o, Offsets: [][]int{o, nil}})
	if err != nil {
		t.Fatal(err)
	}
	node := []float32{40.3, -40, 40.1, -40, 40.7, -40, 0, forbidden, 0, 0, 0, 0}
	value, u := make([]float64, 2), [][]float32{make([]float32, 12), make([]float32, 8)}
	y := []int32{0, 0, 0, 1, 0, 0}
	if _, err := b.Loss([][]float32{node, {0.1, 0, 0, 0.3}}, Run{}, y, value, u); err != nil {
		t.Fatal(err)
	}
	if value[0] < 0 || value[0] > 1e-5 || !math.IsInf(value[1], 1) || !math.IsNaN(float64(u[0][6])) || math.IsNaN(float64(u[0][0])) {
		t.Errorf("losses %v with gradients %v", value, u[0])
	}
}

// What does not fit is a message and not a panic.
func TestRefused(t *testing.T) {
	settings := map[string]string{
		`{`:                                "settings of a structure",
		`{"structure": "chains"}`:          `structure "chains", expected one of: PCFG, chain`,
		`{"structure": "chain"}`:           "labels is 0, expected 1 to",
		`{"structure": "chain", "tags":1}`: `chain has no setting "tags", expected some of: labels per_position`,
		`{"structure": "chain", "labels": 2, "mu": 1}`:                               "unknown field",
		`{"structure": "chain", "labels": 4611686018427387904}`:                      "labels is 4611686018427387904",
		`{"structure": "second-order chain", "labels": 1000}`:                        "labels is 1000, expected 1 to 645",
		`{"structure": "segmentation", "tags": 4, "longest": 1000000000}`:            "longest is 1000000000",
		`{"structure": "graph", "labels": 3, "inference": "cut"}`:                    "cuts find the best of 2 labels",
		`{"structure": "graph", "labels": 3, "edges": "typed"}`:                      "0 types of typed edges",
		`{"structure": "graph", "labels": 3, "edges": "some"}`:                       "some",
		`{"structure": "window", "height": 3}`:                                       "a map of 3 by 0 cells",
		`{"structure": "window", "height": 1000000000, "width": 1000000000}`:         "cells",
		`{"structure": "projective tree with siblings", "roots": true, "labels": 1}`: "siblings of several roots",
	}
	for given, want := range settings {
		if _, err := NewForm([]byte(given)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", given, err, want)
		}
	}
	chain, _ := NewForm([]byte(`{"structure": "chain", "labels": 2}`))
	tree, _ := NewForm([]byte(`{"structure": "projective tree", "labels": 1}`))
	line, _ := NewForm([]byte(`{"structure": "transcript", "labels": 3}`))
	graph, _ := NewForm([]byte(`{"structure": "graph", "labels": 2}`))
	for _, c := range []struct {
		form   *Form
		layout Layout
		want   string
	}{
		{chain, Layout{}, "offsets of outputs"},
		{chain, Layout{Outputs: []int{1, 2}}, "begin with 1"},
		{chain, Layout{Outputs: []int{0, 2, 1}}, "fall from 2 to 1"},
		{chain, Layout{Outputs: []int{0, 2}}, "0 parts, expected 2"},
		{chain, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}, {0, 1}}}, `part "edge": offsets`},
		{chain, Layout{Outputs: []int{0, 2}, Offsets: [][]int{nil, nil}}, `part "node": offsets`},
		{chain, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 3}, nil}}, `3 rows of part "node", expected 2`},
		{chain, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}, nil}, GoldOffsets: []int{0, 0}}, "reads no gold"},
		{chain, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}, nil}, EdgeOffsets: []int{0, 0}}, "has no edges"},
		{tree, Layout{Outputs: []int{0, 3}, Offsets: [][]int{{0, 1}, {0, 1}}}, "a head and a relation"},
		{line, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}}, GoldOffsets: []int{0, 1}, Gold: []int32{2}}, "symbol 2 at place 0, expected 0 to 1"},
		{line, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}}, GoldOffsets: []int{0, 3}, Gold: []int32{1}}, "1 gold numbers, expected 3"},
		{graph, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}, {0, 0}}}, "no edges; make them first"},
		{graph, Layout{Outputs: []int{0, 2}, Offsets: [][]int{{0, 2}, {0, 1}}, EdgeOffsets: []int{0, 1}, Ends: [][2]int32{{0, 2}}}, "edge 0 joins"},
	} {
		if _, err := c.form.NewBatch(c.layout); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.layout, err, c.want)
		}
	}
}

// A panic of an oracle is an error that says where, and later questions are answered.
func TestPanicIsAnError(t *testing.T) {
	form, _ := NewForm([]byte(`{"structure": "chain", "labels": 2}`))
	o := []int{0, 2}
	b, err := form.NewBatch(Layout{Outputs: o, Offsets: [][]int{o, nil}})
	if err != nil {
		t.Fatal(err)
	}
	values := [][]float32{make([]float32, 4), make([]float32, 4)}
	if _, err := b.each(values, Run{}, func(*lane, int, int) { panic("odd") }); err == nil || err.Error() != "internal error, examples 0 to 0: odd" {
		t.Errorf("%v", err)
	}
	y, value := make([]int32, 2), make([]float64, 1)
	if next, err := b.Max(values, Run{}, y, value); next != 1 || err != nil {
		t.Errorf("%d, %v", next, err)
	}
	if _, err := b.Max(values[:1], Run{}, y, value); err == nil {
		t.Error("a missing part")
	}
}

package foreign

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
)

// Sizes of a batch that do not fit each other are refused: an oracle would read beyond the caller's memory. What fits
// does not fit any more with a row of a part more or less, or with a number of an output more.
func TestSizesThatDoNotFit(t *testing.T) {
	for _, kind := range registry.All {
		switch kind.Structure.(type) {
		case choices.Choice, matchings.Matching, monotone.Alignment:
			continue // of any number of candidates or pairs: TestLayoutsRefused
		case chains.Second:
			kind.Small = smallSecond
		}
		t.Run(kind.Name(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			for range 40 {
				θ := kind.Small(r)
				fits := layoutOf(θ)
				form, err := NewForm(settingsOf(θ).given())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := form.NewBatch(fits); err != nil {
					t.Fatalf("%+v: %v", fits, err)
				}
				for b := range θ.Len() {
					for k, p := range θ.Parts {
						for _, more := range []int{1, -1} {
							if p.Offsets == nil || p.Offsets[b+1]-p.Offsets[b]+more < 0 {
								continue
							}
							wrong := layoutOf(θ)
							wrong.Offsets[k] = lengthened(p.Offsets, b, more)
							if _, err := form.NewBatch(wrong); err == nil {
								t.Fatalf("%+v is accepted with %d more rows of part %s in example %d", fits, more, p.Name, b)
							}
						}
					}
					wrong := layoutOf(θ)
					wrong.Outputs = lengthened(θ.Outputs, b, 1)
					if _, err := form.NewBatch(wrong); err == nil {
						t.Fatalf("%+v is accepted with one more number of output %d", fits, b)
					}
				}
			}
		})
	}
}

// Sizes of candidates, pairs and edges that do not fit, and edges that join no two variables of their graph or have no
// type, are refused by name.
func TestLayoutsRefused(t *testing.T) {
	one := func(numbers int, rows ...int) (l Layout) {
		l.Outputs = []int{0, numbers}
		for _, n := range rows {
			l.Offsets = append(l.Offsets, []int{0, n})
		}
		return l
	}
	edges := func(l Layout, types []int32, ends ...[2]int32) Layout {
		l.Ends, l.Types, l.EdgeOffsets = ends, types, []int{0, len(ends)}
		return l
	}
	typed := func(types ...int32) Layout {
		l := edges(one(3, 3, 0), types, [2]int32{0, 1}, [2]int32{1, 2})
		l.Offsets[1] = nil
		return l
	}
	for settings, layouts := range map[string]map[string]Layout{
		`{"structure": "choice"}`: {
			"": one(1, 7), "an output of 2 numbers, expected 1": one(2, 7), "an output of 0 numbers, expected 1": one(0, 1),
			"an output of 1 numbers, expected 0": one(1, 0),
		},
		`{"structure": "matching"}`: {
			"": one(2, 6, 2), "5 pairs of 2 sources": one(2, 5, 2),
			"3 pairs of 0 sources": one(0, 3, 0), "3 rows of part": one(2, 6, 3),
		},
		`{"structure": "complete matching"}`: {
			"": one(2, 6), "5 pairs of 2 sources": one(2, 5), "1 pairs of 0 sources": one(0, 1),
		},
		`{"structure": "monotone alignment"}`: {
			"": one(monotone.Numbers(2, 3), 6, 2), "5 pairs of 2 sources": one(monotone.Numbers(2, 3), 5, 2),
			"3 pairs of 0 sources":        one(0, 3, 0),
			"for 2 sources and 3 targets": one(monotone.Numbers(2, 3)+1, 6, 2), "1 numbers without sources": one(1, 0, 0),
		},
		`{"structure": "monotone alignment", "moves": true}`: {
			"":                                    one(monotone.Numbers(2, 3), 6, 2, 6),
			"2 rows of part \"move\", expected 6": one(monotone.Numbers(2, 3), 6, 2, 2),
		},
		`{"structure": "graph", "labels": 2}`: {
			"":                               edges(one(3, 3, 2), nil, [2]int32{0, 2}, [2]int32{2, 1}),
			"edge 1 joins variables 3 and 0": edges(one(3, 3, 2), nil, [2]int32{0, 2}, [2]int32{3, 0}),
			"edge 0 joins variables 1 and 3": edges(one(3, 3, 2), nil, [2]int32{1, 3}, [2]int32{0, 1}),
			"joins variables -1 and 0":       edges(one(3, 3, 1), nil, [2]int32{-1, 0}),
			"joins variables 0 and -1":       edges(one(3, 3, 1), nil, [2]int32{0, -1}),
			"joins variables 1 and 1":        edges(one(3, 3, 1), nil, [2]int32{1, 1}),
			"1 rows of part":                 edges(one(3, 3, 1), nil, [2]int32{0, 2}, [2]int32{2, 1}),
			"2 rows of part":                 edges(one(3, 2, 1), nil, [2]int32{0, 1}),
		},
		`{"structure": "graph", "labels": 2, "edges": "typed", "types": 2}`: {
			"": typed(0, 1), "0 types of 2 edges": typed(),
			"edge 1 has type 2, expected 0 to 1": typed(1, 2), "edge 0 has type -1": typed(-1, 0),
		},
	} {
		form, err := NewForm([]byte(settings))
		if err != nil {
			t.Fatal(err)
		}
		for want, l := range layouts {
			_, err := form.NewBatch(l)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, %+v: %v, expected %q", settings, l, err, want)
			}
		}
	}
}

// lengthened returns offsets of which example b has some more rows.
func lengthened(offsets []int, b, more int) []int {
	offsets = append([]int(nil), offsets...)
	for c := b + 1; c < len(offsets); c++ {
		offsets[c] += more
	}
	return offsets
}

func layoutOf(θ *structured.Potentials) Layout {
	l := Layout{Outputs: θ.Outputs}
	for _, p := range θ.Parts {
		l.Offsets = append(l.Offsets, p.Offsets)
	}
	if len(θ.Gold) > 0 {
		l.GoldOffsets = []int{0}
		for _, gold := range θ.Gold {
			if gold == nil {
				gold = []int32{-1}
			}
			l.Gold, l.GoldOffsets = append(l.Gold, gold...), append(l.GoldOffsets, len(l.Gold)+len(gold))
		}
	}
	if len(θ.Graphs) > 0 {
		l.EdgeOffsets = []int{0}
		for _, g := range θ.Graphs {
			l.Ends, l.Types = append(l.Ends, g.Ends...), append(l.Types, g.Types...)
			l.EdgeOffsets = append(l.EdgeOffsets, len(l.Ends))
		}
	}
	return l
}

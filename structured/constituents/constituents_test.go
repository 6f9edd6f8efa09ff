package constituents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func split(name string) []string { return strings.Split(name, "+") }

// The binary form of a tree is made from the left; numbers that cross, leave out the whole or are unknown are no tree.
func TestBinary(t *testing.T) {
	at := func(n int, spans ...[3]int) []int32 {
		y := make([]int32, n*n)
		for _, s := range spans {
			y[s[0]*n+s[1]] = int32(s[2])
		}
		return y
	}
	type span struct{ row, label int }
	var got []span
	visit := func(row int, l int32) { got = append(got, span{row, int(l)}) }
	if !Binary(at(4, [3]int{0, 3, 1}, [3]int{1, 2, 2}), 2, visit) {
		t.Fatal("no tree")
	}
	// The children are word 0, words 1 and 2, and word 3: words 0 to 2 are a left child without a label.
	slices.SortFunc(got, func(a, b span) int { return a.row - b.row })
	if want := []span{{0, 0}, {2, 0}, {3, 1}, {5, 0}, {6, 2}, {10, 0}, {15, 0}}; !slices.Equal(got, want) {
		t.Errorf("spans %v, want %v", got, want)
	}
	for name, y := range map[string][]int32{
		"crossing":        at(4, [3]int{0, 3, 1}, [3]int{0, 2, 1}, [3]int{1, 3, 1}),
		"no whole":        at(3, [3]int{0, 1, 1}),
		"unknown label":   at(2, [3]int{0, 1, 3}),
		"negative":        at(2, [3]int{0, 1, -1}),
		"below diagonal":  at(2, [3]int{0, 1, 1}, [3]int{1, 0, 1}),
		"crossing inside": at(5, [3]int{0, 4, 1}, [3]int{1, 3, 1}, [3]int{2, 4, 2}),
	} {
		if Binary(y, 2, func(int, int32) {}) {
			t.Errorf("%s: %v is a tree", name, y)
		}
	}
}

// Brackets count as EVALB's do: joined labels apart, TOP not at all, punctuation left out, PRT as ADVP, and the same
// bracket several times.
func TestEvaluator(t *testing.T) {
	names := structured.NewAlphabet("TOP+S", "NP", "NP+NP", "PRT", "VP")
	skip := []bool{false, false, true, false}
	//            (TOP (S (NP (NP a)) (VP b ,) (PRT c)))
	gold := []int32{3, 0, 0, 1 /**/, 0, 0, 5, 0 /**/, 0, 0, 0, 0 /**/, 0, 0, 0, 4}
	//            (TOP (S (NP a) (VP b) , c))
	predicted := []int32{2, 0, 0, 1 /**/, 0, 5, 0, 0 /**/, 0, 0, 0, 0 /**/, 0, 0, 0, 0}
	want := []Bracket{{"NP", 0, 0}, {"NP", 0, 0}, {"S", 0, 2}, {"VP", 1, 1}, {"ADVP", 2, 2}}
	if got := Brackets(gold, names, split, skip); !slices.Equal(got, want) {
		t.Errorf("brackets %v, want %v", got, want)
	}
	e := NewEvaluator()
	e.Add(Brackets(gold, names, split, skip), Brackets(predicted, names, split, skip))
	e.Add(want, want)
	m := e.Metrics()
	if m.Gold != 10 || m.Predicted != 8 || m.Matched != 8 || m.Complete != 0.5 || m.Precision != 1 ||
		m.Recall != 0.8 || m.F1 != 16./18 {
		t.Errorf("%+v", m)
	}
	if want := "10 constituents in 2 sentences; 50.00 % of the sentences " +
		"are right as a whole\n"; !strings.HasPrefix(m.Table(), want) {
		t.Errorf("%s", m.Table())
	}
	if want := fmt.Sprintf("%-12s %8d %12.2f %10.2f %8.2f\n", "all", 10, 100*m.Precision, 100*m.Recall,
		100*m.F1); !strings.Contains(m.Table(), want) {
		t.Errorf("no line %q in\n%s", want, m.Table())
	}
	general := m.General()
	if general.Get("f1") != m.F1 || general.Get("complete") != 0.5 ||
		!strings.Contains(general.String(), "bracket F1 88.89 %") {
		t.Errorf("%s", general.String())
	}
}

// A sentence is complete if its brackets are all right and there are no others.
func TestComplete(t *testing.T) {
	np, vp := Bracket{"NP", 0, 1}, Bracket{"VP", 1, 1}
	for _, test := range []struct {
		gold, predicted []Bracket
		complete        float64
	}{{[]Bracket{np, vp}, []Bracket{np, vp}, 1}, {[]Bracket{np}, []Bracket{np, vp}, 0},
		{[]Bracket{np, vp}, []Bracket{np}, 0}, {[]Bracket{np}, []Bracket{np, np}, 0}, {nil, nil, 1}} {
		e := NewEvaluator()
		e.Add(test.gold, test.predicted)
		if got := e.Metrics().Complete; got != test.complete {
			t.Errorf("%v for %v: complete %g, want %g", test.predicted, test.gold, got, test.complete)
		}
	}
}

package chains

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Random tags, and the gold, predicted and right entities that seqeval 1.2.2 counts in them: as conlleval does (it has
// no such count of BILOU), and in its strict mode with that scheme.
func TestEntitiesAgreeWithSeqeval(t *testing.T) {
	for _, test := range []struct {
		scheme, gold, predicted string
		lenient, strict         [3]int
	}{
		{"iob1", "I-A B-A B-A I-A | B-B I-B O | B-B O I-A B-B", "I-A O B-A B-B | B-B I-A I-A | B-B O I-A B-B",
			[3]int{7, 8, 4}, [3]int{5, 3, 2}},
		{"iob2", "I-B B-A O I-B B-B | O | O", "I-B B-A B-B I-B B-B | B-A | B-A", [3]int{4, 6, 3}, [3]int{2, 5, 2}},
		{"bioes", "I-B S-A E-A S-A S-A B-A | I-B | E-A E-B I-A I-B", "S-B S-A E-A S-A S-A E-B | B-B | E-A E-B I-A I-B",
			[3]int{11, 11, 10}, [3]int{3, 4, 3}},
		{"bilou", "U-B I-A B-A O B-A B-B B-B | U-B I-A | L-A U-B I-B", "L-A I-A B-A O B-A B-B U-B | U-B L-B | B-B U-B L-B",
			[3]int{-1, -1, -1}, [3]int{3, 3, 2}},
		{"iob1", "B-B I-A B-B O I-B | I-B B-B B-B | B-A", "B-B O B-B O O | I-B B-B B-B | B-A",
			[3]int{8, 6, 6}, [3]int{5, 3, 3}},
		{"iob1", "I-A I-A I-A O | B-A B-B I-B B-B | B-A I-B O", "I-B O I-A O | B-A B-A O I-B | B-A I-B I-A",
			[3]int{6, 8, 4}, [3]int{4, 6, 2}},
		{"iob2", "I-A O I-A | O O B-B I-B B-A | B-A B-A B-B B-B I-A", "I-A O O | B-B O B-B I-B B-A | B-A I-A B-B B-B I-A",
			[3]int{9, 8, 6}, [3]int{6, 6, 4}},
		{"iob2", "B-B I-A I-A O B-A | I-A B-A B-B O O | I-B", "B-B I-A I-A O B-A | I-B B-B B-B O O | O",
			[3]int{7, 6, 4}, [3]int{4, 4, 3}},
		{"bioes", "S-B S-B O B-B | S-B I-B E-A | I-A E-B S-B E-B B-B", "S-B E-A O I-A | S-B E-B E-B | I-A I-B B-B E-B B-B",
			[3]int{11, 10, 6}, [3]int{4, 3, 2}},
		{"bilou", "U-A B-A B-B U-A U-B | U-B U-B O I-B B-B | L-A L-B", "U-A L-A B-A U-B I-B | I-B U-B O I-B L-A | L-A L-B",
			[3]int{-1, -1, -1}, [3]int{5, 3, 2}},
		{"bilou", "U-A U-A L-A | L-B B-A O B-B O U-B | I-B I-A L-A L-A",
			"U-A U-A I-B | L-B B-A O B-B I-A U-B | I-B L-B L-A L-A", [3]int{-1, -1, -1}, [3]int{3, 3, 3}},
		{"bioes", "S-B S-A E-B B-A S-A B-A | E-B I-A | S-B I-B", "S-B S-A E-B S-A S-A B-A | E-B I-A | S-B I-B",
			[3]int{10, 10, 10}, [3]int{4, 5, 4}},
	} {
		letters := "BI"
		if of, err := findScheme(test.scheme); err == nil {
			letters = of.all()
		}
		names := []string{"O"}
		for _, letter := range letters {
			names = append(names, string(letter)+"-A", string(letter)+"-B")
		}
		a := structured.NewAlphabet(names...)
		for strict, want := range map[bool][3]int{false: test.lenient, true: test.strict} {
			e := NewEvaluator(a, strict, test.scheme)
			gold, predicted := strings.Split(test.gold, " | "), strings.Split(test.predicted, " | ")
			for k := range gold {
				e.addLabels(encode(t, a, strings.Fields(gold[k])), encode(t, a, strings.Fields(predicted[k])))
			}
			if m := e.Labels(); want[0] >= 0 && [3]int{m.Gold, m.Predicted, m.Correct} != want {
				t.Errorf("%s, %s, %s, strict %v: %d %d %d, expected %d", test.scheme, test.gold, test.predicted, strict, m.Gold,
					m.Predicted, m.Correct, want)
			}
		}
	}
}

// Tags of other schemes and spellings are the same entities.
func TestEntitiesInOtherNotations(t *testing.T) {
	for _, tags := range []string{"B-A I-A B-A O B-B", "I-A I-A B-A O I-B", "B-A E-A S-A O S-B", "B-A L-A U-A O U-B",
		"B-A E-A W-A O W-B", "B_A I_A B_A O B_B", "A-B A-I A-B O B-B", "b-A i-A b-A o b-B"} {
		a := structured.NewAlphabet(strings.Fields(tags)...)
		e := NewEntities(a)
		if e == nil {
			t.Errorf("%s: no tags", tags)
			continue
		}
		var got []string
		for _, x := range e.Of(nil, encode(t, a, strings.Fields(tags))) {
			got = append(got, e.Types().Name(x.Type)+string(rune('0'+x.First))+string(rune('0'+x.Last)))
		}
		if strings.Join(got, " ") != "A01 A22 B44" {
			t.Errorf("%s: %q", tags, got)
		}
	}
}

package chains

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// The scores equal those from plain counting, label by label.
func TestConfusion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := structured.NewAlphabet("c", "a", "ü", "b")
		n := rapid.IntRange(0, 30).Draw(t, "n")
		draw := rapid.SliceOfN(rapid.Int32Range(0, 3), n, n)
		gold, pred := draw.Draw(t, "gold"), draw.Draw(t, "pred")
		c := NewConfusion(labels)
		c.Add(gold[:n/2], pred[:n/2])
		c.Add(gold[n/2:], pred[n/2:])
		seen := 0
		for i, s := range c.Labels() {
			l := labels.Index(s.Label)
			var correct, support, predicted int
			for t, g := range gold {
				if g == l {
					support++
				}
				if pred[t] == l {
					predicted++
				}
				if g == l && pred[t] == l {
					correct++
				}
			}
			if s.Correct != correct || s.Support != support || s.Predicted != predicted || support+predicted == 0 {
				t.Fatalf("%+v: counted %d, %d, %d", s, correct, support, predicted)
			}
			if p, r := s.Precision, s.Recall; correct > 0 && math.Abs(s.F1-2*p*r/(p+r)) > 1e-12 {
				t.Fatalf("%+v: F1", s)
			}
			if i > 0 && c.Labels()[i-1].Label >= s.Label {
				t.Fatal("not by name")
			}
			seen += s.Support
		}
		if seen != n {
			t.Fatalf("%d positions in the table of %d", seen, n)
		}
		wrong, last := 0, math.MaxInt
		for _, m := range c.Mistakes() {
			count := 0
			for t := range gold {
				if labels.Name(gold[t]) == m.Gold && labels.Name(pred[t]) == m.Predicted {
					count++
				}
			}
			if m.Count != count || m.Gold == m.Predicted || m.Count > last {
				t.Fatalf("%+v, counted %d", m, count)
			}
			wrong, last = wrong+m.Count, m.Count
		}
		for t2 := range gold {
			if gold[t2] != pred[t2] {
				wrong--
			}
		}
		if wrong != 0 {
			t.Fatalf("%d mistakes too many", wrong)
		}
	})
}

func TestConfusionTables(t *testing.T) {
	c := NewConfusion(structured.NewAlphabet("NOUN", "VERB", "X"))
	c.Add([]int32{0, 0, 0, 1, 1}, []int32{0, 0, 1, 1, 0})
	for _, want := range []string{
		"        NOUN     66.67%     66.67%     66.67%         3\n",
		"   macro avg     58.33%     58.33%     58.33%         5\n",
		"weighted avg     60.00%     60.00%     60.00%         5\n",
	} {
		if got := LabelTable(c.Labels()); !strings.Contains(got, want) || strings.Contains(got, "X") {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	want := "gold  predicted     count  of the gold  of mistakes\n" +
		"NOUN  VERB              1       33.33%       50.00%\n" +
		"and 1 more kinds of mistakes\n"
	if got := MistakeTable(c.Mistakes(), 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

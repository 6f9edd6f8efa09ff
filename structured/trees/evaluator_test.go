package trees

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees/treestest"
)

// Computed by hand: two sentences with a subtype, which does not count, a wrong relation under the right head, a wrong
// head under the right relation, and a relation that occurs only in the prediction.
func TestEvaluator(t *testing.T) {
	names := structured.NewAlphabet("root", "nsubj", "nsubj:pass", "obj", "punct", "obl:tmod", "amod", "never")
	e := NewEvaluator(names)
	e.Add(Tree{[]int32{2, 0, 2, 2}, []int32{2, 0, 3, 4}}, // nsubj:pass root obj punct
		Tree{[]int32{2, 0, 2, 3}, []int32{1, 0, 5, 4}}, // nsubj root obl:tmod punct under another head
		[]bool{false, false, false, true})
	e.Add(Tree{[]int32{0, 1, 2}, []int32{0, 3, 4}}, // root obj punct
		Tree{[]int32{2, 0, 2}, []int32{6, 0, 4}}, // amod root punct
		[]bool{false, false, true})
	m := e.Metrics()
	for name, values := range map[string][2]float64{
		"uas": {m.UAS, 4. / 7}, "las": {m.LAS, 3. / 7}, "uas without punctuation": {m.UASNoPunct, 3. / 5},
		"las without punctuation": {m.LASNoPunct, 2. / 5}, "root": {m.Root, 1. / 2},
	} {
		if math.Abs(values[0]-values[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, values[0], values[1])
		}
	}
	if m.Words != 7 || m.NoPunct != 5 || m.Sentences != 2 {
		t.Errorf("%+v", m)
	}
	want := []RelationScore{
		{"obj", 2, 0, 0.5, 0, 0}, {"punct", 2, 2, 0.5, 0.5, 0.5}, {"root", 2, 2, 0.5, 0.5, 0.5}, {"nsubj", 1, 1, 1, 1, 1},
		{"amod", 0, 1, 0, 0, 0}, {"obl", 0, 1, 0, 0, 0},
	}
	if len(m.Relations) != len(want) {
		t.Fatalf("%+v", m.Relations)
	}
	// obj and root have the same gold count: the one predicted more often comes first.
	order := map[string]RelationScore{}
	for _, r := range m.Relations {
		order[r.Name] = r
	}
	for _, r := range want {
		if order[r.Name] != r {
			t.Errorf("%+v, want %+v", order[r.Name], r)
		}
	}
	if m.Relations[0].Name != "punct" || m.Relations[2].Name != "obj" || m.Relations[5].Name != "obl" {
		t.Errorf("order: %+v", m.Relations)
	}
	if got := m.String(); got != "UAS 57.14 %, LAS 42.86 %, without punctuation 60.00 % and 40.00 %, root 50.00 %" {
		t.Error(got)
	}
	table := m.Table()
	for _, line := range []string{
		"7 words in 2 sentences; the root is right in 50.00 %\n", "all words                  7    57.14    42.86\n",
		"without punctuation        5    60.00    40.00\n", "punct              2       50.00       50.00        50.00\n",
		"obj                2       50.00        0.00            –\n",
		"obl                0           –           –         0.00\n",
	} {
		if !strings.Contains(table, line) {
			t.Errorf("no %q in\n%s", line, table)
		}
	}
}

func TestEvaluatorWithoutData(t *testing.T) {
	m := NewEvaluator(structured.NewAlphabet()).Metrics()
	if m.UAS != 0 || m.Relations != nil || strings.Contains(m.String()+m.Table(), "NaN") {
		t.Errorf("%+v %s", m, m.Table())
	}
}

// On random trees, the metrics equal their definitions.
func TestEvaluatorDefinition(t *testing.T) {
	names := structured.NewAlphabet("a", "a:x", "b", "b:y", "c")
	rapid.Check(t, func(t *rapid.T) {
		e := NewEvaluator(names)
		golds, guesses, rights := map[string]float64{}, map[string]float64{}, map[string]float64{} // by relation
		var words, heads, labeled, noPunct, noPunctHeads, noPunctLabeled, roots, sentences float64
		for range rapid.IntRange(1, 4).Draw(t, "sentences") {
			gold := Tree{Heads: treestest.DrawHeads(t, 6)}
			n := gold.Len()
			predicted := Tree{Heads: treestest.DrawHeads(t, 6)}
			for predicted.Len() != n {
				predicted.Heads = append([]int32(nil), gold.Heads...)
			}
			relations := rapid.SliceOfN(rapid.Int32Range(0, 4), n, n)
			gold.Relations, predicted.Relations = relations.Draw(t, "gold"), relations.Draw(t, "predicted")
			punctuation := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "punctuation")
			e.Add(gold, predicted, punctuation)
			sentences++
			for k := range n {
				head := gold.Heads[k] == predicted.Heads[k]
				label := head && names.Name(gold.Relations[k])[0] == names.Name(predicted.Relations[k])[0]
				golds[names.Name(gold.Relations[k])[:1]]++
				guesses[names.Name(predicted.Relations[k])[:1]]++
				if label {
					rights[names.Name(gold.Relations[k])[:1]]++
				}
				count := func(of *float64, yes bool) {
					if yes {
						*of++
					}
				}
				count(&words, true)
				count(&heads, head)
				count(&labeled, label)
				count(&noPunct, !punctuation[k])
				count(&noPunctHeads, head && !punctuation[k])
				count(&noPunctLabeled, label && !punctuation[k])
				count(&roots, gold.Heads[k] == 0 && predicted.Heads[k] == 0)
			}
		}
		m := e.Metrics()
		got := []float64{m.UAS * words, m.LAS * words, m.UASNoPunct * noPunct, m.LASNoPunct * noPunct, m.Root * sentences}
		for k, want := range []float64{heads, labeled, noPunctHeads, noPunctLabeled, roots} {
			if math.Abs(got[k]-want) > 1e-9 {
				t.Fatalf("%d: %v, want %v", k, got[k], want)
			}
		}
		for _, r := range m.Relations {
			if float64(r.Gold) != golds[r.Name] || float64(r.Predicted) != guesses[r.Name] ||
				math.Abs(r.Recall*golds[r.Name]-rights[r.Name]) > 1e-9 ||
				math.Abs(r.Precision*guesses[r.Name]-rights[r.Name]) > 1e-9 {
				t.Fatalf("%+v, want gold %v, predicted %v, right %v", r, golds[r.Name], guesses[r.Name], rights[r.Name])
			}
			delete(golds, r.Name)
			delete(guesses, r.Name)
		}
		if len(golds)+len(guesses) > 0 {
			t.Fatalf("no score of %v %v", golds, guesses)
		}
	})
}

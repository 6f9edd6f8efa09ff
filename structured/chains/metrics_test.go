package chains

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// The pairs of tags of the same type between which conlleval.pl ends or starts a chunk, transcribed from its endOfChunk
// and startOfChunk, and the pairs with S and E→B that BIOES adds. A change of type does both.
var (
	referenceEnds   = "BB BO IB IO EE EI EO " + "EB ES SB SI SE SS SO BS IS "
	referenceStarts = "BB IB OB OI EE EI OE " + "EB ES SB SI SE SS BS IS OS "
)

func refEnds(prev, cur string) bool {
	return strings.Contains(referenceEnds, prev[:1]+cur[:1]+" ") || prev != "O" && prev[1:] != cur[1:]
}

func refStarts(prev, cur string) bool {
	return strings.Contains(referenceStarts, prev[:1]+cur[:1]+" ") || cur != "O" && prev[1:] != cur[1:]
}

// referenceScore is conlleval.pl's loop, which walks both taggings at once without forming chunks.
func referenceScore(gold, pred []string) (s EntityScore) {
	gold, pred = append(gold, "O"), append(pred, "O")
	lastGold, lastPred, both := "O", "O", false
	for t := range gold {
		g, p := gold[t], pred[t]
		if both {
			ge, pe := refEnds(lastGold, g), refEnds(lastPred, p)
			if ge && pe && lastGold[1:] == lastPred[1:] {
				both = false
				s.Correct++
			} else if ge != pe || g[1:] != p[1:] {
				both = false
			}
		}
		if refStarts(lastGold, g) && refStarts(lastPred, p) && g[1:] == p[1:] {
			both = true
		}
		if refStarts(lastGold, g) {
			s.Gold++
		}
		if refStarts(lastPred, p) {
			s.Predicted++
		}
		lastGold, lastPred = g, p
	}
	s.finish()
	return s
}

var bioes = []string{"O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"}

func encode(t interface{ Fatalf(string, ...any) }, a *structured.Alphabet, names []string) []int32 {
	ids := make([]int32, len(names))
	for i, n := range names {
		if ids[i] = a.Index(n); ids[i] < 0 {
			t.Fatalf("no label %q", n)
		}
	}
	return ids
}

func TestEntitiesAgreeWithConlleval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([][]string{
			bioes, {"O", "B-A", "I-A", "B-B", "I-B"}, {"O", "I-A", "E-A", "I-B", "E-B"}, {"O", "I-A"},
		}).Draw(t, "scheme")
		a := structured.NewAlphabet(names...)
		label := rapid.SampledFrom(names)
		gold := rapid.SliceOfN(label, 0, 12).Draw(t, "gold")
		pred := make([]string, len(gold))
		for i := range pred {
			pred[i] = gold[i]
			if rapid.Bool().Draw(t, "change") {
				pred[i] = label.Draw(t, "pred")
			}
		}
		e := NewEvaluator(a, false, "")
		e.addLabels(encode(t, a, gold), encode(t, a, pred))
		if got, want := e.Labels().EntityScore, referenceScore(gold, pred); got != want {
			t.Fatalf("gold %v\npred %v\ngot  %+v\nwant %+v", gold, pred, got, want)
		}
	})
}

func TestChunks(t *testing.T) {
	for _, test := range []struct {
		tags, lenient, strict string // chunks as type@start-end
	}{
		{"B-A I-A O B-A", "A@0-2 A@3-4", "A@0-2 A@3-4"},
		{"I-A I-A B-A I-B", "A@0-2 A@2-3 B@3-4", "A@2-3"},
		{"O I-A O I-B I-A", "A@1-2 B@3-4 A@4-5", ""},
		{"B-A I-B I-A", "A@0-1 B@1-2 A@2-3", "A@0-1"},
		{"B-A E-A S-A B-A I-A E-A O", "A@0-2 A@2-3 A@3-6", "A@0-2 A@2-3 A@3-6"},
		{"B-A I-A O E-A S-B", "A@0-2 A@3-4 B@4-5", "B@4-5"},
		{"B-A B-A E-A I-A", "A@0-1 A@1-3 A@3-4", "A@1-3"},
		{"B-A L-A U-A", "A@0-2 A@2-3", "A@0-2 A@2-3"},
		{"I-a-b I-a-b I-a-c O", "a-b@0-2 a-c@2-3", ""},
		{"O O", "", ""},
	} {
		names := strings.Fields(test.tags)
		a := structured.NewAlphabet(append(names, "B-", "O")...)
		s := parseTags(a)
		show := func(cs []chunk) string {
			var out []string
			for _, c := range cs {
				out = append(out, s.types.Name(c.typ)+"@"+string(rune('0'+c.start))+"-"+string(rune('0'+c.end)))
			}
			return strings.Join(out, " ")
		}
		labels := encode(t, a, names)
		if got := show(s.chunks(nil, labels)); got != test.lenient {
			t.Errorf("%s: chunks %q, want %q", test.tags, got, test.lenient)
		}
		if got := show(s.strictChunks(nil, labels)); got != test.strict {
			t.Errorf("%s: strict chunks %q, want %q", test.tags, got, test.strict)
		}
	}
}

func TestEntityAlphabets(t *testing.T) {
	for names, want := range map[string]bool{
		"O B-A I-A": true, "B-A I-A": true, "O B I": true, "O": false, "a b o": false,
		"B-A NN": false, "O N V": false, "B E": false, "Other B-A": false, "": false,
	} {
		if got := NewEvaluator(structured.NewAlphabet(strings.Fields(names)...), false,
			"").Labels().EntityMetrics != nil; got != want {
			t.Errorf("%q: entity tags %v, want %v", names, got, want)
		}
	}
}

func TestMetrics(t *testing.T) {
	a := structured.NewAlphabet("O", "B-PER", "I-PER", "B-LOC")
	e := NewEvaluator(a, false, "")
	e.addLabels(encode(t, a, strings.Fields("B-PER I-PER O B-LOC")), encode(t, a, strings.Fields("B-PER I-PER O O")))
	e.addLabels(encode(t, a, strings.Fields("O B-LOC")), encode(t, a, strings.Fields("O B-LOC")))
	e.addLabels(nil, nil)
	e.addLabels(encode(t, a, strings.Fields("B-PER I-PER")), encode(t, a, strings.Fields("B-PER O")))
	m := e.Labels()
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"token_error":0.25,"token_accuracy":0.75,"sequence_error":0.5,"tokens":8,"sequences":4,` +
		`"precision":0.6666666666666666,"recall":0.5,"f1":0.5714285714285714,"gold":4,"predicted":3,"correct":2,` +
		`"types":{"LOC":{"precision":1,"recall":0.5,"f1":0.6666666666666666,"gold":2,"predicted":1,"correct":1},` +
		`"PER":{"precision":0.5,"recall":0.5,"f1":0.5,"gold":2,"predicted":2,"correct":1}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if named, err := json.Marshal(e.Metrics()); err != nil || string(named) != string(got) {
		t.Errorf("by name %s, %v\nwant    %s", named, err, got)
	}
	wantTable := `processed 8 tokens with 4 phrases; found: 3 phrases; correct: 2.
accuracy:  75.00%; precision:  66.67%; recall:  50.00%; FB1:  57.14
              LOC: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
              PER: precision:  50.00%; recall:  50.00%; FB1:  50.00  2
`
	if m.Table() != wantTable {
		t.Errorf("got\n%swant\n%s", m.Table(), wantTable)
	}
}

func TestMetricsWithoutEntities(t *testing.T) {
	e := NewEvaluator(structured.NewAlphabet("a", "b"), false, "")
	if m := e.Labels(); m.TokenError != 0 || m.SequenceError != 0 {
		t.Errorf("nothing added, but %v", m)
	}
	e.addLabels([]int32{0, 1, 1}, []int32{0, 0, 1})
	got, err := json.Marshal(e.Labels())
	want := `{"token_error":0.3333333333333333,"token_accuracy":0.6666666666666667,"sequence_error":1,"tokens":3,"sequences":1}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if named, err := json.Marshal(e.Metrics()); err != nil || string(named) != want {
		t.Errorf("by name %s, %v\nwant    %s", named, err, want)
	}
	if want := "token error 33.33 %, sequence error 100.00 %"; e.Labels().String() != want {
		t.Errorf("got %q, want %q", e.Labels(), want)
	}
}

func TestMetricsReuseMemory(t *testing.T) {
	a := structured.NewAlphabet(bioes...)
	labels := encode(t, a, strings.Fields("B-A I-A E-A O S-B S-A"))
	e := NewEvaluator(a, true, "")
	if n := testing.AllocsPerRun(10, func() { e.addLabels(labels, labels) }); n > 0 {
		t.Errorf("%v allocations per sequence", n)
	}
}

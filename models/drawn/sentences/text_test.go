package sentences

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// drawnText returns the three files and the data sets read from them.
func drawnText(t *testing.T, o TaggedText) (texts [3][]byte, data [3]*structured.Dataset) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new")
	if err := WriteTaggedText(dir, o); err != nil {
		t.Fatal(err)
	}
	columns, err := text.ParseColumns("word=0,pos=1,label=2")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"train.conll", "dev.conll", "test.conll"} {
		if texts[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if data[i], err = (text.Conll{Columns: columns}).Read(bytes.NewReader(texts[i]), name); err != nil {
			t.Fatal(err)
		}
	}
	return texts, data
}

func TestTaggedText(t *testing.T) {
	texts, data := drawnText(t, TaggedText{Train: 1000, Dev: 100, Test: 300, Seed: 5})
	for i, d := range data {
		if n := []int{1000, 100, 300}[i]; d.Len() != n {
			t.Errorf("%s: %d sentences, want %d", d.Name, d.Len(), n)
		}
		tags := "B-DATE B-LOC B-ORG B-PER I-DATE I-LOC I-ORG I-PER O"
		if labels := strings.Join(slices.Sorted(slices.Values(d.Alphabet.Names())), " "); labels != tags {
			t.Errorf("%s: labels %s", d.Name, labels)
		}
		for line := range bytes.Lines(texts[i]) {
			if fields := bytes.Split(bytes.TrimSpace(line), []byte("\t")); len(fields) != 3 && len(line) > 1 {
				t.Fatalf("%s: %q", d.Name, line)
			}
		}
	}
}

// Many first words of entities are new in the test set, and many occur with several types: words alone do not suffice.
func TestTaggedTextNeedsContext(t *testing.T) {
	o := DefaultTaggedText()
	o.Dev = 1
	texts, _ := drawnText(t, o)
	types := map[string]map[string]bool{}
	entities, unseen, ambiguous := 0, 0, 0
	for i, text := range texts {
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) < 3 || !strings.HasPrefix(fields[2], "B-") {
				continue
			}
			known := types[fields[0]]
			switch {
			case i < 2 && known == nil:
				types[fields[0]] = map[string]bool{fields[2]: true}
			case i < 2:
				known[fields[2]] = true
			default:
				entities++
				if known == nil {
					unseen++
				} else if len(known) > 1 {
					ambiguous++
				}
			}
		}
	}
	if share := float64(unseen) / float64(entities); share < 0.2 || share > 0.7 {
		t.Errorf("%.2f of %d first words are unseen", share, entities)
	}
	if share := float64(ambiguous) / float64(entities); share < 0.1 {
		t.Errorf("%.2f of %d first words are ambiguous", share, entities)
	}
}

func TestTaggedTextSeed(t *testing.T) {
	o := TaggedText{Train: 50, Dev: 50, Test: 50, Seed: 9}
	texts, _ := drawnText(t, o)
	if again, _ := drawnText(t, o); !bytes.Equal(slices.Concat(texts[:]...), slices.Concat(again[:]...)) {
		t.Error("the same seed gives different sentences")
	}
	if bytes.Equal(texts[0], texts[1]) {
		t.Error("the sets have the same sentences")
	}
	o.Train = 60
	if larger, _ := drawnText(t, o); !bytes.HasPrefix(larger[0], texts[0]) || !bytes.Equal(larger[2], texts[2]) {
		t.Error("a sentence depends on the number of sentences")
	}
	o.Seed = 10
	if other, _ := drawnText(t, o); bytes.HasPrefix(other[0], texts[0][:200]) {
		t.Error("another seed gives the same sentences")
	}
}

func TestTaggedTextValidate(t *testing.T) {
	for _, o := range []TaggedText{{Train: -1}, {Dev: -1}, {Test: -1}} {
		if err := WriteTaggedText(filepath.Join(t.TempDir(), "x"), o); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Every symbol of the grammar is defined and used, and every entity that begins also ends, without another one inside.
func TestSentenceGrammar(t *testing.T) {
	g, names := sentenceGrammar(), drawNames(rand.New(rand.NewPCG(1, 1)))
	reached := map[string]bool{}
	var visit func(symbol string) (hasEntity bool)
	visit = func(symbol string) (hasEntity bool) {
		reached[symbol] = true
		s := g[symbol]
		if s == nil {
			if names[symbol] == nil {
				t.Errorf("no way to write %s", symbol)
			}
			return false
		}
		for i, way := range s.ways {
			if i > 0 && slices.Equal(way, s.ways[i-1]) && len(way) > 1 {
				continue // a weight
			}
			inside := false
			for _, item := range way {
				switch item.kind {
				case entityItem:
					if inside {
						t.Errorf("%s: %s in an entity", symbol, item.text)
					}
					inside, hasEntity = true, true
				case endItem:
					if !inside {
						t.Errorf("%s: an end of nothing", symbol)
					}
					inside = false
				case symbolItem:
					if visit(item.text) {
						hasEntity = true
						if inside {
							t.Errorf("%s: the entity holds %s", symbol, item.text)
						}
					}
				case wordItem:
					if item.text == "" || item.pos == "" {
						t.Errorf("%s: word %+v", symbol, item)
					}
				}
			}
			if inside || len(way) == 0 {
				t.Errorf("%s: an entity without an end, or nothing: %v", symbol, way)
			}
		}
		return hasEntity
	}
	visit("text")
	for symbol := range g {
		if !reached[symbol] {
			t.Errorf("%s is not used", symbol)
		}
	}
}

func TestParseGrammar(t *testing.T) {
	g := parseGrammar("# no: rule\n\na 2: {X $b? } ./P\na: 1/2/N?\nb/Q: u v w\n")
	way := []grammarItem{{kind: entityItem, text: "X"}, {kind: symbolItem, text: "b", maybe: true}, {kind: endItem},
		{kind: wordItem, text: ".", pos: "P"}}
	want := [][]grammarItem{way, way, {{kind: wordItem, text: "1/2", pos: "N", maybe: true}}}
	if len(g) != 2 || !slices.EqualFunc(g["a"].ways, want, slices.Equal) || len(g["b"].ways) != 3 ||
		g["b"].ways[2][0] != (grammarItem{kind: wordItem, text: "w", pos: "Q"}) {
		t.Errorf("got %+v %+v", g["a"], g["b"])
	}
}

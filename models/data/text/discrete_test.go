package text

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestWordFeatures(t *testing.T) {
	for word, want := range map[string][]string{
		"Barça":         {"barça", "bar", "rça", "Xxx"},
		"U.S.":          {"u.s.", "u.s", ".s.", "X.X."},
		"1999-2004":     {"0000-0000", "000", "000", "dd-dd"},
		"a":             {"a", "a", "a", "x"},
		"@iPhone4SGold": {"@iphone0sgold", "@ip", "old", "@xXxxdXXxx"},
		"日本語":           {"日本語", "日本語", "日本語", "xx"},
	} {
		for k, feature := range wordFeatures {
			if got := feature(word); got != want[k] {
				t.Errorf("feature %d of %q is %q, want %q", k, word, got, want[k])
			}
		}
	}
}

func TestVocab(t *testing.T) {
	read := func(text string) *structured.Dataset {
		d, err := Conll{Columns: columns(t, "word=0,pos=1,label=-1")}.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	train := read("The D O\ncat N O\nthe D O\n\nrunning V B\ncat N O\n")
	vocab, err := BuildVocab(train, 1, structured.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	if got := vocab[0].Names(); !reflect.DeepEqual(got, []string{Unknown, "cat", "the", "running"}) {
		t.Errorf("words %q", got)
	}
	if got := vocab[4].Names(); len(vocab) != 5 || !reflect.DeepEqual(got, []string{Unknown, "D", "N", "V"}) {
		t.Errorf("tags %q of %d vocabularies", got, len(vocab))
	}
	test := read("A N O\nCat N O\n")
	if err := EncodeIds(test, vocab); err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 0, 0, 0, 2, 1, 1, 1, vocab[3].Index("Xxx"), 2}; !reflect.DeepEqual(test.Ids, want) {
		t.Errorf("ids %v, want %v", test.Ids, want)
	}
	rare, err := BuildVocab(train, 2, structured.Peers{})
	if err != nil || !reflect.DeepEqual(rare[0].Names(), []string{Unknown, "cat", "the"}) {
		t.Errorf("seen twice: %q, %v", rare[0].Names(), err)
	}
	bare, err := Conll{}.Read(strings.NewReader("a O\n"), "bare")
	if err != nil {
		t.Fatal(err)
	}
	if err := EncodeIds(bare, vocab); !structured.IsBadInput(err) {
		t.Errorf("without tags: %v", err)
	}
	if _, err := BuildVocab(&structured.Dataset{Name: "x"}, 1, structured.Peers{}); !structured.IsBadInput(err) {
		t.Errorf("without columns: %v", err)
	}
	if again := test.Subset([]int{0, 0}); !reflect.DeepEqual(again.Ids, append(test.Ids, test.Ids...)) ||
		again.Columns[0][2] != "A" {
		t.Errorf("subset: %+v", again)
	}
}

// Of CoNLL-U files only words become inputs: all other fields are annotations.
func TestVocabOfConllu(t *testing.T) {
	d, err := Conllu{Label: "xpos"}.Read(strings.NewReader("1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n"+
		"2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := BuildVocab(d, 1, structured.Peers{})
	if err != nil || len(vocab) != len(wordFeatures) {
		t.Errorf("%d vocabularies, %v", len(vocab), err)
	}
}

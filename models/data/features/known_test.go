package features

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// Words that occur often keep their names; others have the finest class that enough of the rare words have.
func TestKnown(t *testing.T) {
	words := strings.Fields("the the cat cat running jumping Eating sitting singing lying dying Paris 1999 2001 x-ray")
	distinct, times := count(words)
	k := newKnown(distinct, times, 2)
	if k.Len() != 2 {
		t.Errorf("%d words", k.Len())
	}
	for word, want := range map[string]string{
		"the": "the", "cat": "cat", "running": "<lower~ing>", "walking": "<lower~ing>", "Walking": "<initial>",
		"London": "<initial>", "1984": "<all-digits>", "y-axis": "<lower->", "dog": "", "http://a.b": "",
	} {
		if got := k.Cell(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	back, err := UnpackKnown(string(k.Pack()))
	if err != nil || !reflect.DeepEqual(back.words.Names(), k.words.Names()) ||
		!reflect.DeepEqual(back.classes.Names(), k.classes.Names()) {
		t.Errorf("%v: %v and %v come back as %v and %v", err, k.words.Names(), k.classes.Names(),
			back.words.Names(), back.classes.Names())
	}
	if _, err := UnpackKnown("word\ta\n"); err == nil {
		t.Error("a group of another name was read")
	}
}

// The set hmm has one attribute of each word, known or by its class, and marks where sequences begin and end.
func TestHMMSet(t *testing.T) {
	text, err := Builtin("hmm")
	if err != nil {
		t.Fatal(err)
	}
	template := parse(t, text)
	d := conll(t, "word=0,label=1", "the O\ncat O\nsits O\n\nthe O\ncat O\n\nthe O\n")
	if err := template.Learn(d, 2, structured.Peers{}); err != nil {
		t.Fatal(err)
	}
	fit(t, template, d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node), []string{
		"Uw=the Ustart=_B-1", "Uw=cat", "Uw=<lower> Uend=_B+1", "Uw=the Ustart=_B-1", "Uw=cat Uend=_B+1",
		"Uw=the Ustart=_B-1 Uend=_B+1",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	own := parse(t, "Uw=%x[0,known]")
	d = conll(t, "known=0,label=1", "a O\n")
	if err := own.Learn(d, 1, structured.Peers{}); err != nil || own.Known != nil {
		t.Error("a column of that name in the data was overruled")
	}
	if _, err := parse(t, text).Grow(conll(t, "word=0,label=1", "a O\n"), templates.Options{}); err == nil ||
		!strings.Contains(err.Error(), "piece by piece") {
		t.Errorf("a pack: %v", err)
	}
	if _, ok := NamedFunction("outside"); ok {
		t.Error("other templates know outside")
	}
}

package inputs

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// A network that reads some of the columns knows their values, and of others it tells nothing.
func TestKnowsSomeColumns(t *testing.T) {
	names := []string{text.WordColumn, "lemma", "upos", "feats"}
	train := &structured.Dataset{
		ColumnNames: names, Offsets: []int{0, 2},
		Columns: [][]string{{"birds", "sing"}, {"bird", "sing"}, {"NOUN", "VERB"}, {"_", "_"}},
	}
	in := Inputs{Words: []string{text.WordColumn, "upos"}}
	var err error
	if in.Vocab, err = text.BuildVocab(in.wordsOf(train), 1, structured.Peers{}); err != nil {
		t.Fatal(err)
	}
	known, err := in.Knows(names, 2, []string{"VERB", "B-PER"})
	if err != nil || !slices.Equal(known, []bool{true, false}) {
		t.Errorf("of VERB and B-PER it knows %v (%v)", known, err)
	}
	for what, columns := range map[string][]string{"a column that it does not read": names,
		"data that lack one": names[:2]} {
		if known, err := in.Knows(columns, 1, []string{"bird"}); known != nil || err != nil {
			t.Errorf("%s: %v, %v", what, known, err)
		}
	}
}

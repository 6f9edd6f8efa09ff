package inputs

import (
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Words are read where there are rows or a vocabulary for them; other columns only with a vocabulary, and none of
// CoNLL-U.
func TestReadsWord(t *testing.T) {
	plain, conllu := &structured.Dataset{ColumnNames: []string{"word", "pos"}},
		&structured.Dataset{ColumnNames: text.ConlluColumns("none")}
	numbered := Inputs{Vocab: []*structured.Alphabet{structured.NewAlphabet()}}
	for _, c := range []struct {
		in   Inputs
		d    *structured.Dataset
		name string
		want bool
	}{
		{Inputs{}, plain, "word", false}, {Inputs{}, plain, "pos", false}, {numbered, plain, "word", true},
		{numbered, plain, "pos", true}, {numbered, plain, "", false},
		{numbered, plain, text.LabelColumn, false}, {numbered, conllu, "word", true}, {numbered, conllu, "upos", false},
	} {
		if got := c.in.readsWord(c.d, c.name); got != c.want {
			t.Errorf("%q of %v is read: %v", c.name, c.d.ColumnNames, got)
		}
	}
}

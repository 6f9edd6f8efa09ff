package predictions

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// A column to replace that is not there is refused with those that are.
func TestCheckInto(t *testing.T) {
	columns := func(names ...string) *structured.Dataset {
		return &structured.Dataset{Name: "x", ColumnNames: names, Columns: make([][]string, len(names))}
	}
	for want, d := range map[string]*structured.Dataset{
		"it has word, pos. --columns": columns("word", "", "pos"),
		"columns of x have no names":  columns("", ""),
		"and x has none":              columns(),
	} {
		if err := CheckInto(d, Options{Into: "upos"}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := CheckInto(columns("upos"), Options{Into: "upos"}); err != nil {
		t.Error(err)
	}
}

// The notation of predictions is that of the column that they replace, which may be the first, or else of the column of labels; where there is none it is unknown.
func TestNotationIn(t *testing.T) {
	d := &structured.Dataset{
		ColumnNames: []string{"chunk", "word", text.LabelColumn}, Offsets: []int{0, 3},
		Columns: [][]string{{"B-X", "I-X", "E-X"}, {"a", "b", "c"}, {"B-X", "I-X", "L-X"}},
	}
	for into, want := range map[string]string{"chunk": "bioes", "": "bilou", "word": ""} {
		if got := NotationIn(d, Options{Into: into}).Scheme; got != want {
			t.Errorf("--into %q: scheme %q, want %q", into, got, want)
		}
	}
	if got := NotationIn(&structured.Dataset{Offsets: []int{0, 3}}, Options{}); got != (chains.Notation{}) {
		t.Errorf("without columns: %+v", got)
	}
}

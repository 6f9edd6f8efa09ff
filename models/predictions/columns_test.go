package predictions

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
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

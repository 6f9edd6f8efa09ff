package predictions

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// The best outputs of a sequence follow each other with an empty line between them, and one after the last, as
// sequences do.
func TestNBestInColumns(t *testing.T) {
	d := &structured.Dataset{Offsets: []int{0, 2}, ColumnNames: []string{"word"}, Columns: [][]string{{"a", "b"}}}
	labels := structured.NewAlphabet()
	labels.Add("X")
	labels.Add("Y")
	p := &Prediction{NBest: []Output{{Score: 3, Labels: []int32{0, 1}}, {Score: 2.5, Labels: []int32{1, 1}}}}
	got, _ := Columns(labels, Options{NBest: 2}).Add(nil, d, 0, p)
	blocks := strings.Split(string(got), "\n\n")
	if len(blocks) != 3 || blocks[2] != "" {
		t.Fatalf("%q: expected two outputs, each with an empty line after it", got)
	}
	for rank, want := range []string{"X Y", "Y Y"} {
		lines := strings.Split(blocks[rank], "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "# "+string(rune('0'+rank))+" ") {
			t.Fatalf("%q: expected a remark with the rank %d and two words", blocks[rank], rank)
		}
		for k, label := range strings.Fields(want) {
			if !strings.HasSuffix(lines[1+k], "\t"+label) {
				t.Errorf("output %d: %q, expected the label %s", rank, lines[1+k], label)
			}
		}
	}
}

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

// The notation of predictions is that of the column that they replace, which may be the first, or else of the column of
// labels; where there is none it is unknown.
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

package pipelines

import (
	"testing"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
)

// The tables of all stages that read an encoder take the rows that were computed once: no memory is new.
func TestStagesShareRows(t *testing.T) {
	r, err := encoded.Open(encoded.Settings{Dir: encodedtest.Folder(t, "bert"), Layers: "last", Pieces: encoded.First})
	if err != nil {
		t.Fatal(err)
	}
	sentences := read(t, sample)
	rows, _, err := rowsOf(r, sentences, "sample", encoded.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tagStages {
		d := s.table(sentences, nil).dataset(s.name)
		if giveRows(d, rows); d.Positions() != rows.Positions() {
			t.Errorf("%s: %d positions, rows of %d", s.name, d.Positions(), rows.Positions())
		}
		if _, err := r.Apply(d, encoded.Options{Threads: 1}); err != nil {
			t.Fatal(err)
		}
		if d.Dim != r.Width() || &d.Features[0] != &rows.Features[0] {
			t.Errorf("%s: rows of its own, %d wide", s.name, d.Dim)
		}
	}
}

// Rows are computed only for fields whose stages read them.
func TestRowsOnlyWhereRead(t *testing.T) {
	p := &Pipeline{stages: map[string]*part{lemma: {constant: "x"}}}
	f := Fill{}
	f[conllu.Lemma] = true
	if rows, err := p.NewWorker().rows(read(t, sample), f); rows != nil || err != nil {
		t.Errorf("%v %v", rows, err)
	}
}

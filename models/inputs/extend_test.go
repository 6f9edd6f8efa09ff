package inputs

import (
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Words that a continued model knows keep their numbers and vectors, the data's frequent ones follow with vectors of zeros, and rare ones are unknown.
func TestExtendKeepsVectors(t *testing.T) {
	columns, err := text.ParseColumns("word=0,label=1")
	if err != nil {
		t.Fatal(err)
	}
	d, err := text.Conll{Columns: columns}.Read(strings.NewReader("fox O\nnew O\nnew O\nrare O\n"), "x.conll")
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Net, c.MinCount = "embed", 2
	known := []string{"<unknown>", "the", "fox"}
	in := Inputs{Words: []string{"word"}, Vocab: []*structured.Alphabet{structured.NewAlphabet(known...)}, Vectors: &graph.WordVectors{Dim: 2, Rows: []float32{1, 2, 3, 4, 5, 6}}}
	more, err := in.Extend(&c, d)
	if err != nil {
		t.Fatal(err)
	}
	if names := more.Vocab[0].Names(); !slices.Equal(names[:3], known) || !slices.Equal(names[3:], []string{"new"}) {
		t.Errorf("words %q", names)
	}
	if rows := more.Vectors.Rows; !slices.Equal(rows, []float32{1, 2, 3, 4, 5, 6, 0, 0}) || more.Vectors.Dim != 2 {
		t.Errorf("vectors %v", rows)
	}
	if !slices.Equal(d.Ids, []int32{2, 3, 3, 0}) {
		t.Errorf("words are numbered %v", d.Ids)
	}
}

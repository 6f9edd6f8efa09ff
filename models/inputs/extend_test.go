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

// Words that a continued model knows keep their numbers and vectors, the data's frequent ones follow with vectors of
// zeros, and rare ones are unknown.
func TestExtendKeepsVectors(t *testing.T) {
	columns, err := text.ParseColumns("word=0,label=1")
	if err != nil {
		t.Fatal(err)
	}
	read := func(content string) *structured.Dataset {
		d, err := text.Conll{Columns: columns}.Read(strings.NewReader(content), "x.conll")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	vocab, err := text.BuildVocab(read("the O\nfox O\nthe O\nfox O\n"), 2, structured.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Net, c.MinCount = "embed", 2
	known := slices.Clone(vocab[0].Names())
	vectors := &graph.WordVectors{Dim: 2}
	for k := range known {
		vectors.Rows = append(vectors.Rows, float32(2*k+1), float32(2*k+2))
	}
	d := read("fox O\nnew O\nnew O\nrare O\n")
	more, err := Inputs{Vocab: vocab, Vectors: vectors}.Extend(&c, Alone(d))
	if err != nil {
		t.Fatal(err)
	}
	if names := more.Vocab[0].Names(); !slices.Equal(names, append(slices.Clone(known), "new")) {
		t.Errorf("words %q after %q", names, known)
	}
	if rows, want := more.Vectors.Rows, append(slices.Clone(vectors.Rows), 0, 0); !slices.Equal(rows, want) ||
		more.Vectors.Dim != 2 {
		t.Errorf("vectors %v, want %v", rows, want)
	}
}

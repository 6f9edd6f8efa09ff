package chains_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/drawn/sentences"
	"github.com/dsp-go/dsp/structured/chains"
)

// A mistake is where its line is, behind multiword tokens, too.
func TestCheckSchemeOfFiles(t *testing.T) {
	conllu := "1\ta\tl\tO\tx\tf\t0\tdep\t_\t_\n2-3\tbc\tl\t_\tx\tf\t0\tdep\t_\t_\n2\tb\tl\tI-A\tx\tf\t0\tdep\t_\t_\n3\tc\tl\tO\tx\tf\t0\tdep\t_\t_\n"
	d, err := text.Conllu{}.Read(strings.NewReader(conllu), "u")
	if err != nil {
		t.Fatal(err)
	}
	if err := chains.CheckScheme(d, "iob2"); err == nil || !strings.HasPrefix(err.Error(), "u:3: I-A after O") {
		t.Errorf("got %v", err)
	}
}

// The entities of generated sentences are well formed.
func TestTaggedTextIsWellSpelt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := sentences.WriteTaggedText(dir, sentences.TaggedText{Train: 1000, Dev: 100, Test: 300, Seed: 5}); err != nil {
		t.Fatal(err)
	}
	columns, err := text.ParseColumns("word=0,pos=1,label=2")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"train.conll", "dev.conll", "test.conll"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		d, err := text.Conll{Columns: columns}.Read(bytes.NewReader(content), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := chains.CheckScheme(d, "iob2"); err != nil {
			t.Error(err)
		}
	}
}

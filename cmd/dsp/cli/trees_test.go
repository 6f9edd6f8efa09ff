package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/structured/trees"
)

// dsp data trees writes the requested number of sentences, with trees, and the requested amount of extraposition.
func TestDrawnTrees(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	var drawn struct{ Train, Dev, Test int }
	dsp(t, "data", "trees", "--out", dir, "--examples", "40,20,30", "--seed", "3", "--extraposition", "1", "--json").ok().json(&drawn)
	for name, n := range map[string]int{"train": 40, "dev": 20, "test": 30} {
		text, err := os.ReadFile(filepath.Join(dir, name+".conllu"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := trees.Reader{}.Read(bytes.NewReader(text), name)
		if err != nil || b.Len() != n {
			t.Fatalf("%s: %d sentences, want %d: %v", name, b.Len(), n, err)
		}
		if b.Crossing().Sentences == 0 {
			t.Errorf("%s: every tree is projective", name)
		}
	}
	if drawn.Train != 40 || drawn.Dev != 20 || drawn.Test != 30 {
		t.Errorf("printed %+v", drawn)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/structured/trees"
)

// The treebanks that dsp data trees writes have so many sentences, with trees, and as much extraposition as was asked for.
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
			t.Errorf("%s: no tree that is not projective", name)
		}
	}
	if drawn.Train != 40 || drawn.Dev != 20 || drawn.Test != 30 {
		t.Errorf("printed %+v", drawn)
	}
}

package phrases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
)

// Trees have the words of the sentences in order; every sentence is a clause, and phrases of several kinds occur. The
// same seed draws the same.
func TestDraw(t *testing.T) {
	sizes := []int{60, 3, 4}
	all, err := Draw(sizes, 0, 7)
	if err != nil || len(all) != 60 {
		t.Fatal(len(all), err)
	}
	o := dependencies.DefaultOptions()
	o.Train, o.Extraposition, o.Seed = 60, 0, 7
	b, err := o.Parts()[0].Treebank(nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for i, tree := range all {
		words, tags := tree.Words(nil, nil)
		if !slices.Equal(words, b.Column(i, 1)) || !slices.Equal(tags, b.Column(i, 3)) {
			t.Errorf("sentence %d: %q, want %q", i, words, b.Column(i, 1))
		}
		if tree.Label != "TOP" || len(tree.Children) != 1 || tree.Children[0].Label != "S" &&
			tree.Children[0].Label != "SBAR" {
			t.Errorf("%s", tree.Append(nil))
		}
		for _, label := range []string{"(NP ", "(VP ", "(PP ", "(S "} {
			found[label] += strings.Count(string(tree.Append(nil)), label)
		}
	}
	for label, n := range found {
		if n < 20 {
			t.Errorf("%d constituents %s", n, label)
		}
	}
	dir := t.TempDir()
	if err := Write(dir, sizes, 7); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "train.penn"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := brackets.Reader{}.Read(strings.NewReader(string(text)), "train.penn")
	if err != nil || d.Len() != 60 || !strings.HasPrefix(string(text), string(all[0].Append(nil))+"\n") {
		t.Error(d.Len(), err)
	}
}

package packs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/structured"
)

// Packing piece by piece gives the bytes that packing at once gives, whatever the blocks of the file, and as much is
// said of examples.
func TestStreamIsWrite(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var conll, crfsuite strings.Builder
	for k := range 30000 { // some blocks of 1 MiB
		fmt.Fprintf(&conll, "word%d-of-some-length\tP%d\t%s\n", k*k%977, k%7, []string{"O", "B-X", "I-X", "O", "B-A"}[k*k%5])
		fmt.Fprintf(&crfsuite, "L%d\tword=%d-of-some-length\tb:%d.5\n", 9-k*k%7, k*k%977, k%3)
		if k%11 == 10 {
			fmt.Fprintf(&conll, "# end\n\n# %d\tP1\t7\n", k)
			crfsuite.WriteString("\n")
			if k%3 == 0 && k > 15000 && k < 29990 {
				crfsuite.WriteString("@weight:2\n")
			}
		}
	}
	text, attributes := file("x.conll", strings.Repeat(conll.String(), 2)),
		file("x.crfsuite", strings.Repeat(crfsuite.String(), 2))
	broken := file("broken.conll", strings.Repeat(conll.String(), 2)+"\nonly-a-word\n\n"+strings.Repeat("long O O\n", 100)+
		"\nlast\tP0\tO\n")
	template := file("t", "U%x[0,0]\nU%x[-1,0]/%x[0,1]\nB%x[0,1]\nB%x[-1,0]/%x[0,0]\n")
	for _, c := range []struct {
		name string
		set  func(c *config.Config)
	}{
		{"template", func(c *config.Config) { c.Train, c.Template = text, template }},
		{"template, frequent", func(c *config.Config) { c.Train, c.Template, c.MinCount = text, template, 20 }},
		{"template, hashed", func(c *config.Config) { c.Train, c.Template, c.HashBits = text, template, 10 }},
		{"set", func(c *config.Config) { c.Train, c.Columns = text, "word=0,pos=1,label=-1" }},
		{"bad ones left out", func(c *config.Config) { c.Train, c.Bad, c.MaxWords = broken, models.SkipBad, 50 }},
		{"crfsuite", func(c *config.Config) { c.Train = attributes }},
		{"crfsuite, frequent", func(c *config.Config) { c.Train, c.MinCount = attributes, 3 }},
		{"crfsuite, hashed", func(c *config.Config) { c.Train, c.HashBits = attributes, 9 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := config.Default()
			c.set(&given)
			r, err := models.Resolve(given)
			if err != nil {
				t.Fatal(err)
			}
			given = r.Config()
			if !packs.Streams(&given) {
				t.Fatal("not streamed")
			}
			a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
			ended, end := context.WithCancel(t.Context())
			end()
			if _, err := packs.Stream(ended, a, &given, nil); !errors.Is(err, context.Canceled) {
				t.Fatalf("interrupted: %v", err)
			}
			say := models.RemarksFor(given.Bad)
			piecewise, err := packs.Stream(t.Context(), a, &given, say)
			if err != nil {
				t.Fatal(err)
			}
			data, err := r.Data()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := data.Pack(b, &given)
			if err != nil {
				t.Fatal(err)
			}
			if piecewise != whole {
				t.Errorf("%+v piece by piece, %+v at once", piecewise, whole)
			}
			if made, bad := r.Remarks().Made(), r.Remarks().Reasons(); !slices.Equal(say.Made(), made) ||
				!slices.Equal(say.Reasons(), bad) || (len(bad) > 0) != (given.Bad == models.SkipBad) ||
				given.Train != attributes && len(made) == 0 {
				t.Errorf("%+v and %q are said piece by piece, %+v and %q at once", say.Made(), say.Reasons(), made, bad)
			}
			x, errA := os.ReadFile(a)
			y, errB := os.ReadFile(b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if bytes.Contains(y, []byte(filepath.Dir(given.Train))) {
				t.Error("the pack says in which folder its text was")
			}
			if !bytes.Equal(x, y) {
				n := 0
				for n < min(len(x), len(y)) && x[n] == y[n] {
					n++
				}
				t.Errorf("%d bytes piece by piece, %d at once; they differ from byte %d: %q", len(x), len(y), n,
					x[max(0, n-80):min(len(x), n+80)])
			}
			if files, _ := filepath.Glob(filepath.Join(filepath.Dir(a), ".*")); len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// A pack that is made piece by piece has no labels but those in UTF-8, either.
func TestLabelsOfPiecesAreUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.conll")
	if err := os.WriteFile(path, []byte("a O\n\nb O\nc B-\xe9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Train = path
	r, err := models.Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	c = r.Config()
	pack := filepath.Join(t.TempDir(), "x.pack")
	if _, err := packs.Stream(t.Context(), pack, &c, r.Remarks()); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), path+`:4: label "B-\xe9" is not UTF-8`) {
		t.Error(err)
	}
	if _, err := os.Stat(pack); err == nil {
		t.Error("a pack was left")
	}
}

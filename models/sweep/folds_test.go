package sweep

import (
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// Folds hold every example exactly once, in parts of nearly the same size, shuffled by the seed alone.
func TestFoldsPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 9).Draw(t, "k")
		n := rapid.IntRange(k, 60).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		parts := folds(n, k, seed)
		var all []int
		for _, p := range parts {
			if len(p) < n/k || len(p) > n/k+1 || !slices.IsSorted(p) {
				t.Errorf("a part of %d of %d examples in %d parts: %v", len(p), n, k, p)
			}
			all = append(all, p...)
		}
		slices.Sort(all)
		for i := range n {
			if len(all) != n || all[i] != i {
				t.Fatalf("not each example once: %v", parts)
			}
		}
		if !reflect.DeepEqual(parts, folds(n, k, seed)) {
			t.Error("one seed, two splits")
		}
	})
	if reflect.DeepEqual(folds(50, 5, 1), folds(50, 5, 2)) {
		t.Error("two seeds, one split")
	}
}

// Held-out data leak nothing: a word that occurs only there is unknown, whatever the inputs are.
func TestFoldsDoNotLeak(t *testing.T) {
	columns, attributes := "", ""
	for _, word := range strings.Fields("ant bee cat dog elk fox gnu hen") {
		columns += word + "\tB-X\nruns\tO\n\n"
		attributes += "B-X\tw=" + word + "\tbias=\nO\tw=runs\tbias=\n\n"
	}
	for name, c := range map[string]struct {
		file, text string
		change     func(*config.Config)
		names      func(d *structured.Dataset) *structured.Alphabet
		attribute  string // before the word
		others     int    // names that all have
	}{
		"embedded": {"train.conll", columns, func(c *config.Config) { c.Net, c.MinCount = "embed", 1 },
			func(d *structured.Dataset) *structured.Alphabet { return d.Vocab[0] }, "", 2},
		"template": {"train.conll", columns, func(c *config.Config) { c.Template = file(t, "t", "U0:%x[0,0]\nB\n") },
			func(d *structured.Dataset) *structured.Alphabet { return d.Dictionary.Node }, "U0:", 1},
		"attributes": {"train.crfsuite", attributes, func(*config.Config) {},
			func(d *structured.Dataset) *structured.Alphabet { return d.Dictionary.Node }, "w=", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := Default()
			s.Train, s.Folds = file(t, c.file, c.text), 4
			c.change(&s.Config)
			resolved, err := models.Resolve(s.Config)
			if err != nil {
				t.Fatal(err)
			}
			data := newDataSets(&s, slog.New(slog.DiscardHandler))
			held := map[string]bool{}
			for fold := range s.Folds {
				d, err := data.of(resolved, fold)
				if err != nil {
					t.Fatal(err)
				}
				known := c.names(d.Train)
				if d.Train.Len() != 6 || d.Dev.Len() != 2 || known.Len() != 6+c.others || c.names(d.Dev) != known {
					t.Fatalf("%d and %d sequences, names %q", d.Train.Len(), d.Dev.Len(), known.Names())
				}
				for word := range strings.FieldsSeq("ant bee cat dog elk fox gnu hen") {
					if known.Index(c.attribute+word) < 0 {
						held[word] = true
					}
				}
				for p := range d.Dev.Positions() / 2 {
					if d.Dev.Ids != nil {
						if id := d.Dev.Ids[2*p*len(d.Dev.Vocab)]; id != 0 {
							t.Errorf("a word held out has number %d", id)
						}
					} else if row, _ := d.Dev.Attributes.Row(2 * p); len(row) != c.others-1 {
						t.Errorf("a word held out has attributes %d", row)
					}
				}
			}
			all, err := data.of(resolved, whole)
			if err != nil || len(held) != 8 || c.names(all.Train).Len() != 8+c.others {
				t.Errorf("held out %v; %v", held, err)
			}
		})
	}
}

package packs

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// Tables and outputs that are not those of the examples are refused, whatever the checksum says.
func TestCheck(t *testing.T) {
	numbers := func(hashes ...uint64) *arcs.Numbers {
		n, err := arcs.NewNumbers(hashes)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	in := inputs.Inputs{Own: &inputs.Arcs{Dictionary: &arcs.Dictionary{Arc: numbers(1, 2, 3, 4), Label: numbers(5)}}}
	parsed := func() *structured.Dataset {
		rows := &structured.Sparse{Offsets: []int{0, 0, 1, 1, 1}, Index: []int32{3}}
		return &structured.Dataset{
			Offsets: []int{0, 2}, Outputs: []int{0, 4}, Labels: []int32{0, 1, 1, 0},
			Alphabet: structured.NewAlphabet("root", "det"),
			Tables:   []*structured.Table{{Name: trees.ArcRows, Offsets: []int{0, 4}, Attributes: rows}},
		}
	}
	if err := check(parsed(), in, "parse"); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(d *structured.Dataset){
		`has attribute 4, expected 0 to 3`:             func(d *structured.Dataset) { d.Tables[0].Attributes.Index[0] = 4 },
		`has attribute -1`:                             func(d *structured.Dataset) { d.Tables[0].Attributes.Index[0] = -1 },
		`has 5 rows for example 0, expected at most 4`: func(d *structured.Dataset) { d.Tables[0].Offsets[1] = 5 },
		`"source" has 1099511627776 rows for example 0`: func(d *structured.Dataset) {
			d.Tables = append(d.Tables, &structured.Table{Name: alignments.SourceRows, Offsets: []int{0, 1 << 40}})
		},
		`example 0 has 3 in its output, expected at most 2`: func(d *structured.Dataset) { d.Labels[0] = 3 },
		`example 0 has 2 in its output, expected at most 1`: func(d *structured.Dataset) { d.Labels[3] = 2 },
		`example 0 has -1 in its output`:                    func(d *structured.Dataset) { d.Labels[3] = -1 },
		`an output of 3 numbers, expected 4`:                func(d *structured.Dataset) { d.Outputs[1] = 3 },
	} {
		d := parsed()
		change(d)
		if err := check(d, in, "parse"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	tree := &structured.Dataset{Offsets: []int{0, 2}, Outputs: []int{0, 4}, Labels: []int32{1, 2, 0, 1},
		Alphabet: structured.NewAlphabet("NP", "VP")}
	if err := check(tree, inputs.Inputs{}, "constituency"); err != nil {
		t.Error(err)
	}
	whole := func() (*structured.Dataset, inputs.Inputs) {
		template, err := features.Parse("U%x[0,word]\nS%x[all..2,word]\n", "t")
		if err != nil {
			t.Fatal(err)
		}
		template.Longest = 2
		d := &structured.Dataset{Offsets: []int{0, 2}, Labels: []int32{0, 0}, Alphabet: structured.NewAlphabet("O")}
		rows := segments.Offsets(d.Offsets, 2)
		table := &structured.Sparse{Offsets: make([]int, rows[1]+1), Index: []int32{2}}
		table.Offsets[rows[1]] = 1
		d.Tables = []*structured.Table{{Name: segments.Rows, Offsets: rows, Attributes: table}}
		own := &structured.Dictionary{Node: structured.NewAlphabet(), Segment: structured.NewAlphabet("a", "b", "c")}
		return d, inputs.Inputs{Template: template, Dictionary: own}
	}
	d, of := whole()
	if err := check(d, of, "tag"); err != nil {
		t.Error(err)
	}
	d.Tables[0].Attributes.Index[0] = 3
	if err := check(d, of, "tag"); err == nil || !strings.Contains(err.Error(), "has attribute 3, expected 0 to 2") {
		t.Error(err)
	}
	if tree.Labels[1] = 3; check(tree, inputs.Inputs{}, "constituency") == nil {
		t.Error("a label that there is not is taken")
	}
}

// A pack holds training data, made as the settings of their text and of their inputs say; what other data there
// are, how they are drawn and how training goes is no matter of a pack.
func TestUses(t *testing.T) {
	c := config.Default()
	for name, want := range map[string]bool{
		"train": true, "format": true, "columns": true, "scheme": true, "min-count": true, "net": true,
		"vectors": true, "threads": true, "dev": false, "test": false, "examples": false, "difficulty": false,
		"stream": false, "images": false, "masks": false, "boxes": false, "passes": false, "method": false,
		"reg": false, "seed": false, "out": false, "quiet": false,
	} {
		s, ok := settings.Named(config.Settings(&c), name)
		if !ok || Uses(s) != want {
			t.Errorf("a pack uses --%s: %v, expected %v (%v)", name, Uses(s), want, ok)
		}
	}
}

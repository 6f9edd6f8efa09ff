package features

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// plain is a slow reference for Fit: line by line, name by name.
func plain(t *Template, d *structured.Dataset, minCount int) (nodes, edges []string) {
	count := map[string]int{}
	var names [2][][]string
	for kind, letters := range []string{ofPositions, ofSteps} {
		for i := range d.Len() {
			for p := d.Offsets[i]; p < d.Offsets[i+1]; p++ {
				var row []string
				for _, l := range t.Lines {
					if l.Kind != letters || letters == ofSteps && (p == d.Offsets[i] || len(l.Macros) == 0) {
						continue
					}
					for shift := range rangeOf(l) {
						for _, name := range expansions(l, d, i, p, shift) {
							row = append(row, name)
							count[name]++
						}
					}
				}
				names[kind] = append(names[kind], row)
			}
		}
	}
	spell := func(rows [][]string) (spelt []string) {
		for _, row := range rows {
			var kept []string
			for _, name := range row {
				if count[name] >= minCount {
					kept = append(kept, name)
				}
			}
			spelt = append(spelt, strings.Join(kept, " "))
		}
		return spelt
	}
	return spell(names[0]), spell(names[1])
}

// rangeOf returns the number of rows in the range of a line, 1 if it has none.
func rangeOf(l templates.Line) int {
	rows := 1
	for _, m := range l.Macros {
		rows = max(rows, m.Place.Last-m.Place.Row+1)
	}
	return rows
}

// expansions returns the names that a line makes at position p of example i, with the given row of its range.
func expansions(l templates.Line, d *structured.Dataset, i, p, shift int) []string {
	names := []string{l.Literals[0]}
	for k, m := range l.Macros {
		cells := d.Columns[indexOf(m.Column.Name, d)][d.Offsets[i]:d.Offsets[i+1]]
		at := p - d.Offsets[i] + m.Place.Row
		if m.Place.Last > m.Place.Row {
			at += shift
		}
		inside, values := at >= 0 && at < len(cells), []string{""}
		switch {
		case inside:
			values[0] = cells[at]
		case m.Place.Last > m.Place.Row:
			return nil
		case at < 0:
			values[0] = fmt.Sprintf("_B%d", at)
		default:
			values[0] = fmt.Sprintf("_B+%d", at-len(cells)+1)
		}
		for _, name := range m.Functions {
			called, has := findFunction(name)
			f := called.f
			switch {
			case !inside:
				has = f.total
			case f.several != nil:
				cell := values[0]
				values = nil
				f.several(cell, called.n, func(value string) { values = append(values, value) })
			default:
				values[0], has = f.apply(values[0], called.n)
			}
			if !has {
				return nil
			}
		}
		var longer []string
		for _, name := range names {
			for _, value := range values {
				longer = append(longer, name+value+l.Literals[k+1])
			}
		}
		names = longer
	}
	return names
}

// randomTemplate draws lines with macros of two columns, at least one U line and one B line.
func randomTemplate(t *rapid.T) string {
	function := rapid.SampledFrom([]string{"x", "lower", "short", "suffix1", "lower.prefix2", "caps",
		"isdigit", "shape.suffix2"})
	macro := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%%%s[%d,%s]", function.Draw(t, "function"), rapid.IntRange(-3, 3).Draw(t, "row"),
			rapid.SampledFrom([]string{"0", "1", "word", "pos"}).Draw(t, "column"))
	})
	several := rapid.SampledFrom([]string{"%ngrams3[-1,word]", "n%lower.ngrams2[-2..1,0]", "%each[0,pos]",
		"%x[-2..0,word]/%lower[1,pos]", "%suffix2[1..2,word]"})
	line := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
			return several.Draw(t, "several")
		}
		return rapid.SampledFrom([]string{"", "0", "1:"}).Draw(t, "name") +
			strings.Join(rapid.SliceOfN(macro, 0, 4).Draw(t, "macros"),
				rapid.SampledFrom([]string{"", "/"}).Draw(t, "separator"))
	})
	var lines []string
	for _, l := range rapid.SliceOfN(line, 1, 5).Draw(t, "lines") {
		lines = append(lines, "U"+l)
	}
	for _, l := range rapid.SliceOfN(line, 1, 3).Draw(t, "steps") {
		lines = append(lines, "B"+l)
	}
	return strings.Join(lines, "\n")
}

// randomData draws sequences with columns word and pos, long enough for several threads.
func randomData(t *rapid.T) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0}, ColumnNames: []string{"word", "pos"},
		Columns: make([][]string, 2)}
	words := rapid.SampledFrom([]string{"a", "A", "ab", "Ab", "12", "1b", "é", "_B-1", "/", "a/b", "x|é|x"})
	drawn := rapid.SliceOfN(words, 1, 20).Draw(t, "words")
	for i, total := 0, rapid.IntRange(1, 6*blockPositions).Draw(t, "positions"); i < total; {
		length := rapid.SampledFrom([]int{1, 2, 3, 7, 50, 2*blockPositions + 1}).Draw(t, "length")
		for k := range length {
			d.Columns[0] = append(d.Columns[0], drawn[(i*i+k)%len(drawn)])
			d.Columns[1] = append(d.Columns[1], drawn[(i+3*k)%len(drawn)])
		}
		i += length
		d.Offsets = append(d.Offsets, i)
	}
	return d
}

func TestFitAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, minCount := randomData(t), rapid.IntRange(0, 4).Draw(t, "min count")
		template, err := Parse(randomTemplate(t), "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := template.Fit(d,
			templates.Options{MinCount: minCount, Threads: rapid.IntRange(1, 4).Draw(t, "threads")}); err != nil {
			t.Fatal(err)
		}
		nodes, edges := plain(template, d, minCount)
		if got := rows(d.Attributes, d.Dictionary.Node); !reflect.DeepEqual(got, nodes) {
			t.Fatalf("%q\nwant %q", got, nodes)
		}
		if d.EdgeAttributes == nil {
			for _, row := range edges {
				if row != "" {
					t.Fatal("no attributes of steps")
				}
			}
		} else if got := rows(d.EdgeAttributes, d.Dictionary.Edge); !reflect.DeepEqual(got, edges) {
			t.Fatalf("%q\nwant %q", got, edges)
		}
		next := int32(0)
		for _, i := range d.Attributes.Index {
			if i > next {
				t.Fatalf("attribute %d occurs before %d", i, next)
			} else if i == next {
				next++
			}
		}
		if int(next) != d.Dictionary.Nodes() {
			t.Fatalf("%d attributes occur, the dictionary has %d", next, d.Dictionary.Nodes())
		}

		// Apply on the same data gives the same numbers, for any number of threads and with little memory.
		again := &structured.Dataset{Name: d.Name, Offsets: d.Offsets, Columns: d.Columns, ColumnNames: d.ColumnNames}
		same := func(how string) {
			if !reflect.DeepEqual(again.Attributes, d.Attributes) || !reflect.DeepEqual(again.EdgeAttributes, d.EdgeAttributes) {
				t.Fatalf("%s: %v and %v, want %v and %v", how, again.Attributes, again.EdgeAttributes,
					d.Attributes, d.EdgeAttributes)
			}
		}
		if err := template.Apply(again, d.Dictionary, rapid.IntRange(1, 4).Draw(t, "threads")); err != nil {
			t.Fatal(err)
		}
		same("Apply")
		e := template.Bind(d.Dictionary)
		e.bound = rapid.IntRange(0, 10000).Draw(t, "bytes")
		for range 2 {
			if err := e.Extract(again); err != nil {
				t.Fatal(err)
			}
			same("Extract")
		}
		if err := template.Fit(again,
			templates.Options{MinCount: minCount, Threads: rapid.IntRange(1, 4).Draw(t, "threads")}); err != nil {
			t.Fatal(err)
		}
		same("Fit")
		if again.Dictionary.Node.Len() != d.Dictionary.Node.Len() {
			t.Fatal("the dictionary depends on the threads")
		}
	})
}

func TestHashedAttributes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := randomData(t)
		template, err := Parse(randomTemplate(t), "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := template.Fit(d, templates.Options{}); err != nil {
			t.Fatal(err)
		}
		const bits = 5
		hashed := &structured.Dataset{Name: d.Name, Offsets: d.Offsets, Columns: d.Columns, ColumnNames: d.ColumnNames}
		if err := template.Fit(hashed,
			templates.Options{HashBits: bits, Threads: rapid.IntRange(1, 4).Draw(t, "threads")}); err != nil {
			t.Fatal(err)
		}
		for k, i := range d.Attributes.Index {
			if want := structured.HashAttribute([]byte(d.Dictionary.Node.Name(i)), bits); hashed.Attributes.Index[k] != want {
				t.Fatalf("%q is %d, want %d", d.Dictionary.Node.Name(i), hashed.Attributes.Index[k], want)
			}
		}
		if hashed.Dictionary.Nodes() != 1<<bits || hashed.Dictionary.Node != nil ||
			!reflect.DeepEqual(hashed.EdgeAttributes, d.EdgeAttributes) {
			t.Fatalf("%+v", hashed.Dictionary)
		}
		before := *hashed.Attributes
		if err := template.Apply(hashed, hashed.Dictionary, 1); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*hashed.Attributes, before) {
			t.Fatal("Apply differs from Fit")
		}
	})
}

func TestApplyDropsUnknownAttributes(t *testing.T) {
	template := parse(t, "U%x[0,0]\nU%x[0,0]/%x[1,0]\nB%x[0,0]")
	d := conll(t, "word=0,label=1", "a O\nb O\n")
	fit(t, template, d, templates.Options{})
	other := conll(t, "word=0,label=1", "b O\na O\nc O\nb O\n")
	if err := template.Apply(other, d.Dictionary, 0); err != nil {
		t.Fatal(err)
	}
	if got := rows(other.Attributes, d.Dictionary.Node); !reflect.DeepEqual(got, []string{"Ub", "Ua", "", "Ub Ub/_B+1"}) {
		t.Errorf("%q", got)
	}
	if got := rows(other.EdgeAttributes, d.Dictionary.Edge); !reflect.DeepEqual(got, []string{"", "", "", "Bb"}) {
		t.Errorf("%q", got)
	}
	if other.Dictionary != d.Dictionary {
		t.Error("another dictionary")
	}
}

func TestFitOptions(t *testing.T) {
	d := conll(t, "word=0,label=1", "a O\n")
	for _, test := range []struct {
		o    templates.Options
		want string
	}{
		{templates.Options{HashBits: -1}, "attributes hashed to -1 bits, expected 1 to 31, or 0 for a dictionary"},
		{templates.Options{HashBits: 32}, "attributes hashed to 32 bits"},
		{templates.Options{HashBits: 8, MinCount: 2}, "hashed attributes have no counts: a minimum of 2 needs a dictionary"},
	} {
		if err := parse(t, "U").Fit(d, test.o); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.o, err)
		}
	}
	empty := &structured.Dataset{Name: "empty", ColumnNames: []string{"word"}, Columns: make([][]string, 1)}
	if err := parse(t, "U%x[0,0]\nB%x[0,0]").Fit(empty, templates.Options{}); err != nil ||
		len(empty.Attributes.Offsets) != 1 || empty.Dictionary.Nodes() != 0 {
		t.Errorf("no sequences: %v, %+v", err, empty)
	}
}

// The cache stays bounded, for any amount of text.
func TestExtractorBoundsItsCache(t *testing.T) {
	d := conll(t, "word=0,label=1", "a O\n")
	template := parse(t, "U%x[0,0]\nU%x[0,0]/%lower[-1,0]\nU%suffix2[0,0]")
	fit(t, template, d, templates.Options{})
	e := template.Bind(d.Dictionary)
	e.bound = 1 << 16
	for i := range 100 {
		stream := &structured.Dataset{Offsets: []int{0, 300}, ColumnNames: []string{"word"}, Columns: make([][]string, 1)}
		for k := range 300 {
			stream.Columns[0] = append(stream.Columns[0], fmt.Sprintf("%d-%d%s", i, k, strings.Repeat("x", k)))
		}
		if err := e.Extract(stream); err != nil {
			t.Fatal(err)
		}
		if e.memory() > e.bound {
			t.Fatalf("%d bytes in the cache", e.memory())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("U00:%x[-1,0]/%lower.prefix3[0,word?]%%\n# c\n\nB\nB%x[0,1]")
	f.Fuzz(func(t *testing.T, text string) {
		template, err := Parse(text, "fuzz")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatalf("%v is not marked as bad input", err)
			}
			return
		}
		again, err := Parse(template.String(), "fuzz")
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, template, err)
		}
		for _, l := range slices.Concat(template.Lines, again.Lines) {
			for k := range l.Macros {
				l.Macros[k].At = 0 // row 00 is written as 0
			}
		}
		if !reflect.DeepEqual(again, template) {
			t.Fatalf("%q is written as %q, which is not the same", text, template)
		}
	})
}

func FuzzFit(f *testing.F) {
	f.Add("U%x[-1,0]/%lower.prefix3[0,word]\nU%shape[0,0]%kind[0,0]\nB%caps[0,0]%digits[1,word]", "a Bc 1.5 \xff é", 2)
	f.Fuzz(func(t *testing.T, text, words string, threads int) {
		template, err := Parse(text, "fuzz")
		if err != nil {
			return
		}
		cells := strings.Split(words, " ")
		d := &structured.Dataset{Offsets: []int{0, len(cells) / 2, len(cells)}, ColumnNames: []string{"word"},
			Columns: [][]string{cells}}
		if err := template.Fit(d, templates.Options{Threads: max(1, min(threads, 4))}); err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		nodes, edges := plain(template, d, 0)
		if got := rows(d.Attributes, d.Dictionary.Node); !reflect.DeepEqual(got, nodes) {
			t.Fatalf("%q\nwant %q", got, nodes)
		}
		if d.EdgeAttributes != nil {
			if got := rows(d.EdgeAttributes, d.Dictionary.Edge); !reflect.DeepEqual(got, edges) {
				t.Fatalf("%q\nwant %q", got, edges)
			}
		}
	})
}

// Attributes that a continued model knows keep their numbers, though they are rare in the new data or not in it at all;
// new ones must be frequent. The result is the same for any number of threads.
func TestFitKeepsKnownAttributes(t *testing.T) {
	template := parse(t, "U:%x[0,0]")
	before := conll(t, "word=0,label=1", "once O\nrare O\n")
	fit(t, template, before, templates.Options{})
	text := "rare O\nnew O\n\nnew O\nonly O\n"
	for threads := range 3 {
		d := conll(t, "word=0,label=1", text)
		fit(t, template, d, templates.Options{MinCount: 2, Known: before.Dictionary, Threads: threads + 1})
		known, all := before.Dictionary.Node.Names(), d.Dictionary.Node.Names()
		if want := append(slices.Clone(known), "U:new"); !slices.Equal(all, want) {
			t.Errorf("attributes %q, want %q", all, want)
		}
		if got, want := rows(d.Attributes, d.Dictionary.Node),
			[]string{"U:rare", "U:new", "U:new", ""}; !slices.Equal(got, want) {
			t.Errorf("rows %q, want %q", got, want)
		}
	}
}

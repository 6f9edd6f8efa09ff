package inputs

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/drawn/bitext"
	"github.com/dsp-go/dsp/models/drawn/dependencies"
	"github.com/dsp-go/dsp/models/drawn/phrases"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/structured/trees"
)

const drawnSentences = 12

// treesOf, spansOf and pairsOf draw data of a task, the same in each call with a seed.
func treesOf(t *testing.T, seed uint64) *structured.Dataset {
	t.Helper()
	o := dependencies.DefaultOptions()
	o.Train, o.Seed = drawnSentences, seed
	b, err := o.Parts()[0].Treebank(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Dataset()
}

func spansOf(t *testing.T, seed uint64) *structured.Dataset {
	t.Helper()
	all, err := phrases.Draw([]int{drawnSentences, 1, 1}, 0, seed)
	if err != nil {
		t.Fatal(err)
	}
	return brackets.Dataset(all, nil)
}

func pairsOf(_ *testing.T, seed uint64) *structured.Dataset {
	o := bitext.DefaultOptions()
	o.Train, o.Seed = drawnSentences, seed
	return o.Parts()[0].Corpus().Dataset()
}

// densePairs has two features of each pair of items.
func densePairs(t *testing.T, seed uint64) *structured.Dataset {
	d := pairsOf(t, seed)
	x, pairs := &structured.Sparse{Offsets: []int{0}}, 0
	for i := range d.Len() {
		n, m := alignments.Size(d, i)
		pairs += n * m
	}
	for range pairs {
		x.Index, x.Value = append(x.Index, 0, 1), append(x.Value, float32(len(x.Value)), 1)
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	d.SetAttributes(structured.Shape{Rows: structured.Pairs}, x)
	return d
}

// own are the inputs that only one task has: how data are drawn, how they are fitted, and how a file is read.
var own = map[string]struct {
	draw func(t *testing.T, seed uint64) *structured.Dataset
	fit  func(c *config.Config, t Training) (Inputs, error)
	load func(f *safetensors.File, template string, hashBits int) (Maker, int, error)
	set  func(c *config.Config)
}{
	"arcs":               {treesOf, FitTrees, LoadArcs, func(c *config.Config) { c.Task = "parse" }},
	"arcs with siblings": {treesOf, FitTrees, LoadArcs, func(c *config.Config) { c.Task, c.Order = "parse", 2 }},
	"hashed arcs": {treesOf, FitTrees, LoadArcs, func(c *config.Config) {
		c.Task, c.Order, c.HashBits = "parse", 2, 9
	}},
	"spans": {spansOf, FitConstituents, LoadSpans, func(c *config.Config) { c.Task = "constituency" }},
	"hashed spans": {spansOf, FitConstituents, LoadSpans, func(c *config.Config) {
		c.Task, c.HashBits = "constituency", 9
	}},
	"pairs":        {pairsOf, FitPairs, LoadPairs, func(c *config.Config) { c.Task = "align" }},
	"hashed pairs": {pairsOf, FitPairs, LoadPairs, func(c *config.Config) { c.Task, c.HashBits = "align", 9 }},
	"dense pairs":  {densePairs, FitPairs, LoadPairs, func(c *config.Config) { c.Task, c.Format = "align", "npz" }},
}

// tables returns the attributes of all tables of data, but for gold links.
func tables(d *structured.Dataset) map[string]*structured.Sparse {
	all := map[string]*structured.Sparse{}
	for _, t := range d.Tables {
		if t.Attributes != nil && slices.Contains(madeTables, t.Name) {
			all[t.Name] = t.Attributes
		}
	}
	return all
}

var madeTables = []string{trees.ArcRows, trees.LabelRows, trees.SiblingRows, structured.Pairs, structured.Sources}

// Inputs of a task come back from a file as they were: as many attributes, the same rows in other data for any number
// of threads, and for an example alone. The file says which of its tensors are theirs.
func TestOwnInputsComeBack(t *testing.T) {
	for name, of := range own {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			of.set(&c)
			train := of.draw(t, 1)
			in, err := of.fit(&c, Alone(train))
			if err != nil {
				t.Fatal(err)
			}
			f := &safetensors.File{}
			if err := in.Save(f); err != nil {
				t.Fatal(err)
			}
			for tensor := range f.Tensors {
				if !IsTensor(tensor) || IsTensor(tensor+"x") {
					t.Errorf("tensor %q is none of inputs, or another name is", tensor)
				}
			}
			again, tensors, err := Load(f, Loading{Own: of.load})
			if err != nil || tensors != len(f.Tensors) {
				t.Fatalf("%d tensors of %v: %v", tensors, slices.Sorted(maps.Keys(f.Tensors)), err)
			}
			if got, want := again.AttributeCounts(), in.AttributeCounts(); got != want || want.Total() == 0 {
				t.Errorf("%+v attributes, want %+v", got, want)
			}
			twice := &safetensors.File{}
			if err := again.Save(twice); err != nil || !reflect.DeepEqual(f.Tensors, twice.Tensors) ||
				twice.Metadata["template"] != f.Metadata["template"] {
				t.Errorf("a second file differs: %v", err)
			}
			if again.Own.Missing(&structured.Dataset{}) == "" || again.Own.Missing(train) != "" {
				t.Errorf("missing %q of nothing, %q of the training data", again.Own.Missing(&structured.Dataset{}),
					again.Own.Missing(train))
			}
			other := of.draw(t, 2)
			if err := in.Own.Apply(other, 1); err != nil {
				t.Fatal(err)
			}
			want := tables(other)
			parallel := of.draw(t, 2)
			if err := again.Own.Apply(parallel, 3); err != nil || !reflect.DeepEqual(tables(parallel), want) {
				t.Errorf("with three threads the attributes are others: %v", err)
			}
			extract := again.Own.Extractor()
			for i := range other.Len() {
				one := of.draw(t, 2).Subset([]int{i})
				if err := extract(one); err != nil {
					t.Fatal(err)
				}
				for table, rows := range tables(one) {
					at := other.Table(table).Offsets[i]
					for row := range len(rows.Offsets) - 1 {
						got, _ := rows.Row(row)
						if whole, _ := want[table].Row(at + row); !slices.Equal(got, whole) {
							t.Fatalf("example %d alone has attributes %v in row %d of %s, want %v", i, got, row, table, whole)
						}
					}
				}
			}
		})
	}
}

// A dictionary has what occurs often enough on gold arcs, or on gold spans and on single words where fewer spans begin
// than elsewhere, and rows have of their attributes those that it has: the reference hashes all attributes to so many
// numbers that no two of short sentences share one.
func TestAttributesAreThoseOfGoldPairs(t *testing.T) {
	for _, x := range []struct {
		name     string
		minCount int
		gold     func(d *structured.Dataset, i int, row func(k int))
	}{
		{"arcs", 1, goldArcs}, {"arcs", 2, goldArcs}, {"arcs", 5, goldArcs},
		{"spans", 1, func(d *structured.Dataset, i int, row func(k int)) {
			n, most := d.Length(i), 1
			begin := make([]int, n)
			for at, label := range d.Gold(i) {
				if label != 0 {
					row(at)
					begin[at/n]++
					most = max(most, begin[at/n])
				}
			}
			for first, found := range begin {
				if found < most {
					row(first*n + first)
				}
			}
		}},
	} {
		of, c := own[x.name], config.Default()
		of.set(&c)
		short := func() *structured.Dataset {
			d, few := of.draw(t, 3), []int{}
			for i := range d.Len() {
				if d.Length(i) < 12 {
					few = append(few, i)
				}
			}
			if len(few) < 2 {
				t.Fatal("no short sentences")
			}
			return d.Subset(few)
		}
		named, hashed := short(), short()
		c.MinCount = x.minCount
		in, err := of.fit(&c, Alone(named))
		if err != nil {
			t.Fatal(err)
		}
		c.MinCount, c.HashBits = 0, 28
		if _, err := of.fit(&c, Alone(hashed)); err != nil {
			t.Fatal(err)
		}
		known := map[string]int{trees.ArcRows: in.AttributeCounts().ArcAttributes,
			trees.LabelRows: in.AttributeCounts().LabelAttributes}
		for table, rows := range tables(hashed) {
			count := map[int32]int{}
			for i := range hashed.Len() {
				x.gold(hashed, i, func(k int) {
					all, _ := rows.Row(hashed.Table(table).Offsets[i] + k)
					for _, a := range all {
						count[a]++
					}
				})
			}
			often := 0
			for _, n := range count {
				if n >= x.minCount {
					often++
				}
			}
			if known[table] != often {
				t.Errorf("%s, at least %d times: %d attributes of %s, want %d", x.name, x.minCount, known[table], table, often)
			}
			for k := range len(rows.Offsets) - 1 {
				all, _ := rows.Row(k)
				want := 0
				for _, a := range all {
					if count[a] >= x.minCount {
						want++
					}
				}
				if got, _ := tables(named)[table].Row(k); len(got) != want {
					t.Fatalf("%s, at least %d times: %d attributes in row %d of %s, want %d of %d", x.name, x.minCount,
						len(got), k, table, want, len(all))
				}
			}
		}
	}
}

func goldArcs(d *structured.Dataset, i int, row func(k int)) {
	for k, head := range trees.FromOutput(d.Gold(i)).Heads {
		row(trees.Row(d.Length(i), k, head))
	}
}

// Continued inputs keep the numbers of what they know, and number what only the new data have after it: as many as
// both fitted apart know together.
func TestOwnInputsAreExtended(t *testing.T) {
	for name, of := range own {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			of.set(&c)
			first, second := of.draw(t, 1), of.draw(t, 2)
			in, err := of.fit(&c, Alone(first))
			if err != nil {
				t.Fatal(err)
			}
			more, err := in.Extend(&c, Alone(second))
			if err != nil {
				t.Fatal(err)
			}
			made := tables(second)
			was, now := numbers(t, in), numbers(t, more)
			apart := of.draw(t, 2)
			other, err := of.fit(&c, Alone(apart))
			if err != nil {
				t.Fatal(err)
			}
			for part, names := range was {
				if !slices.Equal(now[part][:len(names)], names) {
					t.Errorf("%s: numbers of what is known change", part)
				}
				all := map[string]bool{}
				for _, name := range append(slices.Clone(names), numbers(t, other)[part]...) {
					all[name] = true
				}
				if strings.HasPrefix(name, "pairs") { // statistics stay those of the first data, so that attributes differ
					all = map[string]bool{}
					for _, name := range now[part] {
						all[name] = true
					}
				}
				if len(now[part]) != len(all) || !strings.HasPrefix(name, "hashed") && len(names) > 0 && len(now[part]) == len(names) {
					t.Errorf("%s: %d attributes after %d, want %d", part, len(now[part]), len(names), len(all))
				}
			}
			again := of.draw(t, 2)
			if err := more.Own.Apply(again, 1); err != nil || !reflect.DeepEqual(tables(again), made) {
				t.Errorf("the inputs that were made while extending are others: %v", err)
			}
			before := of.draw(t, 1)
			if err := more.Own.Apply(before, 1); err != nil {
				t.Fatal(err)
			}
			for table, rows := range tables(first) { // of the known attributes, the first data have the same
				limit := int32(limitOf(in, table))
				for k := range len(rows.Offsets) - 1 {
					want, _ := rows.Row(k)
					got, _ := tables(before)[table].Row(k)
					if got = slices.DeleteFunc(slices.Clone(got), func(a int32) bool { return a >= limit }); !sameNumbers(got, want) {
						t.Fatalf("%s, row %d: %v of what was known, want %v", table, k, got, want)
					}
				}
			}
		})
	}
}

func sameNumbers(a, b []int32) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// limitOf returns how many attributes the rows of a table may have.
func limitOf(in Inputs, table string) int {
	c := in.AttributeCounts()
	switch {
	case table == trees.SiblingRows:
		return in.Own.(*Arcs).Siblings.Len()
	case table == structured.Pairs:
		return c.PairAttributes
	case table == structured.Sources:
		return c.SourceAttributes
	case table == trees.LabelRows:
		return c.LabelAttributes
	}
	return c.ArcAttributes
}

// numbers returns what the attributes of inputs are known by, in the order of their numbers; hashed ones are known by
// none.
func numbers(t *testing.T, in Inputs) map[string][]string {
	t.Helper()
	f, all := &safetensors.File{}, map[string][]string{}
	if err := in.Save(f); err != nil {
		t.Fatal(err)
	}
	for tensor := range f.Tensors {
		switch {
		case strings.HasSuffix(tensor, "_hashes"):
			hashes, err := safetensors.Values[int64](f, tensor, -1)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hashes {
				all[tensor] = append(all[tensor], fmt.Sprint(h))
			}
		case strings.HasSuffix(tensor, "_names"):
			text, err := safetensors.Values[uint8](f, tensor, -1)
			if err != nil {
				t.Fatal(err)
			}
			all[tensor] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		}
	}
	return all
}

// Files whose parts do not go together are refused.
func TestOwnInputsOfDamagedFiles(t *testing.T) {
	for name, of := range own {
		c := config.Default()
		of.set(&c)
		in, err := of.fit(&c, Alone(of.draw(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		save := func() *safetensors.File {
			f := &safetensors.File{}
			if err := in.Save(f); err != nil {
				t.Fatal(err)
			}
			return f
		}
		for tensor := range save().Tensors {
			without := save()
			delete(without.Tensors, tensor)
			got, tensors, err := Load(without, Loading{Own: of.load})
			if optional := tensor == siblingHashes || tensor == pairFeatures; (err == nil) != optional {
				t.Errorf("%s without tensor %q: %v", name, tensor, err)
			} else if optional &&
				(tensors != len(without.Tensors) || got.AttributeCounts().Total() > in.AttributeCounts().Total()) {
				t.Errorf("%s without tensor %q: %d tensors", name, tensor, tensors)
			}
		}
		for _, template := range []string{"%x[", "A%x[0,nothing\n"} {
			bad := save()
			bad.Metadata["template"] = template
			if _, _, err := Load(bad, Loading{Own: of.load}); err == nil ||
				!strings.Contains(err.Error(), "the model's template") {
				t.Errorf("%s with template %q: %v", name, template, err)
			}
		}
	}
	for dim, want := range map[int64]bool{0: false, 1: true, 1 << 30: true, 1<<30 + 1: false, -1: false} {
		f := &safetensors.File{}
		safetensors.Add(f, pairFeatures, []int64{dim})
		in, _, err := LoadPairs(f, "", 0)
		if (err == nil) != want || want && in.(*Pairs).Dim != int(dim) {
			t.Errorf("%d features of pairs: %v", dim, err)
		}
	}
}

// Data whose features of pairs are not as many as the training data's are refused.
func TestPairsOfOtherWidthAreRefused(t *testing.T) {
	d := densePairs(t, 1)
	if err := (&Pairs{Dim: 2}).Apply(d, 1); err != nil {
		t.Error(err)
	}
	for want, in := range map[string]struct {
		dim int
		d   *structured.Dataset
	}{
		"2 features of each pair, expected 3 as in": {3, d}, "2 features of each pair, expected 1 as in": {1, d},
		"no features of pairs; the model reads 2 of each": {2, pairsOf(t, 1)},
	} {
		own := &Pairs{Dim: in.dim}
		at := func(d *structured.Dataset) error { return own.Apply(d, 1) }
		for _, apply := range []func(*structured.Dataset) error{at, own.Extractor()} {
			if err := apply(in.d); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// What a network does not read, or what nothing makes, is refused with what to do.
func TestFitsRefuse(t *testing.T) {
	for want, x := range map[string]struct {
		of  string
		set func(c *config.Config)
	}{
		"--template t makes attributes of arcs, which --net biaffine does not read": {"arcs",
			func(c *config.Config) { c.Net, c.Template = "biaffine", "t" }},
		"--net linear reads attributes of arcs, but --features none": {"arcs",
			func(c *config.Config) { c.Net, c.Features = "linear", "none" }},
		"--template t makes attributes of spans, which --net biaffine does not": {"spans",
			func(c *config.Config) { c.Net, c.Template = "biaffine", "t" }},
		"--net linear reads attributes of spans, but --features none": {"spans",
			func(c *config.Config) { c.Net, c.Features = "linear", "none" }},
		"--net linear reads attributes of pairs of words, but --features none": {"pairs",
			func(c *config.Config) { c.Net, c.Features = "linear", "none" }},
		"--net auto reads attributes of pairs of words, but --features none": {"pairs", func(c *config.Config) {
			c.Features = "none"
		}},
		"has features of pairs; --template, --features and --bitext": {"dense pairs", func(c *config.Config) {
			c.Template = "t"
		}},
		"x has features of pairs":     {"dense pairs", func(c *config.Config) { c.Features = "align" }},
		"has features of pairs;":      {"dense pairs", func(c *config.Config) { c.Bitext = "b" }},
		"--template: ":                {"arcs", func(c *config.Config) { c.Template = "none/t" }},
		"--template: none/t: no such": {"pairs", func(c *config.Config) { c.Template = "none/t" }},
	} {
		of, c := own[x.of], config.Default()
		of.set(&c)
		x.set(&c)
		d := of.draw(t, 1)
		d.Name = "x"
		if _, err := of.fit(&c, Alone(d)); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A network of words has the columns of its task as discrete inputs and no attributes, also where --features none asks
// for that.
func TestFitsOfWords(t *testing.T) {
	digits := regexp.MustCompile("[0-9]")
	for name, words := range map[string][]string{"arcs": TreeWords, "spans": SpanWords, "pairs": PairWords} {
		for _, net := range []string{"biaffine", "auto"} {
			of, c := own[name], config.Default()
			of.set(&c)
			c.Net, c.Features, c.MinCount = net, "none", 1
			if name == "pairs" {
				c.Net = "bilinear"
			}
			d := of.draw(t, 1)
			in, err := of.fit(&c, Alone(d))
			if err != nil {
				t.Fatal(err)
			}
			const ofWord = 4 // it, its beginning, its end and its shape
			inputs := ofWord + len(words) - 1
			if in.Own != nil || !slices.Equal(in.Words, words) || len(in.Vocab) != inputs || len(d.Ids) != d.Positions()*inputs {
				t.Errorf("%s: words %v, %d vocabularies, %d numbers of %d positions", name, in.Words, len(in.Vocab),
					len(d.Ids), d.Positions())
			}
			for k, column := range words { // with a least count of 1 each cell has the number of its name
				if k > 0 {
					k += ofWord - 1
				}
				for p, cell := range d.Column(column) {
					if k == 0 {
						cell = digits.ReplaceAllString(cell, "0")
					}
					if got := in.Vocab[k].Name(d.Ids[p*inputs+k]); !strings.EqualFold(got, cell) {
						t.Fatalf("%s: %q stands for %q", name, got, cell)
					}
				}
			}
			if shape := in.Shape(3); shape.Dim != 3 || len(shape.Vocab) != inputs || shape.Vocab[0] != in.Vocab[0].Len() ||
				shape.PairAttributes != 0 {
				t.Errorf("%s: %+v", name, shape)
			}
		}
	}
}

// Networks of a task's inputs have weights for each attribute, and dense features have theirs for both ends of a pair.
func TestNetworksOfOwnInputs(t *testing.T) {
	forms := map[string]structured.Form{"arcs": trees.SpanningTree{}.Form(4), "spans": constituents.Form(3)}
	for name, form := range forms {
		of, c := own[name], config.Default()
		of.set(&c)
		in, err := of.fit(&c, Alone(of.draw(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		count := in.AttributeCounts()
		score, label := form.Parts[0].Width, form.Parts[1].Width
		for _, dim := range []int{0, 3} {
			net, err := in.Own.Network(form, dim)
			if err != nil {
				t.Fatal(err)
			}
			sizes := map[string]int{}
			for _, a := range net.Layout() {
				sizes[a.Name] = len(a.Of(make([]float32, net.Dim())))
			}
			first, ends := "arc", []string{"_of_dependent", "_of_head"}
			if name == "spans" {
				first, ends = "span", []string{"_of_first", "_of_last"}
			}
			want := map[string]int{first + "_attributes": count.ArcAttributes * score,
				"label_attributes": count.LabelAttributes * label}
			for _, end := range ends {
				if dim > 0 {
					want[first+end], want["label"+end] = dim*score, dim*label
				}
			}
			for part, n := range want {
				got := sizes[part]
				if dense := strings.Contains(part, "_of_"); !dense && got != n || dense && (got == 0 || got%n != 0) {
					t.Errorf("%s with %d dense features: %d weights of %s, want %d", name, dim, got, part, n)
				}
				delete(sizes, part)
			}
			if dim == 0 && len(sizes) > 0 || len(want) < 2 {
				t.Errorf("%s: weights %v beside those", name, sizes)
			}
		}
	}
}

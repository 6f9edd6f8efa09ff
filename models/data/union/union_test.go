package union

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func set(name string, words string, labels []int32, names ...string) *structured.Dataset {
	tokens := strings.Fields(words)
	d := &structured.Dataset{
		Name: name, Offsets: []int{0, len(tokens)}, Labels: labels, Alphabet: structured.NewAlphabet(names...),
		Columns: [][]string{tokens}, ColumnNames: []string{"word"}, Lines: []int{1},
		Dictionary: &structured.Dictionary{Node: structured.NewAlphabet()},
		Attributes: &structured.Sparse{Offsets: []int{0}},
	}
	for _, w := range tokens {
		d.Attributes.Index = append(d.Attributes.Index, d.Dictionary.Node.Add(w))
		d.Attributes.Offsets = append(d.Attributes.Offsets, len(d.Attributes.Index))
	}
	return d
}

// Joined examples are those of the sets, with names numbered by one alphabet, and each knows its file and line.
func TestJoin(t *testing.T) {
	a, b := set("a", "x y x", []int32{0, 1, 0}, "A", "B"), set("b", "z x", []int32{1, 0}, "B", "C")
	a.LabelSets, b.LabelSets = [][]int32{nil, {0, 1}}, [][]int32{{0, 1}}
	a.Labels[2], b.Labels[1] = -2, -1
	a.Readings, b.Readings = [][]int32{{0, 1}}, [][]int32{{1}}
	letters := structured.NewAlphabet("x", "y", "z")
	a.Characters = &structured.Segments{Vocab: letters, Offsets: []int{0, 1, 2, 3}, Ids: []int32{0, 1, 0}}
	b.Characters = &structured.Segments{Vocab: letters, Offsets: []int{0, 1, 2}, Ids: []int32{2, 0}}
	base := &structured.Dictionary{Node: structured.NewAlphabet("known")}
	all := Alphabet(structured.NewAlphabet("B"), a.Alphabet, b.Alphabet)
	for _, d := range []*structured.Dataset{a, b} {
		Relabel(d, all)
	}
	Attributes(base, 2, []*structured.Dataset{a, b})
	d, err := Join([]*structured.Dataset{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all.Names(), []string{"B", "A", "C"}) || !slices.Equal(d.Labels, []int32{1, 0, -2, 2, -3}) {
		t.Errorf("labels %v of %v", d.Labels, all.Names())
	}
	if !reflect.DeepEqual(d.LabelSets, [][]int32{nil, {0, 1}, {0, 2}}) {
		t.Errorf("sets of labels %v", d.LabelSets)
	}
	if !reflect.DeepEqual(d.Readings, [][]int32{{1, 0}, {2}}) ||
		!reflect.DeepEqual(d.Subset([]int{1}).GoldOf(0).Reading, []int32{2}) {
		t.Errorf("readings %v", d.Readings)
	}
	// y and z are rare: only x, which occurs three times in all, follows what is known
	if !slices.Equal(d.Dictionary.Node.Names(), []string{"known", "x"}) ||
		!slices.Equal(d.Attributes.Index, []int32{1, 1, 1}) ||
		!slices.Equal(d.Attributes.Offsets, []int{0, 1, 1, 2, 2, 3}) {
		t.Errorf("attributes %v %v of %v", d.Attributes.Offsets, d.Attributes.Index, d.Dictionary.Node.Names())
	}
	if d.Where(1) != "b:1" || d.WhereToken(1, 1) != "b:2" || d.Name != "a, b" ||
		!slices.Equal(d.Columns[0], []string{"x", "y", "x", "z", "x"}) {
		t.Errorf("%s %s %s %v", d.Where(1), d.WhereToken(1, 1), d.Name, d.Columns)
	}
	if want := (&structured.Segments{Vocab: letters, Offsets: []int{0, 1, 2, 3, 4, 5},
		Ids: []int32{0, 1, 0, 2, 0}}); !reflect.DeepEqual(d.Characters, want) {
		t.Errorf("characters %+v", d.Characters)
	}
	if s := d.Subset([]int{1}); s.Where(0) != "b:1" {
		t.Errorf("a subset says %s", s.Where(0))
	}
	c := set("c", "x", nil, "A")
	if _, err := Join([]*structured.Dataset{set("a", "x", []int32{0}, "A"), c}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "c: the gold outputs are not known") {
		t.Errorf("data without labels: %v", err)
	}
}

// Outputs of other lengths than their examples keep their places behind those of the sets before.
func TestJoinOutputs(t *testing.T) {
	of := func(name string, lengths []int, outputs ...[]int32) *structured.Dataset {
		d := &structured.Dataset{Name: name, Alphabet: structured.NewAlphabet("a"), Offsets: []int{0}, Outputs: []int{0}}
		for k, y := range outputs {
			d.Offsets, d.Outputs = append(d.Offsets, d.Positions()+lengths[k]), append(d.Outputs, len(d.Labels)+len(y))
			d.Labels = append(d.Labels, y...)
		}
		return d
	}
	outputs := [][]int32{{1, 2, 3}, nil, {4}, {5, 6}}
	d, err := Join([]*structured.Dataset{of("a", []int{1, 2}, outputs[0], outputs[1]), of("b", []int{3}, outputs[2]),
		of("c", []int{0}, outputs[3])})
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range outputs {
		if !slices.Equal(d.Gold(i), y) {
			t.Errorf("output %d is %v, want %v", i, d.Gold(i), y)
		}
	}
	if !slices.Equal(d.Offsets, []int{0, 1, 3, 6, 6}) {
		t.Errorf("examples begin at %v", d.Offsets)
	}
}

// Graphs with types of edges and graphs without are no one set of data; examples without edges may be in either.
func TestJoinTypedGraphs(t *testing.T) {
	graph := func(types []int32, edges int) *structured.Dataset {
		d := set("g", "x y", []int32{0, 0}, "A")
		d.Graphs = []*structured.Graph{{Types: types}}
		for range edges {
			d.Graphs[0].Ends = append(d.Graphs[0].Ends, [2]int32{0, 1})
		}
		return d
	}
	typed, plain := func() *structured.Dataset { return graph([]int32{1}, 1) }, func() *structured.Dataset {
		return graph(nil, 1)
	}
	for _, sets := range [][]*structured.Dataset{{typed(), plain()}, {plain(), typed()}} {
		if _, err := Join(sets); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "types of edges") {
			t.Errorf("with types and without: %v", err)
		}
	}
	for _, sets := range [][]*structured.Dataset{{typed(), typed()}, {plain(), plain()}} {
		if _, err := Join(sets); err != nil {
			t.Error(err)
		}
	}
}

// Joined data are written with the lines between the words of each; what stands at the end of a file is not put before
// the first word of the next.
func TestJoinLayouts(t *testing.T) {
	var sets []*structured.Dataset
	for _, name := range []string{"a", "b"} {
		d := set(name, "x y", []int32{0, 0}, "A")
		d.Layout = &structured.Layout{Separator: ' '}
		d.Layout.Set(1, "# before y of "+name)
		d.Layout.Set(2, "# end of "+name)
		sets = append(sets, d)
	}
	all := Alphabet(sets[0].Alphabet, sets[1].Alphabet)
	for _, d := range sets {
		Relabel(d, all)
	}
	d, err := Join(sets)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{1: "# before y of a", 3: "# before y of b"}
	if !reflect.DeepEqual(d.Layout.Before, want) || d.Layout.Separator != ' ' {
		t.Errorf("%v, want %v", d.Layout.Before, want)
	}
}

type rows []float32

func (r rows) Read(dst []float32, from, to int) error { copy(dst, r[from*2:to*2]); return nil }
func (r rows) Fingerprint() (string, error)           { return "rows", nil }

// Dense inputs may be in memory in one set and outside in another.
func TestSources(t *testing.T) {
	a := &structured.Dataset{Offsets: []int{0, 2}, Dim: 2, Features: []float32{1, 2, 3, 4}}
	b := &structured.Dataset{Offsets: []int{0, 2}, Dim: 2, Source: rows{5, 6, 7, 8}}
	s, got := joinSources([]*structured.Dataset{a, b}), make([]float32, 6)
	if err := s.Read(got, 1, 4); err != nil || !slices.Equal(got, []float32{3, 4, 5, 6, 7, 8}) {
		t.Errorf("%v: %v", got, err)
	}
}

// The names of all, in order; nil only where nobody has any.
func TestAlphabets(t *testing.T) {
	a, b, empty := structured.NewAlphabet("x", "y"), structured.NewAlphabet("y", "z"), structured.NewAlphabet()
	for _, c := range []struct {
		of   []*structured.Alphabet
		want []string
	}{
		{[]*structured.Alphabet{a, b}, []string{"x", "y", "z"}}, {[]*structured.Alphabet{nil, b, a}, []string{"y", "z", "x"}},
		{[]*structured.Alphabet{nil, nil}, nil}, {[]*structured.Alphabet{nil, empty}, []string{}},
	} {
		got := Alphabet(c.of[0], c.of[1:]...)
		if (got == nil) != (c.want == nil) || got != nil && !slices.Equal(got.Names(), c.want) {
			t.Errorf("%v, expected %q", got, c.want)
		}
	}
}

// Labels, sets of possible ones and readings have the numbers of the other alphabet, sets in order; unknown labels
// stay so.
func TestRelabel(t *testing.T) {
	d := &structured.Dataset{Alphabet: structured.NewAlphabet("a", "b", "c"), Labels: []int32{0, 2, -1, 1},
		LabelSets: [][]int32{{0, 2}}, Readings: [][]int32{{1, 0}, {}}}
	by := structured.NewAlphabet("c", "x", "b", "a")
	Relabel(d, by)
	if !slices.Equal(d.Labels, []int32{3, 0, -1, 2}) || !slices.Equal(d.LabelSets[0], []int32{0, 3}) ||
		!slices.Equal(d.Readings[0], []int32{2, 3}) || d.Alphabet != by {
		t.Errorf("%+v", d)
	}
	Relabel(d, by)
	none := &structured.Dataset{Labels: []int32{1}}
	if Relabel(none, by); d.Labels[0] != 3 || none.Labels[0] != 1 || none.Alphabet != by {
		t.Errorf("%v, %v", d.Labels, none.Labels)
	}
}

// Data that cannot follow the first ones are refused with what both have.
func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(d *structured.Dataset){
		"b: the number of dense features per position is 2, expected 0 as in a": func(d *structured.Dataset) { d.Dim = 2 },
		"b: the number of columns is 0, expected 1 as in a": func(d *structured.Dataset) {
			d.Columns = nil
		},
		"b: the columns are [tag], expected [word] as in a": func(d *structured.Dataset) {
			d.ColumnNames = []string{"tag"}
		},
		"b: the gold outputs are not known, expected known as in a": func(d *structured.Dataset) {
			d.Labels = nil
		},
		"b: its inputs or costs are not of the kind that a has": func(d *structured.Dataset) {
			d.Costs = []float32{1}
		},
		"b: the number of tables is 1, expected 0 as in a": func(d *structured.Dataset) {
			d.Tables = []*structured.Table{{}}
		},
		"b: its inputs or costs are not of the kind that a has ": func(d *structured.Dataset) {
			d.Attributes = nil
		},
	} {
		a, b := set("a", "x", []int32{0}, "A"), set("b", "x", []int32{0}, "A")
		b.Alphabet = a.Alphabet
		change(b)
		if _, err := Join([]*structured.Dataset{a, b}); !structured.IsBadInput(err) ||
			err.Error() != strings.TrimSpace(want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	for want, files := range map[string][]string{"a": {"a"}, "a, b, c": {"a", "b", "c"},
		"a and 3 more files": {"a", "b", "c", "d"}, "": nil} {
		if got := Names(files); got != want {
			t.Errorf("%q: %q, expected %q", files, got, want)
		}
	}
}

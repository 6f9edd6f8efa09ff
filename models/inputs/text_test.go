package inputs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// tagsOf draws sentences of words with a column of parts of speech and tags of entities, the same in each call.
func tagsOf(t *testing.T, seed uint64) *structured.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range 9 {
		inside := false
		for range 1 + r.IntN(6) {
			tag := "O"
			switch k := r.IntN(3); {
			case k == 0:
				tag, inside = "B-X", true
			case k == 1 && inside:
				tag = "I-X"
			default:
				inside = false
			}
			fmt.Fprintf(&b, "Word%d P%d %s\n", r.IntN(8), r.IntN(3), tag)
		}
		b.WriteString("\n")
	}
	columns, err := text.ParseColumns("word=0,pos=1,label=-1")
	if err != nil {
		t.Fatal(err)
	}
	d, err := text.Conll{Columns: columns, Alphabet: structured.NewAlphabet("B-X", "I-X", "O")}.Read(
		strings.NewReader(b.String()), "x.conll")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ofText are settings of inputs that are made of columns of text.
func ofText(t *testing.T) map[string]func(c *config.Config) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lists := file("lists", "U%x[0,word]\nU%x[-1,cluster]/%x[0,pos]\nU%x[0,gazetteer]\nB%x[0,pos]\n")
	clusters, names := file("c", "0\tWord1\n01\tWord2\n10\tWord3\n"), file("person.txt", "Word1 Word2\nWord4\n")
	whole := file("whole", "U%x[0,word]\nS%x[all..2,word]\n")
	return map[string]func(c *config.Config){
		"attributes": func(*config.Config) {},
		"frequent":   func(c *config.Config) { c.MinCount = 3 },
		"hashed":     func(c *config.Config) { c.HashBits = 8 },
		"lists":      func(c *config.Config) { c.Template, c.Clusters, c.Gazetteer = lists, clusters, names },
		"segments":   func(c *config.Config) { c.Structure, c.Template = "segments", whole },
		"words":      func(c *config.Config) { c.Net, c.Features = "embed", "none" },
		"letters":    func(c *config.Config) { c.Net, c.CharChannels, c.MinCount, c.Features = "deep", 4, 1, "none" },
	}
}

func textConfig(set func(c *config.Config)) config.Config {
	c := config.Default()
	c.Task, c.Format, c.Train, c.Net = "tag", "conll", "x.conll", "linear"
	set(&c)
	return c
}

func namesOf(a *structured.Alphabet) []string {
	if a == nil {
		return nil
	}
	return a.Names()
}

// made are the inputs that a data set has.
func made(d *structured.Dataset) []any {
	all := []any{d.Ids, d.Attributes, d.EdgeAttributes, nil, nil}
	if d.Characters != nil {
		all[3] = []any{d.Characters.Offsets, d.Characters.Ids}
	}
	if t := d.Table(segments.Rows); t != nil {
		all[4] = []any{t.Offsets, t.Attributes}
	}
	return all
}

// Inputs of text come back from a file as they were, and make the same in other data with any number of threads.
func TestTextInputsComeBack(t *testing.T) {
	for name, set := range ofText(t) {
		t.Run(name, func(t *testing.T) {
			c, train := textConfig(set), tagsOf(t, 1)
			in, err := Fit(&c, Alone(train))
			if err != nil {
				t.Fatal(err)
			}
			longest := 0
			if in.Template != nil {
				longest = in.Template.Longest
			}
			if want := LongestSegment(&c, nil, train); longest != want || (want > 0) != (name == "segments") {
				t.Errorf("segments of %d positions, want %d", longest, want)
			}
			f := &safetensors.File{}
			if err := in.Save(f); err != nil {
				t.Fatal(err)
			}
			again, tensors, err := Load(f, Loading{Longest: longest})
			if err != nil || tensors != len(f.Tensors) {
				t.Fatalf("%d of %d tensors: %v", tensors, len(f.Tensors), err)
			}
			for tensor := range f.Tensors {
				if !IsTensor(tensor) {
					t.Errorf("tensor %q is none of inputs", tensor)
				}
			}
			if got, want := again.AttributeCounts(), in.AttributeCounts(); got != want {
				t.Errorf("%+v attributes, want %+v", got, want)
			}
			if got, want := again.Shape(2), in.Shape(2); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			one, two, same := tagsOf(t, 2), tagsOf(t, 2), tagsOf(t, 1)
			for d, of := range map[*structured.Dataset]Inputs{one: in, two: again, same: again} {
				if err := of.Apply(d, 1+d.Len()%2); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(made(one), made(two)) || !reflect.DeepEqual(made(same), made(train)) {
				t.Errorf("other inputs after a file")
			}
			if f.Metadata["template"] != "" {
				f.Metadata["template"] += "%x["
				if _, _, err := Load(f, Loading{Longest: longest}); err == nil || !strings.HasPrefix(err.Error(), "metadata: ") {
					t.Errorf("a template that is none: %v", err)
				}
			}
		})
	}
}

// Processes that have some of the sentences each have the inputs of one that has all, in the end: numbers of all words
// and letters, and rows of attributes for their own sentences.
func TestTextInputsOfPeers(t *testing.T) {
	for name, set := range ofText(t) {
		c, whole := textConfig(set), tagsOf(t, 1)
		alone, err := Fit(&c, Alone(whole))
		if err != nil {
			t.Fatal(err)
		}
		err = rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
			all := tagsOf(t, 1)
			share := structured.Share{Peers: ranks.PeersOf(ctx, g)}
			share.First, share.Last = []int{0, 2, 2, 9}[g.Rank()], []int{0, 2, 2, 9}[g.Rank()+1]
			c := c
			data := Training{All: all, Own: share.Of(all), Share: share}
			in, err := Fit(&c, data)
			if err != nil {
				return err
			}
			if err := data.Complete(in); err != nil {
				return err
			}
			if got, want := in.AttributeCounts(), alone.AttributeCounts(); got != want {
				return fmt.Errorf("%+v attributes, want %+v", got, want)
			}
			if divided := data.Divided(); (divided.Last-divided.First == all.Len()) != (data.Own.Attributes == nil) {
				return fmt.Errorf("attributes of examples %d to %d", divided.First, divided.Last-1)
			}
			got, want := made(all), made(whole)
			if !slices.Equal(all.Ids, whole.Ids) || !reflect.DeepEqual(got[3], want[3]) {
				return fmt.Errorf("%v numbers of words and letters, want %v", got, want)
			}
			for k, rows := range [][2]*structured.Sparse{{all.Attributes, whole.Attributes},
				{all.EdgeAttributes, whole.EdgeAttributes}} {
				if (rows[0] == nil) != (rows[1] == nil) {
					return fmt.Errorf("attributes %v, want %v", rows[0], rows[1])
				}
				for p := 0; rows[1] != nil && p < all.Positions(); p++ {
					got, _ := rows[0].Row(p)
					want, _ := rows[1].Row(p)
					if mine := all.Offsets[share.First] <= p && p < all.Offsets[share.Last]; !mine {
						want = nil
					}
					if !slices.Equal(got, want) {
						return fmt.Errorf("attributes %v of position %d (%d), want %v", got, p, k, want)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Continued inputs of text keep their numbers, and those of what only the new data have follow.
func TestTextInputsAreExtended(t *testing.T) {
	for name, set := range ofText(t) {
		c, first := textConfig(set), tagsOf(t, 1)
		c.MinCount = min(c.MinCount, 1)
		in, err := Fit(&c, Alone(first))
		if err != nil {
			t.Fatal(err)
		}
		names := func(in Inputs) (all [][]string) {
			for _, a := range append(slices.Clone(in.Vocab), in.Characters) {
				all = append(all, namesOf(a))
			}
			if d := in.Dictionary; d != nil {
				all = append(all, namesOf(d.Node), namesOf(d.Edge), namesOf(d.Segment))
			}
			return all
		}
		was := names(in)
		second := tagsOf(t, 2)
		for k := range second.Columns[0] { // a word, and a tag beside it, that the first data do not have
			if k%3 == 0 {
				second.Columns[0][k], second.Columns[1][k] = "Ünlike", "P9"
			}
		}
		more, err := in.Extend(&c, Alone(second))
		if err != nil {
			t.Fatal(err)
		}
		grown := false
		for k, names := range names(more) {
			if !slices.Equal(names[:len(was[k])], was[k]) {
				t.Errorf("%s: names %q become %q", name, was[k], names)
			}
			grown = grown || len(names) > len(was[k])
		}
		if grown == (name == "hashed") {
			t.Errorf("%s: new names: %v", name, grown)
		}
		again := tagsOf(t, 1)
		if err := more.Apply(again, 2); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Ids, first.Ids) || name != "segments" &&
			!reflect.DeepEqual(again.Attributes, first.Attributes) {
			t.Errorf("%s: the first data have other inputs", name)
		}
	}
	c := textConfig(ofText(t)["words"])
	in, err := Fit(&c, Alone(tagsOf(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	narrow := tagsOf(t, 1)
	narrow.Columns, narrow.ColumnNames = narrow.Columns[:1], narrow.ColumnNames[:1]
	if _, err := in.Extend(&c, Alone(narrow)); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "x.conll: 4 columns of words, the model reads 5") {
		t.Error(err)
	}
}

// What is extended with numbered attributes is what read them, and nothing else.
func TestExtends(t *testing.T) {
	read := &structured.Dictionary{}
	for k, x := range []struct {
		in              Inputs
		columns, number bool
	}{
		{Inputs{}, true, false}, {Inputs{Dictionary: read}, true, true}, {Inputs{Own: &Pairs{}}, false, false},
		{Inputs{Own: &Pairs{}, Dictionary: read}, false, false},
		{Inputs{Dictionary: read, Vocab: []*structured.Alphabet{structured.NewAlphabet()}}, true, false},
		{Inputs{Dictionary: read, WordRows: &WordRows{}}, true, false},
	} {
		if a, b := x.in.Extends(false), x.in.Extends(true); a != x.columns || b != x.number {
			t.Errorf("%d: columns %v, numbered %v", k, a, b)
		}
	}
}

// Which attributes are made follows from labels and settings, and no attributes are where nothing reads them.
func TestFeatureSets(t *testing.T) {
	tags, chunks := structured.NewAlphabet("O", "B-X"), structured.NewAlphabet("O", "B-NP")
	for _, x := range []struct {
		labels *structured.Alphabet
		set    func(c *config.Config)
		want   string
	}{
		{tags, func(*config.Config) {}, "ner"}, {chunks, func(*config.Config) {}, "chunk"},
		{structured.NewAlphabet("N", "V"), func(*config.Config) {}, "pos"},
		{tags, func(c *config.Config) { c.Template = "t" }, "auto"}, {tags, func(c *config.Config) {
			c.Features = "pos"
		}, "pos"},
		{tags, func(c *config.Config) { c.Features, c.Dense = "none", "x" }, "none"},
		{tags, func(c *config.Config) { c.Features, c.Vectors = "none", "x" }, "none"},
		{tags, func(c *config.Config) { c.Features, c.Encoder = "none", "x" }, "none"},
		{tags, func(c *config.Config) { c.Net = "embed" }, "none"},
		{tags, func(c *config.Config) { c.Net = "auto" }, "ner"}, {tags, func(c *config.Config) {
			c.TuneEncoder = true
		}, "none"},
		{tags, func(c *config.Config) { c.Net, c.TuneEncoder = "embed", true }, "none"},
		{tags, func(c *config.Config) { c.Features = "none" }, "!--features ner"},
		{chunks, func(c *config.Config) { c.Features = "none" }, "!--features chunk"},
	} {
		c := textConfig(x.set)
		got, err := featureSet(&c, &structured.Dataset{Alphabet: x.labels})
		if want, bad := strings.CutPrefix(x.want, "!"); bad != structured.IsBadInput(err) || bad &&
			!strings.Contains(err.Error(), want) || !bad && got != want {
			t.Errorf("%v: %q, %v, want %s", x.labels.Names(), got, err, x.want)
		}
		if bad := strings.HasPrefix(x.want, "!"); !bad && c.Template == "" {
			of, set, err := Template(&c, &structured.Dataset{Alphabet: x.labels})
			if err != nil || (of == nil) != (x.want == "none") || of != nil && set != x.want {
				t.Errorf("template of %q, %v, want %s", set, err, x.want)
			}
		}
	}
}

// The longest segment is the setting's, or else that of the data, where attributes are of whole segments.
func TestLongestSegment(t *testing.T) {
	c, train := textConfig(ofText(t)["segments"]), tagsOf(t, 1)
	most := 0
	for i := range train.Len() {
		for from, gold := 0, train.Gold(i); from < len(gold); {
			to := from + 1
			for gold[from] != 2 && to < len(gold) && gold[to] == 1 { // B-X I-X …
				to++
			}
			most, from = max(most, to-from), to
		}
	}
	if got := LongestSegment(&c, nil, train); got != most || most < 2 {
		t.Errorf("%d, want %d", got, most)
	}
	c.MaxLength = most + 3
	if got := LongestSegment(&c, nil, train); got != most+3 {
		t.Errorf("%d is given, %d is taken", most+3, got)
	}
	of, _, err := Template(&c, train)
	if err != nil {
		t.Fatal(err)
	}
	of.Longest = 7
	if got, want := LongestSegment(&c, of, train), of.LongestWhole(); got != want {
		t.Errorf("of a model that continues: %d, want %d", got, want)
	}
	for name, set := range map[string]func(c *config.Config){
		"chains":              func(c *config.Config) { c.Structure = "chain" },
		"attributes of files": func(c *config.Config) { c.Format = "crfsuite" },
		"no attributes":       func(c *config.Config) { c.Net, c.Template, c.Features = "embed", "", "none" },
		"no file":             func(c *config.Config) { c.Template += "x" },
		"none of segments":    func(c *config.Config) { c.Template = "" },
	} {
		other := c
		set(&other)
		if got := LongestSegment(&other, nil, train); got != 0 {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// wordRows are vectors of a, b and of words without one.
func wordRows() *WordRows {
	return &WordRows{structured.NewAlphabet(text.Unknown, "a", "b"),
		&graph.WordVectors{Dim: 2, Rows: []float32{0, 0, 1, 2, 3, 4}}}
}

// Vectors of words are the dense inputs of positions, in every order that these are read in.
func TestWordRows(t *testing.T) {
	words := []string{"b", "x", "a", "b"}
	d := &structured.Dataset{Name: "d", Offsets: []int{0, 1, 4}, ColumnNames: []string{"word"}, Columns: [][]string{words}}
	in := Inputs{WordRows: wordRows()}
	if err := in.Apply(d, 1); err != nil {
		t.Fatal(err)
	}
	want := []float32{3, 4, 0, 0, 1, 2, 3, 4}
	if got := rowsOf(t, d); !slices.Equal(got, want) || d.Dim != 2 || in.WordRows.Found(d) != 3 {
		t.Errorf("%v, %d found", got, in.WordRows.Found(d))
	}
	part := make([]float32, 4)
	if err := d.Source.Read(part, 1, 3); err != nil || !slices.Equal(part, want[2:6]) {
		t.Errorf("%v, %v", part, err)
	}
	few := d.Source.(structured.SelectableSource).Select([]int{3, 0, 2})
	some := make([]float32, 6)
	if err := few.Read(some, 0, 3); err != nil || !slices.Equal(some, []float32{3, 4, 3, 4, 1, 2}) {
		t.Errorf("%v, %v", some, err)
	}
	print := func(change func(r *WordRows), words ...string) string {
		r := wordRows()
		change(r)
		d := &structured.Dataset{Offsets: []int{0, len(words)}, ColumnNames: []string{"word"}, Columns: [][]string{words}}
		if err := r.apply(d); err != nil {
			t.Fatal(err)
		}
		text, err := d.Source.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	same := func(*WordRows) {}
	one := print(same, "a", "b")
	for name, other := range map[string]string{
		"another order": print(same, "b", "a"), "another number": print(func(r *WordRows) {
			r.Vectors.Rows[5] = 4.5
		}, "a", "b"),
		"another first number": print(func(r *WordRows) { r.Vectors.Rows[2] = 4.5 }, "a", "b"),
		"fewer words":          print(same, "a"),
	} {
		if one == other {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
	if one != print(func(r *WordRows) { r.Vectors.Rows[0] = 9 }, "a", "b") {
		t.Error("a vector that no word has counts")
	}
	if given, held := in.Given(5), in.Held(5); given != 3 || held != 5 || (Inputs{}).Given(5) != 5 {
		t.Errorf("%d of 5 dense inputs are given, %d held", given, held)
	}
	for want, bad := range map[string]*structured.Dataset{
		"d: no column of words": {Name: "d", Offsets: []int{0, 1}, ColumnNames: []string{"pos"}, Columns: [][]string{{"a"}}},
		"d: dense features beside ve": {Name: "d", Offsets: []int{0, 1}, ColumnNames: []string{"word"},
			Columns: [][]string{{"a"}}, Features: []float32{1}, Dim: 1},
	} {
		if err := in.Apply(bad, 1); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := in.Extend(&config.Config{}, Alone(bad)); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	f := &safetensors.File{}
	if err := in.Save(f); err != nil {
		t.Fatal(err)
	}
	again, tensors, err := Load(f, Loading{Vectors: true, Frozen: true})
	if err != nil || tensors != 1 || again.Vectors != nil ||
		!slices.Equal(again.WordRows.Vectors.Rows, in.WordRows.Vectors.Rows) ||
		!slices.Equal(again.WordRows.Words.Names(), in.WordRows.Words.Names()) || !again.WordRows.Vectors.Frozen {
		t.Errorf("%d tensors, %+v: %v", tensors, again.WordRows, err)
	}
	for _, words := range []string{`["<unknown>","a"]`, `["<unknown>","a","a"]`, `["<unknown>","a","b","c"]`, `[]`} {
		f.Metadata["vector_words"] = words
		if _, _, err := Load(f, Loading{Vectors: true}); err == nil ||
			!strings.Contains(err.Error(), "expected vectors of ") {
			t.Errorf("words %s: %v", words, err)
		}
	}
}

// Positions of several processes have the vectors of all words in the end.
func TestWordRowsOfPeers(t *testing.T) {
	words := []string{"b", "x", "a", "b", "a", "a", "b"}
	err := rankstest.InProcess(t.Context(), 2, func(ctx context.Context, g ranks.Group) error {
		all := &structured.Dataset{Offsets: []int{0, 1, 4, 7}, ColumnNames: []string{"word"}, Columns: [][]string{words}}
		share := structured.Share{Peers: ranks.PeersOf(ctx, g), First: 2 * g.Rank(), Last: 2 + g.Rank()}
		data, in := Training{All: all, Own: share.Of(all), Share: share}, Inputs{WordRows: wordRows()}
		if err := in.Apply(data.Own, 1); err != nil {
			return err
		}
		if err := data.Complete(in); err != nil {
			return err
		}
		got := make([]float32, 14)
		if err := all.Source.Read(got, 0, 7); err != nil || all.Dim != 2 ||
			!slices.Equal(got, []float32{3, 4, 0, 0, 1, 2, 3, 4, 1, 2, 1, 2, 3, 4}) {
			return fmt.Errorf("rank %d: %v, %v", g.Rank(), got, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A continued model of second-order chains takes no labels and steps but its own, where labels are known.
func TestContinuedSteps(t *testing.T) {
	c := &config.Config{DataSettings: config.DataSettings{Order: 2}}
	of := func(labels ...int32) *structured.Dataset {
		return &structured.Dataset{Name: "x", Offsets: []int{0, len(labels)}, Labels: labels,
			Alphabet: structured.NewAlphabet("a", "b", "c")}
	}
	var in Inputs
	if err := in.FitSteps(c, of(0, 1, 0, 2, 2)); err != nil {
		t.Fatal(err)
	}
	f := &safetensors.File{}
	if err := in.Save(f); err != nil {
		t.Fatal(err)
	}
	again, tensors, err := Load(f, Loading{})
	if err != nil || tensors != 1 || again.Steps.Labels != 3 {
		t.Fatalf("%d tensors: %v", tensors, err)
	}
	for _, in := range []*Inputs{&in, &again} {
		for want, d := range map[string]*structured.Dataset{
			"": of(1, 0, 2, 2, 2), "label b after b": of(0, 1, 1), "label b after c": of(0, 2, 1), "label c after b": of(1, 2),
		} {
			steps := in.Steps
			if err := in.FitSteps(c, d); (err == nil) != (want == "") || err != nil &&
				(!structured.IsBadInput(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v: %v, want %q", d.Labels, err, want)
			}
			if in.Steps != steps {
				t.Error("the model's steps are replaced")
			}
		}
	}
	partly := of(1, -1, 1)
	partly.LabelSets = [][]int32{{0, 2}}
	if err := in.FitSteps(c, partly); err != nil {
		t.Error(err)
	}
	more := of(0)
	more.Alphabet = structured.NewAlphabet("a", "b", "c", "new")
	if err := in.FitSteps(c, more); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "x: label new is none of the model's") {
		t.Error(err)
	}
	if err := in.FitSteps(&config.Config{DataSettings: config.DataSettings{Order: 1}}, of(1, 1)); err != nil ||
		in.Steps != nil {
		t.Errorf("first-order chains have steps: %v", err)
	}
}

// Graphs whose edges have no types have no weights of types.
func TestFitGraphs(t *testing.T) {
	d := &structured.Dataset{Name: "g", Tables: []*structured.Table{{Name: graphs.EdgeRows, Dim: 3}}}
	c := config.Default()
	in, err := FitGraphs(&c, Alone(d))
	if err != nil || in.Edges != (Edges{Dim: 3}) || in.Features != c.Features || in.Map.Len() != 0 {
		t.Errorf("%+v, %v", in, err)
	}
	if shape := in.Shape(4); shape.EdgeDim != 3 || shape.Dim != 4 {
		t.Errorf("%+v", shape)
	}
	c.Edges = "typed"
	if _, err := FitGraphs(&c, Alone(d)); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), "g: the edges have no types") {
		t.Error(err)
	}
}

// The shape of a candidate has its channels first; features that are no map are a list.
func TestCandidateShape(t *testing.T) {
	if got := (Inputs{Map: graph.Map{Height: 2, Width: 3, Channels: 5}}).CandidateShape(30); !slices.Equal(got,
		[]int{5, 2, 3}) {
		t.Error(got)
	}
	if got := (Inputs{}).CandidateShape(30); !slices.Equal(got, []int{30}) {
		t.Error(got)
	}
}

// Sizes in a file have bounds in all, and zeros do not hide others.
func TestCheckSizes(t *testing.T) {
	for _, x := range []struct {
		sizes []int
		ok    bool
	}{
		{nil, true}, {[]int{0}, true}, {[]int{10}, true}, {[]int{11}, false}, {[]int{-1}, false}, {[]int{2, 5}, true},
		{[]int{5, 2}, true}, {[]int{3, 4}, false},
		{[]int{0, 11}, false}, {[]int{0, 10, 2}, false}, {[]int{0, 5, 0, 2}, true}, {[]int{1 << 62, 4}, false},
		{[]int{1, 1, 1, 10}, true}, {[]int{10, 1, -2}, false},
	} {
		if err := CheckSizes("s", 10, x.sizes...); (err == nil) != x.ok || err != nil &&
			!strings.HasPrefix(err.Error(), `metadata "s": `) {
			t.Errorf("%v: %v", x.sizes, err)
		}
	}
}

// Names in a file are one per line, all ended and different, and a dictionary has names or numbers of hashes.
func TestNamesInFiles(t *testing.T) {
	for _, d := range []*structured.Dictionary{
		{Node: structured.NewAlphabet("a", "", "c d")},
		{Node: structured.NewAlphabet(), Edge: structured.NewAlphabet("e"), Segment: structured.NewAlphabet("s", "ü")},
		{HashBits: 5}, nil,
	} {
		f, bits, tensors := &safetensors.File{}, 0, 0
		if err := AddDictionary(f, d); err != nil {
			t.Fatal(err)
		}
		if d != nil {
			bits = d.HashBits
		}
		got, tensors, err := dictionary(f, bits)
		if err != nil || tensors != len(f.Tensors) || (got == nil) != (d == nil) {
			t.Fatalf("%+v in %d tensors: %v", got, tensors, err)
		}
		if d == nil {
			continue
		}
		for k, pair := range [][2]*structured.Alphabet{{got.Node, d.Node}, {got.Edge, d.Edge}, {got.Segment, d.Segment}} {
			if (pair[0] == nil) != (pair[1] == nil) || !slices.Equal(namesOf(pair[0]), namesOf(pair[1])) {
				t.Errorf("part %d: %q, want %q", k, namesOf(pair[0]), namesOf(pair[1]))
			}
		}
		if got.HashBits != bits {
			t.Errorf("hashed to %d bits, want %d", got.HashBits, bits)
		}
	}
	if err := AddDictionary(&safetensors.File{},
		&structured.Dictionary{Node: structured.NewAlphabet("a\nb")}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), `attribute "a\nb" has a line feed`) {
		t.Error(err)
	}
	for names, want := range map[string]string{"a": "does not end with a line feed", "a\nb": "does not end",
		"a\na\n": "has 2 names, of which 1 differ", "": "", "\n": ""} {
		f := &safetensors.File{}
		safetensors.Add(f, attributeNames, []byte(names))
		if _, _, err := dictionary(f, 0); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", names, err, want)
		}
	}
	for _, bits := range []int{-1, config.MaxHashBits + 1} {
		if _, _, err := dictionary(&safetensors.File{}, bits); err == nil {
			t.Errorf("%d bits make a dictionary", bits)
		}
	}
	if d, _, err := dictionary(&safetensors.File{}, config.MaxHashBits); err != nil || d == nil {
		t.Error(err)
	}
	both := &safetensors.File{}
	safetensors.Add(both, attributeNames, []byte("a\n"))
	if _, _, err := dictionary(both, 3); err == nil {
		t.Error("names and hashes make a dictionary")
	}
}

// Metadata that are no inputs are refused by name.
func TestDamagedMetadata(t *testing.T) {
	for name, texts := range map[string][]string{
		"vocab": {"", "{", "3"}, "hash_bits": {"x", "-1", "29"}, "characters": {"{"},
		"map": {"[", `{"Height":-1}`, `{"height":20000000}`}, "grid": {"[", `{"height":-1}`},
		"edges":   {`{"dim":-1}`, `{"types":-1}`, `{"dim":16777217}`, `{"types":16777217}`},
		"windows": {"[", "{}"}, "looks": {"[", "{}"}, "vector_words": {"3"}, saltKey: {"3"},
	} {
		for _, bad := range texts {
			f := &safetensors.File{}
			if err := (Inputs{}).Save(f); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Load(f, Loading{}); err != nil {
				t.Fatal(err)
			}
			if f.Metadata[name] = bad; bad == "" {
				delete(f.Metadata, name)
			}
			if _, _, err := Load(f, Loading{}); err == nil {
				t.Errorf("%s %s is accepted", name, bad)
			}
		}
	}
}

// A released model has hashes for all names by which its inputs are made, and makes the same; nothing else is hashed.
func TestRelease(t *testing.T) {
	for name, set := range ofText(t) {
		c, train := textConfig(set), tagsOf(t, 1)
		in, err := Fit(&c, Alone(train))
		if err != nil {
			t.Fatal(err)
		}
		before := made(train)
		want := 0
		if d := in.Dictionary; d != nil {
			want = d.Node.Len() + d.Edge.Len() + d.Segment.Len()
		}
		for _, v := range in.Vocab {
			want += v.Len()
		}
		if in.Template != nil && in.Template.Known != nil {
			for _, names := range in.Template.Known.Names() {
				want += names.Len()
			}
		}
		if in.Hashed() {
			t.Errorf("%s: hashed before a release", name)
		}
		got, err := in.Release("salt")
		if err != nil || got != want || in.Hashed() != (want > 0) || in.Salt != "salt" {
			t.Errorf("%s: %d names, want %d: %v", name, got, want, err)
		}
		f := &safetensors.File{}
		if err := in.Save(f); err != nil {
			t.Fatal(err)
		}
		longest := 0
		if in.Template != nil {
			longest = in.Template.Longest
		}
		again, _, err := Load(f, Loading{Longest: longest})
		if err != nil || again.Salt != "salt" {
			t.Fatal(err)
		}
		d := tagsOf(t, 1)
		if err := again.Apply(d, 1); err != nil || !reflect.DeepEqual(made(d), before) {
			t.Errorf("%s: a released model makes other inputs: %v", name, err)
		}
	}
}

// The columns of text are listed with those that a model reads.
func TestColumns(t *testing.T) {
	for name, want := range map[string]string{"attributes": "[{word true} {pos true}]",
		"words": "[{word true} {pos true}]", "segments": "[{word true} {pos false}]"} {
		c := textConfig(ofText(t)[name])
		c.Columns = "word=0,pos=1,label=-1"
		in, err := Fit(&c, Alone(tagsOf(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := in.Columns(&c, 3); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"arcs":  "[{word true} {lemma false} {upos true} {xpos true} {feats false}]",
		"spans": "[{word true} {lemma false} {upos true} {xpos false} {feats false}]",
	} {
		of, c := own[name], config.Default()
		of.set(&c)
		c.Format = "conllu"
		c.Net, c.Features = "biaffine", "none"
		in, err := of.fit(&c, Alone(of.draw(t, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := in.Columns(&c, 0); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, want)
		}
		c.Net, c.Features = "linear", "auto"
		if in, err = of.fit(&c, Alone(of.draw(t, 1))); err != nil {
			t.Fatal(err)
		}
		got, err := in.Columns(&c, 0)
		if err != nil || len(got) != len(inputColumns) {
			t.Fatal(got, err)
		}
		for k, column := range got {
			if reads := ArcsOf(in.Own).Template.ReadsColumn(column.Name); column.Read != reads ||
				column.Name != inputColumns[k] {
				t.Errorf("%s: column %+v, is read: %v", name, column, reads)
			}
		}
	}
	if got, err := (Inputs{}).Columns(&config.Config{DataSettings: config.DataSettings{Format: "npz"}}, 0); err != nil ||
		got != nil {
		t.Errorf("numbers have columns %v, %v", got, err)
	}
}

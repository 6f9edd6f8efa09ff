package features

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

func readClusters(t testing.TB, text string) *Clusters {
	t.Helper()
	c, err := ReadClusters(strings.NewReader(text), "paths")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readGazetteer(t testing.TB, text string) *Gazetteer {
	t.Helper()
	g := NewGazetteer()
	if err := g.Read(strings.NewReader(text), "places.txt", "places"); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestClusterColumn(t *testing.T) {
	template := parse(t, "Uc2=%first2[0,cluster?]\nUc=%x[0,cluster?]\nUn=%first4[-1..1,cluster?]\nUw=%x[0,word]")
	d := conll(t, "word=0,label=1", "Paris O\nis O\nX O\n")
	plainTemplate := parse(t, template.String())
	fit(t, plainTemplate, d, templates.Options{})
	if got := plainTemplate.String(); got != "Uw=%x[0,word]\n" {
		t.Errorf("without clusters: %q", got)
	}
	template.Clusters = readClusters(t, "0110\tparis\t12\n\n1\tis\n0111\tParis\t3\n")
	fit(t, template, d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node), []string{
		"Uc2=01 Uc=0111 Un=0111 Un=1 Uw=Paris", "Uc2=1 Uc=1 Un=0111 Un=1 Uw=is", "Uc= Un=1 Uw=X",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c := template.Clusters; c.Len() != 3 || c.Path("PARIS") != "0110" || c.Path("y") != "" {
		t.Errorf("%d words, PARIS %q", c.Len(), c.Path("PARIS"))
	}
}

func TestClusterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "f: no clusters, expected lines",
		"01 the 3\n":          "f:1: 1 columns, expected a path of bits, a word and its count, separated by tabs",
		"01\ta\t3\t4\n":       "f:1: 4 columns",
		"01\ta\t3\n012\tb\n":  `f:2: path "012", expected bits such as 0110`,
		"01\ta\n\n\tb\t1\n":   `f:3: path ""`,
		"01\t\t4\n":           "f:1: no word after the path 01",
		"01\ta\tmany\n":       `f:1: count "many", expected a number`,
		"01\ta\n1\tb\n0\ta\n": `f:3: the word "a" again; its path was 01`,
	} {
		if _, err := ReadClusters(strings.NewReader(text), "f"); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestGazetteerColumn(t *testing.T) {
	template := parse(t, "Ug=%each[0,gazetteer?]\nUx=%x[-1,gazetteer?]")
	template.Gazetteer = readGazetteer(t, "New York\tplace\nnew york times\torg\nTimes\tplace\nYork  \tplace\n\nBerlin\n")
	d := conll(t, "word=0,label=1", "the O\nNEW O\nYork O\nTimes O\nnew O\n\nBerlin O\nYork O\n")
	fit(t, template, d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node), []string{
		"Ux=_B-1", "Ug=B-place Ug=B-org Ux=", "Ug=I-place Ug=I-org Ux=B-place|B-org", "Ug=I-org Ug=B-place Ux=I-place|I-org",
		"Ux=I-org|B-place", "Ug=B-places Ux=_B-1", "Ug=B-place Ux=B-places",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGazetteerErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "f: no names, expected one per line, with its type after a tab",
		"\n\n":            "f: no names",
		"a\tx|y\n":        `f:1: type "x|y", expected a name without tabs and |`,
		"a\n\tperson\n":   `f:2: no name before the type "person"`,
		"a\tb\n  \tb\n":   `f:2: no name before the type "b"`,
		"a\nb\tc\td\ne\n": `f:2: type "c\td"`,
	} {
		if err := NewGazetteer().Read(strings.NewReader(text), "f", "names"); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// A list that no line reads, or whose column the data has, is refused.
func TestListsWithoutEffect(t *testing.T) {
	for _, test := range []struct{ template, columns, text, want string }{
		{"U%x[0,word]", "word=0,label=1", "a O\n", "the file of clusters has no effect: no line of x.template reads the " +
			"column cluster, as U%x[0,cluster] does"},
		{"U%x[0,cluster]", "word=0,cluster=1,label=2", "a b O\n", "the file of clusters makes a column cluster, but " +
			"a.conll has one; give that another name among the columns"},
		{"U%x[0,cluster]", "form=0,label=1", "a O\n", "the file of clusters looks up the words of the column word, but " +
			"a.conll has form label"},
	} {
		template := parse(t, test.template)
		template.Clusters = readClusters(t, "01\ta\n")
		if err := template.Fit(conll(t, test.columns, test.text), templates.Options{}); !structured.IsBadInput(err) ||
			err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	err := parse(t, "U%x[0,gazetteer]").Fit(conll(t, "word=0,label=1", "a O\n"), templates.Options{})
	if want := "x.template:1:7: column gazetteer, but a.conll has columns 0 word besides the " +
		"label; --gazetteer makes it"; !structured.IsBadInput(err) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The tags of the gazetteer agree with a search of every name at every word, type by type.
func TestGazetteerAgreesWithSearch(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "B", "c"})
	names := rapid.SliceOfN(rapid.SliceOfN(word, 1, 3), 1, 6)
	rapid.Check(t, func(t *rapid.T) {
		g, known := NewGazetteer(), map[string][][]string{}
		for _, kind := range []string{"x", "y"} {
			known[kind] = names.Draw(t, kind)
			for _, name := range known[kind] {
				if err := g.add(kind, strings.Join(name, " ")); err != nil {
					t.Fatal(err)
				}
			}
		}
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "b", "C", "d"}), 0, 9).Draw(t, "text")
		want := make([]map[string]string, len(text))
		for i := range want {
			want[i] = map[string]string{}
		}
		for kind, list := range known {
			for i := 0; i < len(text); {
				longest := 0
				for _, name := range list {
					if n := len(name); i+n <= len(text) && strings.EqualFold(strings.Join(name, " "), strings.Join(text[i:i+n], " ")) {
						longest = max(longest, n)
					}
				}
				for k := range longest {
					want[i+k][kind] = "I-" + kind
				}
				if longest > 0 {
					want[i][kind] = "B-" + kind
				}
				i += max(1, longest)
			}
		}
		unpacked, err := UnpackGazetteer(string(g.Pack()))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*Gazetteer{g, unpacked} {
			for i, cell := range g.cells(text) {
				got := map[string]string{}
				each(cell, 0, func(tag string) { got[tag[2:]] = tag })
				if !reflect.DeepEqual(got, want[i]) {
					t.Fatalf("word %d of %q: %q, want %v", i, text, cell, want[i])
				}
			}
		}
		if g.Len() != unpacked.Len() {
			t.Fatalf("%d names, unpacked %d", g.Len(), unpacked.Len())
		}
	})
}

func TestClustersPack(t *testing.T) {
	c := readClusters(t, "01\tb\n1\ta\n01\té d\n")
	packed := string(c.Pack())
	if want := "01\tb\té d\n1\ta\n"; packed != want {
		t.Errorf("%q, want %q", packed, want)
	}
	again, err := UnpackClusters(packed)
	if err != nil || again.Len() != 3 || again.Path("b") != "01" || again.Path("é d") != "01" || again.Path("a") != "1" {
		t.Errorf("%v, %v", again, err)
	}
	for _, broken := range []string{"2\ta\n", "1\ta\n0\ta\n", "\ta\n"} {
		if _, err := UnpackClusters(broken); err == nil {
			t.Errorf("%q is accepted", broken)
		}
	}
}

func FuzzReadClusters(f *testing.F) {
	f.Add("0110\tparis\t12\n1\tis\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadClusters(strings.NewReader(text), "fuzz")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := UnpackClusters(string(c.Pack()))
		if err != nil || string(again.Pack()) != string(c.Pack()) || again.Len() != c.Len() {
			t.Fatalf("%q: %v", c.Pack(), err)
		}
	})
}

func FuzzGazetteer(f *testing.F) {
	f.Add("New York\tplace\nBerlin\n", "in new york")
	f.Fuzz(func(t *testing.T, names, text string) {
		g := NewGazetteer()
		if err := g.Read(strings.NewReader(names), "fuzz", "name"); err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := UnpackGazetteer(string(g.Pack()))
		if err != nil || again.Len() != g.Len() {
			t.Fatalf("%q: %v", g.Pack(), err)
		}
		g.cells(strings.Fields(text))
	})
}

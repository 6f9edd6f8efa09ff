package requests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
)

// readers are one of every kind.
func readers() map[string]Reader {
	limits := Limits{Positions: 50, Square: 20, Pixels: 1 << 12}
	dictionary := &structured.Dictionary{Node: structured.NewAlphabet("w=a", "b")}
	return map[string]Reader{
		"words":              &words{columns: []inputs.Column{{Name: "word", Read: true}, {Name: ""}, {Name: "pos"}}, limits: limits, split: tokens.Unicode{}},
		"words and features": &words{columns: []inputs.Column{{Name: "word", Read: true}}, dim: 2, limits: limits, split: tokens.Unicode{}},
		"dense":              &dense{dim: 2, limits: limits},
		"attributes":         &attributes{dictionary: dictionary, limits: limits},
		"sentences":          &sentences{columns: []inputs.Column{{Name: "word", Read: true}}, names: structured.NewAlphabet("root"), limits: limits, split: tokens.Unicode{}},
		"pairs":              &pairs{limits: limits, links: alignments.Matchings},
		"pair arrays":        &pairArrays{dim: 2, limits: limits, links: alignments.Paths},
		"constituents":       &sentences{columns: []inputs.Column{{Name: "word", Read: true}}, names: structured.NewAlphabet("NP"), limits: limits, split: tokens.Unicode{}, constituents: true},
		"graphs":             &graphReader{names: structured.NewAlphabet("x", "y"), dim: 2, edges: inputs.Edges{Dim: 1, Types: 2}, limits: limits},
		"regions":            &regions{segmentation.Reader{Division: segmentation.DefaultDivision(), All: true, Threads: 1}, limits},
	}
}

func smallImage(t testing.TB) string {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 9, 7))); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(map[string]string{"image": base64.StdEncoding.EncodeToString(file.Bytes())})
	return string(text)
}

var goodObjects = map[string]string{
	"words":              `{"id": "x", "columns": {"word": ["a", "New York"], "1": ["b", "c"]}, "pos": ["N", "N"], "labels": ["x", "?"]}`,
	"words and features": `{"text": "Hello, world", "features": [[1, 2], [3, 4], [5, 6e2]]}`,
	"dense":              `{"features": [[1, 2], [3, 4]], "labels": ["a", 1]}`,
	"attributes":         `{"attributes": [["w=a:0.5", "b"], [], ["c\\:d"]], "labels": ["a|b", null, "?"]}`,
	"sentences":          `{"words": ["a", "b c"], "pos": ["N", "V"], "columns": {"lemma": ["a", "b"]}, "heads": [2, "0|1"], "relations": [null, "root"]}`,
	"constituents":       `{"tree": "(_ (NP (D a) (N b)) (V c))"}`,
	"pairs":              `{"source": ["a", "b"], "target": ["c"], "links": [[1, 0]]}`,
	"pair arrays":        `{"pair_features": [[[1, 2]], [[3, 4]]], "links": [[1, 0]]}`,
	"graphs":             `{"node_features": [[1, 2], [3, 4]], "edges": [[1, 0]], "edge_features": [[1]], "edge_types": [1], "labels": ["y", "x|y"]}`,
}

// Every kind of reader makes a data set of what it accepts, also of several examples at once, some with names.
func TestReaders(t *testing.T) {
	good := map[string]string{"regions": smallImage(t)}
	for kind, text := range goodObjects {
		good[kind] = text
	}
	for kind, r := range readers() {
		o, err := Parse([]byte(good[kind]), r)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		e, err := r.Example(o)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		nameless := e
		nameless.ID = ""
		e.ID = "first"
		d, err := r.Dataset([]Example{e, nameless})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if kind == "words" && !slices.Equal(d.Column("label"), []string{"x", "?", "x", "?"}) {
			t.Errorf("labels %v", d.Column("label"))
		}
		if d.Len() != 2 || d.IDs[0] != "first" || d.IDs[1] != "" || kind != "regions" && d.Length(1) != e.Size || len(r.Inputs()) == 0 || r.Sample() == "" {
			t.Errorf("%s: %d examples %q, %v", kind, d.Len(), d.IDs, d.Offsets)
		}
	}
}

// Words of examples with text have their places in it, and others none.
func TestPlacesOfWords(t *testing.T) {
	all := readers()
	for _, kind := range []string{"words", "sentences", "constituents"} {
		r := all[kind]
		if w, ok := r.(*words); ok {
			w.columns = w.columns[:1]
		}
		example := func(text string) Example {
			o, err := Parse([]byte(text), r)
			if err != nil {
				t.Fatal(err)
			}
			e, err := r.Example(o)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		text, plain := example(`{"text": "é is  it"}`), example(`{"words": ["a", "b"]}`)
		both, err := r.Dataset([]Example{plain, text})
		if err != nil {
			t.Fatal(err)
		}
		if want := [][2]int64{{-1, -1}, {-1, -1}, {0, 1}, {2, 4}, {6, 8}}; !slices.Equal(both.Ranges, want) || !slices.Equal(both.Offsets, []int{0, 2, 5}) {
			t.Errorf("%s: %v, expected %v", kind, both.Ranges, want)
		}
		if alone, err := r.Dataset([]Example{plain}); err != nil || alone.Ranges != nil {
			t.Errorf("%s: without text: %v, %v", kind, alone.Ranges, err)
		}
	}
}

// Requests that messages show are answered, but for numbers and pictures that they leave out: they have what the model
// reads.
func TestSamples(t *testing.T) {
	all := readers()
	all["sentences with tags"] = &sentences{
		columns: []inputs.Column{{Name: "word", Read: true}, {Name: "upos", Read: true}}, names: structured.NewAlphabet("root"), split: tokens.Unicode{}, limits: Limits{Positions: 9, Square: 9},
	}
	for kind, r := range all {
		sample := r.Sample()
		if strings.Contains(sample, "…") {
			continue
		}
		o, err := Parse([]byte(sample), r)
		if err == nil {
			_, err = r.Example(o)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", kind, sample, err)
		}
	}
	if plain := all["sentences"].Sample(); strings.Contains(plain, "pos") {
		t.Errorf("a model that reads words alone is asked %s", plain)
	}
}

// What is wrong is named.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"words", `{"words": ["a"], "wrds": 1}`, `no member is called "wrds"; members are id, words, pos,`},
		{"words", `{"words": "a"}`, "words has a string, expected a list of texts"},
		{"words", `{"words": [1]}`, "words has a number, expected text"},
		{"words", `{"words": ["a"], "labels": "x"}`, "labels has a string, expected a list of texts, numbers or null"},
		{"words", `{"words": {"a": 1}}`, "words has an object, expected a list of texts"},
		{"words", `{"words": []}`, "column word is empty"},
		{"words", `{"words": ["a", ""]}`, "cell 1 is empty"},
		{"words", `{"words": ["a"], "columns": {"word": ["b"]}}`, "given twice"},
		{"words", `{"words": ["a"], "columns": {"0": ["b"]}}`, "given twice"},
		{"words", `{"words": ["a"], "columns": {"x": ["b"]}}`, "column x is not one of the model's; expected word, 1, pos"},
		{"words", `{"pos": ["a"]}`, "no column word (found pos)"},
		{"words", `{"words": ["a", "b"], "pos": ["a"]}`, "length 2, expected 1"},
		{"words", `{"words": ["a"]`, "cut off"},
		{"words", `{"words": ["a"]} {}`, "more text after the object"},
		{"words", `["a"]`, "expected a JSON object"},
		{"words", "{\"words\": [\"\xff\"]}", "not UTF-8"},
		{"words", `{"words": ["a"], "features": [[1]]}`, "found features, which this model does not read"},
		{"words", `{"words": ["` + strings.Repeat(`a", "`, 50) + `a"]}`, "51 words, expected at most 50"},
		{"words and features", `{"text": ""}`, "no features (found text)"},
		{"words and features", `{"words": ["a"], "features": []}`, "features has 0 rows, expected 1"},
		{"words and features", `{"words": ["a"], "features": [[1]]}`, "features[0] has 1 features per position, expected 2"},
		{"dense", `{"features": [[1, 1e39]]}`, "number 1e39"},
		{"dense", `{"features": [1, 2]}`, "features has a number, expected a list of numbers"},
		{"dense", `{}`, "no features (found nothing)"},
		{"attributes", `{"attributes": [["a\tb"]]}`, "has a tab"},
		{"attributes", `{"attributes": [["a:x"]]}`, "x"},
		{"sentences", `{"words": ["a\n"], "pos": ["N"]}`, "end of a line"},
		{"sentences", `{"words": ["a"], "pos": ["N"], "columns": {"upos": ["N"]}}`, "two names of one column"},
		{"sentences", `{"words": ["a"], "columns": {"head": ["0"]}}`, "column head is not one"},
		{"pairs", `{"source": [], "target": ["a"]}`, "source is empty; expected an object"},
		{"dense", `{"features": []}`, "features is empty"},
		{"dense", `{"features": [[1, 2]], "labels": ["a", "b"]}`, "labels has length 2, expected 1, one for each position"},
		{"dense", `{"features": [[1, 2]], "heads": [0]}`, "found heads, which this model does not read"},
		{"attributes", `{"attributes": [["a"]], "labels": []}`, "labels has length 0, expected 1"},
		{"attributes", `{"attributes": [["a"]], "labels": [[1]]}`, "found [[1]] in place of a label"},
		{"sentences", `{"words": ["a"], "pos": ["N"], "heads": [0, 1]}`, "heads has length 2, expected 1"},
		{"sentences", `{"words": ["a"], "pos": ["N"], "relations": ["a\tb"]}`, "relations[0] has a tab"},
		{"sentences", `{"tree": "(X (N a))"}`, "found tree, which says nothing of this model's trees"},
		{"constituents", `{"words": ["a"], "heads": [0]}`, "found heads, which says nothing of this model's trees"},
		{"constituents", `{"words": ["a"], "tree": "(X (N a))"}`, "found words"},
		{"constituents", `{"tree": "(X (N a)"}`, "the file ends inside of a tree"},
		{"constituents", `{"tree": "(X (N a)) (X (N b))"}`, "several trees"},
		{"constituents", `{"tree": " "}`, "tree is empty"},
		{"graphs", `{"node_features": [[1, 2]], "labels": ["x", "y"]}`, "labels has length 2, expected 1, one for each variable"},
		{"words", `{"words": ["a", "b"], "labels": ["x"]}`, "labels has length 1, expected 2"},
		{"words", `{"words": ["a"], "labels": [""]}`, "labels[0] is empty"},
		{"pairs", `{"source": ["a"], "target": ["b"], "links": [[0, 1]]}`, "links[0] is [0 1], expected a source word from 0 to 0 and a target word from 0 to 0"},
		{"pairs", `{"source": ["a"], "target": ["b"], "links": [[0]]}`, "links[0] is [0]"},
		{"graphs", `{"node_features": []}`, "node_features is empty"},
		{"pairs", `{"source": ["a"]}`, "no target words (found source)"},
		{"pairs", `{"source": ["a"], "target": [""]}`, "target[0] is empty"},
		{"pair arrays", `{"pair_features": [[[1, 2]], [[3, 4], [5, 6]]]}`, "pair_features[1] has 2 target items, expected 1"},
		{"graphs", `{"node_features": [[1, 2]], "edges": [[0, 1]]}`, "joins variables 0 and 1, expected 0 to 0"},
		{"graphs", `{"node_features": [[1, 2], [1, 2]], "edges": [[0, 0]]}`, "with itself"},
		{"graphs", `{"node_features": [[1, 2], [1, 2]], "edges": [[0, 1], [1, 0]]}`, "both join"},
		{"graphs", `{"node_features": [[1, 2], [1, 2]], "edges": [[0, 1]]}`, "edge_features has 0 rows, expected 1"},
		{"graphs", `{"node_features": [[1, 2], [1, 2]], "edges": [[0, 1]], "edge_features": [[1]], "edge_types": [2]}`, "edge_types[0] is 2, expected 0 to 1"},
		{"regions", `{"image": "!"}`, "base64"},
		{"regions", `{"image": "AAAA"}`, "expected a PNG or JPEG image"},
	} {
		r := readers()[c.kind]
		o, err := Parse([]byte(c.text), r)
		if err == nil {
			_, err = r.Example(o)
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.60s: %v, expected %q", c.kind, c.text, err, c.want)
		}
	}
}

// A message about an unknown member lists those that the model reads, and no others.
func TestUnknownMemberListsMembers(t *testing.T) {
	for kind, r := range readers() {
		_, err := Parse([]byte(`{"nonsense": 1}`), r)
		want := `no member is called "nonsense"; members are id, ` + strings.Join(r.Members(), ", ")
		if !structured.IsBadInput(err) || err.Error() != want {
			t.Errorf("%s: %v, expected %s", kind, err, want)
		}
		for _, name := range r.Members() {
			if _, err := Parse([]byte(`{"`+name+`": null}`), r); err != nil {
				t.Errorf("%s: member %s: %v", kind, name, err)
			}
		}
	}
	if _, err := Parse([]byte(`{"wrds": 1}`), readers()["words"]); strings.Contains(err.Error(), "image") || strings.Contains(err.Error(), "source") {
		t.Errorf("members of other models: %v", err)
	}
}

// Whatever a line holds, it is refused as bad input, or becomes an example.
func FuzzExample(f *testing.F) {
	for _, text := range goodObjects {
		f.Add([]byte(text))
	}
	f.Add([]byte(smallImage(f)))
	all := readers()
	f.Fuzz(func(t *testing.T, line []byte) {
		o, err := Parse(line, all["words"])
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		for kind, r := range all {
			e, err := r.Example(o)
			var d *structured.Dataset
			if err == nil {
				d, err = r.Dataset([]Example{e, e})
			}
			if err != nil && !structured.IsBadInput(err) {
				t.Fatalf("%s: %v", kind, err)
			}
			if err == nil && (d.Len() != 2 || d.Length(0) < 1) {
				t.Fatalf("%s: %d examples", kind, d.Len())
			}
		}
	})
}

package models

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// denseFile writes an npz file with features of so many tokens, dim each, and the given further arrays.
func denseFile(t *testing.T, tokens, dim int, more func(n arrays.NPZWriter) error) string {
	t.Helper()
	features := make([]float32, tokens*dim)
	for i := range features {
		features[i] = float32(i)
	}
	path := filepath.Join(t.TempDir(), "dense.npz")
	err := host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			err := arrays.Add(n, "features", features, tokens, dim)
			if err == nil && more != nil {
				err = more(n)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A net reads words and the dense features of a second file, in training and after.
func TestDenseBesideWords(t *testing.T) {
	c := tagConfig(file(t, "train.conll", trainConll))
	c.Dev = file(t, "dev.conll", devConll)
	dev := denseFile(t, 2, 3, nil)
	c.Dense = denseFile(t, 5, 3, func(n arrays.NPZWriter) error { return arrays.Add(n, "lengths", []int64{3, 2}, 2) }) + "," + dev
	m, d := attributeModel(t, c)
	if d.Train.Dim != 3 || len(d.Train.Features) != 15 || len(d.Dev.Features) != 6 || m.Dim != 3 {
		t.Errorf("%d features per token, model %d", d.Train.Dim, m.Dim)
	}
	path := filepath.Join(t.TempDir(), ModelFile)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := got.ReadData(Request{Path: c.Dev, Beside: Beside{Dense: dev}})
	if err != nil || !slices.Equal(read.Features, d.Dev.Features) || !slices.Equal(read.Ids, d.Dev.Ids) {
		t.Errorf("%v, %v", read, err)
	}
	arrives := func(r Request) bool {
		s, err := m.source(r)
		return err == nil && m.arrives(s, predictions.Options{})
	}
	if arrives(Request{Beside: Beside{Dense: dev}}) || !arrives(Request{}) {
		t.Error("text with dense features beside it is not read piece by piece")
	}
	for want, o := range map[string]Request{
		"reads 3 dense features of each token beside its words; give them with --dense FILE": {},
		"has 4 features per position, expected 3":                                            {Beside: Beside{Dense: denseFile(t, 2, 4, nil)}},
		"features has 3 rows, expected 2, one per token of the text":                         {Beside: Beside{Dense: denseFile(t, 3, 3, nil)}},
		"no-such-file": {Beside: Beside{Dense: "no-such-file"}},
		"lengths[0] is 1, expected 2 tokens as in the text":  {Beside: Beside{Dense: denseFile(t, 2, 3, func(n arrays.NPZWriter) error { return arrays.Add(n, "lengths", []int64{1}, 1) })}},
		"lengths has 2 entries, expected 1, one per":         {Beside: Beside{Dense: denseFile(t, 2, 3, func(n arrays.NPZWriter) error { return arrays.Add(n, "lengths", []int64{1, 1}, 2) })}},
		"read beside text in columns; this data is crfsuite": {Format: "crfsuite", Beside: Beside{Dense: dev}},
	} {
		o.Path = c.Dev
		if _, err := got.ReadData(o); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

// A linear net reads attributes and dense features, in training and after, and starts from a model without the
// features.
func TestDenseBesideAttributes(t *testing.T) {
	c := tagConfig(file(t, "train.conll", trainConll))
	c.Net, c.Dev = "linear", file(t, "dev.conll", devConll)
	bare, _ := attributeModel(t, c)
	begin := filepath.Join(t.TempDir(), ModelFile)
	if err := bare.Save(begin); err != nil {
		t.Fatal(err)
	}
	dev := denseFile(t, 2, 3, nil)
	c.Dense = denseFile(t, 5, 3, nil) + "," + dev
	m, d := attributeModel(t, c)
	if m.Dim != 3 || m.Net.Dim() != bare.Net.Dim()+3*3+3 || m.Net.Name() != "linear" || len(nets.DenseBlocks(m.Net)) != 1 {
		t.Errorf("%d features per token, %d weights, without features %d", m.Dim, m.Net.Dim(), bare.Net.Dim())
	}
	for _, l1 := range []float64{0, 1} {
		m.Config.L1 = l1
		path := filepath.Join(t.TempDir(), ModelFile)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		read, err := got.ReadData(Request{Path: c.Dev, Beside: Beside{Dense: dev}})
		if err != nil || !slices.Equal(read.Features, d.Dev.Features) {
			t.Fatalf("%v, %v", read, err)
		}
		was, err := m.Potentials(t.Context(), d.Dev, 1)
		if err != nil {
			t.Fatal(err)
		}
		is, err := got.Potentials(t.Context(), read, 1)
		if err != nil || !slices.Equal(was.Parts[0].Values, is.Parts[0].Values) {
			t.Errorf("other potentials from the file: %v", err)
		}
		if _, err := got.ReadData(Request{Path: c.Dev}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "reads 3 dense features of each token beside its attributes; give them with --dense FILE") {
			t.Error(err)
		}
	}
	c.Features = "none"
	alone, rows := attributeModel(t, c)
	if alone.Dictionary != nil || alone.Vocab != nil || alone.Net.Name() != "linear" || alone.Dim != 3 || rows.Dev.Dim != 3 {
		t.Errorf("features alone: %d dense features, %d words", alone.Dim, len(alone.Vocab))
	}
	c.Features = "auto"
	c.Init = begin
	data, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	m, err = NewModel(c, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range m.Net.Layout() {
		if b, ok := bare.Net.Layout().Find(a.Name); ok && !slices.Equal(a.Of(m.W), b.Of(bare.W)) {
			t.Errorf("%s does not start where the model of --init ended", a.Name)
		} else if !ok && slices.ContainsFunc(a.Of(m.W), func(x float32) bool { return x != 0 }) {
			t.Errorf("%s does not start at zero", a.Name)
		}
	}
}

// Vectors of words are dense features of net linear, for words as they are written or in lower case, in training and
// after.
func TestVectorsBesideAttributes(t *testing.T) {
	c := tagConfig(file(t, "train.conll", trainConll))
	c.Net, c.Dev = "linear", file(t, "dev.conll", devConll)
	c.Vectors = file(t, "vectors.txt", "the 1 2\nunused 3 4\ncat 5 6\ndog 7 8\n")
	m, d := attributeModel(t, c)
	if m.Dim != 2 || m.Given(m.Dim) != 0 || d.Vectors.Kept != 3 || d.Vectors.Tokens != 7 || d.Vectors.Found != 5 {
		t.Errorf("%d dense features, %+v", m.Dim, d.Vectors)
	}
	rows := make([]float32, 10)
	if err := d.Train.Source.Read(rows, 0, 5); err != nil || !slices.Equal(rows, []float32{1, 2, 0, 0, 7, 8, 0, 0, 7, 8}) {
		t.Errorf("vectors %v, %v", rows, err)
	}
	path := filepath.Join(t.TempDir(), ModelFile)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := got.ReadData(Request{Path: c.Dev})
	if err != nil {
		t.Fatal(err)
	}
	was, err := m.Potentials(t.Context(), d.Dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	is, err := got.Potentials(t.Context(), read, 1)
	if err != nil || !slices.Equal(was.Parts[0].Values, is.Parts[0].Values) {
		t.Errorf("other potentials from the file: %v", err)
	}
	other, err := got.ReadData(Request{Path: file(t, "upper.conll", "THE DT O\nCat NN B-X\n")})
	if err != nil || other.Source.Read(rows[:4], 0, 2) != nil || !slices.Equal(rows[:4], []float32{1, 2, 5, 6}) {
		t.Errorf("vectors %v, %v", rows, err)
	}
	if all, err := got.Columns(&got.Config, got.Width); err != nil || !all[0].Read {
		t.Errorf("columns %v, %v: the words are read", all, err)
	}
	if _, err := got.ReadData(Request{Path: c.Dev, Beside: Beside{Dense: denseFile(t, 2, 2, nil)}}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "are vectors of words, which it has") {
		t.Error(err)
	}
	c.Init, c.Vectors = path, ""
	data, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := NewModel(c, data); err != nil || next.Net.Dim() != m.Net.Dim() || !slices.Equal(next.W, m.W) {
		t.Errorf("a model does not continue: %v", err)
	}
	c.Init, c.Vectors, c.Dense = "", file(t, "v.txt", "the 1 2\n"), denseFile(t, 5, 3, nil)+","+denseFile(t, 2, 3, nil)
	if _, err := ReadData(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "net linear reads one or the other") {
		t.Error(err)
	}
}

func TestDenseFilesOfAllData(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"no file for --dev":    func(c *config.Config) { c.Dense = denseFile(t, 5, 3, nil) },
		"is one file too many": func(c *config.Config) { c.Dev, c.Dense = "", "a.npz,b.npz" },
		"has no effect with --forma": func(c *config.Config) {
			c.Train, c.Columns, c.Dense = file(t, "x.crfsuite", "O\ta=b\n"), "", "a.npz,b.npz"
		},
	} {
		c := tagConfig(file(t, "train.conll", trainConll))
		c.Dev = file(t, "dev.conll", devConll)
		change(&c)
		if _, err := ReadData(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

// One npz file may hold the words as well.
func TestWordsInNPZ(t *testing.T) {
	write := func(words ...string) string {
		return denseFile(t, len(words), 2, func(n arrays.NPZWriter) error {
			return cmp.Or(arrays.Add(n, "lengths", []int64{1, int64(len(words) - 1)}, 2),
				arrays.Add(n, "labels", make([]int32, len(words)), len(words)), n.AddText("words", words))
		})
	}
	c := config.Default()
	c.Task, c.Train, c.MinCount = "tag", write("The", "dog", "dog"), 1
	c.Dev = write("a", "Dog")
	m, d := attributeModel(t, c)
	if m.Config.Net != "embed" || m.Dim != 2 || len(m.Vocab) != 4 || m.Vocab[0].Index("dog") < 0 {
		t.Fatalf("net %s, %d features, %d vocabularies", m.Config.Net, m.Dim, len(m.Vocab))
	}
	saved := filepath.Join(t.TempDir(), "model.safetensors")
	if err := m.Save(saved); err != nil {
		t.Fatal(err)
	}
	if again, err := Load(saved); err != nil || len(again.Vocab) != 4 {
		t.Errorf("read again: %v", err)
	}
	if d.Dev.Ids[4] != m.Vocab[0].Index("dog") || d.Dev.Ids[0] != 0 {
		t.Errorf("numbers of words %v", d.Dev.Ids)
	}
	c.Net, c.MinCount = "mlp", 0
	if m, _ := attributeModel(t, c); len(m.Vocab) != 0 || m.Config.Net != "mlp" {
		t.Error("mlp reads dense features alone")
	}
	path := denseFile(t, 2, 2, func(n arrays.NPZWriter) error { return arrays.Add(n, "lengths", []int64{2}, 1) })
	if _, err := m.ReadData(Request{Path: path}); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "word") {
		t.Errorf("without words: %v", err)
	}
}

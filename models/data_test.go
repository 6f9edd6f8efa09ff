package models

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// file writes a temporary file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	trainConll = "the DT O\nbig JJ B-X\ndog NN I-X\n\na DT O\ndog NN B-X\n"
	devConll   = "the DT O\ncat NN B-X\n"
)

func tagConfig(train string) config.Config {
	c := config.Default()
	c.Task, c.Train, c.Columns, c.MinCount = "tag", train, "word=0,pos=1,label=-1", 1
	c.Net = "embed"
	return c
}

func TestReadConll(t *testing.T) {
	c := tagConfig(file(t, "train.conll", trainConll))
	c.Dev = file(t, "dev.txt", devConll)
	d, err := ReadData(&c)
	if err != nil {
		t.Fatal(err)
	}
	if c.Format != "conll" || d.Train.Len() != 2 || d.Dev.Len() != 1 || d.Test != nil || d.Dev.Alphabet != d.Train.Alphabet ||
		len(d.Train.Ids) != len(d.Train.Vocab)*5 || len(d.Dev.Vocab) != len(d.Train.Vocab) || &d.Dev.Vocab[0] != &d.Train.Vocab[0] {
		t.Errorf("%+v", d)
	}
	m, err := NewModel(c, d)
	if err != nil {
		t.Fatal(err)
	}
	if m.Config.Net != "embed" || m.Width != 3 {
		t.Errorf("net %s, %d columns", m.Config.Net, m.Width)
	}
	got, err := m.ReadData(Request{Path: file(t, "new", "a cat\nthe dog\n\n"), Columns: "word=0"})
	if !structured.IsBadInput(err) {
		t.Errorf("other columns than the model's: got %v, %v", got, err)
	}
	got, err = m.ReadData(Request{Path: file(t, "new", "a DT\ncat NN\n\ndog NN\n")})
	if err != nil || got.Labels != nil || got.Len() != 2 || len(got.Columns) != 2 {
		t.Errorf("without labels: got %+v, %v", got, err)
	}
	got, err = m.ReadData(Request{Path: file(t, "new", devConll), Labels: true})
	if err != nil || !slices.Equal(got.Labels, d.Dev.Labels) || !slices.Equal(got.Ids, d.Dev.Ids) {
		t.Errorf("with labels: got %+v, %v", got, err)
	}
	got, err = m.ReadData(Request{Path: file(t, "new", devConll)})
	if err != nil || !slices.Equal(got.Labels, d.Dev.Labels) {
		t.Errorf("labels that nobody needs: got %+v, %v", got, err)
	}
	_, err = m.ReadData(Request{Path: file(t, "new", "the DT B-Y\n"), Labels: true})
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), `"B-Y"`) {
		t.Errorf("an unknown label: got %v", err)
	}
	_, err = m.ReadData(Request{Path: file(t, "new", "the DT\n"), Labels: true})
	if !structured.IsBadInput(err) {
		t.Errorf("labels that are not there: got %v", err)
	}
}

func TestReadBuiltin(t *testing.T) {
	c := config.Default()
	c.Examples = settings.Sizes{7, 3, 4}
	d, err := ReadData(&c)
	if err != nil || c.Format != "builtin" || d.Train.Len() != 7 || d.Dev.Len() != 3 || d.Test.Len() != 4 {
		t.Fatalf("%+v, %v", d, err)
	}
	m, err := NewModel(c, d)
	if err != nil {
		t.Fatal(err)
	}
	if m.Config.Net != "cnn-image" || m.Dim != 128 {
		t.Errorf("net %s on %d features", m.Config.Net, m.Dim)
	}
	again, err := m.ReadData(Request{Path: "builtin", Labels: true})
	if err != nil || !slices.Equal(again.Features, d.Test.Features) {
		t.Errorf("the test words are others: %v", err)
	}
	var letters bytes.Buffer
	if err := ocr.WriteLetters(&letters, d.Test, 2); err != nil {
		t.Fatal(err)
	}
	got, err := m.ReadData(Request{Path: file(t, "letter.data", letters.String()), Labels: true})
	if err != nil || !slices.Equal(got.Labels, d.Test.Labels) || got.Dim != 128 {
		t.Errorf("the words as a file: %v", err)
	}

	c = config.Default()
	c.Train, c.Fold = file(t, "some.data", letters.String()), 2
	if _, err := ReadData(&c); !structured.IsBadInput(err) { // no other folds to train on
		t.Errorf("a training set without words: got %v", err)
	}
	c.Fold = -1
	if d, err := ReadData(&c); err != nil || d.Train.Len() != 4 || d.Test != nil {
		t.Errorf("all folds: %+v, %v", d, err)
	}
}

func TestReadNPZ(t *testing.T) {
	write := func(labels []int32, names ...string) string {
		path := filepath.Join(t.TempDir(), "x.npz")
		err := host.WriteFile(path, func(w io.Writer) error {
			return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
				err := cmp.Or(
					arrays.Add(n, "features", []float32{1, 2, 3, 4, 5, 6}, 3, 2),
					arrays.Add(n, "lengths", []int64{2, 0, 1}, 3))
				if err == nil && labels != nil {
					err = cmp.Or(arrays.Add(n, "labels", labels, len(labels)), n.AddText("label_names", names))
				}
				return err
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := config.Default()
	c.Task, c.Train = "tag", write([]int32{0, 1, 1}, "x", "y")
	c.Dev = write([]int32{0, 0, 1}, "y", "x")
	d, err := ReadData(&c)
	if err != nil || c.Format != "npz" || d.Train.Dim != 2 || !slices.Equal(d.Dev.Labels, []int32{1, 1, 0}) {
		t.Fatalf("%+v, %v", d, err)
	}
	m, err := NewModel(c, d)
	if err != nil || m.Config.Net != "mlp" {
		t.Fatalf("net %s, %v", m.Config.Net, err)
	}
	if got, err := m.ReadData(Request{Path: write(nil)}); err != nil || got.Labels != nil || got.Len() != 3 {
		t.Errorf("without labels: %+v, %v", got, err)
	}
	if got, err := m.ReadData(Request{Path: write([]int32{1, 1, 1}, "x", "y")}); err != nil || len(got.Labels) != 3 {
		t.Errorf("with labels that nobody needs: %+v, %v", got, err)
	}
	if got, err := m.ReadData(Request{Path: write([]int32{1, 1, 1}, "x", "z")}); err != nil || got.Labels != nil {
		t.Errorf("with unknown labels that nobody needs: %+v, %v", got, err)
	}
	if _, err := m.ReadData(Request{Path: write(nil), Labels: true}); !structured.IsBadInput(err) {
		t.Errorf("without the labels needed: got %v", err)
	}
	if _, err := m.ReadData(Request{Path: write([]int32{1, 1, 1}, "x", "z"), Labels: true}); !structured.IsBadInput(err) {
		t.Errorf("with unknown labels: got %v", err)
	}
}

func TestRelabel(t *testing.T) {
	d := toyData(1)
	names := func() (all []string) {
		for _, l := range d.Labels {
			all = append(all, d.Alphabet.Name(l))
		}
		return all
	}
	want := names()
	if err := relabel(d, structured.NewAlphabet("ç", "x", "b", "a")); err != nil || !slices.Equal(names(), want) || d.Alphabet.Len() != 4 {
		t.Errorf("got %v, %v, want %v", names(), err, want)
	}
	known := structured.NewAlphabet("a", "b")
	if err := relabel(d, known); err != nil || !slices.Equal(names(), want) || known.Len() != 2 || d.Alphabet.Index("b") != 1 {
		t.Errorf("labels that are not known: got %v, %v of %v, want %v", err, names(), d.Alphabet.Names(), want)
	}
	if err := relabel(d, structured.NewAlphabet("P", "Q")); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "P, Q") {
		t.Errorf("no label known: got %v", err)
	}
}

func TestReadDataErrors(t *testing.T) {
	conll := file(t, "train.conll", trainConll)
	for want, change := range map[string]func(*config.Config){
		"nowhere.conll":                           func(c *config.Config) { c.Train = "nowhere.conll" },
		"standard input: cannot tell":             func(c *config.Config) { c.Train = "-" },
		"neither text nor npz":                    func(c *config.Config) { c.Train = file(t, "x", "\x7fELF\x00\x00") },
		"no tokens":                               func(c *config.Config) { c.Train = file(t, "x.conll", "") },
		"x.conll:2: 2 columns":                    func(c *config.Config) { c.Train = file(t, "x.conll", "a b O\nc O\n") },
		"--columns":                               func(c *config.Config) { c.Columns = "word" },
		"named word":                              func(c *config.Config) { c.Columns = "token=0,label=-1" },
		`--format "con" is not known`:             func(c *config.Config) { c.Format = "con" },
		"--fold 1 has no effect":                  func(c *config.Config) { c.Fold = 1 },
		"dev.conll:1: training saw neither label": func(c *config.Config) { c.Dev = file(t, "dev.conll", "the DT B-Y\n") },
		"--columns word=0,label=1 has no":         func(c *config.Config) { c.Task, c.Format, c.Columns = "ocr", "letters", "word=0,label=1" },
		"tab-separated": func(c *config.Config) {
			c.Task, c.Format, c.Columns, c.MinCount, c.Net = "ocr", "letters", "", 0, "auto"
		},
		"use --task ocr": func(c *config.Config) { c.Format, c.Columns, c.MinCount = "letters", "", 0 },
		"use --task tag": func(c *config.Config) { c.Task, c.MinCount = "ocr", 0 },
		"--min-count 1 has no effect with --task ocr": func(c *config.Config) { c.Task = "ocr" },
	} {
		c := tagConfig(conll)
		change(&c)
		if _, err := ReadData(&c); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want bad input with %q", err, want)
		}
	}
}

// The error for a truncated file is reported once.
func TestCutGzip(t *testing.T) {
	var whole bytes.Buffer
	z := gzip.NewWriter(&whole)
	for i := range 1000 {
		fmt.Fprintf(z, "word%d A\nx B\n\n", i*i)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c := textConfig(file(t, "cut.conll.gz", whole.String()[:whole.Len()/2]))
	c.Format, c.Columns = "conll", ""
	if _, err := ReadData(&c); !structured.IsBadInput(err) || strings.Count(err.Error(), "in the middle of gzip data") != 1 {
		t.Errorf("got %v", err)
	}
}

// Tags are converted during reading, wherever gold labels come from.
func TestScheme(t *testing.T) {
	iob1 := "a I-X\nb I-X\nc B-X\n\nd O\n"
	c := config.Default()
	c.Train, c.Scheme = file(t, "train.conll", iob1), "bioes"
	c.Dev = c.Train
	m, d := attributeModel(t, c)
	for _, set := range []*structured.Dataset{d.Train, d.Dev} {
		var got []string
		for _, l := range set.Labels {
			got = append(got, set.Alphabet.Name(l))
		}
		if strings.Join(got, " ") != "B-X E-X S-X O" || set.Alphabet != m.Labels {
			t.Errorf("%s: %v", set.Name, got)
		}
	}
	for _, needed := range []bool{false, true} {
		got, err := m.ReadData(Request{Path: c.Train, Labels: needed})
		if err != nil || len(got.Labels) != 4 || m.Labels.Name(got.Labels[1]) != "E-X" {
			t.Errorf("labels needed %v: %v, %v", needed, got.Labels, err)
		}
	}
	if _, err := m.ReadData(Request{Path: file(t, "x.conll", "a I-Y\n"), Labels: true}); !structured.IsBadInput(err) {
		t.Errorf("an unknown type: got %v", err)
	}
	if got, err := m.ReadData(Request{Path: file(t, "x.conll", "a I-Y\nb O\n"), Labels: true}); err != nil || got.Alphabet.Name(got.Labels[0]) != "S-Y" || got.Alphabet.Len() != m.Labels.Len()+1 {
		t.Errorf("an unknown type beside known labels: got %v", err)
	}
	if got, err := m.ReadData(Request{Path: file(t, "x.conll", "a I-Y\n")}); err != nil || got.Labels != nil {
		t.Errorf("an unknown type that nobody needs: got %v, %v", got.Labels, err)
	}
}

// A format may be one of folders: it is recognised, and read by its path, without anything being opened.
func TestFormatOfFolders(t *testing.T) {
	formats.Register(formats.Format{
		Name: "folder", Holds: "a folder of letters", Tasks: []string{"tag"},
		IsFolder: func(path string) bool { _, err := os.Stat(filepath.Join(path, "labels")); return err == nil },
		ReadFolder: func(path string, o formats.Options) (*structured.Dataset, error) {
			content, err := os.ReadFile(filepath.Join(path, "labels"))
			d := &structured.Dataset{Name: path, Offsets: []int{0, len(content)}, Dim: 1, Alphabet: structured.NewAlphabet("a", "b")}
			for _, b := range content {
				d.Labels, d.Features = append(d.Labels, int32(b-'a')), append(d.Features, float32(b))
			}
			return d, err
		},
	})
	if formats.Failed() != nil {
		t.Fatal(formats.Failed())
	}
	path := filepath.Dir(file(t, "labels", "abba"))
	if format, err := formats.Detect(path); format != "folder" || err != nil {
		t.Fatalf("%q, %v", format, err)
	}
	if format, err := formats.Detect(t.TempDir()); format != "" || !structured.IsBadInput(err) {
		t.Fatalf("an empty folder: %q, %v", format, err)
	}
	c := config.Default()
	c.Task, c.Train, c.Format = "tag", path, "folder"
	d, err := (&Resolved{config: c}).Read()
	if err != nil || d.Train.Positions() != 4 || d.Train.Labels[1] != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
}

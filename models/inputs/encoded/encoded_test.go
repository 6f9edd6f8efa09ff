package encoded

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/pieces"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/structured"
)

func open(t *testing.T, s Settings) *Reader {
	t.Helper()
	r, err := Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// data returns sentences of words as a data set.
func data(sentences ...string) *structured.Dataset {
	d := &structured.Dataset{Name: "data", Offsets: []int{0}, ColumnNames: []string{text.WordColumn},
		Columns: [][]string{nil}}
	for _, s := range sentences {
		d.Columns[0] = append(d.Columns[0], strings.Fields(s)...)
		d.Offsets = append(d.Offsets, len(d.Columns[0]))
	}
	return d
}

// rowsOf returns the rows of the words of sentences.
func rowsOf(t *testing.T, r *Reader, o Options, sentences ...string) []float32 {
	t.Helper()
	d := data(sentences...)
	if _, err := r.Apply(d, o); err != nil {
		t.Fatal(err)
	}
	return valuesOf(t, d)
}

func valuesOf(t *testing.T, d *structured.Dataset) []float32 {
	t.Helper()
	all := make([]float32, d.Positions()*d.Dim)
	for i := range d.Len() {
		if err := d.ReadFeatures(all[d.Offsets[i]*d.Dim:d.Offsets[i+1]*d.Dim], i); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, x := range got {
		if !(math.Abs(float64(x-want[i])) <= tolerance) {
			t.Fatalf("%s: number %d is %g, want %g", what, i, x, want[i])
		}
	}
}

// long is a sentence of words of one to seven letters, with one that no window holds.
func long() string {
	var words []string
	for i := range 90 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 1+i*i%7))
	}
	words[40] = strings.Repeat("xyz", 40)
	return strings.Join(words, " ")
}

// The row of a piece of a long sentence is that of one window, which Windows chooses; words take theirs from the
// pieces.
func TestLongSentences(t *testing.T) {
	folder := encodedtest.Folder(t, "bert")
	for _, how := range []string{First, Mean} {
		r := open(t, Settings{Dir: folder, Layers: "last", Pieces: how})
		sentence := long()
		got := rowsOf(t, r, Options{Threads: 2}, "a", sentence, "bc d")
		d := data(sentence)
		w := r.workers.Get().(*worker)
		s, err := w.cut(d.Columns[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		width := r.Width()
		ofPieces := make([]float32, len(s.ids)*width)
		windows := pieces.Windows(s.ends, r.most)
		if len(windows) < 3 {
			t.Fatalf("%d windows", len(windows))
		}
		for _, window := range windows {
			ids := slices.Concat(r.Tokenizer.Prefix, s.ids[window.From:window.To], r.Tokenizer.Suffix)
			rows := make([]float32, len(ids)*width)
			if err := w.encoder.Encode(ids, []int{0, len(ids)}, rows); err != nil {
				t.Fatal(err)
			}
			before := len(r.Tokenizer.Prefix) - window.From
			copy(ofPieces[window.Begin*width:window.End*width], rows[(window.Begin+before)*width:])
		}
		want := rowsOf(t, r, Options{Threads: 1}, "a")
		for k, end := range s.ends {
			begin := s.begin(k)
			row := slices.Clone(ofPieces[begin*width : (begin+1)*width])
			for p := begin + 1; how == Mean && p < end; p++ {
				for j := range row {
					row[j] += ofPieces[p*width+j]
				}
			}
			for j := range row {
				if how == Mean {
					row[j] /= float32(end - begin)
				}
			}
			want = append(want, row...)
		}
		want = append(want, rowsOf(t, r, Options{Threads: 1}, "bc d")...)
		near(t, how, got, want, 1e-5)
	}
}

// Rows are kept in a file by text and encoder, which is found again; one that was damaged is written anew.
func TestRowsAreKept(t *testing.T) {
	folder, kept := encodedtest.Folder(t, "bert"), t.TempDir()
	sentences := []string{"a few words", "", "and more", long()}
	o := Options{Threads: 2, Folder: kept}
	want := rowsOf(t, open(t, Settings{Dir: folder, Layers: "mean2", Pieces: First}), Options{Threads: 1}, sentences...)
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(kept, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r := open(t, Settings{Dir: folder, Layers: "mean2", Pieces: First})
	for round, found := range []bool{false, true, false} {
		if round == 2 {
			if err := os.Truncate(files()[0], 100); err != nil {
				t.Fatal(err)
			}
		}
		d := data(sentences...)
		report, err := r.Apply(d, o)
		if err != nil {
			t.Fatal(err)
		}
		if report.Found != found || report.Words != d.Positions() || !found && report.Long != 1 {
			t.Errorf("round %d: %+v", round, report)
		}
		near(t, "rows in a file", valuesOf(t, d), want, 0)
		if all := files(); len(all) != 1 {
			t.Fatalf("files %v", all)
		}
	}
	for _, s := range []Settings{
		{Layers: "last", Pieces: First}, {Layers: "mean2", Pieces: Mean}, {Layers: "mean2", Pieces: First, Half: true},
		{Layers: "mean2", Pieces: First, Int8: true},
	} {
		s.Dir = folder
		before := len(files())
		got := rowsOf(t, open(t, s), o, sentences...)
		if len(files()) != before+1 {
			t.Errorf("%+v: no file of its own", s)
		}
		if s.Half {
			near(t, "half precision", got, want, 2e-3)
		}
		if s.Int8 {
			near(t, "products of bytes", got, want, 0.3)
			if slices.Equal(got, want) {
				t.Error("products of bytes give the rows of float32")
			}
		}
	}
	before := len(files())
	rowsOf(t, r, o, "a few words", "and more", long()) // the same words, other sentences
	if len(files()) != before+1 {
		t.Error("rows of other sentences are in the same file")
	}
}

// Rows are after other dense inputs.
func TestRowsBesideOthers(t *testing.T) {
	r := open(t, Settings{Dir: encodedtest.Folder(t, "electra"), Layers: "last", Pieces: First, Half: true})
	d := data("a b", "c")
	d.Dim, d.Features = 2, []float32{1, 2, 3, 4, 5, 6}
	if _, err := r.Apply(d, Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	alone, got := rowsOf(t, r, Options{Threads: 1}, "a b", "c"), valuesOf(t, d)
	var want []float32
	for k := range 3 {
		want = append(append(want, float32(2*k+1), float32(2*k+2)), alone[k*r.Width():(k+1)*r.Width()]...)
	}
	near(t, "both", got, want, 0)
	dim := d.Dim
	if _, err := r.Apply(d, Options{Threads: 1}); err != nil || d.Dim != dim {
		t.Errorf("rows were added twice: %d, %v", d.Dim, err)
	}
}

// The two sentences of a pair are read one by one.
func TestRowsOfPairs(t *testing.T) {
	r := open(t, Settings{Dir: encodedtest.Folder(t, "bert"), Layers: "last", Pieces: First})
	d := data("a b c d", "c a", "b")
	d.Tables = []*structured.Table{{Name: structured.Sources, Offsets: []int{0, 1, 2, 3}}}
	cache := Options{Threads: 2, Folder: t.TempDir()}
	rowsOf(t, r, cache, "a b c d", "c a", "b") // whose file has other rows
	if _, err := r.Apply(d, cache); err != nil {
		t.Fatal(err)
	}
	near(t, "pairs", valuesOf(t, d), rowsOf(t, r, Options{Threads: 1}, "a", "b c d", "c", "a", "b"), 0)
}

// The rows of a part of data are found where Keep wrote them, in both precisions, and are those that the encoder gives
// the part.
func TestKeepPart(t *testing.T) {
	for _, half := range []bool{false, true} {
		r := open(t, Settings{Dir: encodedtest.Folder(t, "bert"), Layers: "last", Pieces: Mean, Half: half})
		whole := data("a bc d", "", "efg", "h ij", "k")
		if _, err := r.Apply(whole, Options{}); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(t.TempDir(), "rows")
		file, err := r.Keep(whole, []int{3, 1, 0}, folder)
		if err != nil {
			t.Fatal(err)
		}
		part := data("h ij", "", "a bc d")
		report, err := r.Apply(part, Options{Folder: folder})
		if err != nil || !report.Found || report.File != file {
			t.Errorf("%+v %v, expected %s", report, err, file)
		}
		near(t, "rows of a part", valuesOf(t, part), rowsOf(t, r, Options{}, "h ij", "", "a bc d"), 0)
		if _, err := r.Keep(data("a"), []int{0}, folder); err == nil {
			t.Error("data without rows are kept")
		}
	}
}

// A copy of an encoder's folder, in one file or in shards, has what Open reads and gives the same rows.
func TestCopy(t *testing.T) {
	from, to := encodedtest.Folder(t, "bert"), filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(filepath.Join(from, "README.md"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := open(t, Settings{Dir: from, Layers: "last", Pieces: First}).ID()
	index := map[string]map[string]string{"weight_map": {"x": "shard-1.safetensors"}}
	for _, sharded := range []bool{false, true} {
		if sharded {
			if err := os.Rename(filepath.Join(from, "model.safetensors"),
				filepath.Join(from, "shard-1.safetensors")); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(index)
			if err == nil {
				err = os.WriteFile(filepath.Join(from, "model.safetensors.index.json"), text, 0o666)
			}
			if err == nil {
				err = os.RemoveAll(to)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := Copy(from, to); err != nil {
			t.Fatal(err)
		}
		if got := open(t, Settings{Dir: to, Layers: "last", Pieces: First}).ID(); got != want {
			t.Errorf("sharded %v: %s, expected %s", sharded, got, want)
		}
		if _, err := os.Stat(filepath.Join(to, "README.md")); err == nil {
			t.Error("a file is copied that Open does not read")
		}
	}
}

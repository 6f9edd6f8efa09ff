package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// everything is a data set with an entry in every array.
func everything() *structured.Dataset {
	sparse := func(rows int, valued bool) *structured.Sparse {
		s := &structured.Sparse{Offsets: []int{0}, Index: []int32{}}
		for t := range rows {
			for k := range t % 3 {
				s.Index = append(s.Index, int32((t+k)%4))
				if valued {
					s.Value = append(s.Value, float32(t)+0.5)
				}
			}
			s.Offsets = append(s.Offsets, len(s.Index))
		}
		return s
	}
	vocab := structured.NewAlphabet("<unknown>", "a", "b")
	return &structured.Dataset{
		Name: "x.conll", Offsets: []int{0, 2, 5, 6}, Labels: []int32{0, 1, -1, 1, -2, 0}, LabelSets: [][]int32{nil, {0, 1}},
		Alphabet: structured.NewAlphabet("B", "O"), ColumnNames: []string{"word", "label"},
		Costs: []float32{1, 2, 3, 4}, CostRows: structured.Edges,
		Dim: 2, Features: make([]float32, 12), Ids: []int32{0, 1, 2, 0, 1, 2}, Vocab: []*structured.Alphabet{vocab},
		Characters: &structured.Segments{Offsets: []int{0, 1, 2, 2, 3, 3, 4}, Ids: []int32{0, 1, 2, 1}, Vocab: vocab},
		Attributes: sparse(6, true), EdgeAttributes: sparse(6, false),
		Dictionary: &structured.Dictionary{Node: structured.NewAlphabet("p", "q", "r", "s"),
			Edge: structured.NewAlphabet("p", "q", "r", "s")},
		Tables: []*structured.Table{{Name: structured.Edges, Offsets: []int{0, 1, 4, 4}, Dim: 1,
			Features: []float32{1, 2, 3, 4}}},
		Graphs: []*structured.Graph{
			{Ends: [][2]int32{{0, 1}}, Types: []int32{1}}, {Ends: [][2]int32{{0, 1}, {1, 2}, {2, 0}}, Types: []int32{0, 1, 0}},
			{Types: []int32{}},
		},
		Lines: []int{1, 4, 8}, Weights: []float64{1, 2, 0.5},
	}
}

// encoded returns the pack of a data set.
func encoded(t testing.TB, d *structured.Dataset) []byte {
	t.Helper()
	f := &safetensors.File{}
	if err := Add(f, d); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.pack")
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read opens the bytes of a pack of everything, and checks it. It closes the mapping, so the data must not be used.
func read(t testing.TB, path string, b []byte, use func(d *structured.Dataset)) error {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		return err
	}
	d, err := f.Dataset()
	if err != nil {
		return err
	}
	like := everything()
	d.Dictionary, d.Vocab = like.Dictionary, like.Vocab
	if d.Characters != nil {
		d.Characters.Vocab = like.Characters.Vocab
	}
	if err := f.Check(d); err != nil {
		return err
	}
	use(d)
	return nil
}

func TestRoundTrip(t *testing.T) {
	want := everything()
	b := encoded(t, want)
	path := filepath.Join(t.TempDir(), "y.pack")
	err := read(t, path, b, func(d *structured.Dataset) {
		if d.Mapped != path {
			t.Errorf("mapped from %q", d.Mapped)
		}
		d.Mapped = ""
		want.Graphs[2].Ends = nil
		d.Graphs[2].Ends = nil
		got := reflect.ValueOf(*d)
		for k := range got.NumField() {
			name := got.Type().Field(k).Name
			if !reflect.DeepEqual(got.Field(k).Interface(), reflect.ValueOf(*want).Field(k).Interface()) {
				t.Errorf("%s: %v, want %v", name, got.Field(k), reflect.ValueOf(*want).Field(k))
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
	if metadata, ok := Is(path); !ok || metadata["format"] != Format {
		t.Errorf("%v, %v", metadata, ok)
	}
}

// resum gives a changed pack the checksum of its bytes, so that what checks the structure sees them.
func resum(b []byte) {
	end := len(b) - 4
	binary.BigEndian.PutUint32(b[end:], crc32.Checksum(b[:end], castagnoli()))
}

// A changed byte is refused, with its checksum or with that of the changed file, or makes data that can be used; it
// never panics.
func TestChangedBytes(t *testing.T) {
	whole := encoded(t, everything())
	path := filepath.Join(t.TempDir(), "z.pack")
	r := rand.New(rand.NewPCG(1, 2))
	refused, changes := 0, 3000
	if testing.Short() {
		changes = 300
	}
	for k := range changes {
		b := bytes.Clone(whole)
		at := r.IntN(len(b) - 4)
		b[at] ^= 1 << r.IntN(8)
		if k%10 == 0 {
			b[at] = byte(r.IntN(256))
		}
		if k%3 == 0 {
			if err := read(t, path, b, func(*structured.Dataset) {}); !bytes.Equal(b, whole) && !structured.IsBadInput(err) {
				t.Fatalf("byte %d from %#x to %#x: %v", at, whole[at], b[at], err)
			}
			continue
		}
		resum(b)
		err := read(t, path, b, func(d *structured.Dataset) {
			for i := range d.Len() {
				_ = d.GoldOf(i)
				_ = d.Weight(i)
			}
			for p := range d.Positions() {
				for _, s := range []*structured.Sparse{d.Attributes, d.EdgeAttributes} {
					if s != nil {
						s.Row(p)
					}
				}
			}
			_ = d.Subset([]int{0})
		})
		if err != nil {
			refused++
			if !structured.IsBadInput(err) {
				t.Fatalf("byte %d from %#x to %#x: not bad input: %v", at, whole[at], b[at], err)
			}
		}
	}
	if refused < changes/6 {
		t.Errorf("%d of %d changed files were refused", refused, changes*2/3)
	}
}

// The message about a wrong checksum has that of the file as it is, and then the one in the file.
func TestChecksum(t *testing.T) {
	b := encoded(t, everything())
	end := len(b) - 4
	stored := fmt.Sprintf("%x", b[end:])
	b[end-1] ^= 1
	want := fmt.Sprintf("its checksum is %08x, expected %s", crc32.Checksum(b[:end], castagnoli()), stored)
	err := read(t, filepath.Join(t.TempDir(), "z.pack"), b, func(*structured.Dataset) {})
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}

func TestCutShort(t *testing.T) {
	whole := encoded(t, everything())
	path := filepath.Join(t.TempDir(), "z.pack")
	for n := 0; n < len(whole); n += 7 {
		if err := read(t, path, whole[:n], func(*structured.Dataset) {}); !structured.IsBadInput(err) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestPart(t *testing.T) {
	x := everything().Attributes
	got, err := Part(filepath.Join(t.TempDir(), "x.pack"), x, func(c int32) bool { return c%2 == 1 })
	if err != nil {
		t.Fatal(err)
	}
	want := &structured.Sparse{Offsets: []int{0}}
	for p := range len(x.Offsets) - 1 {
		index, value := x.Row(p)
		for k, c := range index {
			if c%2 == 1 {
				want.Index, want.Value = append(want.Index, c), append(want.Value, value[k])
			}
		}
		want.Offsets = append(want.Offsets, len(want.Index))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The third number of the file counts, if it is there as a whole.
func TestFilePages(t *testing.T) {
	for text, want := range map[string]int{"100 50 25 7 0 8 0\n": 25, "100 50 2": -1, "100 50 ": -1, "100": -1, "": -1} {
		file := filepath.Join(t.TempDir(), "statm")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n, ok := filePages(f, make([]byte, 128)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
}

// A pack that grows from blocks with and without values of attributes has those of each: a block without values has
// ones, wherever it comes.
func TestBlocksWithAndWithoutValues(t *testing.T) {
	block := func(values ...float32) *structured.Dataset {
		return &structured.Dataset{Name: "block", Offsets: []int{0, 2}, Labels: []int32{0, 0}, Lines: []int{1},
			Attributes: &structured.Sparse{Offsets: []int{0, 1, 3}, Index: []int32{0, 0, 1}, Value: values}}
	}
	names := structured.NewAlphabet("p", "q")
	for _, test := range []struct {
		blocks []*structured.Dataset
		want   []float32
	}{
		{[]*structured.Dataset{block(), block(2, 3, 4)}, []float32{1, 1, 1, 2, 3, 4}},
		{[]*structured.Dataset{block(2, 3, 4), block()}, []float32{2, 3, 4, 1, 1, 1}},
		{[]*structured.Dataset{block(), block(), block(5, 6, 7), block()}, []float32{1, 1, 1, 1, 1, 1, 5, 6, 7, 1, 1, 1}},
		{[]*structured.Dataset{block(), block()}, nil},
	} {
		path := filepath.Join(t.TempDir(), "x.pack")
		b, err := NewBuilder(path)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, d := range test.blocks {
			if err := b.Add(d); err != nil {
				t.Fatal(err)
			}
		}
		f := &safetensors.File{}
		if err := b.Finish(f, "x", nil, []string{"O"}, Numbers{Labels: []int32{0}, Nodes: []int32{0, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, f); err != nil {
			t.Fatal(err)
		}
		pack, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := pack.Dataset()
		if err != nil {
			t.Fatal(err)
		}
		d.Dictionary = &structured.Dictionary{Node: names}
		if err := pack.Check(d); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Attributes.Value, test.want) ||
			d.Attributes.Offsets[len(d.Attributes.Offsets)-1] != 3*len(test.blocks) {
			t.Errorf("values %v, want %v", d.Attributes.Value, test.want)
		}
	}
}

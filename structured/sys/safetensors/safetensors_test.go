package safetensors

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(b []byte) (*File, error) { return Decode(bytes.NewReader(b), int64(len(b))) }

// The bytes follow the format exactly.
func TestBytes(t *testing.T) {
	f := &File{Metadata: map[string]string{"b": "<é>", "a": "1"}}
	Add(f, "x", []uint8{7})
	Add(f, "w", []float32{1, -2, 0}, 1, 3)
	Add(f, "n", []int64{-1})
	got := encode(t, f)
	header := `{"__metadata__":{"a":"1","b":"<é>"},"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},` +
		`"w":{"dtype":"F32","shape":[1,3],"data_offsets":[8,20]},"x":{"dtype":"U8","shape":[1],"data_offsets":[20,21]}}`
	for len(header)%8 != 0 {
		header += " "
	}
	want := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	want = append(want, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	want = append(want, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0, 7)
	if !bytes.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

func drawFile(t *rapid.T) *File {
	f := &File{Tensors: map[string]Tensor{}}
	if m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "metadata"); len(m) > 0 {
		f.Metadata = m
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.String().Filter(func(s string) bool { return s != metadataKey }), 0,
		6, rapid.ID[string]).Draw(t, "names") {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(t, "shape")
		n, _ := product(shape)
		data := makeData(rapid.SampledFrom([]string{"F32", "F64", "I64", "I32", "U8"}).Draw(t, "dtype"), n)
		switch data := data.(type) {
		case []float32:
			copy(data, rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, "data"))
		case []float64:
			copy(data, rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "data"))
		case []int64:
			copy(data, rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "data"))
		case []int32:
			copy(data, rapid.SliceOfN(rapid.Int32(), n, n).Draw(t, "data"))
		case []uint8:
			copy(data, rapid.SliceOfN(rapid.Uint8(), n, n).Draw(t, "data"))
		}
		f.Tensors[name] = Tensor{Shape: shape, Data: data}
	}
	return f
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFile(t)
		var b bytes.Buffer
		if err := Encode(&b, f); err != nil {
			t.Fatal(err)
		}
		got, err := decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, f) {
			t.Fatalf("got %v, want %v", got, f)
		}
		var again bytes.Buffer
		if err := Encode(&again, got); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
			t.Fatalf("different bytes the second time: %v", err)
		}
	})
}

// Tensors longer than the buffer, and the bits of NaN.
func TestLongTensor(t *testing.T) {
	x := make([]float32, 3*pieceLen+5)
	for i := range x {
		x[i] = float32(i)
	}
	x[pieceLen] = math.Float32frombits(0x7fc12345)
	path := filepath.Join(t.TempDir(), "a.safetensors")
	f := &File{}
	Add(f, "x", x)
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	g, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	y, err := Values[float32](g, "x", -1)
	if err != nil || len(y) != len(x) {
		t.Fatal(len(y), err)
	}
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			t.Fatalf("element %d: got %v, want %v", i, y[i], x[i])
		}
	}
}

// Every prefix and every extension of a valid file is refused as bad input.
func TestCutShort(t *testing.T) {
	f := &File{}
	Add(f, "a", []float32{1, 2})
	Add(f, "b", []int32{3})
	whole := encode(t, f)
	if _, err := decode(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := decode(whole[:n]); !structured.IsBadInput(err) || n >= 8 && !strings.Contains(err.Error(), "cut short") {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
	if _, err := decode(whole[:20]); !strings.Contains(err.Error(), "only 12 are there") {
		t.Errorf("first 20 bytes: %v", err)
	}
	if _, err := decode(append(whole, 0)); !structured.IsBadInput(err) {
		t.Fatalf("one byte more: %v", err)
	}
}

func withHeader(header string, data int) []byte {
	b := order.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestBadHeaders(t *testing.T) {
	for _, c := range []struct {
		name, header string
		data         int
		want         string
	}{
		{"other dtype", `{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4,
			`tensor "a": dtype "BF16", expected F32`},
		{"overlap", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}`, 6, `tensor "b" starts at byte 2, expected 4`},
		{"hole", `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}`,
			6, `tensor "b" starts at byte 4, expected 2`},
		{"shape", `{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8, "data of 8 bytes, expected 12"},
		{"overflow", `{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}`, 0, "is not possible"},
		{"negative", `{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4, "is not possible"},
		{"backwards", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4, "data_offsets"},
		{"one offset", `{"a":{"dtype":"F32","shape":[1],"data_offsets":[4]}}`, 4, "data_offsets"},
		{"no shape", `{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4, "no shape"},
		{"beyond the end", `{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}`, 4, "cut short"},
		{"twice", `{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`,
			0, `"a" appears twice`},
		{"metadata", `{"__metadata__":{"a":1}}`, 0, "__metadata__"},
		{"array", `[1]`, 0, "not a JSON object"},
		{"space first", ` {}`, 0, "not a JSON object"},
		{"unfinished", `{"a":`, 0, "unexpected EOF"},
		{"two objects", `{}{}`, 0, "something follows"},
		{"not UTF-8", "{\"\xff\":1}", 0, "not a JSON object"},
		{"empty", ``, 0, "not a JSON object"},
	} {
		_, err := decode(withHeader(c.header, c.data))
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if _, err := decode([]byte("\xff\xff\xff\xff\xff\xff\xff\x7f{}")); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "at most") {
		t.Errorf("huge header: %v", err)
	}
}

func TestValues(t *testing.T) {
	f := &File{}
	Add(f, "w", make([]float32, 6), 2, 3)
	if _, err := Values[float32](f, "w", 2, -1); err != nil {
		t.Error(err)
	}
	for want, get := range map[string]func() error{
		`tensor "w" is F32, expected F64`:             func() error { _, err := Values[float64](f, "w"); return err },
		`tensor "w" has shape [2 3], expected [3 2]`:  func() error { _, err := Values[float32](f, "w", 3, 2); return err },
		`tensor "w" has shape [2 3], expected [6]`:    func() error { _, err := Values[float32](f, "w", 6); return err },
		`no tensor "v", expected one; there are w`:    func() error { _, err := Values[float32](f, "v"); return err },
		`no tensor "v", expected one; there are none`: func() error { _, err := Values[float32](&File{}, "v"); return err },
		`no tensor "v", expected one; there are a0, a1, a2, a3, a4, a5, a6, a7, …`: func() error {
			many := &File{}
			for i := range 10 {
				Add(many, "a"+string(rune('0'+i)), []uint8{})
			}
			_, err := Values[float32](many, "v")
			return err
		},
	} {
		if err := get(); !structured.IsBadInput(err) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A file that cannot be written is refused before anything is written: the old file stays.
func TestWriteRejects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.safetensors")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]*File{
		`"a": shape [2] does not hold 1 elements`: {Tensors: map[string]Tensor{"a": {Shape: []int{2}, Data: []float32{1}}}},
		`"a": cannot write []string`:              {Tensors: map[string]Tensor{"a": {Shape: []int{1}, Data: []string{"x"}}}},
		`cannot be a tensor's name`: {
			Tensors: map[string]Tensor{metadataKey: {Shape: []int{0}, Data: []uint8{}}}},
		`metadata`: {Metadata: map[string]string{"a": "\xff"}},
	} {
		if err := Write(path, f); err == nil || !strings.HasPrefix(err.Error(), path) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Fatalf("file now holds %q", got)
	}
}

func TestReadNeedsFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none")); !structured.IsBadInput(err) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Read(dir); !structured.IsBadInput(err) {
		t.Errorf("folder: %v", err)
	}
}

// For any bytes, Decode returns bad input, or a file that can be written back with the same content.
func FuzzDecode(f *testing.F) {
	file := &File{Metadata: map[string]string{"k": "v"}}
	Add(file, "a", []float32{1, 2}, 2, 1)
	Add(file, "b", []uint8{3})
	f.Add(encode(f, file))
	f.Add(withHeader(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}`, 8))
	f.Add(withHeader(`{"a":{"dtype":"F64","shape":[0,9],"data_offsets":[0,0]}}  `, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decode(b)
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatalf("not marked as bad input: %v", err)
			}
			return
		}
		again, err := decode(encode(t, got))
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Tensors) != len(got.Tensors) || !reflect.DeepEqual(again.Metadata, got.Metadata) &&
			len(got.Metadata) > 0 {
			t.Fatalf("got %v, want %v", again, got)
		}
		for name, want := range got.Tensors {
			if dtypeOf(again.Tensors[name].Data) != dtypeOf(want.Data) ||
				!reflect.DeepEqual(again.Tensors[name].Shape, want.Shape) {
				t.Fatalf("tensor %q: got %v, want %v", name, again.Tensors[name], want)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	f := &File{}
	Add(f, "x", make([]float32, 1<<22))
	path := filepath.Join(b.TempDir(), "a")
	b.SetBytes(1 << 24)
	for b.Loop() {
		if err := Write(path, f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	f := &File{}
	Add(f, "x", make([]float32, 1<<22))
	path := filepath.Join(b.TempDir(), "a")
	if err := Write(path, f); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(1 << 24)
	for b.Loop() {
		if _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
}

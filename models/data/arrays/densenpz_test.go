package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// npzFile writes an archive with npyio, an implementation independent of the reader.
func npzFile(t interface{ Fatal(...any) }, arrays map[string]any) []byte {
	var b bytes.Buffer
	w := npz.NewWriter(&b)
	for name, a := range arrays {
		if err := w.Write(name+".npy", a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rawNPZ writes an archive of arrays with explicit headers, "descr;fortran;shape", and their values.
func rawNPZ(t interface{ Fatal(...any) }, arrays map[string][2]any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, a := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(a[0].(string), ";")
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", parts[0], parts[1], parts[2])
		fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s", len(header), 0, header)
		var order binary.ByteOrder = binary.LittleEndian
		if parts[0][0] == '>' {
			order = binary.BigEndian
		}
		if err := binary.Write(w, order, a[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDense(t *testing.T) {
	file := npzFile(t, map[string]any{
		"features":    mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6}),
		"lengths":     []int64{2, 0, 1},
		"labels":      []int32{1, 0, 1},
		"label_names": []string{"no", "yës"},
	})
	d, err := Dense{}.Read(bytes.NewReader(file), "x.npz")
	if err != nil {
		t.Fatal(err)
	}
	want := &structured.Dataset{
		Name: "x.npz", Offsets: []int{0, 2, 2, 3}, Labels: []int32{1, 0, 1}, Alphabet: structured.NewAlphabet("no", "yës"),
		Features: []float32{1, 2, 3, 4, 5, 6}, Dim: 2,
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	known := structured.NewAlphabet("yës", "maybe", "no")
	d, err = Dense{Alphabet: known, Dim: 2}.Read(bytes.NewReader(file), "x.npz")
	if err != nil || !reflect.DeepEqual(d.Labels, []int32{0, 2, 0}) || d.Alphabet != known {
		t.Errorf("labels in another order: %+v, %v", d, err)
	}
	d, err = Dense{Alphabet: known, Unlabeled: true}.Read(bytes.NewReader(file), "x.npz")
	if err != nil || d.Labels != nil {
		t.Errorf("unlabeled: %+v, %v", d, err)
	}
}

func TestDenseLayouts(t *testing.T) {
	for _, descr := range []string{"<f4;False;2, 3", ">f4;False;2,3", "=f4;False;2, 3,", "<f4;True;2, 3"} {
		values := []float32{1, 2, 3, 4, 5, 6}
		if strings.Contains(descr, "True") {
			values = []float32{1, 4, 2, 5, 3, 6}
		}
		for _, lengths := range [][2]any{
			{"|i1;False;1,", []int8{2}}, {">u2;False;1,", []uint16{2}}, {"<i4;False;1", []int32{2}},
			{"<u8;False;1,", []uint64{2}},
		} {
			file := rawNPZ(t, map[string][2]any{
				"features": {descr, values}, "lengths": lengths, "labels": {"|u1;False;2,", []uint8{7, 0}},
			})
			d, err := readDense(t, Dense{}, file)
			if err != nil || !reflect.DeepEqual(d.Features, []float32{1, 2, 3, 4, 5, 6}) ||
				!reflect.DeepEqual(d.Offsets, []int{0, 2}) || d.Alphabet.Len() != 8 || d.Alphabet.Name(d.Labels[0]) != "7" {
				t.Errorf("%s, %s: %+v, %v", descr, lengths[0], d, err)
			}
		}
	}
}

// Numbers of any precision, integers and booleans become float32.
func TestDenseConversions(t *testing.T) {
	for _, c := range []struct {
		descr  string
		values any
		want   []float32
	}{
		{"<f2", []uint16{0x3c00, 0xc100}, []float32{1, -2.5}},
		{">f2", []uint16{0x3c00, 0xc100}, []float32{1, -2.5}},
		{"<f8", []float64{0.5, -3}, []float32{0.5, -3}},
		{"|i1", []int8{-2, 7}, []float32{-2, 7}},
		{"<i2", []int16{-300, 7}, []float32{-300, 7}},
		{">i4", []int32{-70000, 7}, []float32{-70000, 7}},
		{"<i8", []int64{-1 << 40, 7}, []float32{-1 << 40, 7}},
		{"|u1", []uint8{200, 7}, []float32{200, 7}},
		{"<u8", []uint64{1 << 63, 7}, []float32{1 << 63, 7}},
		{"|b1", []uint8{0, 1}, []float32{0, 1}},
	} {
		file := rawNPZ(t, map[string][2]any{
			"features": {c.descr + ";False;2, 1", c.values}, "lengths": {"<i8;False;1,", []int64{2}},
			"labels": {"<i8;False;2,", []int64{0, 1}},
		})
		if d, err := readDense(t, Dense{}, file); err != nil || !reflect.DeepEqual(d.Features, c.want) {
			t.Errorf("%s: %+v, %v", c.descr, d, err)
		}
	}
}

func TestDenseErrors(t *testing.T) {
	full := func(change map[string]any) []byte {
		arrays := map[string]any{
			"features": mat.NewDense(2, 2, []float64{1, 2, 3, 4}), "lengths": []int64{2}, "labels": []int64{0, 1},
		}
		for name, a := range change {
			if arrays[name] = a; a == nil {
				delete(arrays, name)
			}
		}
		return npzFile(t, arrays)
	}
	good := full(nil)
	for _, test := range []struct {
		c    Dense
		file []byte
		want string
	}{
		{Dense{}, nil, "x: not a zip archive, or one that is cut short; expected an npz archive"},
		{Dense{}, good[:len(good)-9], "x: not a zip archive"},
		{Dense{}, full(map[string]any{"features": nil}), "x: no array features, expected [positions × features]"},
		{Dense{}, full(map[string]any{"lengths": nil}), "x: no array lengths"},
		{Dense{}, full(map[string]any{"labels": nil}), "x: no array labels, expected [positions]"},
		{Dense{}, full(map[string]any{"features": []float64{1, 2}}), "x: features has shape [2], expected " +
			"[positions × features]"},
		{Dense{}, full(map[string]any{"labels": []float64{1, 2}}), `x: labels holds "<f8", expected integers`},
		{Dense{}, full(map[string]any{"features": mat.NewDense(2, 2, []float64{1, 2, 3, math.NaN()})}),
			"x: features[1,1] is NaN, expected a finite number"},
		{Dense{}, full(map[string]any{"features": mat.NewDense(2, 2, []float64{1, 1e300, 3, 4})}),
			"x: features[0,1] is +Inf"},
		{Dense{Dim: 3}, good, "x: features has 2 features per position, expected 3 as in the training data"},
		{Dense{}, full(map[string]any{"lengths": []int64{1}}), "x: lengths sum to 1, expected the 2 " +
			"positions that features has"},
		{Dense{}, full(map[string]any{"lengths": []int64{1, 5}}), "x: lengths sum to more than the 2 positions"},
		{Dense{}, full(map[string]any{"lengths": []int64{1, math.MaxInt64}}), "x: lengths sum to more than the 2 positions"},
		{Dense{}, full(map[string]any{"lengths": []int64{3, -1}}), "x: lengths sum to more"},
		{Dense{}, full(map[string]any{"lengths": []int64{-1, 3}}), "x: lengths[0] is -1, expected 0 or more"},
		{Dense{}, full(map[string]any{"labels": []int64{0}}), "x: labels has 1 entries, expected the 2 positions"},
		{Dense{}, full(map[string]any{"labels": []int64{0, -1}}), "x: labels[1] is -1, expected 0 to 0"},
		{Dense{}, full(map[string]any{"labels": []int64{0, math.MaxInt64}}),
			"x: labels[1] is 9223372036854775807, expected less than"},
		{Dense{}, full(map[string]any{"label_names": []string{"a"}}), "x: labels[1] is 1, expected 0 to 0"},
		{Dense{}, full(map[string]any{"label_names": []string{"a", "a"}}), `x: label_names[0] and [1] are both "a"`},
		{Dense{Alphabet: structured.NewAlphabet("a", "b")}, full(map[string]any{"label_names": []string{"a", "c"}}),
			`x: labels[1] is 1, "c", which is not one of the known ones: a, b`},
		{Dense{Alphabet: structured.NewAlphabet("a")}, good, "x: labels[1] is 1, expected 0 to 0"},
	} {
		_, err := readDense(t, test.c, test.file)
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
	oneLength := [2]any{"<i8;False;1,", []int64{1}}
	for _, test := range []struct {
		features [2]any
		want     string
	}{
		{[2]any{"<f4;False;1, 2", []float32{1}}, "x: features ends after 1 of 2 numbers"},
		{[2]any{"<f4;False;1, 2", []float32{1, 2, 3}}, "x: features holds 4 bytes more than its shape [1 2] says"},
		{[2]any{"<f4;False;0, 2", []float32{}}, "x: features has shape [0 2], expected at least one position"},
		{[2]any{"<c8;False;1, 1", []uint64{1}}, `x: features holds "<c8", expected numbers`},
		{[2]any{"<f3;False;1, 1", []uint8{1, 2, 3}}, `x: features holds "<f3", expected numbers`},
		{[2]any{"<f4;Maybe;1, 1", []float32{1}}, "x: features: npy header"},
		{[2]any{"<f4;False;99999999999999999999, 1", []float32{1}}, "x: features: an array of shape"},
		{[2]any{"<f4;False;9999999999, 9999999999", []float32{1}}, "x: features: an array of shape"},
	} {
		file := rawNPZ(t, map[string][2]any{"features": test.features, "lengths": oneLength, "labels": oneLength})
		_, err := readDense(t, Dense{}, file)
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
}

// An array that no memory holds is refused before it is read, whatever its file holds.
func TestDenseLargerThanMemory(t *testing.T) {
	oneLength := [2]any{"<i8;False;1,", []int64{1}}
	file := rawNPZ(t, map[string][2]any{"features": {"<f4;False;1, 2000000000000", []float32{1}},
		"lengths": oneLength, "labels": oneLength})
	if _, err := readDense(t, Dense{}, file); err == nil ||
		!strings.HasPrefix(err.Error(), "x: features: its numbers would take about") {
		t.Errorf("got %v", err)
	}
}

func TestDenseNarrowIntegersAreSigned(t *testing.T) {
	file := rawNPZ(t, map[string][2]any{"features": {"<f4;False;1, 1", []float32{1}},
		"lengths": {"|i1;False;1,", []int8{-2}}})
	if _, err := readDense(t, Dense{}, file); err == nil || !strings.HasPrefix(err.Error(), "x: lengths[0] is -2,") {
		t.Errorf("got %v", err)
	}
}

// A flipped bit in the numbers is detected, and so is a directory that has another size of them.
func TestDenseChecksum(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "features.npy", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n"
	fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s\x01\x02\x03\x04", len(header), 0, header)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	file[bytes.Index(file, []byte("\x01\x02\x03\x04"))] ^= 1
	if _, err := readDense(t, Dense{}, file); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("got %v, want a checksum error", err)
	}
	file[bytes.Index(file, []byte("\x00\x02\x03\x04"))] ^= 1
	file[bytes.Index(file, []byte("PK\x01\x02"))+20]-- // the bytes that the features have in the archive
	if _, err := readDense(t, Dense{}, file); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "ends after 0 of 1 numbers") {
		t.Errorf("got %v, want an error for numbers that are not there", err)
	}
}

func TestDenseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.Int64Range(0, 5), 1, 6).Draw(t, "lengths")
		lengths[0] = max(lengths[0], 1)
		n := 0
		for _, l := range lengths {
			n += int(l)
		}
		dim := rapid.IntRange(1, 4).Draw(t, "dim")
		values := rapid.SliceOfN(rapid.Float64Range(-1e30, 1e30), n*dim, n*dim).Draw(t, "features")
		labels := rapid.SliceOfN(rapid.Int32Range(0, 4), n, n).Draw(t, "labels")
		file := npzFile(t, map[string]any{
			"features": mat.NewDense(n, dim, values), "lengths": lengths, "labels": labels,
			"label_names": []string{"a", "b", "c", "d", "e"},
		})
		d, err := Dense{}.Read(bytes.NewReader(file), "x")
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range values {
			if d.Features[i] != float32(x) {
				t.Fatalf("feature %d is %v, want %v", i, d.Features[i], float32(x))
			}
		}
		for i, l := range lengths {
			if d.Length(i) != int(l) {
				t.Fatalf("chain %d has length %d, want %d", i, d.Length(i), l)
			}
		}
		if !reflect.DeepEqual(d.Labels, labels) {
			t.Fatalf("labels %v, want %v", d.Labels, labels)
		}
	})
}

func FuzzDense(f *testing.F) {
	file := npzFile(f, map[string]any{
		"features": mat.NewDense(2, 2, []float64{1, 2, 3, 4}), "lengths": []int64{2, 0}, "labels": []int64{0, 1},
		"label_names": []string{"a", "b"},
	})
	f.Add([]byte("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"), []byte("12345678"), file, true)
	f.Add([]byte("{'descr': '|u1', 'fortran_order': True, 'shape': (2,), }"), []byte("\x01\x01"), file[:40], false)
	f.Fuzz(func(t *testing.T, header, body, file []byte, unlabeled bool) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range []string{"features", "lengths", "labels"} {
			w, err := z.Create(name + ".npy")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s%s", len(header)&255, len(header)>>8, header, body)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for _, content := range [][]byte{b.Bytes(), file} {
			d, err := Dense{Unlabeled: unlabeled}.Read(bytes.NewReader(content), "fuzz")
			if err != nil {
				if !structured.IsBadInput(err) {
					t.Fatalf("%v is not marked as bad input", err)
				}
				continue
			}
			if len(d.Features) != d.Positions()*d.Dim || !unlabeled && len(d.Labels) != d.Positions() {
				t.Fatalf("inconsistent: %+v", d)
			}
		}
	})
}

func TestDenseWeights(t *testing.T) {
	arrays := map[string]any{
		"features": []float32{1, 2, 3}, "lengths": []int64{1, 2}, "labels": []int64{0, 1, 0}, "weights": []float64{0.5, 2},
	}
	read := func() (*structured.Dataset, error) {
		content := rawNPZ(t, map[string][2]any{
			"features": {"<f4;False;3, 1", arrays["features"]},
			"lengths":  {"<i8;False;2,", arrays["lengths"]},
			"labels":   {"<i8;False;3,", arrays["labels"]},
			"weights":  {fmt.Sprintf("<f8;False;%d,", len(arrays["weights"].([]float64))), arrays["weights"]},
		})
		return Dense{}.Read(bytes.NewReader(content), "d.npz")
	}
	d, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if d.Weight(0) != 0.5 || d.Weight(1) != 2 {
		t.Errorf("weights %v", d.Weights)
	}
	for want, weights := range map[string][]float64{
		"d.npz: weights has 1 entries, expected 2, one per chain":                  {1},
		"d.npz: weights[1] is -1, expected 0, or a number from 1e-30 to 1e+30":     {1, -1},
		"d.npz: weights[0] is NaN, expected 0, or a number from 1e-30 to 1e+30":    {math.NaN(), 1},
		"d.npz: weights[1] is 1e-200, expected 0, or a number from 1e-30 to 1e+30": {1, 1e-200},
		"d.npz: weights[1] is 1e+200, expected 0, or a number from 1e-30 to 1e+30": {0, 1e200},
	} {
		arrays["weights"] = weights
		if _, err := read(); err == nil || err.Error() != want || !structured.IsBadInput(err) {
			t.Errorf("%v: error %v, want %s", weights, err, want)
		}
	}
}

func TestDenseWords(t *testing.T) {
	read := func(words []string) (*structured.Dataset, error) {
		var b bytes.Buffer
		err := WriteNPZ(&b, func(n NPZWriter) error {
			for _, err := range []error{Add(n, "features", []float32{1, 2, 3}, 3, 1), Add(n, "lengths", []int64{1, 2}, 2),
				n.AddText("words", words)} {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return Dense{Unlabeled: true}.Read(&b, "x.npz")
	}
	d, err := read([]string{"a", "é", "a"})
	if err != nil || !reflect.DeepEqual(d.Column("word"), []string{"a", "é", "a"}) {
		t.Errorf("%+v, %v", d, err)
	}
	for want, words := range map[string][]string{
		"x.npz: words has 2 entries, expected the 3 positions": {"a", "b"},
		"x.npz: words[1] is empty, expected a word":            {"a", "", "b"},
	} {
		if _, err := read(words); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// −100 is any label, and chains with a fault are left out where that is asked for: the others keep their numbers.
func TestIgnoredAndLeftOut(t *testing.T) {
	file := func(x []float32, labels []int64) *bytes.Reader {
		var b bytes.Buffer
		err := WriteNPZ(&b, func(n NPZWriter) error {
			return errors.Join(Add(n, "features", x, 4, 1), Add(n, "lengths", []int64{1, 0, 2, 1}, 4),
				Add(n, "labels", labels, 4))
		})
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(b.Bytes())
	}
	good := []float32{1, 2, 3, 4}
	d, err := Dense{}.Read(file(good, []int64{0, -100, 1, 2}), "x")
	if err != nil || !slices.Equal(d.Labels, []int32{0, -1, 1, 2}) || d.Alphabet.Len() != 3 ||
		!d.Partial(2) || d.Partial(0) {
		t.Errorf("%v, %+v", err, d)
	}
	for _, labels := range [][]int64{{-100, -100, -100, -100}, {0, -1, 1, 2}, {0, -100, -1, 1}} {
		if _, err := (Dense{}).Read(file(good, labels), "x"); !structured.IsBadInput(err) {
			t.Errorf("labels %v: %v", labels, err)
		}
	}
	say := remarks.New(true)
	nan := float32(math.NaN())
	d, err = Dense{Remarks: say}.Read(file([]float32{nan, 2, 3, 4}, []int64{0, 1, 1, -7}), "x")
	if err != nil || d.Len() != 2 || !slices.Equal(d.IDs, []string{"1", "2"}) || !slices.Equal(d.Labels, []int32{1, 1}) ||
		len(say.Reasons()) != 2 {
		t.Errorf("%v, %+v, %q", err, d, say.Reasons())
	}
}

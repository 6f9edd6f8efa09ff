package arrays

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/structured"
)

// Features that stay on disk are those that Read has in memory: of rows and of padded arrays, with some positions left
// out.
func TestFeaturesOnDisk(t *testing.T) {
	numbers := make([]float32, 2*3*2)
	for k := range numbers {
		numbers[k] = float32(k) / 4
	}
	for name, c := range map[string]struct {
		shape, lengths []int
		mask           []uint8
	}{
		"rows":           {[]int{6, 2}, []int{2, 4}, nil},
		"rows, masked":   {[]int{6, 2}, []int{2, 4}, []uint8{1, 0, 1, 1, 0, 1}},
		"padded":         {[]int{2, 3, 2}, []int{2, 3}, nil},
		"padded, masked": {[]int{2, 3, 2}, nil, []uint8{0, 1, 1, 1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.npz")
			writeArrays(t, path, func(n NPZWriter) error {
				err := Add(n, "features", numbers, c.shape...)
				if err == nil && c.lengths != nil {
					lengths := []int64{int64(c.lengths[0]), int64(c.lengths[1])}
					err = Add(n, "lengths", lengths, 2)
				}
				if err == nil && c.mask != nil {
					err = Add(n, "mask", c.mask, c.shape[:len(c.shape)-1]...)
				}
				return err
			})
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Dense{Unlabeled: true}.Read(bytes.NewReader(content), path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Dense{Unlabeled: true}.ReadFile(path)
			if err != nil || d.Features != nil || d.Source == nil || !slices.Equal(d.Offsets, want.Offsets) || d.Dim != 2 {
				t.Fatalf("%+v %v", d, err)
			}
			var got []float32
			for i := range d.Len() {
				row := make([]float32, d.Length(i)*d.Dim)
				if err := d.ReadFeatures(row, i); err != nil {
					t.Fatal(err)
				}
				got = append(got, row...)
			}
			if !slices.Equal(got, want.Features) {
				t.Errorf("%v, expected %v", got, want.Features)
			}
		})
	}
}

// Features larger than what is read at once are whole, and have their last numbers.
func TestFeaturesInPieces(t *testing.T) {
	for _, n := range []int{pieceBytes / 8, pieceBytes/8 + 1, 3*pieceBytes/8 + 5} { // rows of two numbers of 4 bytes
		numbers := make([]float32, 2*n)
		for k := range numbers {
			numbers[k] = float32(k)
		}
		file := rawNPZ(t, map[string][2]any{
			"features": {fmt.Sprintf("<f4;False;%d, 2", n), numbers}, "lengths": {"<i8;False;1,", []int64{int64(n)}},
			"labels": {fmt.Sprintf("<i4;False;%d,", n), make([]int32, n)},
		})
		if d, err := readDense(t, Dense{}, file); err != nil || !slices.Equal(d.Features, numbers) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

// available is what an error says of memory, which changes while a test runs.
var available = regexp.MustCompile(`[0-9.]+ [KMGT]iB are available`)

// readDense reads an archive from memory. The test fails unless ReadFile finds the same in a file, whether it reads
// features into memory or leaves them there, and whether the archive is compressed or not.
func readDense(t *testing.T, c Dense, archive []byte) (*structured.Dataset, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	for _, content := range [][]byte{uncompressed(archive), archive} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		want, mistake := c.Read(bytes.NewReader(content), path)
		for _, kept := range []bool{false, true} {
			c.InMemory, c.Checked = !kept, kept
			got, err := c.ReadFile(path)
			said := func(err error) string { return available.ReplaceAllString(fmt.Sprint(err), "") }
			if said(err) != said(mistake) || structured.IsBadInput(err) != structured.IsBadInput(mistake) {
				t.Errorf("in a file: %v, expected %v", err, mistake)
			}
			if err != nil {
				continue
			}
			if got.Source != nil {
				var rows []float32
				if err := got.EachRow(func(row []float32) { rows = append(rows, row...) }); err != nil || !kept {
					t.Errorf("features are in a file: %v", err)
				}
				got.Features, got.Source = rows, nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("in a file: other data than in memory, %d positions instead of %d", got.Positions(), want.Positions())
			}
		}
	}
	return c.Read(bytes.NewReader(archive), "x")
}

// uncompressed returns an archive with the same arrays, stored without compression. It returns other bytes, such as
// those of a damaged archive, unchanged.
func uncompressed(archive []byte) []byte {
	from, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return archive
	}
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		in, err := f.Open()
		if err != nil {
			return archive
		}
		out, err := to.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err == nil {
			_, err = io.Copy(out, in)
		}
		if err != nil {
			return archive
		}
	}
	if to.Close() != nil {
		return archive
	}
	return b.Bytes()
}

// What cannot stay on disk is read, or refused, as before; a number that is not finite is refused when it is read.
func TestFeaturesNotOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	save := func(content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	save(rawNPZ(t, map[string][2]any{"features": {"<f4;True;2, 2", []float32{1, 2, 3, 4}},
		"lengths": {"<i8;False;1,", []int64{2}}}))
	d, err := Dense{Unlabeled: true}.ReadFile(path)
	if err != nil || !slices.Equal(d.Features, []float32{1, 3, 2, 4}) || d.Source != nil {
		t.Errorf("%+v %v", d, err)
	}
	if !OnDisk(path) || OnDisk(filepath.Dir(path)) || OnDisk("-") {
		t.Error("what is on disk")
	}
	save([]byte("\x1f\x8b gzip"))
	if OnDisk(path) {
		t.Error("a file that is compressed as a whole")
	}
	writeArrays(t, path, func(n NPZWriter) error {
		err := Add(n, "features", []float32{1, 2, float32(math.NaN()), 4}, 2, 2)
		if err == nil {
			err = Add(n, "lengths", []int64{2}, 1)
		}
		return err
	})
	if _, err := (Dense{Unlabeled: true, Dim: 3}).ReadFile(path); err == nil ||
		!strings.Contains(err.Error(), "2 features per position, expected 3") {
		t.Errorf("%v", err)
	}
	d, err = Dense{Unlabeled: true}.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ReadFeatures(make([]float32, 4), 0); err == nil ||
		!strings.Contains(err.Error(), "number 0 of row 1 is NaN") {
		t.Errorf("%v", err)
	}
}

func writeArrays(t *testing.T, path string, write func(n NPZWriter) error) {
	t.Helper()
	var b bytes.Buffer
	err := WriteNPZ(&b, write)
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A file that changes while its rows are in use is noticed at the next read: cut off, written anew in place, or longer.
func TestFilesThatChange(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(path string, content []byte) error
		badInput bool
		says     func(size int) string // after the name of the file
	}{
		"shorter": {func(path string, content []byte) error { return os.Truncate(path, int64(len(content)-7)) },
			true, func(size int) string {
				return fmt.Sprintf("has become shorter while it was in use: %d bytes, expected %d", size-7, size)
			}},
		"other numbers": {func(path string, content []byte) error {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				return err
			}
			return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) // another time, however fast the test is
		}, false, func(size int) string {
			return fmt.Sprintf("has changed while it was in use: %d bytes of 2001-09-09 ", size)
		}},
		"longer": {func(path string, content []byte) error { return os.WriteFile(path, append(content, 1), 0o666) }, false,
			func(size int) string { return fmt.Sprintf("has changed while it was in use: %d bytes of ", size+1) }},
		"replaced": {func(path string, content []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("x"), 0o666))
		}, false, nil}, // which leaves the opened one as it was
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.npz")
			writeArrays(t, path, func(n NPZWriter) error {
				return errors.Join(Add(n, "features", []float32{1, 2, 3, 4}, 2, 2), Add(n, "lengths", []int64{1, 1}, 2))
			})
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Dense{Unlabeled: true}.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float32, 2)
			if err := d.ReadFeatures(row, 1); err != nil || row[1] != 4 {
				t.Fatal(row, err)
			}
			if err := c.change(path, slices.Clone(content)); err != nil {
				t.Fatal(err)
			}
			err = d.ReadFeatures(row, 0)
			want := "<nil>"
			if c.says != nil {
				want = path + ": the file " + c.says(len(content))
			}
			if structured.IsBadInput(err) != c.badInput || !strings.HasPrefix(fmt.Sprint(err), want) {
				t.Errorf("%v, expected %s", err, want)
			}
		})
	}
}

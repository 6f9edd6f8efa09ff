package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// candidateArrays is an archive of two images with three candidates, as a table that tests change.
type candidateArrays struct {
	features      any // []float32 or []Half
	shape         []int
	name          string // features or maps
	boxes, gold   []float32
	sizes, images []int64
	ids           []string
	without       string // an array that is left out
}

func goodCandidates() candidateArrays {
	return candidateArrays{
		features: []float32{1, 2, 3, 4, 5, -6}, shape: []int{3, 2}, name: "features",
		boxes: []float32{0, 0, 10, 10, 5, 5, 5, 5, 1, 2, 3.5, 4}, gold: []float32{1, 1, 9, 9, 0, 0, 4, 4.5},
		sizes: []int64{2, 1}, images: []int64{10, 12, 5, 6}, ids: []string{"a", "b"},
	}
}

func (c candidateArrays) write(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	err := WriteNPZ(&b, func(n NPZWriter) error {
		var failed error
		add := func(name string, err func() error) {
			if name != c.without && failed == nil {
				failed = err()
			}
		}
		add("features", func() error {
			if f, half := c.features.([]Half); half {
				return Add(n, c.name, f, c.shape...)
			}
			return Add(n, c.name, c.features.([]float32), c.shape...)
		})
		add("boxes", func() error { return Add(n, "boxes", c.boxes, len(c.boxes)/4, 4) })
		add("gold", func() error { return Add(n, "gold", c.gold, len(c.gold)/4, 4) })
		add("sizes", func() error { return Add(n, "sizes", c.sizes, len(c.sizes)) })
		add("image_sizes", func() error { return Add(n, "image_sizes", c.images, len(c.images)/2, 2) })
		add("ids", func() error { return n.AddText("ids", c.ids) })
		return failed
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.npz")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// compressed packs every file of an archive, as np.savez_compressed does.
func compressed(t *testing.T, content []byte) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		w, err := to.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCandidates(t *testing.T) {
	maps := goodCandidates()
	maps.name, maps.shape = "maps", []int{3, 1, 2, 1}
	half := goodCandidates()
	half.features = []Half{NewHalf(1), NewHalf(2), NewHalf(3), NewHalf(4), NewHalf(5), NewHalf(-6)}
	for name, content := range map[string][]byte{
		"features": goodCandidates().write(t), "maps": maps.write(t), "half": half.write(t),
		"compressed": compressed(t, half.write(t)),
	} {
		c, err := CandidateReader{}.Open(inFile(t, content))
		if err != nil {
			t.Fatal(name, err)
		}
		want := []int{2}
		if name == "maps" {
			want = []int{1, 2, 1}
		}
		got := make([]float32, 4)
		if err := c.Features.Read(got, 1, 3); err != nil || !slices.Equal(got, []float32{3, 4, 5, -6}) {
			t.Errorf("%s: rows 1 and 2 are %v, %v", name, got, err)
		}
		if !slices.Equal(c.Features.Shape(), want) || c.Features.Len() != 3 || c.Features.Width() != 2 ||
			c.Features.packed != (name == "compressed") {
			t.Errorf("%s: %d rows of shape %v, in memory: %v", name, c.Features.Len(), c.Features.Shape(), c.Features.packed)
		}
		if !slices.Equal(c.Offsets, []int{0, 2, 3}) || !slices.Equal(c.IDs, []string{"a", "b"}) ||
			!reflect.DeepEqual(c.Sizes, [][2]int{{10, 12}, {5, 6}}) ||
			c.Boxes[2] != (boxes.Box{X: 1, Y: 2, Width: 3.5, Height: 4}) || c.Gold[1] != (boxes.Box{Width: 4, Height: 4.5}) {
			t.Errorf("%s: %+v", name, c)
		}
		if err := c.Features.Read(got, 2, 4); err == nil {
			t.Errorf("%s: a row that is not there", name)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	unlabeled := goodCandidates()
	unlabeled.without = "gold"
	c, err := CandidateReader{Unlabeled: true, Shape: []int{2}}.Open(inFile(t, unlabeled.write(t)))
	if err != nil || c.Gold != nil {
		t.Errorf("unlabeled: %v", err)
	}
}

func TestBadCandidates(t *testing.T) {
	for _, c := range []struct {
		change func(c *candidateArrays)
		want   string
	}{
		{func(c *candidateArrays) { c.without = "features" }, "c.npz: no array features [candidates × features] or maps"},
		{func(c *candidateArrays) { c.without = "boxes" }, "c.npz: no array boxes"},
		{func(c *candidateArrays) { c.without = "gold" }, "c.npz: no array gold"},
		{func(c *candidateArrays) { c.without = "sizes" }, "c.npz: no array sizes"},
		{func(c *candidateArrays) { c.without = "image_sizes" }, "c.npz: no array image_sizes"},
		{func(c *candidateArrays) { c.shape = []int{3, 2, 1} }, "features has rows of shape [2 1]"},
		{func(c *candidateArrays) { c.name = "maps" }, "maps has rows of shape [2]"},
		{func(c *candidateArrays) { c.shape = []int{6, 1} }, "features of shape [1], expected [2] as in the training data"},
		{func(c *candidateArrays) { c.shape = []int{4, 2} }, "features has 24 bytes of numbers, expected " +
			"32 for its shape [4 2]"},
		{func(c *candidateArrays) { c.sizes = []int64{3, 0} }, "sizes[1] is 0, expected at least one candidate"},
		{func(c *candidateArrays) { c.sizes = []int64{2, 2} }, "sizes sum to more than the 3 candidates that have " +
			"features, from image 1"},
		{func(c *candidateArrays) { c.sizes = []int64{1, 1} }, "sizes sum to 2, expected the 3 candidates"},
		{func(c *candidateArrays) { c.images = c.images[:2] }, "image_sizes has shape [1 2], expected [2 2]"},
		{func(c *candidateArrays) { c.images[2] = 0 }, "image_sizes[1] is 0 × 6"},
		{func(c *candidateArrays) { c.boxes = c.boxes[:8] }, "boxes has shape [2 4], expected [3 4]"},
		{func(c *candidateArrays) { c.boxes[9] = 5 }, "boxes[2]: box [x 1, y 5, width 3.5, height 4] is outside the image"},
		{func(c *candidateArrays) { c.boxes[6] = 0 }, "boxes[1]: box [x 5, y 5, width 0, height 5] is empty"},
		{func(c *candidateArrays) { c.gold[2] = -1 }, "gold[0]: box [x 1, y 1, width -1, height 9] is inverted"},
		{func(c *candidateArrays) { c.gold[0] = float32(math.NaN()) }, "gold[0]: box [x NaN"},
		{func(c *candidateArrays) { c.ids[1] = "a" }, `ids[0] and ids[1] are both "a"`},
		{func(c *candidateArrays) { c.ids = c.ids[:1] }, "ids has 1 entries, expected 2"},
	} {
		arrays := goodCandidates()
		c.change(&arrays)
		_, err := CandidateReader{Shape: []int{2}}.Open(inFile(t, arrays.write(t)))
		if strings.HasPrefix(c.want, "maps has rows of shape") || strings.HasPrefix(c.want, "features has rows") {
			_, err = CandidateReader{}.Open(inFile(t, arrays.write(t)))
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v\nexpected %s", err, c.want)
		}
	}
	content := goodCandidates().write(t)
	for name, broken := range map[string][]byte{"cut": content[:len(content)-30], "empty": nil, "text": []byte("PK?")} {
		if _, err := (CandidateReader{}).Open(inFile(t, broken)); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (CandidateReader{}).Open(filepath.Join(t.TempDir(), "none.npz")); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

func TestRowsThatAreNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, features := range []any{[]float32{1, 2, 3, nan, 5, 6}, []float32{1, 2, 3, inf, 5, 6},
		[]Half{0, 0, 0, NewHalf(nan), 0, 0}, []Half{0, 0, 0, NewHalf(inf), 0, 0}} {
		arrays := goodCandidates()
		arrays.features = features
		c, err := CandidateReader{}.Open(inFile(t, arrays.write(t)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Features.Read(make([]float32, 2), 0, 1); err != nil {
			t.Error(err)
		}
		err = c.Features.Read(make([]float32, 4), 1, 3)
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "c.npz: features: number 1 of row 1 is ") {
			t.Errorf("%v: error %v", features, err)
		}
	}
}

// Many goroutines read rows larger than a piece of the file.
func TestRowsTogether(t *testing.T) {
	const n, width = 6, pieceBytes/4 + 1000
	for _, kind := range []string{"<f4", "<f2", ">f8"} {
		path := filepath.Join(t.TempDir(), "f.npy")
		if err := os.WriteFile(path, npy(kind, n, width, func(i int) float64 { return float64(i % 2000) }),
			0o666); err != nil {
			t.Fatal(err)
		}
		rows, file, err := openRows(path)
		if err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for k := range n {
			readers.Go(func() {
				got := make([]float32, 2*width)
				from := min(k, n-2)
				if err := rows.Read(got, from, from+2); err != nil {
					t.Error(err)
				}
				for i, v := range got {
					if v != float32((from*width+i)%2000) {
						t.Errorf("%s: number %d from row %d is %v", kind, i, from, v)
						return
					}
				}
			})
		}
		readers.Wait()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBadRows(t *testing.T) {
	write := func(content []byte) string { return inFile(t, content) }
	zero := func(int) float64 { return 0 }
	good := npy("<f4", 3, 2, zero)
	for want, path := range map[string]string{
		`holds "<c4", expected numbers`: write(bytes.Replace(good, []byte("<f4"), []byte("<c4"), 1)),
		"in Fortran's order, expected C's": write(bytes.Replace(good, []byte("False, 'shape': (3, 2), }"),
			[]byte("True, 'shape': (3, 2), } "), 1)),
		"has 23 bytes of numbers, expected 24":       write(good[:len(good)-1]),
		"has shape [0 2], expected at least one row": write(npy("<f4", 0, 2, zero)),
		"not an npy array":                           write([]byte("hello, hello")),
		"expected a file on disk":                    t.TempDir(),
	} {
		if _, _, err := openRows(path); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nexpected %s", err, want)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	const n, width = 1000, 2304 // an image of the paper
	for _, kind := range []string{"<f4", "<f2"} {
		b.Run(kind[1:], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f.npy")
			if err := os.WriteFile(path, npy(kind, n, width, func(i int) float64 { return float64(i % 100) }),
				0o666); err != nil {
				b.Fatal(err)
			}
			rows, file, err := openRows(path)
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]float32, n*width)
			b.SetBytes(rows.Bytes())
			for b.Loop() {
				if err := rows.Read(dst, 0, n); err != nil {
					b.Fatal(err)
				}
			}
			if err := file.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// openRows opens a plain .npy file with float16, float32 or float64 numbers. The caller closes it when it no longer
// reads rows.
func openRows(path string) (*Rows, io.Closer, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	rows, err := newRows(io.NewSectionReader(f, 0, f.size), path)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return rows, f, nil
}

// npy returns an npy file of n × width numbers.
func npy(kind string, n, width int, value func(i int) float64) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00\x76\x00")
	header := []byte("{'descr': '" + kind + "', 'fortran_order': False, 'shape': (" + strconv.Itoa(n) + ", " +
		strconv.Itoa(width) + "), }")
	b.Write(header)
	b.WriteString(strings.Repeat(" ", 0x75-len(header)) + "\n")
	for i := range n * width {
		switch v := value(i); kind {
		case "<f2":
			b.Write(binary.LittleEndian.AppendUint16(nil, uint16(NewHalf(float32(v)))))
		case "<f4":
			b.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
		case ">f8":
			b.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return b.Bytes()
}

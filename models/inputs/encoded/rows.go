package encoded

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"unsafe"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// rows are the rows [n×width] of the words of a data set: in memory, or mapped from a safetensors file with the one
// tensor "rows", in single or half precision.
type rows struct {
	n, width    int
	half        bool
	fingerprint string
	raw         []byte
}

const (
	rowsTensor     = "rows"
	fingerprintKey = "fingerprint" // of text and encoder, in the metadata
)

func (r *rows) dtype() string {
	if r.half {
		return "F16"
	}
	return "F32"
}

func (r *rows) suffix() string {
	if r.half {
		return ".float16.safetensors"
	}
	return ".safetensors"
}

func (r *rows) path(folder string) string {
	return filepath.Join(folder, "rows-"+r.fingerprint[:16]+r.suffix())
}

// size returns the bytes of a row.
func (r *rows) size() int {
	if r.half {
		return 2 * r.width
	}
	return 4 * r.width
}

func (r *rows) bytes() int64 { return int64(r.n) * int64(r.size()) }

// header is the beginning of the file.
func (r *rows) header() ([]byte, error) {
	b, err := json.Marshal(map[string]any{
		"__metadata__": map[string]string{fingerprintKey: r.fingerprint},
		rowsTensor: map[string]any{"dtype": r.dtype(), "shape": []int{r.n, r.width},
			"data_offsets": []int64{0, r.bytes()}},
	})
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...), err
}

// open maps the file. It reports false for a file that is not there, or holds other rows.
func (r *rows) open(path string) (bool, error) {
	f, err := host.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	metadata, places, err := safetensors.Index(f, info.Size())
	if err != nil || metadata[fingerprintKey] != r.fingerprint || len(places) != 1 {
		return false, nil // cut short by hand, or of another program: it is written anew
	}
	if p := places[0]; p.Name != rowsTensor || p.DType != r.dtype() || len(p.Shape) != 2 || p.Shape[0] != r.n ||
		p.Shape[1] != r.width || p.Begin%8 != 0 {
		return false, nil
	}
	raw, err := packed.Map(f, info.Size())
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	r.raw = raw[places[0].Begin:places[0].End]
	return true, nil
}

// write writes the file, whole or not at all, with the rows that compute hands to its argument in any order, from
// several goroutines.
func (r *rows) write(path string, compute func(write use) error) error {
	header, err := r.header()
	if err != nil {
		return err
	}
	return host.WriteFileAt(path, int64(len(header))+r.bytes(), func(f io.WriterAt) error {
		if _, err := f.WriteAt(header, 0); err != nil {
			return err
		}
		return compute(func(position int, values []float32) error {
			_, err := r.writeAt(f, int64(len(header)), position, values)
			return err
		})
	})
}

// writeAt writes rows from a position on to a file whose rows have this beginning, and returns their bytes.
func (r *rows) writeAt(f io.WriterAt, begin int64, position int, values []float32) ([]byte, error) {
	raw := make([]byte, len(values)/r.width*r.size())
	if err := r.encode(raw, values); err != nil {
		return nil, err
	}
	_, err := f.WriteAt(raw, begin+int64(position)*int64(r.size()))
	return raw, err
}

// keep fills memory with the rows that compute hands to its argument.
func (r *rows) keep(compute func(write use) error) error {
	single := make([]float32, (r.bytes()+3)/4) // aligned for both precisions
	if len(single) > 0 {
		r.raw = unsafe.Slice((*byte)(unsafe.Pointer(&single[0])), 4*len(single))[:r.bytes()]
	}
	return compute(func(position int, values []float32) error { return r.encode(r.raw[position*r.size():], values) })
}

// encode writes numbers as they are stored.
func (r *rows) encode(to []byte, values []float32) error {
	for i, x := range values {
		bits := math.Float32bits(x)
		if r.half {
			h := arrays.NewHalf(x)
			binary.LittleEndian.PutUint16(to[2*i:], uint16(h))
			bits = math.Float32bits(h.Float32())
		} else {
			binary.LittleEndian.PutUint32(to[4*i:], bits)
		}
		if bits&0x7f800000 == 0x7f800000 {
			return structured.BadInput("the encoder gives a word the number %g, which is not finite in the "+
				"precision of its rows (%s)", x, r.dtype())
		}
	}
	return nil
}

// addTo makes the rows dense inputs of d, after those that it has.
func (r *rows) addTo(d *structured.Dataset) {
	if !d.HasFeatures() {
		d.Dim = r.width
		if !r.half {
			d.Features = r.singles()
			return
		}
		d.Source = r
		return
	}
	before := &structured.Dataset{Features: d.Features, Source: d.Source, Dim: d.Dim}
	d.Features, d.Source, d.Dim = nil, &joined{before, r}, d.Dim+r.width
}

// singles returns the numbers of rows in single precision.
func (r *rows) singles() []float32 {
	if len(r.raw) == 0 {
		return []float32{}
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&r.raw[0])), r.n*r.width)
}

// Read implements structured.FeatureSource.
func (r *rows) Read(dst []float32, from, to int) error {
	if !r.half {
		copy(dst, r.singles()[from*r.width:to*r.width])
		return nil
	}
	raw := r.raw[from*r.size() : to*r.size()]
	for i := range dst[:(to-from)*r.width] {
		dst[i] = arrays.Half(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
	}
	return nil
}

// Fingerprint implements structured.FeatureSource.
func (r *rows) Fingerprint() (string, error) {
	return fmt.Sprintf("%s %s %d×%d", r.fingerprint, r.dtype(), r.n, r.width), nil
}

// joined are the rows of an encoder after other dense inputs.
type joined struct {
	before *structured.Dataset // with the others
	rows   *rows
}

// Read implements structured.FeatureSource.
func (j *joined) Read(dst []float32, from, to int) error {
	a, b := j.before.Dim, j.rows.width
	left := make([]float32, (to-from)*a)
	if j.before.Features != nil {
		copy(left, j.before.Features[from*a:to*a])
	} else if err := j.before.Source.Read(left, from, to); err != nil {
		return err
	}
	for t := from; t < to; t++ {
		row := dst[(t-from)*(a+b):][:a+b]
		copy(row, left[(t-from)*a:][:a])
		if err := j.rows.Read(row[a:], t, t+1); err != nil {
			return err
		}
	}
	return nil
}

// Fingerprint implements structured.FeatureSource: by the numbers of the others, and the encoder's rows.
func (j *joined) Fingerprint() (string, error) {
	own, err := j.rows.Fingerprint()
	if err != nil || j.before.Features == nil {
		return own, err
	}
	return fmt.Sprintf("%s beside %x", own, sumOf(j.before.Features)), nil
}

// sumOf hashes numbers.
func sumOf(x []float32) [sha256.Size]byte {
	h := sha256.New()
	buf := make([]byte, 0, 1<<16)
	for i, v := range x {
		if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v)); len(buf) == cap(buf) || i == len(x)-1 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

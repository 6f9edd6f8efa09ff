// Package arrays reads NumPy's npz archives: dense features and labels of chains, features of pairs of items, candidate
// boxes with their features, and graphs with features of variables and edges. It parses the npy format itself and
// reports what it found and expected.
package arrays

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// npyArray is an array in NumPy's npy format, versions 1 to 3. Its header has been read, its elements not yet.
type npyArray struct {
	where   string // file and array, for messages
	dtype   string // "<f4"
	shape   []int
	fortran bool // the first axis is contiguous
	body    io.Reader
}

var npyHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(((?:\d+,? ?)*)\),? ?\}\s*$`)
})

// readNPY calls read with the array of that name in an npz archive. It returns false if there is none. Every error,
// also one from read, is bad input.
func readNPY(archive *zip.Reader, file, name string, read func(*npyArray) error) (bool, error) {
	for _, f := range archive.File {
		if f.Name != name+".npy" && f.Name != name {
			continue
		}
		a := &npyArray{where: file + ": " + name}
		body, err := f.Open()
		if err == nil {
			a.body = bufio.NewReaderSize(body, 1<<16)
			if err = a.readHeader(); err == nil {
				err = read(a)
			}
			if err == nil {
				err = a.finish()
			}
			err = errors.Join(err, body.Close())
		}
		if err != nil && !structured.IsBadInput(err) {
			err = structured.BadInput("%s: %w", a.where, err)
		}
		return true, err
	}
	return false, nil
}

func (a *npyArray) bad(format string, args ...any) error {
	return structured.BadInput("%s"+format, append([]any{a.where}, args...)...)
}

func (a *npyArray) readHeader() error {
	start := make([]byte, 8)
	if _, err := io.ReadFull(a.body, start); err != nil || string(start[:6]) != "\x93NUMPY" {
		return a.bad(": not an npy array")
	}
	var size uint32
	var err error
	switch start[6] {
	case 1:
		var short uint16
		err = binary.Read(a.body, binary.LittleEndian, &short)
		size = uint32(short)
	case 2, 3:
		err = binary.Read(a.body, binary.LittleEndian, &size)
	default:
		return a.bad(": npy version %d, expected 1 to 3", start[6])
	}
	const maxHeader = 1 << 16 // longest header of a plain array
	if err != nil || size > maxHeader {
		return a.bad(": broken npy header")
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(a.body, header); err != nil {
		return a.bad(": broken npy header: %w", err)
	}
	parts := npyHeader().FindSubmatch(header)
	if parts == nil {
		return a.bad(": npy header %.200q, expected that of a plain array", header)
	}
	a.dtype, a.fortran = string(parts[1]), string(parts[2]) == "True"
	elements := 1
	for _, axis := range strings.FieldsFunc(string(parts[3]), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(axis)
		if err != nil || n > 0 && elements > math.MaxInt32*1024/n {
			return a.bad(": an array of shape (%s) is too large", parts[3])
		}
		a.shape = append(a.shape, n)
		elements *= n
	}
	return nil
}

// finish checks that the array ends where its shape says, and the archive's checksum.
func (a *npyArray) finish() error {
	extra, err := io.Copy(io.Discard, a.body)
	if err == nil && extra > 0 {
		err = a.bad(" holds %d bytes more than its shape %v says", extra, a.shape)
	}
	return err
}

// elements returns the number of elements.
func (a *npyArray) elements() int {
	n := 1
	for _, axis := range a.shape {
		n *= axis
	}
	return n
}

// expect checks the number of axes and the kind of element ("f" for floating point, "iu" for integers).
func (a *npyArray) expect(axes string, n int, kinds, what string) error {
	kind := strings.TrimLeft(a.dtype, "<>|=")
	if kind == "O" {
		return a.bad(" holds Python objects, expected %s: convert it with astype before saving, or join arrays of several "+
			"lengths with np.concatenate", what)
	}
	if len(a.shape) != n {
		return a.bad(" has shape %v, expected %s", a.shape, axes)
	}
	if kind == "" || !strings.Contains(kinds, kind[:1]) {
		return a.bad(" holds %q, expected %s", a.dtype, what)
	}
	return nil
}

func (a *npyArray) order() binary.ByteOrder {
	if strings.HasPrefix(a.dtype, ">") {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// manyElements is from how many elements on an array's memory is compared with what there is.
const manyElements = 1 << 24

// each calls visit with the bytes of every element in turn, and their byte order.
func (a *npyArray) each(visit func(order binary.ByteOrder, cell []byte)) error {
	order := a.order()
	width, err := strconv.Atoi(strings.TrimLeft(a.dtype, "<>|=bfiuUS"))
	if err != nil || width < 1 || width > 1<<20 {
		return a.bad(" holds %q, which is not known", a.dtype)
	}
	if strings.Contains(a.dtype, "U") {
		width *= 4
	}
	// a few bytes of an archive may be many zeros; slices grow by a quarter, and hold both then
	if n := a.elements(); n > manyElements {
		if err := host.CheckMemory("its numbers", float64(n)*float64(max(9, width))); err != nil {
			return err
		}
	}
	cell := make([]byte, width)
	for i := range a.elements() {
		if _, err := io.ReadFull(a.body, cell); err != nil {
			return a.bad(" ends after %d of %d numbers", i, a.elements())
		}
		visit(order, cell)
	}
	return nil
}

// numeric are the kinds of elements that number decodes.
const numeric = "fiub"

// floats reads numbers or booleans, at most two axes, row by row, and rounds them to float32. Overflow gives ±∞.
func (a *npyArray) floats() ([]float32, error) {
	values := make([]float32, 0, min(a.elements(), 1<<20)) // the header may promise more than the file holds
	number := decoder(strings.TrimLeft(a.dtype, "<>|="))
	if number == nil {
		return nil, a.bad(" holds %q, expected numbers", a.dtype)
	}
	err := a.each(func(order binary.ByteOrder, cell []byte) { values = append(values, float32(number(order, cell))) })
	if err == nil && a.fortran && len(a.shape) == 2 {
		values = transposed(values, a.shape[1], a.shape[0])
	}
	return values, err
}

// weights reads numbers that weight examples or variables: what float32 would make 0, or infinite, is refused as every
// wrong weight is.
func (a *npyArray) weights(fault func(i int, err error) error) ([]float64, error) {
	var values []float64
	number := decoder(strings.TrimLeft(a.dtype, "<>|="))
	if number == nil {
		return nil, a.bad(" holds %q, expected numbers", a.dtype)
	}
	if err := a.each(func(order binary.ByteOrder, cell []byte) {
		values = append(values, number(order, cell))
	}); err != nil {
		return nil, err
	}
	for i, x := range values {
		if !structured.ValidWeight(x) {
			if err := fault(i, a.bad("[%d] is %v, expected 0, or a number from %g to %g", i, x, structured.LeastWeight,
				structured.MostWeight)); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// transposed returns the [columns×rows] transpose of a [rows×columns] matrix.
func transposed[E any](x []E, rows, columns int) []E {
	y := make([]E, len(x))
	for r := range rows {
		for c := range columns {
			y[c*rows+r] = x[r*columns+c]
		}
	}
	return y
}

// ints reads integers of any width. One that does not fit an int becomes math.MaxInt.
func (a *npyArray) ints() ([]int, error) {
	values := make([]int, 0, min(a.elements(), 1<<20))
	kind := strings.TrimLeft(a.dtype, "<>|=")
	if !slices.Contains([]string{"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"}, kind) {
		return nil, a.bad(" holds %q, expected integers", a.dtype)
	}
	signed := kind[0] == 'i'
	err := a.each(func(order binary.ByteOrder, cell []byte) {
		v := unsigned(order, cell)
		if signed {
			values = append(values, int(extended(v, len(cell))))
		} else {
			values = append(values, int(min(v, math.MaxInt)))
		}
	})
	return values, err
}

// unsigned decodes an integer of 1, 2, 4 or 8 bytes.
func unsigned(order binary.ByteOrder, cell []byte) uint64 {
	switch len(cell) {
	case 1:
		return uint64(cell[0])
	case 2:
		return uint64(order.Uint16(cell))
	case 4:
		return uint64(order.Uint32(cell))
	}
	return order.Uint64(cell)
}

// extended extends the sign of an integer of that many bytes.
func extended(v uint64, bytes int) int64 {
	shift := 64 - 8*bytes
	return int64(v<<shift) >> shift
}

// decoder returns what decodes a number of a kind, such as f4, or a boolean; nil for other kinds.
func decoder(kind string) func(order binary.ByteOrder, cell []byte) float64 {
	switch kind {
	case "f2":
		return func(order binary.ByteOrder, cell []byte) float64 { return float64(Half(order.Uint16(cell)).Float32()) }
	case "f4":
		return func(order binary.ByteOrder, cell []byte) float64 {
			return float64(math.Float32frombits(order.Uint32(cell)))
		}
	case "f8":
		return func(order binary.ByteOrder, cell []byte) float64 { return math.Float64frombits(order.Uint64(cell)) }
	case "i1", "i2", "i4", "i8":
		return func(order binary.ByteOrder, cell []byte) float64 {
			return float64(extended(unsigned(order, cell), len(cell)))
		}
	case "u1", "u2", "u4", "u8":
		return func(order binary.ByteOrder, cell []byte) float64 { return float64(unsigned(order, cell)) }
	case "b1":
		return func(_ binary.ByteOrder, cell []byte) float64 { return float64(min(cell[0], 1)) }
	}
	return nil
}

// bools reads booleans, or integers of any width, where 0 is false.
func (a *npyArray) bools() ([]bool, error) {
	values := make([]bool, 0, min(a.elements(), 1<<20))
	zero := make([]byte, 8)
	err := a.each(func(_ binary.ByteOrder, cell []byte) {
		values = append(values, !bytes.Equal(cell, zero[:min(len(zero), len(cell))]))
	})
	return values, err
}

// isText reports whether the elements are strings.
func (a *npyArray) isText() bool { return strings.ContainsAny(a.dtype, "US") }

// texts reads Unicode or byte strings and removes their zero padding.
func (a *npyArray) texts() ([]string, error) {
	values := make([]string, 0, min(a.elements(), 1<<20))
	unicode := strings.Contains(a.dtype, "U")
	err := a.each(func(order binary.ByteOrder, cell []byte) {
		text := string(cell)
		if unicode {
			var runes []rune
			for ; len(cell) > 0; cell = cell[4:] {
				runes = append(runes, rune(order.Uint32(cell)))
			}
			text = string(runes)
		}
		values = append(values, strings.TrimRight(text, "\x00"))
	})
	return values, err
}

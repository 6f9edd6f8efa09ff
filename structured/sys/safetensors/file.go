// Package safetensors reads and writes the safetensors format: named tensors and a map of strings. It never executes
// anything.
//
// A file is an 8-byte little-endian length, a JSON header of that length
//
//	{"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//
// and the tensors' raw little-endian data, contiguous and without holes. Offsets count from the end of the header.
package safetensors

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// File is the content of a safetensors file.
type File struct {
	Metadata map[string]string
	Tensors  map[string]Tensor
}

// Tensor is a dense array, the last dimension contiguous. A nil Shape is a scalar.
type Tensor struct {
	Shape []int
	Data  any // []float32, []float64, []int64, []int32 or []uint8, or Lazy to write; its length is the product of Shape
}

// Lazy is the data of a tensor that is not in memory. Only Encode takes it.
type Lazy struct {
	DType string                  // as the format names it
	Len   int                     // how many elements
	Copy  func(w io.Writer) error // writes them, little-endian; it is called after the tensors before it were written
}

// bytesOf returns how many bytes the data of a tensor takes.
func bytesOf(data any) int {
	if l, ok := data.(Lazy); ok {
		return l.Len * sizeOf(makeData(l.DType, 0))
	}
	return binary.Size(data)
}

// Element lists the element types of tensors.
type Element interface {
	float32 | float64 | int64 | int32 | uint8
}

// Add puts a tensor into the file; without a shape it is a vector. The file shares data.
func Add[E Element](f *File, name string, data []E, shape ...int) {
	if f.Tensors == nil {
		f.Tensors = map[string]Tensor{}
	}
	if shape == nil {
		shape = []int{len(data)}
	}
	f.Tensors[name] = Tensor{Shape: shape, Data: data}
}

// Values returns the data of a tensor. It is bad input if the file lacks the tensor, if the element type is another, or
// if a shape is given (-1 fits any size) and the tensor's differs. f.Tensors has the actual shape.
func Values[E Element](f *File, name string, shape ...int) ([]E, error) {
	t, ok := f.Tensors[name]
	if !ok {
		return nil, structured.BadInput("no tensor %q, expected one; there are %s", name, f.names())
	}
	data, ok := t.Data.([]E)
	if !ok {
		return nil, structured.BadInput("tensor %q is %s, expected %s", name, dtypeOf(t.Data), dtypeOf([]E(nil)))
	}
	fits := shape == nil || len(shape) == len(t.Shape)
	for i, n := range shape {
		fits = fits && (n == -1 || n == t.Shape[i])
	}
	if !fits {
		return nil, structured.BadInput("tensor %q has shape %v, expected %v", name, t.Shape, shape)
	}
	return data, nil
}

// names lists the file's tensors for a message.
func (f *File) names() string {
	names := slices.Sorted(maps.Keys(f.Tensors))
	if len(names) == 0 {
		return "none"
	}
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return strings.Join(names, ", ")
}

// dtypeOf returns the format's name for the type of a tensor's data.
func dtypeOf(data any) string {
	switch data := data.(type) {
	case []float32:
		return "F32"
	case []float64:
		return "F64"
	case []int64:
		return "I64"
	case []int32:
		return "I32"
	case []uint8:
		return "U8"
	case Lazy:
		return data.DType
	}
	return fmt.Sprintf("%T", data)
}

// makeData allocates n elements of a dtype, or returns nil for an unknown dtype.
func makeData(dtype string, n int) any {
	switch dtype {
	case "F32":
		return make([]float32, n)
	case "F64":
		return make([]float64, n)
	case "I64":
		return make([]int64, n)
	case "I32":
		return make([]int32, n)
	case "U8":
		return make([]uint8, n)
	}
	return nil
}

// sizeOf returns the size of one element in bytes, or 0 for an unsupported type.
func sizeOf(data any) int {
	switch data := data.(type) {
	case Lazy:
		return sizeOf(makeData(data.DType, 0))
	case []float64, []int64:
		return 8
	case []float32, []int32:
		return 4
	case []uint8:
		return 1
	}
	return 0
}

// chunks calls do with consecutive pieces of data, each of a few pages, and with their bytes, which share memory, if
// those are a file's, else nil.
func chunks(data any, do func(piece any, bytes []byte) error) error {
	switch data := data.(type) {
	case []float32:
		return pieces(data, do)
	case []float64:
		return pieces(data, do)
	case []int64:
		return pieces(data, do)
	case []int32:
		return pieces(data, do)
	case []uint8:
		return pieces(data, do)
	}
	return nil
}

// Sum returns a checksum of the tensors: of their names, shapes and numbers, whatever the machine. It tells numbers
// that a disk or a hand has changed.
func (f *File) Sum() string {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	var buf []byte
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		t := f.Tensors[name]
		fmt.Fprintf(sum, "%q %v %s ", name, t.Shape, dtypeOf(t.Data))
		_ = chunks(t.Data, func(piece any, bytes []byte) (err error) {
			if bytes == nil {
				buf, err = binary.Append(buf[:0], order, piece)
				bytes = buf
			}
			_, _ = sum.Write(bytes) // never fails
			return err
		})
	}
	return fmt.Sprintf("%08x", sum.Sum32())
}

const pieceLen = 8192 // elements

func pieces[E Element](data []E, do func(piece any, bytes []byte) error) error {
	for piece := range slices.Chunk(data, pieceLen) {
		var bytes []byte
		if Native() {
			bytes = Bytes(piece)
		}
		if err := do(piece, bytes); err != nil {
			return err
		}
	}
	return nil
}

var order = binary.LittleEndian

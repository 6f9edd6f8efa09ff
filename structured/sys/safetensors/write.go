package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured/sys/host"
)

const (
	metadataKey = "__metadata__"
	alignment   = 8 // the data starts at a multiple of it, in bytes
)

// Write atomically writes f to path. Equal contents give equal bytes.
func Write(path string, f *File) error {
	return host.WriteFile(path, func(w io.Writer) error {
		if err := Encode(w, f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// Encode writes f to w. It sorts tensors from wide to narrow elements, so that all are aligned, and then by name. It
// pads the header with spaces.
func Encode(w io.Writer, f *File) error {
	names, err := layout(f)
	if err != nil {
		return err
	}
	header, err := encodeHeader(f, names)
	if err != nil {
		return err
	}
	buf := order.AppendUint64(nil, uint64(len(header)))
	if _, err := w.Write(append(buf, header...)); err != nil {
		return err
	}
	for _, name := range names {
		if l, ok := f.Tensors[name].Data.(Lazy); ok {
			if err := writeLazy(w, name, l); err != nil {
				return err
			}
			continue
		}
		err := chunks(f.Tensors[name].Data, func(piece any, bytes []byte) error {
			if bytes == nil {
				if buf, err = binary.Append(buf[:0], order, piece); err != nil {
					return err
				}
				bytes = buf
			}
			_, err := w.Write(bytes)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeLazy writes the data of a tensor that is not in memory, and checks how much it was.
func writeLazy(w io.Writer, name string, l Lazy) error {
	c := counter{w: w}
	if err := l.Copy(&c); err != nil {
		return err
	}
	if want := bytesOf(l); c.n != want {
		return fmt.Errorf("tensor %q: %d bytes were written, expected %d", name, c.n, want)
	}
	return nil
}

// counter counts the bytes that pass through it.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}

// layout checks the tensors and returns their names in the order of their data.
func layout(f *File) ([]string, error) {
	for name, t := range f.Tensors {
		size := sizeOf(t.Data)
		if size == 0 {
			return nil, fmt.Errorf("tensor %q: cannot write %T", name, t.Data)
		}
		if name == metadataKey || !utf8.ValidString(name) {
			return nil, fmt.Errorf("%q cannot be a tensor's name", name)
		}
		if n, ok := product(t.Shape); !ok || n*size != bytesOf(t.Data) {
			return nil, fmt.Errorf("tensor %q: shape %v does not hold %d elements", name, t.Shape, bytesOf(t.Data)/size)
		}
	}
	return slices.SortedFunc(maps.Keys(f.Tensors), func(a, b string) int {
		return cmp.Or(sizeOf(f.Tensors[b].Data)-sizeOf(f.Tensors[a].Data), cmp.Compare(a, b))
	}), nil
}

// entry is a tensor's entry in the header.
type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

func encodeHeader(f *File, names []string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	field := func(name string, value any) error {
		b.WriteByte(',')
		if b.Len() == 1 {
			b.Bytes()[0] = '{'
		}
		if err := enc.Encode(name); err != nil {
			return err
		}
		b.Bytes()[b.Len()-1] = ':' // replaces the line feed that Encode appends
		err := enc.Encode(value)
		b.Truncate(b.Len() - 1)
		return err
	}
	for k, v := range f.Metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return nil, fmt.Errorf("metadata %q is not UTF-8", k)
		}
	}
	if len(f.Metadata) > 0 {
		if err := field(metadataKey, f.Metadata); err != nil {
			return nil, err
		}
	}
	end := int64(0)
	for _, name := range names {
		t := f.Tensors[name]
		start := end
		end += int64(bytesOf(t.Data))
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		if err := field(name, entry{dtypeOf(t.Data), shape, []int64{start, end}}); err != nil {
			return nil, err
		}
	}
	if b.Len() == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	for (b.Len()+8)%alignment != 0 {
		b.WriteByte(' ')
	}
	return b.Bytes(), nil
}

// product returns the number of elements of a shape, or false if a size is negative or the product overflows.
func product(shape []int) (int, bool) {
	const most = 1 << 58 // 8 bytes each, this still fits an int64
	n, zero := 1, false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d == 0 {
			zero = true
		} else if n > most/d {
			return 0, false
		} else {
			n *= d
		}
	}
	if zero {
		return 0, true
	}
	return n, true
}

package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

const maxHeader = 100 << 20 // bytes, the format's limit

// Read reads the file at path. A missing, truncated or invalid file is bad input.
func Read(path string) (*File, error) {
	r, err := host.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := Decode(r, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Decode reads a file of the given size from r. It allocates no more than a small multiple of size.
func Decode(r io.Reader, size int64) (*File, error) {
	f, tensors, err := decodeHeader(r, size)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 8*pieceLen)
	for _, t := range tensors {
		n, _ := product(t.Shape)
		data := makeData(t.DType, n)
		if data == nil {
			return nil, structured.BadInput("tensor %q: dtype %q, expected F32, F64, I64, I32 or U8", t.name, t.DType)
		}
		if x, ok := data.([]float32); ok {
			vec.HugePages(x) // weights, mostly: fewer pages are made when they are read
		}
		err := chunks(data, func(piece any, bytes []byte) error {
			if bytes != nil {
				_, err := io.ReadFull(r, bytes)
				return err
			}
			b := buf[:binary.Size(piece)]
			if _, err := io.ReadFull(r, b); err != nil {
				return err
			}
			_, err := binary.Decode(b, order, piece)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.name, err)
		}
		f.Tensors[t.name] = Tensor{Shape: t.Shape, Data: data}
	}
	return f, nil
}

// Place is where a tensor's data are in a file.
type Place struct {
	Name, DType string
	Shape       []int
	Begin, End  int64 // bytes of the file
}

// Index reads the header of a file of the given size: its metadata, and where its tensors are, in the order of their
// data. The tensors fill the rest of the file without holes.
func Index(r io.Reader, size int64) (metadata map[string]string, places []Place, err error) {
	f, tensors, err := decodeHeader(r, size)
	if err != nil {
		return nil, nil, err
	}
	start := size
	if n := len(tensors); n > 0 {
		start -= tensors[n-1].Offsets[1]
	}
	for _, t := range tensors {
		places = append(places, Place{t.name, t.DType, t.Shape, start + t.Offsets[0], start + t.Offsets[1]})
	}
	return f.Metadata, places, nil
}

// named is an entry of the header with its name.
type named struct {
	name string
	entry
}

// decodeHeader reads and checks the header. It returns the tensors in the order of their data, which they fill without
// holes.
func decodeHeader(r io.Reader, size int64) (*File, []named, error) {
	if size < 8 {
		return nil, nil, structured.BadInput("%d bytes, expected a safetensors file of at least 8", size)
	}
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, nil, err
	}
	length := order.Uint64(prefix[:])
	if length > maxHeader {
		return nil, nil, structured.BadInput("not a safetensors file: it begins with %q, expected the length "+
			"of a header, at most %d", prefix[:], maxHeader)
	}
	if int64(length) > size-8 {
		return nil, nil, structured.BadInput("cut short: header of %d bytes, only %d are there", length, size-8)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, nil, err
	}
	if !utf8.Valid(header) || len(header) == 0 || header[0] != '{' {
		return nil, nil, structured.BadInput("not a safetensors file: its header is not a JSON object")
	}
	f, tensors, err := parseHeader(header)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(tensors, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]),
			cmp.Compare(a.name, b.name))
	})
	end := int64(0)
	for _, t := range tensors {
		if t.Offsets[0] != end {
			return nil, nil, structured.BadInput("tensor %q starts at byte %d, expected %d: tensors must neither "+
				"overlap nor leave holes", t.name, t.Offsets[0], end)
		}
		end = t.Offsets[1]
	}
	if have := size - 8 - int64(length); end > have {
		return nil, nil, structured.BadInput("cut short: %d bytes of data, expected %d", have, end)
	} else if end < have {
		return nil, nil, structured.BadInput("%d bytes of data, expected %d: the file is too long", have, end)
	}
	return f, tensors, nil
}

func parseHeader(header []byte) (*File, []named, error) {
	f := &File{Tensors: map[string]Tensor{}}
	var tensors []named
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(header))
	bad := func(err error) (*File, []named, error) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, structured.BadInput("header, byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != nil { // the brace
		return bad(err)
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return bad(err)
		}
		name, ok := token.(string)
		if !ok {
			return bad(fmt.Errorf("found %v, expected a name", token))
		}
		if seen[name] {
			return bad(fmt.Errorf("%q appears twice", name))
		}
		seen[name] = true
		if name == metadataKey {
			if err := dec.Decode(&f.Metadata); err != nil {
				return bad(fmt.Errorf("%s: %w", name, err))
			}
			continue
		}
		t := named{name: name}
		if err := dec.Decode(&t.entry); err != nil {
			return bad(fmt.Errorf("tensor %q: %w", name, err))
		}
		if err := t.check(); err != nil {
			return bad(fmt.Errorf("tensor %q: %w", name, err))
		}
		tensors = append(tensors, t)
	}
	if _, err := dec.Token(); err != nil {
		return bad(err)
	}
	if rest := bytes.TrimRight(header[dec.InputOffset():], " "); len(rest) > 0 {
		return bad(errors.New("something follows the header's object"))
	}
	return f, tensors, nil
}

// widths are the bytes per element of the format's types. Only Index accepts those that have no data here.
var widths = map[string]int{
	"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2,
	"I8": 1, "U8": 1, "BOOL": 1,
}

// check verifies that dtype, shape and offsets agree.
func (t entry) check() error {
	size, ok := widths[t.DType]
	if !ok {
		return fmt.Errorf("dtype %q, expected F32, F64, I64, I32 or U8", t.DType)
	}
	if t.Shape == nil {
		return errors.New("no shape")
	}
	if len(t.Offsets) != 2 || t.Offsets[0] < 0 || t.Offsets[1] < t.Offsets[0] {
		return fmt.Errorf("data_offsets %v, expected [begin, end]", t.Offsets)
	}
	n, possible := product(t.Shape)
	if !possible {
		return fmt.Errorf("shape %v is not possible", t.Shape)
	}
	if got, want := t.Offsets[1]-t.Offsets[0], int64(n)*int64(size); got != want {
		return fmt.Errorf("data of %d bytes, expected %d for %s %v", got, want, t.DType, t.Shape)
	}
	return nil
}

package packed

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Format is the metadata entry "format" of packs of this version. Others are refused.
const Format = "dsp data 1"

// checksum is the tensor with the CRC-32C of all bytes before it. Its name puts it after all other tensors.
const checksum = "~crc32c"

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Write writes a pack, whole or not at all. It sets the format and the checksum in f.
func Write(path string, f *safetensors.File) error {
	if !safetensors.Native() {
		return structured.BadInput("%s: packs need a little-endian machine of 64 bits", path)
	}
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata["format"] = Format
	return host.WriteFile(path, func(w io.Writer) error {
		sum := crc32.New(castagnoli())
		f.Tensors[checksum] = safetensors.Tensor{Shape: []int{4}, Data: safetensors.Lazy{DType: "U8", Len: 4, Copy: func(w io.Writer) error {
			_, err := w.Write(sum.Sum(nil))
			return err
		}}}
		return safetensors.Encode(io.MultiWriter(w, sum), f)
	})
}

// Is reports whether a file is a pack, by its metadata, and returns these, or nil if it is one that Open refuses. It is
// false for files that cannot be read.
func Is(path string) (metadata map[string]string, ok bool) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false
	}
	var first [9]byte // a header begins with its length and a brace
	if n, _ := f.ReadAt(first[:], 0); n < 9 || first[8] != '{' || first[7] != 0 || first[6] != 0 {
		return nil, false
	}
	metadata, _, err = safetensors.Index(f, info.Size())
	if err != nil { // perhaps a pack that was cut short, which Open explains
		start := make([]byte, 1<<16)
		n, _ := f.ReadAt(start, 0)
		return nil, slices.Contains(quotedStrings(start[:n]), "dsp data ")
	}
	return metadata, len(metadata["format"]) >= 9 && metadata["format"][:9] == Format[:9]
}

// quotedStrings returns the beginnings, 9 bytes long, of the JSON strings in a text.
func quotedStrings(text []byte) []string {
	var all []string
	for k, c := range text {
		if c == '"' && k+10 <= len(text) {
			all = append(all, string(text[k+1:k+10]))
		}
	}
	return all
}

// File is an open pack.
type File struct {
	Metadata map[string]string

	path   string
	data   []byte // the whole file
	places map[string]safetensors.Place
}

// Open maps a pack and verifies its checksum, which reads it once. Files that are no packs, cut short or changed are
// bad input. The mapping lasts as long as the process, and nobody may change or truncate the file meanwhile.
func Open(path string) (*File, error) {
	if !safetensors.Native() {
		return nil, structured.BadInput("%s: packs need a little-endian machine of 64 bits", path)
	}
	r, err := host.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f := &File{path: path, places: map[string]safetensors.Place{}}
	places, err := f.index(r, info.Size())
	if err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if f.data, err = mapped(r, int(info.Size())); err != nil {
		return nil, fmt.Errorf("%s: cannot map the file: %w", path, err)
	}
	if err := f.verify(places); err != nil {
		return nil, errors.Join(structured.BadInput("%s: %w", path, err), unmap(f.data))
	}
	trim(f.data)
	return f, nil
}

// index reads the header.
func (f *File) index(r io.Reader, size int64) (places []safetensors.Place, err error) {
	if f.Metadata, places, err = safetensors.Index(r, size); err != nil {
		return nil, err
	}
	switch format := f.Metadata["format"]; {
	case format != Format:
		return nil, fmt.Errorf("format %q, this version of dsp reads %q; pack the data again", format, Format)
	case len(places) == 0 || places[len(places)-1].Name != checksum || places[len(places)-1].End-
		places[len(places)-1].Begin != 4:
		return nil, fmt.Errorf("no checksum at its end, expected a tensor %q of 4 bytes", checksum)
	}
	for _, p := range places {
		f.places[p.Name] = p
	}
	return places, nil
}

// verifyBytes are verified before their pages are given back.
const verifyBytes = 16 << 20

// verify compares the checksum with the content.
func (f *File) verify(places []safetensors.Place) error {
	end := places[len(places)-1].Begin
	sequential(f.data, true)
	defer sequential(f.data, false)
	sum := uint32(0)
	for piece := range slices.Chunk(f.data[:end], verifyBytes) {
		sum = crc32.Update(sum, castagnoli(), piece)
		forget(f.data)
	}
	if want, got := hex.EncodeToString(f.data[end:]), fmt.Sprintf("%08x", sum); got != want {
		return fmt.Errorf("its checksum is %s, expected %s: the file was changed or damaged; pack the data again", got, want)
	}
	return nil
}

// Copied returns the chosen tensors as a file in memory, which no longer needs the mapping.
func (f *File) Copied(chosen func(name string) bool) (*safetensors.File, error) {
	to := &safetensors.File{Metadata: f.Metadata, Tensors: map[string]safetensors.Tensor{}}
	for name, p := range f.places {
		if !chosen(name) {
			continue
		}
		b, t := f.data[p.Begin:p.End], safetensors.Tensor{Shape: p.Shape}
		var err error
		switch p.DType {
		case "U8":
			t.Data = slices.Clone(b)
		case "F32":
			t.Data, err = cloned[float32](b)
		case "I32":
			t.Data, err = cloned[int32](b)
		case "I64":
			var x []int
			x, err = cloned[int](b)
			t.Data = int64s(x)
		default:
			t.Data, err = cloned[float64](b)
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		to.Tensors[name] = t
	}
	return to, nil
}

func cloned[E elements](b []byte) ([]E, error) {
	x, err := view[E](b)
	return slices.Clone(x), err
}

// values returns a tensor of so many numbers, or nil if there is none; a negative count fits any.
func values[E elements](f *File, name string, count int) ([]E, error) {
	p, ok := f.places[name]
	if !ok {
		return nil, nil
	}
	if want := dtype[E](); p.DType != want {
		return nil, fmt.Errorf("tensor %q is %s, expected %s", name, p.DType, want)
	}
	x, err := view[E](f.data[p.Begin:p.End])
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", name, err)
	}
	if count >= 0 && len(x) != count {
		return nil, fmt.Errorf("tensor %q has %d numbers, expected %d", name, len(x), count)
	}
	return x, nil
}

// Map returns the content of a file of another kind, mapped for reading as a pack is.
func Map(f *os.File, size int64) ([]byte, error) {
	switch {
	case !safetensors.Native():
		return nil, structured.BadInput("%s: mapped files need a little-endian machine of 64 bits", f.Name())
	case size == 0:
		return nil, nil
	}
	return mapped(f, int(size))
}

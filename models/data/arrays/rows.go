package arrays

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Rows is an array of numbers whose rows stay in their file, in the precision that they have there, until they are
// read. So an array larger than the memory can be used. (One that is compressed is unpacked into memory.) It serves
// many goroutines at once.
type Rows struct {
	where  string // file and array, for messages
	data   io.ReaderAt
	start  int64 // of the first row in data
	kind   string
	number func(order binary.ByteOrder, cell []byte) float64
	order  binary.ByteOrder
	n      int
	shape  []int // of one row
	width  int   // numbers per row
	packed bool

	file *sizedFile // that the rows stay in, or nil
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// Shape returns the shape of one row: [D], or [C H W].
func (r *Rows) Shape() []int { return r.shape }

// Width returns the number of numbers per row.
func (r *Rows) Width() int { return r.width }

// Bytes returns the size of all rows in their file.
func (r *Rows) Bytes() int64 { return int64(r.n) * int64(r.width) * int64(r.size()) }

// size returns the bytes of a number.
func (r *Rows) size() int { return int(r.kind[1] - '0') }

// Read reads rows from to to-1 into dst [(to-from)×Width] as float32. A number that is not finite in float32 is bad
// input, and so is a file that has become shorter. Other changes of the file are errors, too, as far as its size and
// time of modification show them.
func (r *Rows) Read(dst []float32, from, to int) error {
	if from < 0 || to > r.n || from > to || len(dst) != (to-from)*r.width {
		return structured.BadInput("%s: rows %d to %d into %d numbers, expected rows from 0 to %d with %d numbers each",
			r.where, from, to, len(dst), r.n, r.width)
	}
	if err := r.file.unchanged(); err != nil {
		return err
	}
	buffer := pieces.Get().(*[]byte)
	defer pieces.Put(buffer)
	size := r.size()
	at := r.start + int64(from)*int64(r.width)*int64(size)
	for done := 0; done < len(dst); {
		n := min(len(dst)-done, pieceBytes/size)
		raw, out := (*buffer)[:n*size], dst[done:done+n]
		if _, err := r.data.ReadAt(raw, at); err != nil && !errors.Is(err, io.EOF) {
			return structured.BadInput("%s: %w", r.where, err)
		} else if err != nil {
			return structured.BadInput("%s: the file ends within the numbers that its header promises", r.where)
		}
		if bad := r.convert(out, raw); bad >= 0 {
			i := done + bad
			return structured.BadInput("%s: number %d of row %d is %v, expected a finite number (in float32)", r.where,
				i%r.width, from+i/r.width, out[bad])
		}
		done += n
		at += int64(len(raw))
	}
	return nil
}

// sound reads the array of that archive, into all [Len×Width] unless that is nil, and reports whether it has finite
// numbers only, and the checksum that the archive says.
func (r *Rows) sound(archive *zip.Reader, all []float32) bool {
	for _, z := range archive.File {
		if strings.TrimSuffix(z.Name, ".npy") != "features" {
			continue
		}
		body, err := z.Open()
		if err != nil {
			return false
		}
		defer body.Close()
		if _, err := io.CopyN(io.Discard, body, r.start); err != nil {
			return false
		}
		numbers := make([]float32, pieceBytes/r.size())
		raw := make([]byte, len(numbers)*r.size())
		for left := r.Bytes() / int64(r.size()); ; {
			n, err := io.ReadFull(body, raw) // the checksum is compared at the end
			k := n / r.size()
			if left -= int64(k); left < 0 {
				return false
			}
			if all != nil {
				numbers, all = all[:k], all[k:]
			}
			if r.convert(numbers[:k], raw[:n]) >= 0 {
				return false
			}
			if err != nil {
				return left == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
			}
		}
	}
	return false
}

// sampledRows is how many rows of an array its fingerprint reads.
const sampledRows = 256

// Fingerprint implements structured.FeatureSource: by the shape, and rows at even distances.
func (r *Rows) Fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, r.n, r.shape)
	row := make([]float32, r.width)
	bytes := make([]byte, 0, 4*len(row))
	for k := range min(r.n, sampledRows) {
		at := k * r.n / min(r.n, sampledRows)
		if err := r.Read(row, at, at+1); err != nil {
			return "", err
		}
		bytes = bytes[:0]
		for _, x := range row {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
		}
		h.Write(bytes)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

const pieceBytes = 1 << 17 // stays in the processor's cache between reading and converting

var pieces = sync.Pool{New: func() any {
	b := make([]byte, pieceBytes)
	return &b
}}

// convert turns bytes into numbers and returns the index of the first that is not finite, or -1.
func (r *Rows) convert(dst []float32, raw []byte) int {
	finite := true
	switch little := r.order == binary.LittleEndian; {
	case r.kind == "f2" && little:
		finite = fromHalves(dst, raw)
	case r.kind == "f4" && little:
		finite = fromFloats(dst, raw)
	default:
		size := r.size()
		for i := range dst {
			dst[i] = float32(r.number(r.order, raw[i*size:][:size]))
			finite = finite && dst[i]-dst[i] == 0
		}
	}
	if finite {
		return -1
	}
	return slices.IndexFunc(dst, func(x float32) bool { return x-x != 0 })
}

// fromHalves reports whether all numbers are finite.
func fromHalves(dst []float32, raw []byte) bool {
	raw, largest := raw[:2*len(dst)], Half(0)
	for i := range dst {
		h := Half(binary.LittleEndian.Uint16(raw[2*i:]))
		largest = max(largest, h&halfMagnitude)
		dst[i] = h.finite()
	}
	if largest < halfInfinity {
		return true
	}
	for i := range dst {
		dst[i] = Half(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
	}
	return false
}

// fromFloats reports whether all numbers are finite.
func fromFloats(dst []float32, raw []byte) bool {
	raw, largest := raw[:4*len(dst)], uint32(0)
	for i := range dst {
		bits := binary.LittleEndian.Uint32(raw[4*i:])
		largest = max(largest, bits&0x7fffffff)
		dst[i] = math.Float32frombits(bits)
	}
	return largest < 0x7f800000
}

// sizedFile is a file with its size and time of modification when it was opened.
type sizedFile struct {
	*os.File
	size     int64
	modified time.Time
}

// unchanged returns an error if the file, unless it is nil, has another size than when it was opened, or another time
// of modification. That asks the system once, and reads nothing.
func (f *sizedFile) unchanged() error {
	if f == nil {
		return nil
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return structured.BadInput("%w", err)
	case info.Size() < f.size:
		return structured.BadInput("%s: the file has become shorter while it was in use: %d bytes, expected %d",
			f.Name(), info.Size(), f.size)
	case info.Size() != f.size || !info.ModTime().Equal(f.modified):
		return fmt.Errorf("%s: the file has changed while it was in use: %d bytes of %s, expected %d of %s; a run needs it "+
			"as it was at its start",
			f.Name(), info.Size(), info.ModTime().Format(stampOfFile), f.size, f.modified.Format(stampOfFile))
	}
	return nil
}

// stampOfFile is how messages write times of modification, which may differ by little.
const stampOfFile = "2006-01-02 15:04:05.000"

func openFile(path string) (sizedFile, error) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return sizedFile{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return sizedFile{}, errors.Join(err, f.Close())
	}
	return sizedFile{f, info.Size(), info.ModTime()}, nil
}

// OnDisk reports whether a path is that of an archive on disk, whose arrays can stay there: neither a stream nor
// compressed as a whole.
func OnDisk(path string) bool {
	f, err := openFile(path)
	if err != nil {
		return false
	}
	start := make([]byte, 4)
	_, err = f.ReadAt(start, 0) // some systems open /dev/stdin at the place up to which it was read
	return errors.Join(err, f.Close()) == nil && string(start) == "PK\x03\x04"
}

// openZip opens an npz archive whose arrays stay on disk.
func openZip(path string) (*zip.Reader, sizedFile, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, f, err
	}
	archive, err := zip.NewReader(f, f.size)
	if err != nil {
		return nil, f, errors.Join(notArchive(path, err), f.Close())
	}
	return archive, f, nil
}

// rowsOf returns the rows of an array of the archive, or nil if there is none. They stay in the file if they are not
// compressed.
func rowsOf(archive *zip.Reader, f sizedFile, name string) (*Rows, error) {
	where := f.Name() + ": " + name
	for _, z := range archive.File {
		if strings.TrimSuffix(z.Name, ".npy") != name {
			continue
		}
		if z.Method == zip.Store {
			start, err := z.DataOffset()
			if err != nil || start > f.size || z.UncompressedSize64 > uint64(f.size-start) {
				return nil, structured.BadInput("%s: the archive is broken or cut off", where)
			}
			r, err := newRows(io.NewSectionReader(f, start, int64(z.UncompressedSize64)), where)
			if err == nil {
				r.file = &f
			}
			return r, err
		}
		return unpacked(z, where)
	}
	return nil, nil
}

func unpacked(z *zip.File, where string) (*Rows, error) {
	what := "unpacking " + filepath.Base(where) + " (np.savez would not compress it, and it would stay on disk)"
	if err := host.CheckMemory(what, float64(z.UncompressedSize64)); err != nil {
		return nil, err
	}
	body, err := z.Open()
	if err != nil {
		return nil, structured.BadInput("%s: %w", where, err)
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, structured.BadInput("%s: %w", where, err)
	}
	rows, err := newRows(io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content))), where)
	if err == nil {
		rows.packed = true
	}
	return rows, err
}

// newRows reads the header of an npy file.
func newRows(file *io.SectionReader, where string) (*Rows, error) {
	a := &npyArray{where: where, body: file}
	if err := a.readHeader(); err != nil {
		return nil, err
	}
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, structured.BadInput("%s: %w", where, err)
	}
	r := &Rows{where: where, data: file, start: start, kind: strings.TrimLeft(a.dtype, "<>|="), order: a.order()}
	r.number = decoder(r.kind)
	switch {
	case r.number == nil:
		return nil, a.bad(" holds %q, expected numbers", a.dtype)
	case len(a.shape) < 2 || a.elements() == 0:
		return nil, a.bad(" has shape %v, expected at least one row and one number per row", a.shape)
	case a.fortran:
		return nil, a.bad(" is in Fortran's order, expected C's (np.ascontiguousarray)")
	}
	r.n, r.shape = a.shape[0], a.shape[1:]
	r.width = a.elements() / r.n
	if found := file.Size() - start; found != r.Bytes() {
		return nil, a.bad(" has %d bytes of numbers, expected %d for its shape %v", found, r.Bytes(), a.shape)
	}
	return r, nil
}

package models

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// npzWriter writes NumPy's archive: a zip with an uncompressed .npy file for each array.
type npzWriter struct{ z *zip.Writer }

func newNPZ(w io.Writer) npzWriter { return npzWriter{zip.NewWriter(w)} }

func (n npzWriter) Close() error { return n.z.Close() }

// add writes an array of numbers, the last axis contiguous.
func add[E float32 | int32 | int64 | uint8](n npzWriter, name string, data []E, shape ...int) error {
	var kind string
	switch any(data).(type) {
	case []float32:
		kind = "<f4"
	case []int32:
		kind = "<i4"
	case []int64:
		kind = "<i8"
	case []uint8:
		kind = "|u1"
	}
	w, err := n.create(name, kind, shape)
	if err != nil {
		return err
	}
	const piece = 1 << 14 // binary.Write copies what it is given
	for len(data) > 0 {
		k := min(piece, len(data))
		if err := binary.Write(w, binary.LittleEndian, data[:k]); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// addText writes a vector of Unicode strings.
func (n npzWriter) addText(name string, texts []string) error {
	width := 1
	for _, s := range texts {
		width = max(width, utf8.RuneCountInString(s))
	}
	w, err := n.create(name, fmt.Sprintf("<U%d", width), []int{len(texts)})
	if err != nil {
		return err
	}
	cell := make([]byte, 4*width)
	for _, s := range texts {
		clear(cell)
		at := 0
		for _, r := range s {
			binary.LittleEndian.PutUint32(cell[at:], uint32(r))
			at += 4
		}
		if _, err := w.Write(cell); err != nil {
			return err
		}
	}
	return nil
}

// create begins the .npy file of an array (format version 1.0, whose header is padded to a multiple of 64 bytes).
func (n npzWriter) create(name, kind string, shape []int) (io.Writer, error) {
	w, err := n.z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return nil, err
	}
	axes := make([]string, len(shape))
	for i, s := range shape {
		axes[i] = fmt.Sprintf("%d,", s)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, strings.Join(axes, " "))
	const before = 10 // magic, version, length
	header += strings.Repeat(" ", 63-(before+len(header))%64) + "\n"
	start := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	_, err = w.Write(append(start, header...))
	return w, err
}

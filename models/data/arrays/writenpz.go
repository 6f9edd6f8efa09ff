package arrays

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// NPZWriter writes NumPy's archive of arrays: a zip with an uncompressed .npy file for each array.
type NPZWriter struct{ z *zip.Writer }

// WriteNPZ writes an archive to w; write adds its arrays.
func WriteNPZ(w io.Writer, write func(n NPZWriter) error) error {
	n := NPZWriter{zip.NewWriter(w)}
	if err := write(n); err != nil {
		return err
	}
	return n.z.Close()
}

// Add writes an array of numbers, the last axis contiguous.
func Add[E float32 | float64 | Half | int32 | int64 | uint8](n NPZWriter, name string, data []E, shape ...int) error {
	var kind string
	switch any(data).(type) {
	case []float32:
		kind = "<f4"
	case []float64:
		kind = "<f8"
	case []Half:
		kind = "<f2"
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

// AddText writes a vector of Unicode strings.
func (n NPZWriter) AddText(name string, texts []string) error {
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
func (n NPZWriter) create(name, kind string, shape []int) (io.Writer, error) {
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

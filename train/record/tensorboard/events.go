// Package tensorboard writes TensorBoard event files that hold scalars.
//
// An event file is a sequence of TFRecords. Each is a protocol buffer tensorflow.Event framed by its length and
// checksums:
//
//	uint64 length | uint32 masked crc32c of length | Event [length] | uint32 masked crc32c of Event
//
// all little-endian. The fields used, by number: Event{1 wall_time, 2 step, 3 file_version, 5 summary},
// Summary{1 value}, Summary.Value{1 tag, 2 simple_value}.
package tensorboard

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Scalar is a number with a tag. TensorBoard groups tags that share a prefix up to a slash.
type Scalar struct {
	Tag   string
	Value float32
}

// Writer writes events to a file or any other writer.
type Writer struct {
	w   io.Writer
	buf []byte
}

// newWriter starts an event file on w. The time is in seconds since 1970.
func newWriter(w io.Writer, time float64) (*Writer, error) {
	t := &Writer{w: w}
	version := protowire.AppendTag(event(time, 0), 3, protowire.BytesType)
	return t, t.record(protowire.AppendString(version, "brain.Event:2"))
}

// scalars writes the values of one step as one event, with a single call of Write.
func (t *Writer) scalars(time float64, step int, values ...Scalar) error {
	var summary []byte
	for _, v := range values {
		var b []byte
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendString(b, v.Tag)
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(v.Value))
		summary = protowire.AppendTag(summary, 1, protowire.BytesType)
		summary = protowire.AppendBytes(summary, b)
	}
	e := protowire.AppendTag(event(time, step), 5, protowire.BytesType)
	return t.record(protowire.AppendBytes(e, summary))
}

// event returns the fields that every event has.
func event(time float64, step int) []byte {
	b := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(time))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(step))
}

func (t *Writer) record(data []byte) error {
	b := binary.LittleEndian.AppendUint64(t.buf[:0], uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, mask(b))
	b = append(b, data...)
	b = binary.LittleEndian.AppendUint32(b, mask(data))
	t.buf = b
	_, err := t.w.Write(b)
	return err
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// mask returns the checksum of b as TFRecords store it. It is rotated and shifted, so that checksums of data that
// contains checksums stay effective.
func mask(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli())
	return (c>>15 | c<<17) + 0xa282ead8
}

// Package exiftest writes files of images whose pixels are stored turned, with the EXIF orientation that says so, for
// tests of what reads images.
package exiftest

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
)

// Orientations is the number of values of EXIF's tag: 1 to 8.
const Orientations = 8

// Order is binary.LittleEndian or binary.BigEndian.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Orders are the two orders of bytes that EXIF may have.
var Orders = []Order{binary.LittleEndian, binary.BigEndian}

// Stored returns the pixels that a file of the orientation stores, so that it shows m. An image with a palette keeps
// it.
func Stored(m image.Image, orientation int) image.Image {
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	wide, high := w, h
	if orientation >= 5 {
		wide, high = h, w
	}
	var to draw.Image = image.NewRGBA(image.Rect(0, 0, wide, high))
	if p, ok := m.(*image.Paletted); ok {
		to = image.NewPaletted(to.Bounds(), p.Palette)
	}
	for y := range high {
		for x := range wide {
			// What the standard says of the stored row 0 and column 0: at which side of what is seen they are.
			at := [Orientations][2]int{
				{x, y},                 // top, left
				{w - 1 - x, y},         // top, right
				{w - 1 - x, h - 1 - y}, // bottom, right
				{x, h - 1 - y},         // bottom, left
				{y, x},                 // left, top
				{w - 1 - y, x},         // right, top
				{w - 1 - y, h - 1 - x}, // right, bottom
				{y, h - 1 - x},         // left, bottom
			}[orientation-1]
			to.Set(x, y, m.At(b.Min.X+at[0], b.Min.Y+at[1]))
		}
	}
	return to
}

// EXIF returns a directory with the orientation behind another entry.
func EXIF(orientation int, order Order) []byte {
	start := "MM\x00*"
	if order == Order(binary.LittleEndian) {
		start = "II*\x00"
	}
	u16 := func(b []byte, x int) []byte { return order.AppendUint16(b, uint16(x)) }
	u32 := func(b []byte, x int) []byte { return order.AppendUint32(b, uint32(x)) }
	b := u32([]byte(start), 8)
	b = u16(b, 2)
	b = u32(u32(u16(u16(b, 0x100), 4), 1), 640)                 // width
	b = u16(u16(u32(u16(u16(b, 0x112), 3), 1), orientation), 0) // a short fills the first half
	return u32(b, 0)                                            // no other directory
}

// JPEG returns a file that shows m. Its EXIF says the orientation, behind another segment of the same kind.
func JPEG(m image.Image, orientation int, order Order) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, Stored(m, orientation), &jpeg.Options{Quality: 100})
	return WithEXIF(b.Bytes(), EXIF(orientation, order))
}

// WithEXIF puts EXIF into a JPEG file.
func WithEXIF(file, exif []byte) []byte {
	segment := func(content string) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(2+len(content))), content...)
	}
	out := append([]byte{}, file[:2]...)
	out = append(out, segment("http://ns.adobe.com/xap/1.0/\x00<x/>")...)
	out = append(out, segment("Exif\x00\x00"+string(exif))...)
	return append(out, file[2:]...)
}

// PNG returns a file that shows m. Its chunk eXIf, before the pixels or behind them, says the orientation.
func PNG(m image.Image, orientation int, order Order, behind bool) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, Stored(m, orientation))
	content := append([]byte("eXIf"), EXIF(orientation, order)...)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(content)-4)), content...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(content))
	at := bytes.Index(b.Bytes(), []byte("IHDR")) + 4 + 13 + 4
	if behind {
		at = bytes.Index(b.Bytes(), []byte("IEND")) - 4
	}
	return append(append(append([]byte{}, b.Bytes()[:at]...), chunk...), b.Bytes()[at:]...)
}

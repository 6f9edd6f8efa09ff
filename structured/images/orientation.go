package images

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/dsp-go/dsp/structured/boxes"
)

// Orientation says how the pixels that a file stores are to be turned to be seen upright: the value of EXIF's tag
// Orientation (CIPA DC-008, 4.6.5.1.6), but for 1. From 5 on, width and height change places.
type Orientation uint8

// Upright pixels are stored as they are to be seen: EXIF's 1.
const Upright Orientation = 0

// Turns reports whether seeing the pixels upright changes them.
func (o Orientation) Turns() bool { return o > 1 }

// Swaps reports whether width and height change places.
func (o Orientation) Swaps() bool { return o >= 5 }

// mirrors reports whether, after rows and columns have changed places if they do, each row, and each column, is
// reversed.
func (o Orientation) mirrors() (rows, columns bool) {
	switch o {
	case 2, 6:
		return true, false
	case 3, 7:
		return true, true
	case 4, 8:
		return false, true
	}
	return false, false
}

// Inverse returns the orientation that undoes o.
func (o Orientation) Inverse() Orientation {
	switch o {
	case 6:
		return 8
	case 8:
		return 6
	}
	return o
}

// Size returns the width and the height after turning those of the stored pixels.
func (o Orientation) Size(width, height int) (int, int) {
	if o.Swaps() {
		return height, width
	}
	return width, height
}

// Turn returns pixels [height×width×channels] upright, where their size is Size(width, height).
func (o Orientation) Turn(pixels []uint8, width, height, channels int) []uint8 {
	if !o.Turns() {
		return pixels
	}
	wide, high := o.Size(width, height)
	rows, columns := o.mirrors()
	at := func(x, y int) int { // where the upright pixel is stored
		if rows {
			x = wide - 1 - x
		}
		if columns {
			y = high - 1 - y
		}
		if o.Swaps() {
			x, y = y, x
		}
		return channels * (y*width + x)
	}
	first := at(0, 0)
	right, down := at(1, 0)-first, at(0, 1)-first
	turned := make([]uint8, 0, len(pixels))
	for y := range high {
		from := first + y*down
		for range wide {
			turned = append(turned, pixels[from:from+channels]...)
			from += right
		}
	}
	return turned
}

// TurnBox returns where a box in the stored pixels, width × height of them, is seen upright.
func (o Orientation) TurnBox(b boxes.Box, width, height int) boxes.Box {
	if o.Swaps() {
		b = boxes.Box{X: b.Y, Y: b.X, Width: b.Height, Height: b.Width}
	}
	wide, high := o.Size(width, height)
	rows, columns := o.mirrors()
	if rows {
		b.X = float64(wide) - b.X - b.Width
	}
	if columns {
		b.Y = float64(high) - b.Y - b.Height
	}
	return b
}

const (
	pngSignature  = "\x89PNG\r\n\x1a\n"
	exifSignature = "Exif\x00\x00"
	mostExif      = 1 << 16 // bytes that are read of it: more than a segment of a JPEG holds
)

// OrientationOf returns what the EXIF of a JPEG image says, or that of a PNG image (chunk eXIf). Without EXIF, or if it
// is broken, it is Upright: a file whose pixels can be decoded is an image.
func OrientationOf(r io.ReadSeeker) Orientation {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return Upright
	}
	if string(start[:]) == pngSignature {
		return orientationOfPNG(r)
	}
	if start[0] != 0xff || start[1] != 0xd8 {
		return Upright
	}
	if _, err := r.Seek(2-int64(len(start)), io.SeekCurrent); err != nil {
		return Upright
	}
	return orientationOfJPEG(r)
}

// orientationOfJPEG goes through the segments before the pixels.
func orientationOfJPEG(r io.ReadSeeker) Orientation {
	var head [2]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0xff {
			return Upright
		}
		for head[1] == 0xff { // bytes that fill
			if _, err := io.ReadFull(r, head[1:]); err != nil {
				return Upright
			}
		}
		marker := head[1]
		switch {
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd7: // alone
			continue
		case marker == 0xda || marker == 0xd9: // the pixels, or the end
			return Upright
		}
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return Upright
		}
		length := int64(binary.BigEndian.Uint16(head[:])) - int64(len(head))
		if length < 0 {
			return Upright
		}
		const application1 = 0xe1
		if marker == application1 && length > int64(len(exifSignature)) {
			content := make([]byte, length)
			if _, err := io.ReadFull(r, content); err != nil {
				return Upright
			}
			if bytes.HasPrefix(content, []byte(exifSignature)) {
				return orientationOfTIFF(content[len(exifSignature):])
			}
			continue // XMP
		}
		if _, err := r.Seek(length, io.SeekCurrent); err != nil {
			return Upright
		}
	}
}

// orientationOfPNG goes through the chunks: some programs write eXIf behind the pixels.
func orientationOfPNG(r io.ReadSeeker) Orientation {
	var head [8]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return Upright
		}
		length := int64(binary.BigEndian.Uint32(head[:]))
		switch string(head[4:]) {
		case "eXIf":
			content := make([]byte, min(length, mostExif))
			n, _ := io.ReadFull(r, content)
			return orientationOfTIFF(bytes.TrimPrefix(content[:n], []byte(exifSignature))) // which some programs write here, too
		case "IEND":
			return Upright
		}
		const checksum = 4
		if _, err := r.Seek(length+checksum, io.SeekCurrent); err != nil {
			return Upright
		}
	}
}

// orientationOfTIFF finds the tag in the first directory of a TIFF file, which EXIF is.
func orientationOfTIFF(content []byte) Orientation {
	if len(content) < 8 {
		return Upright
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(content[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
	default:
		return Upright
	}
	at := int64(order.Uint32(content[4:]))
	if at+2 > int64(len(content)) {
		return Upright
	}
	entries := content[at+2:]
	const size, tagOrientation = 12, 0x112
	for range order.Uint16(content[at:]) {
		if len(entries) < size {
			return Upright
		}
		entry := entries[:size]
		if entries = entries[size:]; order.Uint16(entry) != tagOrientation || order.Uint32(entry[4:]) != 1 {
			continue
		}
		value := uint32(0)
		switch order.Uint16(entry[2:]) { // the type: a short, or what programs that do not know better write
		case 1:
			value = uint32(entry[8])
		case 3:
			value = uint32(order.Uint16(entry[8:]))
		case 4:
			value = order.Uint32(entry[8:])
		}
		if value > 1 && value <= 8 {
			return Orientation(value)
		}
		return Upright
	}
	return Upright
}

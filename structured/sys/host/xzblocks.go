package host

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/dsp-go/dsp/structured"
)

// mostDictionary is the largest dictionary of an xz file that is made, in bytes: xz -9 has 64 MiB. A file of a hundred
// bytes can ask for 4 GiB.
const mostDictionary = 256 << 20

// xzBlocks hands on an xz file and follows its structure meanwhile (The .xz File Format, version 1.2), so that a block
// whose dictionary is too large is refused before anybody makes the dictionary. What is damaged it leaves to the
// decoder to refuse.
type xzBlocks struct {
	io.Reader

	state   func(x *xzBlocks, field []byte) // takes the field that is being gathered
	field   []byte
	left    int // bytes of the field that have not come
	skip    int // bytes to pass over before it
	check   int // bytes after a block
	at      int // bytes so far; all parts of a file begin at multiples of four
	numbers uint64
	err     error
}

func newXZBlocks(r io.Reader) *xzBlocks {
	x := &xzBlocks{Reader: r}
	x.next((*xzBlocks).stream, 12)
	return x
}

func (x *xzBlocks) Read(p []byte) (int, error) {
	n, err := x.Reader.Read(p)
	x.follow(p[:n])
	if x.err != nil {
		return 0, x.err
	}
	return n, err
}

// next says what takes the next bytes, as many as that; nil passes the rest of the file over.
func (x *xzBlocks) next(state func(x *xzBlocks, field []byte), bytes int) {
	x.state, x.left, x.field = state, bytes, x.field[:0]
}

// follow takes the next bytes of the file.
func (x *xzBlocks) follow(p []byte) {
	for len(p) > 0 && x.state != nil && x.err == nil {
		if x.skip > 0 {
			n := min(x.skip, len(p))
			x.skip, x.at, p = x.skip-n, x.at+n, p[n:]
			continue
		}
		n := min(x.left, len(p))
		x.field = append(x.field, p[:n]...)
		x.left, x.at, p = x.left-n, x.at+n, p[n:]
		if x.left == 0 {
			x.state(x, x.field)
		}
	}
}

// stream takes the header of a stream, or four bytes of the padding before it with eight others.
func (x *xzBlocks) stream(header []byte) {
	if binary.LittleEndian.Uint32(header) == 0 {
		rest := bytes.Clone(header[4:])
		x.next((*xzBlocks).stream, 12)
		x.follow(rest)
		return
	}
	x.check = []int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[header[7]&15]
	x.start()
}

// start begins a block or the index.
func (x *xzBlocks) start() {
	x.next((*xzBlocks).size, 1)
}

// size takes the size of a block's header; 0 is the index.
func (x *xzBlocks) size(field []byte) {
	if field[0] == 0 {
		x.numbers = 0
		x.next((*xzBlocks).count, 1)
		return
	}
	x.next((*xzBlocks).header, 4*int(field[0])+3)
}

// header takes the rest of a block's header.
func (x *xzBlocks) header(field []byte) {
	flags, at := field[0], field[1:]
	number := func() uint64 {
		n, bytes := binary.Uvarint(at)
		at = at[max(0, bytes):]
		return n
	}
	for _, given := range []byte{0x40, 0x80} { // sizes of the block
		if flags&given != 0 {
			number()
		}
	}
	const lzma2 = 0x21
	for range flags&3 + 1 {
		id, properties := number(), number()
		if properties > uint64(len(at)) {
			x.state = nil
			return
		}
		if id == lzma2 && properties == 1 {
			// The properties are the exponent of the size and whether half as much is added; 40 is 4 GiB.
			if bits := int(at[0] & 63); (2|uint64(bits)&1)<<(bits/2+11) > mostDictionary {
				x.err = structured.BadInput("xz data with a dictionary of more than %s, expected a smaller one; decompress the "+
					"file first, or compress it anew (xz -9)",
					size(mostDictionary))
				return
			}
		}
		at = at[properties:]
	}
	x.next((*xzBlocks).chunk, 1)
}

// chunk takes the kind of a piece of data.
func (x *xzBlocks) chunk(field []byte) {
	switch kind := field[0]; {
	case kind == 0: // the end
		x.skip = -x.at&3 + x.check
		x.start()
	case kind >= 0x80:
		properties := 0
		if kind >= 0xc0 {
			properties = 1
		}
		x.next(func(x *xzBlocks, sizes []byte) {
			x.skip = properties + 1 + int(binary.BigEndian.Uint16(sizes[2:]))
			x.next((*xzBlocks).chunk, 1)
		}, 4)
	case kind <= 2: // plain bytes
		x.next(func(x *xzBlocks, sizes []byte) {
			x.skip = 1 + int(binary.BigEndian.Uint16(sizes))
			x.next((*xzBlocks).chunk, 1)
		}, 2)
	default:
		x.state = nil
	}
}

// count takes a byte of how many blocks the index lists.
func (x *xzBlocks) count(field []byte) {
	switch n, bytes := binary.Uvarint(field); {
	case bytes == 0: // more bytes follow
		x.left = 1
	case bytes < 0:
		x.state = nil
	default:
		x.numbers = 2 * n
		x.listed()
	}
}

// listed takes what is left of the index, of which each block has two numbers, and the footer.
func (x *xzBlocks) listed() {
	if x.numbers == 0 {
		x.skip = -x.at&3 + 4 + 12
		x.next((*xzBlocks).stream, 12)
		return
	}
	x.next(func(x *xzBlocks, field []byte) {
		if field[len(field)-1] >= 0x80 {
			x.next(x.state, 1)
			return
		}
		x.numbers--
		x.listed()
	}, 1)
}

package canvas

import (
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"iter"
	"maps"
	"slices"
)

const (
	mostColours = 4096 // more are those of a photograph
	nearColours = 8    // a difference of a channel, of 255, that nobody sees in the soft edge of a letter
)

// fewColours returns the picture with a palette of at most 256 colours: a drawing's file then is smaller and takes half
// the time to write. A drawing with more keeps the commonest, and those near them, in soft edges, become one of them. A
// picture for which 256 are too few is returned as it is, and so is one that is not opaque.
func fewColours(picture draw.Image) image.Image {
	all, ok := picture.(*image.RGBA)
	if !ok || !all.Opaque() {
		return picture
	}
	count := map[color.RGBA]int{}
	for colour, length := range runs(all) {
		if count[colour] += length; len(count) > mostColours {
			return picture
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	near := nearColours
	if len(colours) <= 256 {
		near = 0
	}
	index := map[color.RGBA]uint8{}
	var palette []color.RGBA
	for _, c := range colours {
		k := slices.IndexFunc(palette, func(p color.RGBA) bool { return distance(p, c) <= near })
		if k < 0 {
			if k = len(palette); k == 256 {
				return picture
			}
			palette = append(palette, c)
		}
		index[c] = uint8(k)
	}
	to := image.NewPaletted(all.Bounds(), nil)
	for _, c := range palette {
		to.Palette = append(to.Palette, c)
	}
	at := 0
	for colour, length := range runs(all) {
		k := index[colour]
		for end := at + length; at < end; at++ {
			to.Pix[at] = k
		}
	}
	return to
}

// runs yields the pixels row by row, as colours and numbers of neighbours that have them.
func runs(of *image.RGBA) iter.Seq2[color.RGBA, int] {
	return func(yield func(color.RGBA, int) bool) {
		size := of.Bounds()
		last, length := uint32(0), 0
		run := func() bool {
			return length == 0 ||
				yield(color.RGBA{R: uint8(last), G: uint8(last >> 8), B: uint8(last >> 16), A: uint8(last >> 24)}, length)
		}
		for y := size.Min.Y; y < size.Max.Y; y++ {
			for row := of.Pix[of.PixOffset(size.Min.X, y):][:4*size.Dx()]; len(row) >= 4; row = row[4:] {
				if c := binary.LittleEndian.Uint32(row); c != last {
					if !run() {
						return
					}
					last, length = c, 0
				}
				length++
			}
		}
		run()
	}
}

// distance is the largest difference of a channel.
func distance(a, b color.RGBA) int {
	gap := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(gap(a.R, b.R), gap(a.G, b.G), gap(a.B, b.B))
}

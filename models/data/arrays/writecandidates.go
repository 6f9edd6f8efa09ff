package arrays

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// CandidateWriter writes an archive that CandidateReader opens. The features of one image are in memory at a time.
type CandidateWriter struct {
	Shape []int // of a candidate's features: [D], or [C H W] for maps
	Half  bool  // write half precision
	// computes the features of an image's candidates [candidates × numbers of Shape]
	Features func(image int, dst []float32) error
}

// Write writes the candidates of c, whose Features are not used. Gold and IDs are optional.
func (f CandidateWriter) Write(w io.Writer, c *Candidates) error {
	name := "features"
	if len(f.Shape) == 3 {
		name = "maps"
	}
	n, sizes, images := c.Len(), make([]int64, c.Len()), make([]int64, 0, 2*c.Len())
	for i := range n {
		sizes[i] = int64(c.Offsets[i+1] - c.Offsets[i])
		images = append(images, int64(c.Sizes[i][0]), int64(c.Sizes[i][1]))
	}
	return WriteNPZ(w, func(z NPZWriter) error {
		if err := f.features(z, name, c.Offsets); err != nil {
			return err
		}
		if err := Add(z, "boxes", coordinates(c.Boxes), len(c.Boxes), 4); err != nil {
			return err
		}
		if err := Add(z, "sizes", sizes, n); err != nil {
			return err
		}
		if err := Add(z, "image_sizes", images, n, 2); err != nil {
			return err
		}
		if c.Gold != nil {
			if err := Add(z, "gold", coordinates(c.Gold), n, 4); err != nil {
				return err
			}
		}
		if c.IDs == nil {
			return nil
		}
		return z.AddText("ids", c.IDs)
	})
}

// coordinates returns the boxes as x, y, width and height.
func coordinates(all []boxes.Box) []float32 {
	v := make([]float32, 0, 4*len(all))
	for _, b := range all {
		v = append(v, float32(b.X), float32(b.Y), float32(b.Width), float32(b.Height))
	}
	return v
}

// features writes the features image by image.
func (f CandidateWriter) features(z NPZWriter, name string, offsets []int) error {
	kind, size, width := "<f4", 4, 1
	if f.Half {
		kind, size = "<f2", 2
	}
	for _, axis := range f.Shape {
		width *= axis
	}
	out, err := z.create(name, kind, append([]int{offsets[len(offsets)-1]}, f.Shape...))
	if err != nil {
		return err
	}
	var values []float32
	var raw []byte
	for i := range len(offsets) - 1 {
		count := (offsets[i+1] - offsets[i]) * width
		if cap(values) < count {
			values, raw = make([]float32, count), make([]byte, 0, count*size)
		}
		values, raw = values[:count], raw[:0]
		if err := f.Features(i, values); err != nil {
			return err
		}
		for _, v := range values {
			if f.Half {
				h := NewHalf(v)
				if h&halfInfinity == halfInfinity {
					return structured.BadInput("image %d: a feature is %v, expected a finite number in half precision (up to 65504)",
						i, v)
				}
				raw = binary.LittleEndian.AppendUint16(raw, uint16(h))
			} else {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
			}
		}
		if _, err := out.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

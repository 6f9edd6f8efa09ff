package localisation

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sort"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// pixels computes the inputs of positions from images: features of the cells of a grid (windows), crops of pixels, or
// features of the cells of crops (candidates).
type pixels struct {
	set     *Set
	shape   [3]int // of a position: height, width and channels
	pixels  bool
	offsets []int // of the positions

	scratch sync.Pool // of *cutter
}

// cutter is the scratch memory of one goroutine.
type cutter struct {
	crop     images.Cropper
	describe images.Describer
}

// Read implements structured.FeatureSource. It loads each image once.
func (p *pixels) Read(dst []float32, from, to int) error {
	c, _ := p.scratch.Get().(*cutter)
	if c == nil {
		c = &cutter{describe: images.Describer{Side: CellPixels * p.shape[0], Grid: p.shape[0]}}
	}
	defer p.scratch.Put(c)
	dim := p.shape[0] * p.shape[1] * p.shape[2]
	for at := from; at < to; {
		i := sort.SearchInts(p.offsets, at+1) - 1
		end := min(to, p.offsets[i+1])
		m, err := p.set.Images[i].Load()
		if err == nil {
			err = p.fill(dst[(at-from)*dim:(end-from)*dim], m, i, at-p.offsets[i], end-p.offsets[i], c)
		}
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// fill computes the inputs of positions from to to−1 of image i.
func (p *pixels) fill(dst []float32, m *images.Image, i, from, to int, c *cutter) error {
	if p.set.Boxes == nil {
		return p.cells(dst, m, i, from, to)
	}
	dim := len(dst) / (to - from)
	for k := from; k < to; k++ {
		box, row := p.set.Candidates(i)[k], dst[(k-from)*dim:(k-from+1)*dim]
		if p.pixels {
			c.crop.Crop(row, m, box, p.shape[0], p.shape[1])
		} else if err := c.describe.Describe(row, m, box); err != nil {
			return err
		}
	}
	return nil
}

// cells computes the features of the cells from to to−1 of a grid on image i.
func (p *pixels) cells(dst []float32, m *images.Image, i, from, to int) error {
	n := p.set.Grid
	if min(m.Width, m.Height) < n {
		return structured.BadInput("%s: %d × %d pixels, expected at least one for each of %d × %d cells; use fewer cells",
			p.set.name(i), m.Width, m.Height, n, n)
	}
	if to-from == n*n {
		return m.Cells(dst, n, n)
	}
	all := make([]float32, n*n*images.CellFeatures)
	err := m.Cells(all, n, n)
	copy(dst, all[from*images.CellFeatures:to*images.CellFeatures])
	return err
}

// name returns the place of image i, for messages.
func (s *Set) name(i int) string {
	if s.Images[i].Path != "" {
		return s.Images[i].Path
	}
	return fmt.Sprintf("image %d", s.Images[i].ID)
}

// Fingerprint implements structured.FeatureSource: by the files' names, sizes and times of change, and the boxes.
func (p *pixels) Fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, p.shape, p.pixels, p.set.Boxes)
	for i := range p.set.Images {
		m := &p.set.Images[i]
		if m.pixels != nil {
			h.Write(m.pixels.Pixels)
			continue
		}
		info, err := os.Stat(m.Path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, m.Path, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

package segmentation

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dsp-go/dsp/models/data/regions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Inputs say what a network reads of a region: its features (see regions.Features), or a patch, which is an image of it
// and its surroundings, or both. Zero values are those of features.
type Inputs struct {
	// pixels along each side of the patch, after the image is resized so that it spans Context; 0 for features alone
	Patch int
	// side of the patch in sides of a region (of a cell, or of a square as large as the mean superpixel); 0 means 3
	Context float64
	Both    bool // features too, after the pixels of the patch
}

// Dim returns the number of inputs of a region.
func (in Inputs) Dim() int {
	switch {
	case in.Patch == 0:
		return regions.Dim
	case in.Both:
		return in.patchDim() + regions.Dim
	}
	return in.patchDim()
}

// patchDim returns how many of the inputs of a region are those of its patch.
func (in Inputs) patchDim() int { return in.Patch * in.Patch * images.Channels }

// Validate returns a bad-input error about the first setting that is out of range.
func (in Inputs) Validate() error {
	const most = 1024 // pixels
	switch {
	case in.Patch < 0 || in.Patch > most:
		return structured.BadInput("patches of %d pixels a side, expected 0 (features instead) to %d", in.Patch, most)
	case !(in.Context >= 0 && in.Context <= 100):
		return structured.BadInput("patches as long as %v regions, expected up to 100, or 0 for 3", in.Context)
	}
	return nil
}

// crops returns crops for the patches, without images.
func (in Inputs) crops() *images.Crops {
	c := &images.Crops{Side: in.Patch}
	if in.Both {
		c.Width = regions.Dim
	}
	return c
}

// scale returns the scale of patches for an image of that size.
func (r Reader) scale(width, height int) float64 {
	side := float64(r.Cell)
	if r.Superpixels > 0 {
		side = math.Sqrt(float64(width*height) / float64(r.Superpixels))
	}
	return float64(r.Patch) / (cmp.Or(r.Context, 3) * side)
}

// ScaledPixels returns how many pixels an image of that size has at the scale of patches, at most images.MaxPixels:
// larger ones are refused.
func (r Reader) ScaledPixels(width, height int) int {
	scale := r.scale(width, height)
	return int(min(images.MaxPixels, max(1, scale*float64(width))*max(1, scale*float64(height))))
}

// scaled returns the image of an example at the scale of patches, and the centres of its regions there.
func (r Reader) scaled(e Example, p *regions.Partition) (*images.Image, [][2]float64, error) {
	m := e.Image
	scale := r.scale(m.Width, m.Height)
	to := func(length int) int { return max(1, int(math.Round(float64(length)*scale))) }
	if pixels := float64(to(m.Width)) * float64(to(m.Height)); pixels > images.MaxPixels {
		return nil, nil, structured.BadInput("%s: patches of %d pixels that span %v regions make it an image of %.2g "+
			"pixels, expected at most %.2g; lower --region-pixels",
			e.Place, r.Patch, cmp.Or(r.Context, 3), pixels, float64(images.MaxPixels))
	}
	s, centres := m.Resized(to(m.Width), to(m.Height)), p.Centres()
	for k := range centres {
		for axis, ratio := range [2]float64{float64(s.Width) / float64(m.Width), float64(s.Height) / float64(m.Height)} {
			centres[k][axis] = (centres[k][axis]+0.5)*ratio - 0.5
		}
	}
	return s, centres, nil
}

// addPixels appends the patches of an image. It refuses images whose pixels do not fit into memory.
func (b *builder) addPixels(x described) error {
	c := b.crops
	if grown := len(c.Pixels) + len(x.image.Pixels); grown > cap(c.Pixels) {
		if err := host.CheckMemory("keeping the pixels of "+b.d.Name, float64(2*grown)); err != nil {
			return fmt.Errorf("%w; lower --region-pixels or raise --region-context, which makes images "+
				"smaller, or use fewer of them", err)
		}
	}
	c.Add(x.image, x.centres, x.features[:len(x.centres)*c.Width])
	return nil
}

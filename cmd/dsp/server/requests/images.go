package requests

import (
	"bytes"
	"context"
	"image"
	"image/color"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// imageSize is the size of an image as an example: it is work enough to be predicted alone.
const imageSize = 1 << 10

// imageSample is the Sample of images.
const imageSample = `{"image": "iVBORw0KGgo…"}, a PNG or JPEG file in base64`

// What a pixel takes, in bytes, beside its decoding.
const (
	perCell       = 8   // the number of its cell, and of its label
	perSuperpixel = 208 // its colour in another space, its cluster, and the parts that clusters consist of
	perScaled     = 96  // of an image at the scale of patches
	perFrame      = 24  // of a frame of a line, as a feature
	perMask       = 16  // of a mask that is given

	PerOverlay = 24 // of a picture that shows a mask, and its file in base64
)

// PerDecoded is the memory, in bytes, of a pixel while the image of a file is decoded: as its kind of file has it, and
// in colour.
func PerDecoded(file []byte) int {
	c, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil { // it will be refused
		return 0
	}
	const flat = 4 + 3 // with a transparency, and without
	_, palette := c.ColorModel.(color.Palette)
	switch {
	case kind == "jpeg":
		planes := map[color.Model]int{color.GrayModel: 1, color.CMYKModel: 8}[c.ColorModel]
		if planes == 0 {
			planes = 3
		}
		if bytes.Contains(file, []byte{0xff, 0xc2}) { // progressive: its coefficients are kept until all have come
			return 5*planes + flat
		}
		return planes + flat
	case palette:
		return 2 + flat
	case c.ColorModel == color.NRGBA64Model || c.ColorModel == color.RGBA64Model || c.ColorModel == color.Gray16Model:
		return 12 + flat // where it is interlaced, passes beside the whole
	}
	return 6 + flat
}

// encoded checks the image file of an object for r and keeps it as it is; it is decoded when its turn comes.
func encoded(o *Object, limits Limits, r Reader) (Example, images.Header, error) {
	if err := o.only(r); err != nil {
		return Example{}, images.Header{}, err
	}
	if len(o.Image) == 0 {
		return Example{}, images.Header{}, o.missing("image", imageSample)
	}
	h, err := images.HeaderOf(bytes.NewReader(o.Image), "image")
	if err != nil {
		return Example{}, h, err
	}
	if h.Width > limits.Pixels/h.Height {
		return Example{}, h, structured.BadInput("image: %d × %d pixels, expected at most %d in all", h.Width, h.Height, limits.Pixels)
	}
	e := o.example(imageSize, o.Image)
	e.Pixels = h.Width * h.Height
	e.Bytes = PerDecoded(o.Image) * e.Pixels
	e.Extent.Numeric = true
	return e, h, nil
}

func decoded(all []Example) ([]*images.Image, error) {
	list := make([]*images.Image, len(all))
	for i, e := range all {
		var err error
		if list[i], err = images.Decode(bytes.NewReader(e.content.([]byte)), "image"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// regions reads images whose regions are to be labelled.
type regions struct {
	reader segmentation.Reader
	limits Limits
}

func newRegions(m *models.Model, limits Limits) *regions {
	r := tasks.ImageReader(&m.Config)
	r.Labels, r.All, r.Threads = m.Labels, true, 1
	return &regions{r, limits}
}

func (r *regions) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *regions) Sample() string { return imageSample }

func (r *regions) Members() []string { return []string{"image", "mask"} }

func (r *regions) Known() string {
	return `a "mask", a PNG file in base64 whose pixels are labels, or 255 where they are open`
}

// edgesOfRegion is how many edges a graph of regions has for each of them, where corners count, too.
const edgesOfRegion = 4

// masked is an image file with the file of what is known of its labels.
type masked struct{ image, mask []byte }

func (r *regions) Example(o *Object) (Example, error) {
	e, h, err := encoded(o, r.limits, r)
	if err != nil {
		return e, err
	}
	e.Extent.Positions = r.reader.MostRegions(h.Width, h.Height)
	e.Extent.Pairs = edgesOfRegion * e.Extent.Positions
	if side := r.reader.Patch; side > 0 {
		e.Bytes += perScaled * r.reader.ScaledPixels(h.Width, h.Height)
	}
	if e.Bytes += perCell * e.Pixels; r.reader.Superpixels > 0 {
		e.Bytes += (perSuperpixel - perCell) * e.Pixels
	}
	if o.Mask == nil {
		return e, nil
	}
	mask, err := masks.HeaderOf(o.Mask, "mask") // the rest is decoded when its turn comes
	if err != nil {
		return Example{}, err
	}
	if min(mask.Width, mask.Height) != min(h.Width, h.Height) || max(mask.Width, mask.Height) != max(h.Width, h.Height) { // Fit may turn it
		return Example{}, structured.BadInput("mask: %d × %d pixels, expected %d × %d as the image has", mask.Width, mask.Height, h.Width, h.Height)
	}
	e.Bytes += perMask * e.Pixels
	e.content = &masked{o.Image, o.Mask}
	return e, nil
}

func (r *regions) Dataset(all []Example) (*structured.Dataset, error) {
	list := make(imageList, len(all))
	for i, e := range all {
		var err error
		file, _ := e.content.([]byte)
		m, known := e.content.(*masked)
		if known {
			file = m.image
		}
		if list[i].image, err = images.Decode(bytes.NewReader(file), "image"); err != nil {
			return nil, err
		}
		if known {
			if list[i].mask, err = masks.Decode(bytes.NewReader(m.mask), "mask"); err == nil {
				err = list[i].mask.Fit(list[i].image.Header(), "mask", "the image")
			}
			if err != nil {
				return nil, err
			}
			read, err := r.reader.Values.Read(list[i].mask, "mask")
			if err != nil {
				return nil, err
			}
			if read.Max() < 0 {
				return nil, structured.BadInput("mask: all pixels are void, expected labels")
			}
		}
	}
	d, err := r.reader.Read(context.Background(), list)
	if err != nil {
		return nil, err
	}
	return named(d, all), nil
}

// imageList is a segmentation.Source. All its images have masks, or none has.
type imageList []struct {
	image *images.Image
	mask  *masks.Mask
}

func (l imageList) Name() string { return dataName }

func (l imageList) Len() int { return len(l) }

func (l imageList) Masks() bool { return len(l) > 0 && l[0].mask != nil }

func (l imageList) Load(i int) (segmentation.Example, error) {
	place := "image"
	if l[i].mask != nil {
		place = "mask"
	}
	return segmentation.Example{Image: l[i].image, Mask: l[i].mask, Place: place}, nil
}

// scenes reads images in which an object is to be found.
type scenes struct {
	options localisation.Options
	limits  Limits
}

func newScenes(m *models.Model, limits Limits) *scenes {
	o := *tasks.Localise(&m.Config)
	o.Sliding = m.Sliding
	o.Class, o.ClassID, o.Unlabeled, o.Threads, o.Stream = m.Labels.Name(0), m.ClassID, true, 1, false
	return &scenes{o, limits}
}

func (r *scenes) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *scenes) Sample() string { return imageSample }

func (r *scenes) Members() []string { return []string{"image"} }

func (r *scenes) Known() string { return "" }

func (r *scenes) Example(o *Object) (Example, error) {
	e, _, err := encoded(o, r.limits, r)
	e.Extent.Positions = r.options.Positions()
	return e, err
}

func (r *scenes) Dataset(all []Example) (*structured.Dataset, error) {
	list, err := decoded(all)
	if err != nil {
		return nil, err
	}
	d, err := r.options.Decoded(dataName, list)
	if err != nil {
		return nil, err
	}
	return named(d, all), nil
}

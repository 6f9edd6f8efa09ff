package tasks

import (
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/segmentation"
	"github.com/dsp-go/dsp/models/pictures/regionpicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// overlays is the folder of the images with masks over them, inside that of the masks.
const overlays = "overlays"

// confidences is the folder of pictures that show how sure the model is of each pixel, inside that of the masks.
const confidences = "confidence"

// writeEach writes masks and overlays, and confidences if they are asked for, in files with the names of the images.
func writeEach(d *structured.Dataset, names *structured.Alphabet, o predictions.Options, dir string,
	predict PredictSome) error {
	if o.Marginals {
		return structured.BadInput("--marginals has no effect with --to %s; use --confidence, or --json", dir)
	}
	folders := []string{overlays}
	if o.Confidence {
		folders = append(folders, confidences)
	}
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			return structured.BadInput("--to: %w", err)
		}
	}
	s := segmentation.Of(d)
	return predict(d, o, func(i int, p *predictions.Prediction) error {
		e, err := s.Load(i)
		if err != nil {
			return err
		}
		var sure []float32
		if o.Confidence {
			sure = confidence(p, names.Len())
		}
		mask, values := s.Paint(e, p.Labels, sure)
		if err := s.Values().Stored(mask).Write(filepath.Join(dir, e.ID+".png")); err != nil {
			return err
		}
		if o.Confidence {
			shown := grey(e.Image, values)
			err := host.WriteFile(filepath.Join(dir, confidences, e.ID+".png"), func(w io.Writer) error {
				return png.Encode(w, shown)
			})
			if err != nil {
				return err
			}
		}
		return regionpicture.Overlay{Image: e.Image, Mask: mask,
			Labels: names}.Write(filepath.Join(dir, overlays, e.ID+".png"))
	})
}

// confidence returns a number from 0 to 1 for each predicted label: its probability or, where there are only margins m,
// 1/(1 + exp(−m)). That is ½ where another labeling with another label here is as good.
func confidence(p *predictions.Prediction, labels int) []float32 {
	sure := make([]float32, len(p.Labels))
	for v, l := range p.Labels {
		if at := v*labels + int(l); p.Margins != nil {
			sure[v] = float32(1 / (1 + math.Exp(-float64(p.Margins[at]))))
		} else {
			sure[v] = p.Marginals[at]
		}
	}
	return sure
}

// picturedScenes is how many images a picture shows.
const picturedScenes = 4

// drawMaskPicture draws a few images with their true and predicted masks, and how sure the model is of the label of
// each pixel.
func drawMaskPicture(d *structured.Dataset, names *structured.Alphabet, path string, predict PredictSome) error {
	few := make([]int, min(d.Len(), picturedScenes))
	for k := range few {
		few[k] = k
	}
	some := d.Subset(few)
	s := segmentation.Of(some)
	sheet := regionpicture.Sheet{Title: "Images, what they show, and what the model sees",
		Labels: names, Heads: []string{"image"}}
	if some.Labels != nil {
		sheet.Heads = append(sheet.Heads, "truth")
	}
	sheet.Heads = append(sheet.Heads, "prediction", "confidence (white: sure)")
	sheet.Columns = len(sheet.Heads)
	err := predict(some, predictions.Options{Confidence: true}, func(i int, p *predictions.Prediction) error {
		e, err := s.Load(i)
		if err != nil {
			return err
		}
		mask, values := s.Paint(e, p.Labels, confidence(p, names.Len()))
		sheet.Panels = append(sheet.Panels, regionpicture.Panel{Image: e.Image, Caption: e.ID})
		if some.Labels != nil {
			sheet.Panels = append(sheet.Panels, regionpicture.Panel{Image: regionpicture.Flat(e.Mask)})
		}
		sheet.Panels = append(sheet.Panels, regionpicture.Panel{Image: regionpicture.Flat(mask)},
			regionpicture.Panel{Image: grey(e.Image, values)})
		return nil
	})
	if err != nil {
		return err
	}
	return sheet.Write(path)
}

// grey returns an image of the values, from 0 (black) to 1 (white), of the size of like.
func grey(like *images.Image, values []float32) *images.Image {
	m := &images.Image{Width: like.Width, Height: like.Height, Pixels: make([]uint8, 0, 3*len(values))}
	for _, x := range values {
		g := uint8(255*min(max(x, 0), 1) + 0.5)
		m.Pixels = append(m.Pixels, g, g, g)
	}
	return m
}

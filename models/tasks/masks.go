package tasks

import (
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs/picture"
	"github.com/dsp-go/dsp/structured/graphs/segmentation"
	"github.com/dsp-go/dsp/structured/images"
)

// overlays is the folder of the images with masks over them, inside that of the masks.
const overlays = "overlays"

// writeEach writes masks and overlays, in files with the names of the images.
func writeEach(d *structured.Dataset, names *structured.Alphabet, o predictions.Options, dir string, predict PredictSome) error {
	if err := os.MkdirAll(filepath.Join(dir, overlays), 0o777); err != nil {
		return structured.BadInput("--to: %w", err)
	}
	s := segmentation.Of(d)
	return predict(d, o, func(i int, p *predictions.Prediction) error {
		e, err := s.Load(i)
		if err != nil {
			return err
		}
		mask, _ := s.Paint(e, p.Labels, nil)
		if err := mask.Write(filepath.Join(dir, e.ID+".png")); err != nil {
			return err
		}
		return picture.Overlay{Image: e.Image, Mask: mask, Labels: names}.Write(filepath.Join(dir, overlays, e.ID+".png"))
	})
}

// picturedScenes is how many images a picture shows.
const picturedScenes = 4

// drawMaskPicture draws a few images with their true and predicted masks and, where the oracle sums over labelings, how sure the model is of the
// label of each pixel.
func drawMaskPicture(d *structured.Dataset, names *structured.Alphabet, path string, predict PredictSome) error {
	few := make([]int, min(d.Len(), picturedScenes))
	for k := range few {
		few[k] = k
	}
	some := d.Subset(few)
	s := segmentation.Of(some)
	sheet := picture.Sheet{Title: "Images, what they show, and what the model sees", Labels: names}
	heads := []string{"image"}
	if some.Labels != nil {
		heads = append(heads, "truth")
	}
	heads = append(heads, "prediction")
	draw := func(sure bool) error {
		sheet.Panels, sheet.Heads = nil, heads
		if sure {
			sheet.Heads = append(heads[:len(heads):len(heads)], "confidence (white: sure)")
		}
		sheet.Columns = len(sheet.Heads)
		return predict(some, predictions.Options{Confidence: sure}, func(i int, p *predictions.Prediction) error {
			e, err := s.Load(i)
			if err != nil {
				return err
			}
			var confidence []float32
			for v, l := range p.Labels {
				if sure {
					confidence = append(confidence, p.Marginals[v*names.Len()+int(l)])
				}
			}
			mask, values := s.Paint(e, p.Labels, confidence)
			sheet.Panels = append(sheet.Panels, picture.Panel{Image: e.Image, Caption: e.ID})
			if some.Labels != nil {
				sheet.Panels = append(sheet.Panels, picture.Panel{Image: picture.Flat(e.Mask)})
			}
			sheet.Panels = append(sheet.Panels, picture.Panel{Image: picture.Flat(mask)})
			if sure {
				sheet.Panels = append(sheet.Panels, picture.Panel{Image: grey(e.Image, values)})
			}
			return nil
		})
	}
	if err := draw(true); structured.IsBadInput(err) { // no sums
		err = draw(false)
		if err != nil {
			return err
		}
	} else if err != nil {
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

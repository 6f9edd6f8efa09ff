package tasks

import (
	"fmt"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/pictures/boxpicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// What a picture of boxes shows: the first images, each with the predicted box and its runners-up.
const (
	picturedImages = 8
	picturedBoxes  = 3
)

// drawBoxPicture draws a few images of d, with their gold, predicted and runner-up boxes, to a .svg, .png or .pdf file.
func drawBoxPicture(d *structured.Dataset, _ *structured.Alphabet, path string, predict PredictSome) error {
	few := make([]int, min(d.Len(), picturedImages))
	for k := range few {
		few[k] = k
	}
	some := d.Subset(few)
	s := localisation.Of(some)
	sheet := boxpicture.Sheet{Title: fmt.Sprintf("Find the %s: the object, the predicted box and its runners-up", s.Class)}
	err := predict(some, predictions.Options{NBest: picturedBoxes}, func(i int, p *predictions.Prediction) error {
		image, err := s.Images[i].Load()
		if err != nil {
			return err
		}
		panel := boxpicture.Panel{Image: image, Caption: some.ID(i)}
		for _, o := range p.NBest {
			panel.Found = append(panel.Found, boxes.Detection{Box: s.Box(i, o.Labels), Score: o.Score})
		}
		if t := s.Images[i].Gold; t != nil {
			panel.Gold = &t.Box
		}
		sheet.Panels = append(sheet.Panels, panel)
		return nil
	})
	if err != nil {
		return err
	}
	return sheet.Write(path)
}

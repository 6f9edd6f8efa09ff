package tasks

import (
	"fmt"

	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/pictures/linepicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// What a picture of lines shows: the first ones, each with the most probable string that a search of this width finds.
const picturedLines, picturedBeam = 12, 20

// drawLinePicture draws a few lines of d with the predicted strings.
func drawLinePicture(d *structured.Dataset, names *structured.Alphabet, path string, predict PredictSome) error {
	few := make([]int, min(d.Len(), picturedLines))
	for k := range few {
		few[k] = k
	}
	some := d.Subset(few)
	sheet := linepicture.Sheet{Title: "Lines, what the model reads in them, and how probable that is"}
	err := predict(some, predictions.Options{Beam: picturedBeam, Probability: true},
		func(i int, p *predictions.Prediction) error {
			page, ok := lines.Image(some, i)
			if !ok {
				return structured.BadInput("%s: the frames are features, not pixels, and cannot be shown", d.Name)
			}
			line := linepicture.Line{Image: page, Predicted: lines.Joined(p.Labels, names),
				Note: fmt.Sprintf("%.1f %%", 100*p.Probability)}
			if some.Readings != nil {
				gold := lines.Joined(some.Readings[i], some.Alphabet)
				line.Gold = &gold
			}
			sheet.Lines = append(sheet.Lines, line)
			return nil
		})
	if err != nil {
		return err
	}
	return sheet.Write(path)
}

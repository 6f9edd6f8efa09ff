package review

import (
	"fmt"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// rightIoU is the overlap above which a box counts as right, as for CorLoc.
const rightIoU = 0.5

// objects reviews boxes. The confidence of a box is the probability of all candidates together that overlap it with an
// IoU above rightIoU.
type objects struct{}

func Boxes() Reviewer { return objects{} }

func (objects) Options(probabilities bool) predictions.Options {
	return predictions.Options{Probability: probabilities, Marginals: probabilities}
}

// Add implements Reviewer. Examples are ranked by the overlap of the box with the object. Images without a known object
// are left out.
func (objects) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	s := localisation.Of(d)
	to.Units = "boxes"
	if s.Images[i].Gold == nil {
		return
	}
	to.All++
	found, gold := s.Box(i, p.Labels), s.Images[i].Gold.Box
	iou := found.IoU(gold)
	part := Part{Kind: "box", Gold: corners(gold), Predicted: corners(found)}
	if len(p.Labels) == 1 {
		part.First, part.Last = int(p.Labels[0]), int(p.Labels[0])
	}
	if to.Probabilities && len(p.Labels) == 1 {
		near := func(to boxes.Box) *float64 {
			sum := 0.0
			for k, c := range s.Candidates(i) {
				if c.IoU(to) > rightIoU {
					sum += float64(p.Marginals[k])
				}
			}
			sum = min(1, sum)
			return &sum
		}
		part.Confidence, part.GoldProbability = near(found), near(gold)
		to.Parts = append(to.Parts, Event{*part.Confidence, iou > rightIoU, iou > rightIoU})
	}
	if iou <= rightIoU {
		to.addValued(d, i, p, []Part{part}, "IoU", iou)
	}
}

// corners writes a box as its left and upper edge, its width and its height.
func corners(b boxes.Box) string {
	return fmt.Sprintf("%.4g %.4g %.4g %.4g", b.X, b.Y, b.Width, b.Height)
}

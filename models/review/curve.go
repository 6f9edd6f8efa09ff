package review

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Curve is precision and recall against a threshold of confidence.
type Curve struct {
	Units string  `json:"units"` // what is chosen, in the plural
	Scale string  `json:"scale"` // of thresholds: probability or margin
	Gold  int     `json:"gold"`  // how many there are to find
	Area  float64 `json:"average_precision"`

	Precision float64 `json:"precision"` // of the best outputs, without a threshold
	Recall    float64 `json:"recall"`
	Best      Point   `json:"best_f1"` // the threshold with the largest F1

	Points []Point `json:"-"` // from the highest threshold down
}

// Point is a point of a Curve: what is at least as sure as Threshold is chosen.
type Point struct {
	Threshold float64 `json:"threshold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Predicted int     `json:"predicted"`
	Right     int     `json:"right"`
}

// mostPoints bounds the points of a curve.
const mostPoints = 1000

// Curve returns precision and recall of entities, of links, or, where there are neither, of the parts of outputs. Of
// parts only those of the predicted outputs can be chosen: recall is the share of all that are chosen and right. The
// area under the curve is the sum of precision × the rise of recall over all thresholds (average precision).
func (r *Review) Curve() *Curve {
	c := &Curve{Units: r.ClaimUnits, Scale: cmp.Or(r.Scale, "probability"), Gold: r.Gold}
	claims, chosen := r.Claims, r.Chosen
	if c.Units == "" {
		c.Units, c.Gold, claims, chosen = r.Units, len(r.Parts), r.Parts, Counts{}
		for _, e := range claims {
			chosen.add(e.Right, e.Found)
		}
	}
	c.Precision, c.Recall = chosen.precision(), chosen.recall(c.Gold)
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b Event) int { return cmp.Compare(b.Confidence, a.Confidence) })
	every := (len(claims) + mostPoints - 1) / mostPoints
	var n Counts
	recall := 0.0
	for k, e := range claims {
		n.add(e.Right, e.Found)
		if k+1 < len(claims) && claims[k+1].Confidence == e.Confidence {
			continue
		}
		p := Point{e.Confidence, n.precision(), n.recall(c.Gold), n.f1(c.Gold), n.Predicted, n.Right}
		c.Area += p.Precision * (p.Recall - recall)
		recall = p.Recall
		if p.F1 > c.Best.F1 {
			c.Best = p
		}
		if last := len(c.Points) - 1; last < 0 || p.Predicted/every > c.Points[last].Predicted/every || k+1 == len(claims) {
			c.Points = append(c.Points, p)
		}
	}
	return c
}

// writeCSV writes a line for each point.
func (c *Curve) writeCSV(w io.Writer) error {
	if _, err := fmt.Fprintln(w, "threshold,precision,recall,f1,predicted,right,gold"); err != nil {
		return err
	}
	for _, p := range c.Points {
		if _, err := fmt.Fprintf(w, "%.6g,%.6g,%.6g,%.6g,%d,%d,%d\n", p.Threshold, p.Precision, p.Recall, p.F1, p.Predicted,
			p.Right, c.Gold); err != nil {
			return err
		}
	}
	return nil
}

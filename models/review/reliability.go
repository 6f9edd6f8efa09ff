package review

import (
	"fmt"
	"io"
	"math"
)

// Bins is how many bins of equal width a Reliability has.
const Bins = 15

// Reliability compares probabilities with how often what they are about is true. The expected calibration error is
// Σ_b n_b/n |accuracy_b − confidence_b| over bins b of equal width (Naeini et al. 2015; Guo et al. 2017).
type Reliability struct {
	Units string  `json:"units"` // what the probabilities are about, in the plural
	Count int     `json:"count"`
	ECE   float64 `json:"ece"`
	Bins  []Bin   `json:"bins"` // those that are not empty
}

// Bin holds the events with probabilities from Low to High: above Low, except in the first bin.
type Bin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Count      int     `json:"count"`
	Confidence float64 `json:"confidence"` // mean probability
	Accuracy   float64 `json:"accuracy"`   // share that is right
}

// newReliability puts events into bins.
func newReliability(units string, events []Event) *Reliability {
	var bins [Bins]Bin
	var right [Bins]int
	for _, e := range events {
		k := min(Bins-1, max(0, int(math.Ceil(e.Confidence*Bins))-1))
		bins[k].Count++
		bins[k].Confidence += e.Confidence
		if e.Right {
			right[k]++
		}
	}
	r := &Reliability{Units: units, Count: len(events), Bins: []Bin{}}
	for k, b := range bins {
		if b.Count == 0 {
			continue
		}
		n := float64(b.Count)
		b.Low, b.High = float64(k)/Bins, float64(k+1)/Bins
		b.Confidence, b.Accuracy = b.Confidence/n, float64(right[k])/n
		r.ECE += n / float64(len(events)) * math.Abs(b.Accuracy-b.Confidence)
		r.Bins = append(r.Bins, b)
	}
	return r
}

// Calibration is how well the probabilities of a model are calibrated.
type Calibration struct {
	*Reliability              // of the parts of outputs
	Entities     *Reliability `json:"entities,omitempty"` // of predicted entities
	Temperature  float64      `json:"temperature"`
	Calibrated   bool         `json:"calibrated"` // trained by likelihood, or with a fitted temperature
}

// Calibration returns the reliability of the parts, and of entities if there are any.
func (r *Review) Calibration(temperature float64, calibrated bool) *Calibration {
	c := &Calibration{Reliability: newReliability(r.Units, r.Parts), Temperature: temperature, Calibrated: calibrated}
	if r.Entities != nil {
		c.Entities = newReliability("entities", r.Entities)
	}
	return c
}

// writeCSV writes a line for each bin.
func (c *Calibration) writeCSV(w io.Writer) error {
	if _, err := fmt.Fprintln(w, "units,low,high,count,confidence,accuracy"); err != nil {
		return err
	}
	for _, r := range []*Reliability{c.Reliability, c.Entities} {
		if r == nil {
			continue
		}
		for _, b := range r.Bins {
			if _, err := fmt.Fprintf(w, "%s,%.6g,%.6g,%d,%.6g,%.6g\n", r.Units, b.Low, b.High, b.Count,
				b.Confidence, b.Accuracy); err != nil {
				return err
			}
		}
	}
	return nil
}

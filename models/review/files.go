package review

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// CheckFile refuses a path that is neither a picture nor a table: .png, .svg, .pdf or .csv.
func CheckFile(flag, path string) error {
	if _, err := canvas.Kind(path); err != nil && !isTable(path) {
		return structured.BadInput("%s %s: expected a file .png, .svg, .pdf (a picture) or .csv (its numbers)", flag, path)
	}
	return nil
}

func isTable(path string) bool { return strings.EqualFold(filepath.Ext(path), ".csv") }

// write writes the numbers to a .csv file, and draws the picture to any other.
func write(path string, numbers func(w io.Writer) error, picture *curves.UnitSquare) error {
	if isTable(path) {
		return host.WriteFile(path, numbers)
	}
	return picture.Write(path)
}

// Write writes the curve to a file that CheckFile accepts.
func (c *Curve) Write(path string) error {
	return write(path, c.writeCSV, c.picture())
}

// shownThresholds are marked on a curve of probabilities.
var shownThresholds = []float64{0.95, 0.9, 0.75, 0.5, 0.25, 0.1}

func (c *Curve) picture() *curves.UnitSquare {
	line := curves.SquareLine{Name: c.Units + ", dots: thresholds"}
	next := 0
	for _, p := range c.Points {
		point := curves.SquarePoint{X: p.Recall, Y: p.Precision}
		if c.Scale == "probability" && next < len(shownThresholds) && p.Threshold < shownThresholds[next] {
			if last := len(line.Points) - 1; last >= 0 { // what is at least that sure
				line.Points[last].Label = fmt.Sprint(shownThresholds[next])
			}
			for next < len(shownThresholds) && p.Threshold < shownThresholds[next] {
				next++
			}
		}
		line.Points = append(line.Points, point)
	}
	best := curves.SquareLine{Name: "best outputs, no threshold", Loose: true,
		Points: []curves.SquarePoint{{X: c.Recall, Y: c.Precision, Dot: true}}}
	return &curves.UnitSquare{
		Title: fmt.Sprintf("%s: F1 %s at a %s of %.2g or more", capital(c.Units), curves.Percent(c.Best.F1),
			c.Scale, c.Best.Threshold),
		Caption: fmt.Sprintf("average precision %s of %d %s; each point chooses what is at least that sure",
			curves.Percent(c.Area), c.Gold, c.Units),
		X: "recall", Y: "precision",
		Lines: []curves.SquareLine{line, best},
	}
}

// Write writes the reliability to a file that CheckFile accepts.
func (c *Calibration) Write(path string) error {
	return write(path, c.writeCSV, c.picture())
}

func (c *Calibration) picture() *curves.UnitSquare {
	s := &curves.UnitSquare{
		Title:   capital(c.String()),
		Caption: fmt.Sprintf("probabilities in %d bins, at temperature %.3g", Bins, c.Temperature),
		X:       "mean probability", Y: "share that is right", Diagonal: "calibrated", BarsName: "share of " + c.Units,
	}
	if !c.Calibrated {
		s.Caption += "; the model is uncalibrated"
	}
	for _, r := range []*Reliability{c.Reliability, c.Entities} {
		if r == nil {
			continue
		}
		line := curves.SquareLine{Name: r.Units}
		for _, b := range r.Bins {
			line.Points = append(line.Points, curves.SquarePoint{X: b.Confidence, Y: b.Accuracy, Dot: true})
		}
		s.Lines = append(s.Lines, line)
	}
	for _, b := range c.Bins {
		s.Bars = append(s.Bars, curves.SquareBar{From: b.Low, To: b.High, Height: float64(b.Count) / float64(c.Count)})
	}
	return s
}

// capital writes the first letter of a title large.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

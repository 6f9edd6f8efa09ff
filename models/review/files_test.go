package review

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Numbers go to .csv, pictures to other files, and other endings are refused.
func TestFiles(t *testing.T) {
	for name, bad := range map[string]bool{"x.csv": false, "x.CSV": false, "x.png": false, "x.svg": false, "x.pdf": false,
		"x.jpg": true, "x": true} {
		err := CheckFile("--curve", name)
		if structured.IsBadInput(err) != bad || bad && err.Error() != "--curve "+name+": expected a file .png, .svg, .pdf "+
			"(a picture) or .csv (its numbers)" {
			t.Errorf("%s: %v", name, err)
		}
	}
	events := []Event{{0.9, true, true}, {0.6, false, false}, {0.3, true, true}}
	c := (&Review{Units: "arcs", Parts: events, Entities: events[:1]}).Calibration(1.5, false)
	for name, want := range map[string]string{
		"c.csv": "units,low,high,count,confidence,accuracy\narcs,0.266667,0.333333,1,0.3,1\narcs,0.533333,0.6,1,0.6,0\n" +
			"arcs,0.866667,0.933333,1,0.9,1\nentities,0.866667,0.933333,1,0.9,1\n",
		"c.svg": "<?xml",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := c.Write(path); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), want) ||
			strings.HasSuffix(name, "csv") && string(text) != want {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// The picture of a curve marks the thresholds of probabilities: the last point that is at least that sure.
func TestPictureOfCurve(t *testing.T) {
	c := &Curve{Units: "entities", Scale: "probability", Gold: 4, Area: 0.5, Precision: 0.75, Recall: 0.25,
		Best: Point{Threshold: 0.8, F1: 0.625},
		Points: []Point{{Threshold: 0.97, Precision: 1, Recall: 0.1}, {Threshold: 0.9, Precision: 0.9, Recall: 0.2},
			{Threshold: 0.3, Precision: 0.8, Recall: 0.3}, {Threshold: 0.05, Precision: 0.2, Recall: 1}}}
	p := c.picture()
	if p.Title != "Entities: F1 62.5 % at a probability of 0.8 or more" || p.Caption != "average precision 50.0 % of 4 "+
		"entities; each point chooses what is at least that sure" ||
		p.X != "recall" || p.Y != "precision" || len(p.Lines) != 2 || p.Lines[0].Name != "entities, dots: thresholds" {
		t.Errorf("%+v", p)
	}
	for k, want := range []string{"0.95", "0.9", "0.25", ""} { // 0.75 and 0.5 would mark the point of 0.9, too
		if got := p.Lines[0].Points[k]; got.Label != want || got.X != c.Points[k].Recall || got.Y != c.Points[k].Precision {
			t.Errorf("point %d: %+v, expected the mark %q", k, got, want)
		}
	}
	if best := p.Lines[1]; !best.Loose || len(best.Points) != 1 || best.Points[0].X != 0.25 || best.Points[0].Y != 0.75 ||
		!best.Points[0].Dot {
		t.Errorf("%+v", best)
	}
	c.Scale = "margin"
	for _, point := range c.picture().Lines[0].Points {
		if point.Label != "" {
			t.Errorf("a margin is marked %s", point.Label)
		}
	}
}

// The picture of a calibration has a line for parts and one for entities, and bars of how many parts a bin has.
func TestPictureOfCalibration(t *testing.T) {
	events := []Event{{0.9, true, true}, {0.9, false, false}, {0.3, true, true}, {0.3, true, true}}
	c := (&Review{Units: "arcs", Parts: events, Entities: events[:2]}).Calibration(1.5, false)
	p := c.picture()
	if p.Title != "Expected calibration error 55.00 % of arcs, 40.00 % of entities" ||
		p.Caption != "probabilities in 15 bins, at temperature 1.5; the model is uncalibrated" ||
		p.Diagonal != "calibrated" || p.BarsName != "share of arcs" || len(p.Lines) != 2 || p.Lines[0].Name != "arcs" ||
		p.Lines[1].Name != "entities" || len(p.Bars) != 2 {
		t.Fatalf("%+v", p)
	}
	if at := p.Lines[0].Points; len(at) != 2 || math.Abs(at[0].X-0.3) > 1e-12 || at[0].Y != 1 ||
		math.Abs(at[1].X-0.9) > 1e-12 || at[1].Y != 0.5 || !at[1].Dot {
		t.Errorf("%+v", at)
	}
	if b := p.Bars[1]; math.Abs(b.From-13./15) > 1e-12 || math.Abs(b.To-14./15) > 1e-12 || b.Height != 0.5 {
		t.Errorf("%+v", b)
	}
	if c := (&Review{Units: "arcs", Parts: events}).Calibration(1, true); c.picture().Caption != "probabilities in 15 "+
		"bins, at temperature 1" || len(c.picture().Lines) != 1 {
		t.Errorf("%+v", c.picture())
	}
}

// Members are added to an object, also to an empty one.
func TestExtended(t *testing.T) {
	for want, e := range map[string]Extended{
		`{"a":1,"b":[2],"c":null}`: {map[string]int{"a": 1}, []Member{{"b", []int{2}}, {"c", nil}}},
		`{"b":"x"}`:                {struct{}{}, []Member{{"b", "x"}}},
		`{"a":1}`:                  {map[string]int{"a": 1}, nil},
	} {
		if got, err := json.Marshal(e); err != nil || string(got) != want {
			t.Errorf("%s, %v, expected %s", got, err, want)
		}
	}
	for _, e := range []Extended{{math.NaN(), nil}, {struct{}{}, []Member{{"a", math.NaN()}}}} {
		if _, err := json.Marshal(e); err == nil {
			t.Errorf("%v is written", e)
		}
	}
}

func TestCapital(t *testing.T) {
	for text, want := range map[string]string{"": "", "arcs of": "Arcs of"} {
		if got := capital(text); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

package curves

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// An error bar goes from the mean less the deviation to the mean and the deviation, and both ends have a cap of which
// it is the middle. Points without a deviation have none, and bars of two series do not overlap.
func TestErrorBars(t *testing.T) {
	panel := &Panel{Names: []string{"x", "y"}, Series: []Series{
		{Points: []Point{{0, 40, 2}, {1, 45, 0}}}, {Points: []Point{{0, 41, 1}, {1, 44, math.NaN()}}},
	}}
	p := panel.plot(35, 50)
	strokes := new(recorder.Canvas)
	c := draw.Canvas{Canvas: strokes, Rectangle: vg.Rectangle{Max: vg.Point{X: 300, Y: 200}}}
	(&points{panel}).Plot(c, p)
	_, y := p.Transforms(&c)
	type line struct{ from, to vg.Point }
	var lines []line
	for _, a := range strokes.Actions {
		if s, is := a.(*recorder.Stroke); is && len(s.Path) == 2 && s.Path[1].Type == vg.LineComp {
			lines = append(lines, line{s.Path[0].Pos, s.Path[1].Pos})
		}
	}
	if len(lines) != 6 {
		t.Fatalf("%d strokes, want a bar and two caps for each of two points", len(lines))
	}
	var bars []vg.Length
	for k, mean := range []float64{41, 40} { // the first series is drawn last
		bar, deviation := lines[3*k], []float64{1, 2}[k]
		if bar.from.X != bar.to.X || bar.from.Y != y(mean-deviation) || bar.to.Y != y(mean+deviation) {
			t.Errorf("bar %v of %v ± %v", bar, mean, deviation)
		}
		for end, at := range []vg.Point{bar.from, bar.to} {
			l := lines[3*k+1+end]
			if l.from.Y != at.Y || l.to.Y != at.Y || l.from.X >= at.X || math.Abs(float64(l.from.X+l.to.X-2*at.X)) > 1e-9 {
				t.Errorf("cap %v of the end %v", l, at)
			}
		}
		bars = append(bars, bar.from.X)
	}
	if bars[0]-bars[1] < 5 {
		t.Errorf("bars of two series at %v", bars)
	}
}

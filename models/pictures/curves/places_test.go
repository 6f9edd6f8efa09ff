package curves

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/models/pictures/picturetest"
)

// Axes, their ticks and names, lines, bars, legends and titles have their places.
func TestPlaces(t *testing.T) {
	lines := []Series{
		{Name: "adam", Points: []Point{{0.1, 40, 2}, {1, 45, 1}, {10, 42, math.NaN()}}, Joined: true},
		{Name: "sgd", Points: []Point{{0.1, 41, 0}, {10, 43, 0}}, Joined: true},
	}
	choices := Panel{Label: "loss", Names: []string{"crf", "hinge"},
		Series: []Series{{Name: "adam", Points: []Point{{0, 41, 1}, {1, 42, 2}}}, {Name: "sgd", Points: []Point{{1, 42, 0}}}}}
	comparison := &Comparison{Title: "adam is best", Caption: "six runs", Value: "F1, %", Legend: "method",
		Panels: []Panel{{Label: "reg", Log: true, Series: lines}, choices}}

	fall := Band{"falls", []BandPoint{{1, 90, 100, 120}, {2, 8, 10, 12}, {3, 0.9, 1, 2}}}
	shoots := Band{"shoots up", []BandPoint{{1, 50, 50, 50}, {2, 60, 1e30, math.Inf(1)}, {3, 50, 50, 60}}}
	zero := Band{"with 0", []BandPoint{{1, 0, 0, 1}, {2, 0, 1, 2}, {3, 1, 2, 3}}}
	bands := &Bands{Title: "a finding", Caption: "medians of 5", Rows: []BandRow{
		{Title: "one", Panels: []BandPanel{{X: "calls", Y: "gap", Series: []Band{fall, shoots}},
			{X: "calls", Y: "error", Log: true, Series: []Band{zero, fall}}}},
		{Title: "two", Panels: []BandPanel{{X: "calls", Y: "gap", Log: true, Series: []Band{fall}}}},
	}}

	square := &UnitSquare{Title: "finding", Caption: "what", X: "recall", Y: "precision",
		Diagonal: "perfect", BarsName: "share",
		Lines: []SquareLine{
			{Name: "entities", Points: []SquarePoint{{X: 0, Y: 1}, {X: 0.5, Y: 0.9, Label: "0.9"}, {X: 1, Y: 0.2, Dot: true}}},
			{Name: "best", Points: []SquarePoint{{X: 0.2, Y: 0.3, Dot: true}}, Loose: true},
		}, Bars: []SquareBar{{0, 0.5, 0.2}}}

	first, second := Run{"bcfw", records(6, 0.4, true)}, Run{"sgd", records(3, 0.6, false)}
	for i := range first.Records {
		first.Records[i].Dev = tokenError(1 / float64(i+2))
	}
	for name, write := range map[string]func(path string) error{
		"comparison.svg": comparison.Write, "bands.svg": bands.Write, "square.svg": square.Write,
		"runs.svg": func(path string) error { return Write(path, first, second) },
	} {
		picturetest.Kept(t, name, write)
	}
}

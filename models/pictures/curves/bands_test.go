package curves

import (
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// bandPicture draws b and reads it back.
func bandPicture(t *testing.T, b *Bands) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.png")
	if err := b.Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// Every curve is drawn in its colour, even in edge cases.
func TestBands(t *testing.T) {
	fall := Band{"falls", []BandPoint{{1, 90, 100, 120}, {2, 8, 10, 12}, {3, 0.9, 1, 2}}}
	rise := Band{"rises", []BandPoint{{1, 1, 1, 1}, {3, 2, 2, 2}}}
	shoots := Band{"shoots up", []BandPoint{{1, 50, 50, 50}, {2, 60, 1e30, math.Inf(1)}, {3, 50, 50, 60}}}
	panel := func(series ...Band) BandPanel { return BandPanel{X: "calls", Y: "value", Series: series} }
	for name, rows := range map[string][]BandRow{
		"one": {{Panels: []BandPanel{panel(fall, rise)}}},
		"two by 3": {{Title: "a", Panels: []BandPanel{panel(fall, rise), panel(rise, fall), panel(fall, rise)}},
			{Title: "b", Panels: []BandPanel{panel(fall, rise)}}},
		"diverging": {{Panels: []BandPanel{panel(fall, shoots)}}},
		"log": {{Panels: []BandPanel{
			{Log: true, Series: []Band{{"with 0", []BandPoint{{1, 0, 0, 1}, {2, 0, 1, 2}, {3, 1, 2, 3}}}, rise}}}}},
		"nothing": {{Panels: []BandPanel{panel(Band{Name: "a"}, Band{Name: "b"})}}},
		"point": {{Panels: []BandPanel{panel(Band{"a", []BandPoint{{1, 2, 2, 2}}},
			Band{"b", []BandPoint{{1, 3, 3, 3}}})}}},
	} {
		img := bandPicture(t, &Bands{Title: "finding", Caption: "medians", Rows: rows})
		for series := range 2 {
			if n := inked(img, series); n < 50 {
				t.Errorf("%s: series %d has %d pixels", name, series, n)
			}
		}
	}
}

// A curve that shoots up does not flatten the others.
func TestBandRange(t *testing.T) {
	p := BandPanel{Series: []Band{
		{"a", []BandPoint{{1, 4, 4, 4}, {2, 3, 3, 3}}}, {"b", []BandPoint{{1, 5, 5, 5}, {2, 2, 2, 2}}},
		{"c", []BandPoint{{1, 5, 5, 5}, {2, 9, 1e9, 9}}},
	}}
	if r := p.row(); r.max > 60 || r.max < 5 || r.min > 2 {
		t.Errorf("axis from %v to %v", r.min, r.max)
	}
	p.Series = p.Series[:2]
	if r := p.row(); r.max > 5.5 || r.log {
		t.Errorf("axis from %v to %v", r.min, r.max)
	}
}

package curves

import (
	"errors"
	"html"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// records returns the records of a run that converges to an optimum; if certified, with a bound.
func records(n int, optimum float64, certified bool) (list []record.Record) {
	nan := record.Number(math.NaN())
	for i := range n {
		r := record.Record{Pass: i + 1, Seconds: 0.1 * float64(i+1), Dual: nan, Gap: nan, ProxGradient: nan}
		r.Objective = record.Number(optimum + math.Exp(-float64(i)/5))
		if certified {
			r.Dual = record.Number(optimum - 3*math.Exp(-float64(i)/5))
			r.Gap = r.Objective - r.Dual
		}
		list = append(list, r)
	}
	return list
}

func decode(t *testing.T, runs ...Run) image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "curves.png")
	if err := Write(path, runs...); err != nil {
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

// inked counts the pixels whose colour is close to a run's.
func inked(img image.Image, run int) (n int) {
	want := palette[run]
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Bounds(), img, img.Bounds().Min, draw.Src)
	for i := 0; i < len(flat.Pix); i += 4 {
		if p := flat.Pix[i : i+3]; p[0] == want.R && p[1] == want.G && p[2] == want.B {
			n++
		}
	}
	return n
}

// The picture has a row for every quantity present, with every run's colour in it.
func TestRows(t *testing.T) {
	height := func(rows int) int {
		return int(math.Round(float64(head+legend)/72*dpi + float64(rows)*float64(rowTitle+rowHeight)/72*dpi))
	}
	other := Run{"other", records(40, 0.5, false)}
	for want, first := range map[int]Run{
		1: {"plain", records(20, 0.4, false)},
		2: {"certified", records(20, 0.4, true)},
		3: {"evaluated", records(20, 0.4, true)},
	} {
		if want == 3 {
			for i := range first.Records {
				first.Records[i].Dev = tokenError(1 / float64(i+2))
			}
		}
		img := decode(t, first, other)
		if got := img.Bounds().Dy(); math.Abs(float64(got-height(want))) > 1 {
			t.Errorf("%s: height %d, want %d for %d rows", first.Name, got, height(want), want)
		}
		for run := range 2 {
			if n := inked(img, run); n < 1000 {
				t.Errorf("%s: run %d has %d pixels", first.Name, run, n)
			}
		}
	}
}

// Whether an axis is logarithmic depends on how far apart the values are, and not on their unit.
func TestLogarithmicAxes(t *testing.T) {
	for _, unit := range []float64{1e-6, 1, 1e6} {
		for most, want := range map[float64]bool{3: false, 5: true} {
			run := Run{"run", records(2, 1, false)}
			run.Records[0].Objective, run.Records[1].Objective = record.Number(unit), record.Number(most*unit)
			if r := objectiveRow([]Run{run}); r.log != want {
				t.Errorf("values from %g to %g: logarithmic %v", unit, most*unit, r.log)
			}
		}
	}
}

// Runs in edge cases still give a picture.
func TestOddRuns(t *testing.T) {
	prox := records(3, 0.1, false)
	for i := range prox {
		prox[i].ProxGradient = record.Number(1 / float64(i+1))
	}
	flat := make([]record.Record, 4)
	closed := records(4, 1, true)
	closed[3].Gap, closed[3].Dual = 0, closed[3].Objective
	for name, list := range map[string][]record.Record{
		"one record":       records(1, 1, true),
		"negative":         records(9, -7, true),
		"through zero":     records(9, -0.5, true),
		"decades":          records(80, 1e-6, true),
		"constant, 0 s":    flat,
		"prox-gradient":    prox,
		"gap closed":       closed,
		"late certificate": append(records(3, 1, false), records(3, 1, true)...),
	} {
		t.Run(name, func(t *testing.T) {
			if inked(decode(t, Run{name, list}), 0) == 0 {
				t.Error("nothing drawn")
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	last := record.Record{Pass: 7, Seconds: 1.234, Objective: 0.505, Dual: 0.5, Gap: 0.005, Dev: tokenError(0.125)}
	best := record.Record{Pass: 3, Dev: last.Dev}
	last.Dev = tokenError(0.25)
	title, finding := outcome(Run{"casimir", []record.Record{{}, best, last}})
	if want := "casimir, 7 passes in 1.23 s"; title != want {
		t.Errorf("got %q, want %q", title, want)
	}
	if want := "objective 0.505, at most 1 % above the optimum; lowest token error on " +
		"dev 12.5 %, after pass 3"; finding != want {
		t.Errorf("got %q, want %q", finding, want)
	}
}

// written returns a picture as SVG, whose words can be read.
func written(t *testing.T, write func(path string) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "picture.svg")
	if err := write(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(string(content))
}

// expectWords fails the test unless a picture has each of these texts once.
func expectWords(t *testing.T, svg string, words ...string) {
	t.Helper()
	for _, w := range words {
		if n := strings.Count(svg, ">"+w+"<"); n != 1 {
			t.Errorf("the picture says %q %d times", w, n)
		}
	}
}

// A picture says what came out of its first run, and above each row what it shows.
func TestWordsOfCurves(t *testing.T) {
	first, second := Run{"bcfw", records(20, 0.4, true)}, Run{"sgd", records(1, 0.4, false)}
	for i := range first.Records {
		first.Records[i].Dev = tokenError(1 / float64(i+2))
	}
	svg := written(t, func(path string) error { return Write(path, first, second) })
	title, finding := outcome(first)
	expectWords(t, svg, title, finding, "bcfw", "sgd", "certified lower bound of the optimum",
		"passes", "seconds of training", "objective, and the certified lower bound of its optimum",
		"relative gap, certified; logarithmic scale",
		"token error on dev, %; logarithmic scale")
	svg = written(t, func(path string) error { return Write(path, second) })
	expectWords(t, svg, "sgd, 1 pass in 0.1 s", "objective 1.4", "objective")
}

// Comparisons, bands and squares have the words that they are given.
func TestWordsOfPictures(t *testing.T) {
	points := []Point{{1, 1, 0}, {10, 2, 0}}
	c := Comparison{Title: "the finding", Caption: "what it shows", Value: "F1, %", Legend: "method", Panels: []Panel{
		{Label: "reg", Log: true, Series: []Series{{Name: "adam", Points: points}}},
		{Label: "size", Series: []Series{{Name: "adam", Points: points}}},
	}}
	expectWords(t, written(t, c.Write), "the finding", "what it shows", "F1, %", "method", "adam",
		"reg (logarithmic scale)", "size")

	panel := []BandPanel{{X: "calls", Y: "value", Series: []Band{{"falls", []BandPoint{{1, 9, 10, 12}, {2, 1, 2, 3}}}}}}
	b := Bands{Title: "the finding", Caption: "what it shows",
		Rows: []BandRow{{Title: "one", Panels: panel}, {Title: "two", Panels: panel}}}
	svg := written(t, b.Write)
	expectWords(t, svg, "the finding", "what it shows", "one", "two", "falls")
	if strings.Count(svg, ">calls<") == 0 || strings.Count(svg, ">value<") == 0 {
		t.Error("axes have no names")
	}

	s := UnitSquare{Title: "the finding", Caption: "what it shows", X: "recall", Y: "precision",
		Diagonal: "perfect", BarsName: "share",
		Lines: []SquareLine{{Name: "entities", Points: []SquarePoint{{X: 0, Y: 1}, {X: 1, Y: 0.2, Label: "here"}}}},
		Bars:  []SquareBar{{0, 0.5, 0.2}}}
	expectWords(t, written(t, s.Write), "the finding", "what it shows", "recall", "precision", "perfect",
		"share", "entities", "here")
}

func TestAboveOptimum(t *testing.T) {
	nan := record.Number(math.NaN())
	for want, r := range map[string]record.Record{
		"":                                 {Objective: 1, Dual: nan, Gap: nan},
		"which is the optimum":             {Objective: 1, Dual: 1},
		"at most 0.1 % above the optimum":  {Objective: 1.001, Dual: 1, Gap: 0.001},
		"at most 50 % above the optimum":   {Objective: 3, Dual: 2, Gap: 1},
		"at most 2 times the optimum":      {Objective: 4, Dual: 2, Gap: 2},
		"at most 67187 times the optimum":  {Objective: 67187, Dual: 1, Gap: 67186},
		"at most 0.3 above the optimum":    {Objective: 0.3, Gap: 0.3},
		"at most 1234 above the optimum":   {Objective: 1234, Gap: 1234},
		"at most 1.5 above the optimum":    {Objective: 0.5, Dual: -1, Gap: 1.5},
		"at most 99.9 % above the optimum": {Objective: 1.999, Dual: 1, Gap: 0.999},
	} {
		if got := aboveOptimum(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Pictures are written as their names say.
func TestKindsOfPictures(t *testing.T) {
	run := Run{"certified", records(20, 0.4, true)}
	for name, start := range map[string]string{"c.png": "\x89PNG", "c.svg": "<?xml", "c.pdf": "%PDF"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(path, run); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(content), start) {
			t.Errorf("%s starts with %.10q, %v", name, content, err)
		}
	}
}

func TestNothingIsDrawnWithoutRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curves.png")
	if err := Write(path, Run{Name: "empty"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a picture of nothing: %v", err)
	}
}

func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e3, 1e3).Draw(t, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-3, 5).Draw(t, "span"))
		list := ticks{}.Ticks(lo, hi)
		if len(list) < 2 || len(list) > 8 {
			t.Fatalf("%d ticks from %v to %v", len(list), lo, hi)
		}
		seen := map[string]bool{}
		for _, tick := range list {
			if tick.Value < lo-1e-6*(hi-lo) || tick.Value > hi+1e-6*(hi-lo) || seen[tick.Label] {
				t.Fatalf("tick %v from %v to %v", tick, lo, hi)
			}
			seen[tick.Label] = true
		}
		decades := rapid.Float64Range(0.1, 12).Draw(t, "decades")
		list = logTicks{}.Ticks(lo/100, lo/100+decades)
		if len(list) < 2 || len(list) > 9 {
			t.Fatalf("%d logarithmic ticks: %v", len(list), list)
		}
		for _, tick := range list {
			if x, err := strconv.ParseFloat(tick.Label, 64); err != nil || math.Abs(math.Log10(x)-tick.Value) > 1e-3 {
				t.Fatalf("tick %v", tick)
			}
		}
	})
	labels := func(list []string) string { return strings.Join(list, " ") }
	var got []string
	for _, tick := range (ticks{whole: true}).Ticks(0, 3) {
		got = append(got, tick.Label)
	}
	if want := "0 1 2 3"; labels(got) != want {
		t.Errorf("got %s, want %s", labels(got), want)
	}
	got = nil
	for _, tick := range (logTicks{}).Ticks(-3.4, -1.6) {
		got = append(got, tick.Label)
	}
	if want := "0.0005 0.001 0.002 0.005 0.01 0.02"; labels(got) != want {
		t.Errorf("got %s, want %s", labels(got), want)
	}
}

func tokenError(e float64) *structured.Metrics {
	return &structured.Metrics{Measures: []structured.Measure{{Name: "token_error", Value: e}}}
}

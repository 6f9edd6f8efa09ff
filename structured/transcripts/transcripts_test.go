package transcripts

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ labels, want []int32 }{
		{nil, nil}, {[]int32{0, 0}, nil}, {[]int32{1, 1, 1}, []int32{0}}, {[]int32{1, 0, 1}, []int32{0, 0}},
		{[]int32{0, 1, 2, 2, 0, 2, 1}, []int32{0, 1, 1, 0}},
	} {
		if got := Read(nil, c.labels); !slices.Equal(got, c.want) {
			t.Errorf("%v reads %v, want %v", c.labels, got, c.want)
		}
	}
}

// The shortest line that reads a string is the shortest of all labelings that do.
func TestShortest(t *testing.T) {
	const labelCount = 3 // two symbols and the blank
	least := map[string]int{}
	for frames := range 6 {
		all := 1
		for range frames {
			all *= labelCount
		}
		for code := range all {
			labels := make([]int32, frames)
			for k := range labels {
				labels[k] = int32(code % labelCount)
				code /= labelCount
			}
			reading := Read(nil, labels)
			name := fmt.Sprint(reading)
			if _, seen := least[name]; !seen {
				least[name] = frames
			}
			if n := Shortest(reading); n > frames || n < least[name] {
				t.Fatalf("%v needs %d frames, and %d are enough", reading, n, least[name])
			}
		}
	}
}

// Restricted potentials allow the labelings that read so, and no others, and copies and views keep that.
func TestRestrict(t *testing.T) {
	offsets := []int{0, 2, 5}
	var θ, copied, view structured.Potentials
	θ.Reshape(Form(2), offsets, func(string) []int { return offsets })
	for k := range θ.Parts[0].Values {
		θ.Parts[0].Values[k] = float32(k)
	}
	reading := []int32{1, 0}
	Frames{}.Restrict(&θ, 1, structured.Gold{Output: []int32{-1, -1, -1}, Sets: [][]int32{nil}, Reading: reading})
	θ.Select([]int{1, 0}, &copied)
	θ.View(1, &view)
	for b, of := range map[int]*structured.Potentials{0: &copied, 1: &θ} {
		Frames{}.Each(of, b, func(y []int32) {
			allowed := slices.Equal(Read(nil, y), reading)
			if s := of.Score(b, y); math.IsInf(s, -1) == allowed {
				t.Errorf("%v scores %g", y, s)
			}
		})
	}
	if s := θ.Score(0, []int32{2, 1}); s != 2+4 {
		t.Errorf("the other line scores %g", s)
	}
	if !slices.Equal(view.Gold[0], reading) {
		t.Errorf("the view must read %v", view.Gold[0])
	}
	Frames{}.Restrict(&θ, 0, structured.Gold{Output: []int32{-1, -1}, Sets: [][]int32{nil}, Reading: []int32{}})
	if a, b := θ.Score(0, []int32{0, 0}), θ.Score(0, []int32{0, 1}); math.IsInf(a, -1) || !math.IsInf(b, -1) {
		t.Errorf("an empty line: %g, %g", a, b)
	}
}

func TestCheckData(t *testing.T) {
	d := &structured.Dataset{Name: "x", Offsets: []int{0, 3, 5}, Lines: []int{1, 2}, Readings: [][]int32{{1, 1}, {0, 0}}}
	if err := (Frames{}).CheckData(d); !structured.IsBadInput(err) || err.Error() != "x:2: 2 frames for a line of 2 "+
		"symbols, expected at least 3: one for each symbol, and one between two equal ones" {
		t.Errorf("got %v", err)
	}
	d.Readings[1] = []int32{0, 1}
	if err := (Frames{}).CheckData(d); err != nil {
		t.Error(err)
	}
}

// Distances are those of the recursion by definition.
func TestDistance(t *testing.T) {
	var least func(a, b []int32) int
	least = func(a, b []int32) int {
		if len(a) == 0 || len(b) == 0 {
			return len(a) + len(b)
		}
		d := least(a[1:], b[1:])
		if a[0] != b[0] {
			d++
		}
		return min(d, 1+least(a[1:], b), 1+least(a, b[1:]))
	}
	all := [][]int32{{}, {0}, {1}, {0, 0}, {0, 1, 0}, {1, 1, 0, 1}, {0, 1, 2, 0}, {2, 0, 1, 2, 0}}
	var e Evaluator
	edits, symbols := 0, 0
	for _, gold := range all {
		for _, predicted := range all {
			d := Distance(gold, predicted)
			if d.Sum() != least(gold, predicted) || len(gold)+d.Inserted-d.Deleted != len(predicted) {
				t.Errorf("%v to %v: %+v, want %d", gold, predicted, d, least(gold, predicted))
			}
			e.Add(gold, predicted)
			edits, symbols = edits+d.Sum(), symbols+len(gold)
		}
	}
	m := e.Metrics()
	if m.CER != float64(edits)/float64(symbols) || m.LineAccuracy != 1/float64(len(all)) || m.Lines != len(all)*len(all) ||
		m.Symbols != symbols {
		t.Errorf("%+v", m)
	}
	if g := m.General(); g.Get("cer") != m.CER || g.Get("line_accuracy") != m.LineAccuracy {
		t.Errorf("%s", g.String())
	}
}

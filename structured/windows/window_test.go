package windows_test

import (
	"math"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/windows"
)

// The score of a box is the sum of its cells, its size's terms and the loss.
func TestScore(t *testing.T) {
	w := windows.Window{Height: 2, Width: 3}
	θ := new(structured.Potentials)
	θ.Reshape(w.Form(), []int{0, 4}, func(table string) []int {
		if table == structured.Examples {
			return []int{0, 1}
		}
		return []int{0, 6}
	})
	copy(θ.Parts[0].Values, []float32{1, 2, 4, 8, 16, 32})
	copy(θ.Parts[1].Values, []float32{100, 200, 1000, 2000, 3000})
	θ.Parts[2].Values[0] = 0
	y, gold := []int32{0, 1, 1, 2}, []int32{1, 0, 1, 1}
	if got, want := θ.Score(0, y), 54+200+2000.; got != want {
		t.Errorf("score %g, want %g", got, want)
	}
	windows.IoULoss{}.Augment(θ, 0, structured.Gold{Output: gold})
	if got, want := θ.Score(0, y), 54+200+2000.; got != want {
		t.Errorf("score with the loss of an unknown gold box %g, want %g", got, want)
	}
	θ.Gold = [][]int32{gold}
	if got, want := θ.Score(0, y), 54+200+2000+0.8; math.Abs(got-want) > 1e-6 { // one cell of five in common
		t.Errorf("score with the loss %g, want %g", got, want)
	}
	if got := (windows.IoULoss{}).Loss(y, structured.Gold{Output: gold}); math.Abs(got-0.8) > 1e-7 {
		t.Errorf("loss %g, want 0.8", got)
	}
}

func TestCheckData(t *testing.T) {
	w := windows.Window{Height: 2, Width: 3}
	data := func(cells int, box ...int32) *structured.Dataset {
		return &structured.Dataset{Name: "maps.npz", Offsets: []int{0, cells}, Outputs: []int{0, len(box)}, Labels: box}
	}
	for _, d := range []*structured.Dataset{data(6, 0, 0, 1, 2), data(6, 1, 1, 1, 1), {Offsets: []int{0, 6, 12}}} {
		if err := w.CheckData(d); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		d    *structured.Dataset
		want string
	}{
		{data(5, 0, 0, 1, 2), "5 cells, expected 2 rows of 3"},
		{data(6, 0, 0, 1), "of 3 numbers"},
		{data(6, 0, 0, 2, 2), "rows 0 to 2"},
		{data(6, 1, 0, 0, 2), "rows 1 to 0"},
		{data(6, -1, 0, 0, 2), "rows -1 to 0"},
		{data(6, 0, 2, 0, 1), "columns 2 to 1"},
		{data(6, 0, 0, 0, 3), "columns 0 to 3"},
		{data(6, 0, -2, 0, 0), "columns -2 to 0"},
	} {
		if err := w.CheckData(c.d); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "maps.npz, example 0") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

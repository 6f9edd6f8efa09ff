package training

import (
	"testing"

	"github.com/dsp-go/dsp/train/record"
)

// A path is as good as asked for from its upper end down to where a model, or the chord between two, is not.
func TestReached(t *testing.T) {
	point := func(reg, primal, dual float64) Breakpoint {
		x := Breakpoint{Reg: reg}
		x.Objective, x.Dual = record.Number(primal), record.Number(dual)
		return x
	}
	for _, c := range []struct {
		points []Breakpoint
		ε      float64
		want   string
	}{
		{[]Breakpoint{point(1, 10, 9), point(2, 10, 9)}, 0.05, "nowhere"},
		{[]Breakpoint{point(1, 10, 9), point(2, 10, 9.9)}, 0.05, "from C = 2"},
		{[]Breakpoint{point(1, 10, 9.9), point(2, 10, 9.9)}, 0.05, "from C = 1"},
		{[]Breakpoint{point(1, 10, 9), point(2, 10, 9.9), point(4, 10, 9.9)}, 0.05, "from C = 2"},
		{[]Breakpoint{point(1, 10, 9)}, 0.1, "from C = 1"},
		{[]Breakpoint{point(1, 10, 9), point(2, 10, 9.9)}, 0.1, "from C = 1"},
	} {
		p := &pathRun{Run: new(Run), n: 1, points: c.points}
		p.config.PathError = c.ε
		if got := p.reached(); got != c.want {
			t.Errorf("%+v at %v: %s, expected %s", c.points, c.ε, got, c.want)
		}
	}
}

package adversary

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train/engine"
)

// No method certifies what is not so, on any cell of the grid, and none ends with an error. On benign cells
// certificates are close.
func TestGrid(t *testing.T) {
	seed := seeds.Draw(t)
	cells, long, pick := grid(seed), os.Getenv("DSP_LONG") != "", os.Getenv("DSP_CASE")
	share := 10
	switch {
	case pick != "":
		kept := cells[:0]
		for _, c := range cells {
			if strings.Contains(c.String(), pick) {
				kept = append(kept, c)
			}
		}
		if cells = kept; len(cells) == 0 {
			t.Fatalf("DSP_CASE=%s: no cell of the grid has that in its name", pick)
		}
	case !long:
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		some := append(remembered(), cells[:share]...)
		for _, c := range cells[share:] { // few cells have the quadratic loss
			if fits := 2; c.loss == engine.Quadratic && len(some) < len(remembered())+share+fits {
				some = append(some, c)
			}
		}
		cells = some
	}
	n, loose := &tally{}, 0
	for _, c := range cells {
		p := c.problem(t)
		x := list(t, p)
		best := x.minimise()
		if !(best.width() <= 1e-5) {
			loose++
			t.Logf("%v: the reference is loose: [%.12g, %.12g]", c, best.lower, best.upper)
		}
		passes := 20
		if c.benign() {
			passes = 120
		}
		least := math.Inf(1)
		for _, j := range all {
			v := n.run(t, c.String(), j, p, best, passes, &seen{lower: math.Inf(-1), upper: math.Inf(1), start: c.start(p.Scorer.Dim()), extreme: c.extreme(), exact: x})
			if v.gap < least {
				least = v.gap
			}
			if c.benign() {
				n.tight(t, c.String(), j, v, x)
			}
		}
		if c.benign() && !(least <= benignGap(c.loss)) {
			n.vacuous++
			t.Errorf("%v: the least relative gap is %.3g, expected at most %.3g", c, least, benignGap(c.loss))
		}
	}
	n.log(t)
	if n.runs < len(cells) {
		t.Errorf("%d runs on %d cells: too many were refused", n.runs, len(cells))
	}
	if loose > len(cells)/5+1 {
		t.Errorf("the reference is loose on %d of %d cells", loose, len(cells))
	}
}

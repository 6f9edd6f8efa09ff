package reweighted

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// descent lowers a bound by moving its shifts, and stops when a point of the local polytope comes close.
type descent struct {
	bound
	point point
	start []float64 // [E×Y] the shifts before a step
	move  []float64 // [E×Y]
	step  float64
	upper float64 // the bound
}

// Steps of a descent.
const (
	firstStep = 0.8
	longest   = 3
	shortest  = 1e-3
	between   = 4 // passes between two points
)

// run lowers the bound of an example until it is within tolerance of the value of a point, or for a number of passes.
// Then point is the last point, unless the bound is −∞.
func (d *descent) run(x *example, μ, tolerance float64, passes int) {
	d.begin(x, μ)
	d.start, d.move = vec.Grow(d.start, len(d.shift)), vec.Grow(d.move, len(d.shift))
	d.step, d.upper = firstStep, d.collect()
	if !math.IsInf(d.upper, -1) {
		d.distribute()
		d.descend(tolerance, passes)
	}
}

func (d *descent) descend(tolerance float64, passes int) {
	d.point.project(&d.bound)
	for pass := 0; pass < passes && !(d.upper-d.point.value <= tolerance); pass += between {
		improves := true
		for range between {
			improves = improves && d.improve()
		}
		d.point.project(&d.bound)
		if !improves {
			return
		}
	}
}

// improve makes a step that lowers the bound, or returns false if it finds none.
func (d *descent) improve() bool {
	copy(d.start, d.shift)
	d.match(d.move)
	for ; d.step >= shortest; d.step /= 2 {
		for i, m := range d.move {
			d.shift[i] = d.start[i] + d.step*m
		}
		if value := d.collect(); value <= d.upper {
			d.upper, d.step = value, min(longest, 1.1*d.step)
			d.distribute()
			return true
		}
	}
	copy(d.shift, d.start)
	d.step, d.upper = firstStep, d.collect()
	d.distribute()
	return false
}

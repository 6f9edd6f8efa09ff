package train

import "math"

// refine lets certificates go on in float64 once rounding in float32 is in the way of the target: the allowance for it
// is more than a share of the gap that the run is to reach, and the gap that is left is little else. It reports whether
// that is so from now on. Passes in float64 take longer, and wider targets do without.
func (l *loop) refine() bool {
	s := l.s
	target, allowance := l.Gap*math.Abs(s.Primal), s.Rounding+s.Above
	switch {
	case l.Gap == 0 || l.books.Doubles || s.Gap() <= target:
		return false
	case !(allowance > target/coarse) || !(s.EstimatedGap() <= target+mostlyAllowance*allowance):
		return false
	case !l.Problem.UseDoubles():
		return false
	}
	l.books.Doubles = true
	l.books.Await, l.books.Owed = math.Inf(1), 0 // what float32 has taught does not hold
	s.Done = false
	return true
}

const (
	coarse          = 8 // the share of the target that rounding may take is one of so many
	mostlyAllowance = 4
)

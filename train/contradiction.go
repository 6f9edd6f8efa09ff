package train

import (
	"fmt"
	"math"
)

// InconsistentError reports that an objective value lies below a lower bound on the objective, by far more than
// rounding explains. The cause is a bug in the program, or in a scorer or an oracle given to it.
type InconsistentError struct {
	Method    string
	Pass      int
	Primal    float64
	Dual      float64 // before subtracting the allowance
	Allowance float64
}

func (e *InconsistentError) Error() string {
	return fmt.Sprintf("pass %d: method %s contradicts itself: the objective is %.9g, but no less than %.9g was proved for all weights. "+
		"Rounding explains a difference of %.2g; this one is a fault of the program", e.Pass, e.Method, e.Primal, e.Dual, e.Allowance)
}

// What rounding may explain where the allowance is an estimate (engine/rounding.go): this many allowances, and this
// share of the objective.
const (
	manyAllowances = 100
	smallShare     = 1e-3
)

// Check compares the two ends of the certified interval in the state of the named method. If the objective lies below
// the bound, the allowance for rounding was too small. Then Check widens the interval: the bound falls as far below the
// objective as it was above. Far beyond rounding it returns an InconsistentError.
func (s *State) Check(method string) error {
	excess := s.Dual - s.Primal
	if !(excess > 0) { // or either is NaN
		return nil
	}
	if excess > manyAllowances*s.Rounding+smallShare*math.Abs(s.Primal) {
		return &InconsistentError{Method: method, Pass: s.Passes, Primal: s.Primal, Dual: s.Dual + s.Rounding, Allowance: s.Rounding}
	}
	s.Dual -= 2 * excess
	s.Rounding += 2 * excess
	return nil
}

package train

import "fmt"

// InconsistentError reports that an objective value lies below a lower bound on the objective, by more than rounding explains.
// The cause is a bug in the program, or in a scorer or an oracle given to it.
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

// Check returns an InconsistentError if the state of the named method contradicts itself.
func (s *State) Check(method string) error {
	if !(s.Primal < s.Dual) { // or either is NaN
		return nil
	}
	return &InconsistentError{Method: method, Pass: s.Passes, Primal: s.Primal, Dual: s.Dual + s.Rounding, Allowance: s.Rounding}
}

package predictions

// Bounds says how good outputs are that may not be the best.
type Bounds struct {
	Decoded  bool    // by alpha-expansion
	Outputs  int     // of all examples
	Unproven int     // that have a bound above their score
	Score    float64 // sum over all outputs
	Bound    float64 // sum of the bounds, and of the scores of outputs that are proven to be the best
}

// Add counts a prediction.
func (s *Bounds) Add(p *Prediction) {
	s.Outputs++
	s.Score += p.Score
	if p.Bound == nil {
		s.Bound += p.Score
		return
	}
	s.Bound += *p.Bound
	s.Unproven++
}

// Gap returns what the outputs may lose at most, in all.
func (s Bounds) Gap() float64 { return s.Bound - s.Score }

package engine

// How work is cut.
const (
	PassLanes    = passLanes
	StepExamples = stepExamples
)

// Lane returns one of the lanes made so far.
func (e *Engine) Lane(k int) *Lane { return e.lanes[k] }

// Made returns how many lanes and findings there are, and of how many shards a full pass is.
func (e *Engine) Made() (lanes, findings, shards int) {
	return len(e.lanes), len(e.findings), len(e.shards)
}

// Regulariser returns (λ/2)‖w − c‖² + constant.
func (o *Objective) Regulariser(w []float32) float64 { return o.regulariser(w) }

// Drift returns b.
func (x *Path) Drift() []float32 { return x.b }

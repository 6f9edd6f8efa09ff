package train

import (
	"context"

	"github.com/dsp-go/dsp/train/engine"
)

// Method is an optimiser. Its exported fields are its parameters, with usable zero values; its state is its own, and
// Archive saves and restores all of it, so that a resumed run continues with the same bits. A method knows nothing of
// logging, files or flags: recorders see what State shows.
type Method interface {
	// Name is the method's name on the command line.
	Name() string

	// Convex reports whether the method needs a scorer that is affine in the weights.
	Convex() bool

	// Start begins at s.W, or resumes where Archive restored the method; it may do full passes to find a step.
	Start(ctx context.Context, p *Problem, s *State) error

	// Pass advances s by about Len oracle calls (prox-linear: by one outer iteration), leaving in s the new weights
	// and what was learned about them. It stops early, with ctx.Err, between steps only.
	Pass(ctx context.Context, p *Problem, s *State) error

	// Archive saves or restores the method's state.
	Archive(a engine.Archive)
}

// State is what everyone may see of a run: the weights and what is known about them. It is saved with a checkpoint.
type State struct {
	W           []float32 // the weights
	Passes      int       // passes done: oracle calls / n, rounded
	OracleCalls int       // without full passes
	FullPasses  int

	Primal   float64 // F(W); NaN where the method did not compute it
	Dual     float64 // best lower bound on min F, from a dual point recomposed from memory; NaN where there is no certificate
	Rounding float64 // what was taken off Dual for what rounding may have added to it (engine/rounding.go)
	Estimate float64 // the dual by the gains of steps since it was recomposed, which certifies nothing; NaN where Dual is up to date
	Smoothed float64 // F_μ(W); NaN where nothing is smoothed
	Mu       float64 // μ now; 0 where nothing is smoothed
	Kappa    float64 // κ now
	Step     float64 // γ (or η) now
	Exact    float64 // fraction of exact top-K answers; NaN where that means nothing

	ProxGradient float64 // ‖w_{k−1} − ŵ_k‖/η; NaN but for prox-linear
	InnerGap     float64 // gap of ŵ_k in its subproblem, certified or estimated; NaN but for prox-linear
	Rejected     int     // prox-linear's ŵ_k that were given up

	Done bool // the method can do no more: further passes would change nothing
}

// Gap returns the certified distance to the optimum, F(W) − Dual; NaN without a certificate.
func (s *State) Gap() float64 { return s.Primal - s.Dual }

// EstimatedGap returns F(W) less the larger of Dual and its estimate.
func (s *State) EstimatedGap() float64 {
	if s.Estimate > s.Dual {
		return s.Primal - s.Estimate
	}
	return s.Gap()
}

// Certifier is a method whose dual runs ahead of what was recomposed from memory.
type Certifier interface {
	// Certify recomposes the dual point from memory and makes Dual its value, if that is the largest. The method's iterates
	// stay as they are. Unless it is to keep the bound, so does all else that is archived of it, and nothing is counted:
	// whoever resumes it goes on with the same bits as if it had not been called.
	Certify(ctx context.Context, p *Problem, s *State, keep bool) error
}

// MemoryKeeper is a method whose Archive saves a memory.
type MemoryKeeper interface {
	// FetchMemory makes what Archive saves of it present where a device has it.
	FetchMemory(p *Problem) error
}

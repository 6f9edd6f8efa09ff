package train

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/train/engine"
)

// Method is an optimiser. Its exported fields are its parameters, and their zero values are usable. Its state is
// private; Archive saves and restores all of it, so a resumed run continues with the same bits. A method has no
// logging, flags or file names: recorders show the contents of State.
type Method interface {
	// Name is the method's name on the command line.
	Name() string

	// Traits say what all of the method's kind need and take.
	Traits() Traits

	// Start begins at s.W, or resumes if Archive has restored the method. It may run full passes to find a step size.
	Start(ctx context.Context, p *Problem, s *State) error

	// Pass advances s by about Len oracle calls (prox-linear: by one outer iteration) and leaves in s the new weights
	// and what the pass found out about them. It stops early only between steps, with ctx.Err.
	Pass(ctx context.Context, p *Problem, s *State) error

	// Archive saves or restores the method's state.
	Archive(a engine.Archive)
}

// Traits are what a method needs and takes, whatever its parameters are.
type Traits struct {
	Convex bool // it requires a scorer that is affine in the weights
	L1     bool // it minimises objectives with λ₁‖w‖₁
	Bounds bool // it keeps weights between bounds
	Radius bool // it keeps weights in a ball

	// Lanes: it works in the engine's lanes, on the potentials of single examples. An engine on a device has none:
	// accelerators offer only steps and passes.
	Lanes bool
}

// Pass has a method take a pass. What the one before found out about its smoothing, its proximal term and its answers
// is unknown until this one says so.
func Pass(ctx context.Context, m Method, p *Problem, s *State) error {
	s.Smoothed, s.Mu, s.Kappa, s.Exact = math.NaN(), 0, 0, math.NaN()
	return m.Pass(ctx, p, s)
}

// State is the public state of a run: the weights and what is known about them. Checkpoints save it.
type State struct {
	W           []float32 // the weights
	Passes      int       // passes finished: oracle calls / n, rounded
	OracleCalls int       // not counting full passes
	FullPasses  int

	Primal   float64 // F(W); NaN if the method did not compute it
	Dual     float64 // best lower bound on min F, from a dual point recomposed from memory; NaN without a certificate
	Rounding float64 // subtracted from Dual to allow for rounding errors (engine/rounding.go)
	Above    float64 // added to Primal for them; 0 if the method does not say. Not in checkpoints
	Estimate float64 // the dual estimated from the gains of steps since Dual was recomposed, not certified; NaN if Dual is up to date
	Smoothed float64 // F_μ(W); NaN without smoothing
	Mu       float64 // current μ; 0 without smoothing
	Kappa    float64 // current κ
	Step     float64 // current γ (or η)
	Exact    float64 // fraction of exact top-K answers; NaN if not applicable

	ProxGradient float64 // ‖w_{k−1} − ŵ_k‖/η; NaN except for prox-linear
	InnerGap     float64 // gap of ŵ_k in its subproblem, certified or estimated; NaN except for prox-linear
	Rejected     int     // number of ŵ_k that prox-linear rejected

	Deferred bool // the pass has left F(W) to Deferrer.Complete; not in checkpoints

	Done bool // the method has finished: further passes would change nothing
}

// NewState returns the state of a run that begins at w, of which nothing is known.
func NewState(w []float32) *State {
	nan := math.NaN()
	return &State{W: w, Primal: nan, Dual: nan, Estimate: nan, Smoothed: nan, Exact: nan, ProxGradient: nan,
		InnerGap: nan}
}

// Gap returns the certified distance to the optimum, F(W) − Dual; NaN without a certificate.
func (s *State) Gap() float64 { return s.Primal - s.Dual }

// EstimatedGap returns F(W) minus the larger of Dual and Estimate.
func (s *State) EstimatedGap() float64 {
	if s.Estimate > s.Dual {
		return s.Primal - s.Estimate
	}
	return s.Gap()
}

// Certifier is a method whose dual estimate runs ahead of the certified Dual.
type Certifier interface {
	// Certify recomposes the dual point from memory and raises Dual to its value if that is larger. It does not change
	// the iterates. Unless keep is true, it changes nothing else that Archive saves and counts no work, so a resumed
	// run continues with the same bits as if Certify had not been called.
	Certify(ctx context.Context, p *Problem, s *State, keep bool) error
}

// Divided is a method of whose state each of several ranks has a part.
type Divided interface {
	// Assemble completes what Archive saves, on every rank. All ranks call it.
	Assemble(ctx context.Context, p *Problem) error
}

// MemoryKeeper is a method whose Archive saves a memory.
type MemoryKeeper interface {
	// FetchMemory copies the memory that Archive saves from the device, if there is one.
	FetchMemory(p *Problem) error
}

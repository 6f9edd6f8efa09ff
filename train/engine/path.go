package engine

// Path is the sequence of iterates that a stochastic method walks,
//
//	w ← ρw + q·b + c·D,
//
// with a drift b that is constant or moves with D, and the weighted mean of the iterates that Include adds. It must not be copied
// after Start or Resume.
type Path struct {
	W     []float32 // the iterate, when the path is finished
	b     []float32 // the drift; nil means q = 0
	Mean  []float32 // of the iterates, when the path is finished; empty before the first
	total float64   // total weight of the iterates in the mean
	Count int       // number of iterates in the mean

	// Threshold τ > 0 makes At the point of the soft thresholds of the iterate, on the host.
	Threshold float32

	bounds *Bounds // cut At off, or nil
	steps  stepper
}

// stepper takes the steps of a path, whose methods of the same names say what each call does: plainSteps, lazySteps or remoteSteps.
// Between the first step and finish, W and Mean are its own.
type stepper interface {
	at() Point
	step(ρ, q, c, β float64, d Gradient)
	include(a float64) (share float64)
	observe(st *Step, start []float32, b int)
	observed() (rise, progress float64, err error)
	finish() error
}

// Start sets the iterate and clears the mean. The drift may be nil; it is used and updated in place.
func (x *Path) Start(e *Engine, at, b []float32) {
	x.W = append(x.W[:0], at...)
	x.Resume(e, b)
	x.ResetMean()
}

// Resume attaches a restored, finished path to the engine.
func (x *Path) Resume(e *Engine, b []float32) {
	x.b, x.bounds, x.steps = b, e.Bounds, e.backend.stepper(x)
}

// ResetMean starts a new mean.
func (x *Path) ResetMean() { x.total, x.Count = 0, 0 }

// At returns the current point of the path.
func (x *Path) At() Point { return x.steps.at() }

// Step sets w ← ρw + q·b + c·D, b ← b + β·D.
func (x *Path) Step(ρ, q, c, β float64, d Gradient) { x.steps.step(ρ, q, c, β, d) }

// Include adds the iterate to the mean with weight a and returns its share of the mean.
func (x *Path) Include(a float64) float64 { return x.steps.include(a) }

// Weigh records that an iterate with weight a enters the mean and returns its share.
func (x *Path) Weigh(a float64) float64 {
	share := a / (x.total + a)
	x.total += a
	x.Count++
	return share
}

// Apart takes steps of a finished path that its mean knows nothing of, and finishes it again. Include then has the same bits on all ranks, whatever
// each did in between, if the iterate has.
func (x *Path) Apart(steps func() error) error {
	mean, count := x.Mean, x.Count
	x.Mean, x.Count = nil, 0
	err := steps()
	if err == nil {
		err = x.Finish()
	}
	x.Mean, x.Count = mean, count
	return err
}

// Observe adds the curvature data of a step on b examples at the path's current point: ‖D‖²/b² and ⟨D, w − w_0⟩/b, where w_0
// is the start of the path. It ignores a step if some of its answers are not exact.
func (x *Path) Observe(st *Step, start []float32, b int) { x.steps.observe(st, start, b) }

// Observed returns both sums over the steps observed since the path was started.
func (x *Path) Observed() (rise, progress float64, err error) { return x.steps.observed() }

// Finish turns w and the mean back into plain vectors on the host, as at the end of a pass.
func (x *Path) Finish() error { return x.steps.finish() }

// Archive saves or restores a finished path.
func (x *Path) Archive(a Archive) {
	a.Floats("w", &x.W)
	a.Floats("mean", &x.Mean)
	a.Number("mean.weight", &x.total)
	a.Count("mean.iterates", &x.Count)
}

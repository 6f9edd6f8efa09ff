package engine

import (
	"math"
	"sync/atomic"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Evaluation takes shards of an objective from potentials to answers u_i, to v_i = c_i(u_i − r_i) and to Sums: it
// augments, asks the oracle, takes differences, weighs, balances and rounds. It knows the loss, the oracle and what is
// compared with; of threads, ranks, devices, and of how scores and gradients are computed, it knows nothing.
// Different shards may be evaluated at the same time.
type Evaluation struct {
	*Objective
	kind    registry.Kind
	precise bool // potentials are sums in float64, and so are gradients (rounding.go)
	bounds  bool // sums include bounds of rounding errors, which an affine scorer has
	splits  bool // sums include ⟨u_i − r_i, ℓ_i⟩ on its own

	centres []central // [n] sizes of potentials at the centre, for rounding; 0: not known yet
	lost    []float32 // [n] the most that the loss adds to a potential, at least 1; 0: not known yet

	blurs   map[int]float64 // relative errors beyond float32 of the marginals of EntropyRounding or Blur; not of examples without
	blurred float64         // the same of all marginals of RecomposeWatched
	watches bool            // answers, for it
	watched atomic.Uint64   // the bits of the largest error since Watch
}

// NewEvaluation returns the evaluation of an objective whose sums have no bounds of rounding errors. It sets the
// objective's task loss to that of the structure, unless there is one.
func NewEvaluation(o *Objective) *Evaluation {
	structure := o.Scorer.Form().Structure
	if o.Task == nil {
		o.Task = structure.TaskLoss()
	}
	return &Evaluation{Objective: o, kind: registry.Of(structure), splits: true}
}

// Len returns n, the number of examples.
func (e *Evaluation) Len() int { return e.Data.Len() }

// Kind returns the kind of structure that the scorer works on.
func (e *Evaluation) Kind() registry.Kind { return e.kind }

// Shard is a few examples and the scratch memory of their evaluation.
type Shard struct {
	*shardResult
	Oracle       oracles.Maximiser     // not shared with a shard that is evaluated at the same time
	Theta        structured.Potentials // with ℓ added
	φ            structured.Potentials // at other weights
	negated      structured.Marginals  // −r_i, for full passes
	allowed      allowed
	before       structured.Marginals // the answers at another point
	Output       []int32              // scratch memory for the best outputs
	Values       []float64            // and their values
	Sums         Sums                 // over the shards so far
	deferredSums *[]Sums              // gets what is added to Sums, if others add to the same sums before it (strands.go); else nil
	losses       []float64            // f_i, smoothed, of the current shard
	entropy      []float64            // of its answers, for losses that are smooth
}

// shardResult is a shard and the results on it. It may have to outlive the work on the shard.
type shardResult struct {
	Batch   structured.Batch
	Answer  oracles.Answer
	V       structured.Marginals // the marginals to pull back
	doubles structured.Doubles   // in a pass in float64, the numbers to pull back in place of those of V, which has their layout
}

// Sums are totals over examples, each weighted by its c_i.
type Sums struct {
	Primal   float64 // f_i
	Smoothed float64 // f_i with the smoothed max
	Linear   float64 // ⟨u_i − r_i, θ_i + ℓ_i⟩, where r_i is the gold output or comes from the memory
	Loss     float64 // ⟨u_i − r_i, ℓ_i⟩
	Entropy  float64 // entropy of u_i, if the loss is a log-partition function, or what takes its place (quadratic.go)
	Scores   float64 // |h_i| + |⟨1_{y_i}, θ_i⟩|, the scale of rounding errors; 0 from a device
	Above    float64 // bound on the rounding errors of Primal (rounding.go); 0 from a device
	Below    float64 // bound on the rounding errors of Linear and Entropy; 0 from a device
	Blur     float64 // in a pass in float64, bound on the error of the sum of gradients
	Exact    int     // answers in which the smoothing was exact
	Moved    int     // answers that differ from the memory
}

func (s *Sums) add(t Sums) {
	s.Primal += t.Primal
	s.Smoothed += t.Smoothed
	s.Linear += t.Linear
	s.Loss += t.Loss
	s.Entropy += t.Entropy
	s.Scores += t.Scores
	s.Above += t.Above
	s.Below += t.Below
	s.Blur += t.Blur
	s.Exact += t.Exact
	s.Moved += t.Moved
}

// tally returns where to add to the shard's sums, for an addition or several of different numbers.
func (sh *Shard) tally() *Sums {
	if sh.deferredSums == nil {
		return &sh.Sums
	}
	*sh.deferredSums = append(*sh.deferredSums, Sums{})
	return &(*sh.deferredSums)[len(*sh.deferredSums)-1]
}

// NewShard returns a shard for an evaluation that asks the oracle.
func NewShard(oracle oracles.Maximiser) *Shard {
	return &Shard{shardResult: &shardResult{}, Oracle: oracle}
}

// Reset makes the shard one of the given examples. Theta must then become their potentials.
func (sh *Shard) Reset(data *structured.Dataset, examples []int) {
	sh.Batch.Reset(data, examples)
	sh.allowed.find(&sh.Batch)
	sh.Sums = Sums{}
}

// LossesOfAnswers returns the smoothed f_i of the last answers, until the next ones.
func (sh *Shard) LossesOfAnswers() []float64 { return sh.losses }

// KeepAnswer keeps the answers of the last question, and another one may follow.
func (sh *Shard) KeepAnswer() { sh.before, sh.Answer.U = sh.Answer.U, sh.before }

// Augment turns the scores θ of a batch into θ + ℓ and applies the constraints.
func (o *Objective) Augment(b *structured.Batch, θ *structured.Potentials) error {
	if err := o.Constrain(b, θ); err != nil {
		return err
	}
	o.AddLoss(b, θ)
	return nil
}

// Constrain applies the constraints to the scores θ of a batch, which must be finite.
func (o *Objective) Constrain(b *structured.Batch, θ *structured.Potentials) error {
	if !θ.Finite() {
		return NotFinite(b, θ)
	}
	if o.Constraints != nil && o.Loss != Quadratic { // which fits the scores of what is forbidden, too
		o.Constraints.Apply(θ)
	}
	return nil
}

// AddLoss adds ℓ to the scores θ of a batch.
func (o *Objective) AddLoss(b *structured.Batch, θ *structured.Potentials) {
	if o.Loss.Augments() {
		for c := range b.Len() {
			o.Task.Augment(θ, c, b.GoldOf(c))
		}
	}
}

// Ask asks the smoothed oracle about the shard's potentials and adds to the shard's sums every term without r_i.
func (e *Evaluation) Ask(sh *Shard, s oracles.Smoothing, wantMax bool) {
	if e.Loss == Quadratic {
		e.askQuadratic(sh)
		return
	}
	s = e.smoothing(s)
	wantMax = wantMax && !e.Loss.Smooth()
	s.Answer(sh.Oracle, &sh.Theta, &sh.Answer, wantMax)
	e.watch(sh, s)
	e.queryAllowed(sh, s, wantMax)
	sh.losses, sh.entropy = sh.losses[:0], sh.entropy[:0]
	for b, i := range sh.Batch.Examples {
		c := e.Data.Weight(i)
		gold, most := e.gold(sh, b)
		f := LossAt(sh.Answer.Value[b], gold)
		sh.losses = append(sh.losses, f)
		smoothed := c * f
		to := sh.tally()
		to.Smoothed += smoothed
		to.Scores += c * (math.Abs(sh.Answer.Value[b]) + math.Abs(gold))
		switch {
		case e.Loss.Smooth():
			to.Primal += smoothed
			h := sh.Answer.EntropyOf(b, &sh.Theta)
			sh.entropy = append(sh.entropy, h)
			to.Entropy += c * h
		case wantMax:
			to.Primal += c * LossAt(sh.Answer.Max[b], most)
		}
		if sh.Answer.Exact[b] && e.exactGold(sh, b) {
			to.Exact++
		}
	}
}

// Difference sets the shard's v to c_i(u_i − r_i) for each example. r_i comes from the memory; with nil it is the gold
// output.
func (e *Evaluation) Difference(sh *Shard, memory *structured.Marginals) {
	sh.V.Copy(&sh.Answer.U)
	for b, i := range sh.Batch.Examples {
		if memory == nil {
			e.subtractGold(sh, &sh.V, b)
		} else {
			sh.V.AddScaled(b, -1, memory, i)
		}
	}
	e.weigh(sh, memory == nil)
}

// weigh multiplies the shard's v, the differences of answers and references, by c_i, and adds what depends on v to the
// shard's sums.
func (e *Evaluation) weigh(sh *Shard, gold bool) {
	for b, i := range sh.Batch.Examples {
		c, to := e.Data.Weight(i), sh.tally()
		if gold && e.balances(i) {
			e.balance(sh, b, c)
			continue
		}
		to.Linear += c * sh.V.Dot(b, &sh.Theta)
		if e.splits && e.Loss.Augments() {
			to.Loss += c * e.Task.Dot(&sh.V, b, sh.Batch.GoldOf(b))
		}
		if gold || !sh.V.Zero(b) {
			to.Moved++
		}
		if c != 1 {
			sh.V.Scale(b, float32(c))
		}
	}
}

// DifferenceOfAnswers sets the shard's v to c_i(u_i − u'_i), where u'_i are the answers that KeepAnswer has kept.
func (e *Evaluation) DifferenceOfAnswers(sh *Shard) {
	sh.V.Copy(&sh.Answer.U)
	for k := range sh.V.Parts {
		vec.Axpy(-1, sh.before.Parts[k].Values, sh.V.Parts[k].Values)
	}
	for b, i := range sh.Batch.Examples {
		if c := float32(e.Data.Weight(i)); c != 1 {
			sh.V.Scale(b, c)
		}
	}
	sh.Sums.Moved = sh.Batch.Len()
}

// Losses returns Σ c_i f_i over the shard's examples. Its potentials must have been computed.
func (e *Evaluation) Losses(sh *Shard) float64 {
	if e.Loss == Quadratic {
		return e.fitLosses(sh)
	}
	b := sh.Batch.Len()
	if len(sh.Values) < b {
		sh.Values = make([]float64, b)
	}
	if e.Loss.Smooth() {
		sh.Oracle.(oracles.Summer).Exp(&sh.Theta, 1, sh.Values[:b], nil)
	} else {
		sh.Output = vec.Grow(sh.Output, sh.Theta.OutputSize())
		oracles.MaxBound(sh.Oracle, &sh.Theta, sh.Output, sh.Values[:b])
	}
	e.queryAllowed(sh, e.smoothing(oracles.Smoothing{}), false)
	total := 0.0
	for c, i := range sh.Batch.Examples {
		gold, _ := e.gold(sh, c)
		f := LossAt(sh.Values[c], gold)
		total += e.Data.Weight(i) * f
		if e.bounds {
			sh.tally().Above += e.Data.Weight(i) * e.lossRounding(sh, c, measure(&sh.Theta, c, e.mostLost(sh, c), nil), f)
		}
	}
	return total
}

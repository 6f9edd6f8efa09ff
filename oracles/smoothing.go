package oracles

import (
	"cmp"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Kind is a way to smooth a max.
type Kind int

// The smoothings of Pillutla et al. 2019, section 3.
const (
	None    Kind = iota // the max itself
	L2                  // ℓ₂ on the K best outputs
	Entropy             // log-sum-exp at temperature μ
)

var kindNames = []string{"none", "l2", "entropy"}

// String returns "none", "l2" or "entropy".
func (k Kind) String() string { return kindNames[k] }

// ParseKind parses a kind in the form that String writes.
func ParseKind(name string) (Kind, error) {
	return structured.ParseName[Kind]("smoothing", kindNames, name)
}

// Smoothing is a smoothed max h_μ over outputs.
type Smoothing struct {
	Kind Kind
	Mu   float64 // μ > 0 (ignored by None)
	K    int     // L2: number of outputs that share the weight; 0 grows K until the smoothing is exact, up to MaxK
	MaxK int     // L2 with K = 0: the cap; 0 means 64
}

// Bound returns D, the most that a unit of μ can add: h ≤ h_μ ≤ h + μD for an example with that many outputs.
func (s Smoothing) Bound(logOutputs float64) float64 {
	switch s.Kind {
	case L2:
		return 0.5
	case Entropy:
		return logOutputs
	}
	return 0
}

// Unsummable is an oracle that says why it is no Summer, in a sentence without a full stop.
type Unsummable interface {
	WhyNoSums() string
}

// Check returns a bad-input error if the oracle lacks what this smoothing needs. what names the oracle's structure.
func (s Smoothing) Check(o Maximiser, what string) error {
	_, ranks := o.(Ranker)
	_, sums := o.(Summer)
	why := ""
	if u, ok := o.(Unsummable); ok {
		why = ": " + u.WhyNoSums()
	}
	switch {
	case s.Kind == Entropy && !sums && ranks:
		return structured.BadInput("entropy smoothing needs sums over all outputs, which the oracle of a %s does not "+
			"compute%s; it supports l2", what, why)
	case s.Kind == Entropy && !sums:
		return structured.BadInput("entropy smoothing needs sums over all outputs, which the oracle of a %s does not "+
			"compute%s; it supports only the max itself", what, why)
	case s.Kind == L2 && !ranks:
		return structured.BadInput("l2 smoothing needs the K best outputs, which the oracle of a %s does not find", what)
	}
	return nil
}

// Answer fills a with the smoothed oracle's answer for every example of θ. It also fills Max, except that with Entropy
// this costs a separate call, which it makes only if wantMax. It does not allocate once a has grown to the batch. The
// oracle must pass Check.
func (s Smoothing) Answer(o Maximiser, θ *structured.Potentials, a *Answer, wantMax bool) {
	examples := θ.Len()
	a.Value = vec.Grow(a.Value, examples)
	a.Max = vec.Grow(a.Max, examples)
	a.Exact = vec.Grow(a.Exact, examples)
	a.mixture.reset()
	a.gap = vec.Grow(a.gap, examples)
	clear(a.gap)
	if s.Kind == Entropy {
		o.(Summer).Exp(θ, s.Mu, a.Value, &a.U)
		for b := range a.gap {
			a.gap[b] = SumGap(o, b)
		}
		if wantMax {
			a.y = vec.Grow(a.y, θ.OutputSize())
			o.Max(θ, a.y, a.Max)
		}
		for b := range a.Exact {
			a.Exact[b] = true
		}
		return
	}
	a.U.Like(θ)
	a.U.Clear()
	if s.Kind == None {
		a.fillMax(o, θ)
	} else {
		a.fillTopK(o.(Ranker), θ, s)
	}
}

// Answer holds the answer of a smoothed oracle for each example of a batch.
type Answer struct {
	Value []float64            // [B] h_μ(θ)
	Max   []float64            // [B] max_y ⟨θ,1_y⟩, or an upper bound from a Relaxed oracle; with Entropy only on request
	U     structured.Marginals // ∇h_μ(θ), the marginals u
	// [B] the answer is proven to be exact; with L2, the smoothing over K outputs equals that over all (Prop. 4)
	Exact []bool

	gap     []float64 // [B] with Entropy, how far Value is above that of the marginals (Gapped)
	mixture mixture
	best    KBest
	larger  KBest // of single, for an example that needs a larger K
	single  structured.Potentials
	q       []float64
	y       []int32
}

// EntropyOf returns μ times the entropy of the marginals of example b, for an Answer at θ with Entropy: what the value
// of the marginals has beside ⟨θ, u⟩. The value of the answer may be larger than that of its marginals (Gapped). A dual
// point has the value of its marginals.
func (a *Answer) EntropyOf(b int, θ *structured.Potentials) float64 {
	return a.Value[b] - a.gap[b] - a.U.Dot(b, θ)
}

// Mixture returns the outputs whose weighted sum is the marginals of example b, u = Σ_k q_k 1_{y_k}, with weights q_k >
// 0 that sum to 1. With outputs of length T, output k is y[k*T:(k+1)*T]. Entropy has no such short form: both are nil.
// The slices are valid until the next call of Answer.
func (a *Answer) Mixture(b int) (y []int32, q []float32) { return a.mixture.of(b) }

func (a *Answer) fillMax(o Maximiser, θ *structured.Potentials) {
	a.y = vec.Grow(a.y, θ.OutputSize())
	o.Max(θ, a.y, a.Max)
	copy(a.Value, a.Max)
	for b, v := range a.Max {
		var upper float64
		if upper, a.Exact[b] = bound(o, b); !a.Exact[b] {
			a.Max[b] = max(v, upper)
			a.Value[b] = a.Max[b]
		}
		switch {
		case math.IsNaN(v):
			RefuseSums(&a.U, b)
		case !math.IsInf(v, -1): // else there is no output
			a.add(b, a.y[θ.Outputs[b]:θ.Outputs[b+1]], 1)
		}
		a.mixture.end()
	}
}

// add adds an output of example b with weight q to the answer.
func (a *Answer) add(b int, y []int32, q float32) {
	a.U.Add(b, y, q)
	a.mixture.add(y, q)
}

// firstK is the first K that the automatic choice tries.
const firstK = 4

func (s Smoothing) maxK() int { return cmp.Or(s.MaxK, 64) }

func (a *Answer) fillTopK(o Ranker, θ *structured.Potentials, s Smoothing) {
	o.TopK(θ, 1+cmp.Or(s.K, min(firstK, s.maxK())), &a.best)
	for b := range θ.Len() {
		a.Max[b], a.Exact[b] = bound(o, b)
	}
	for b := range θ.Len() {
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		upper, proven := a.Max[b], a.Exact[b]
		scores, exact := enough(&a.best, b, s.Mu)
		if s.K > 0 || exact {
			a.combine(b, scores, exact, s.Mu, func(k int) []int32 { return a.best.Output(k, lo, hi) })
			a.relax(b, upper, proven)
			continue
		}
		θ.View(b, &a.single)
		for k := a.best.K - 1; !exact && k < s.maxK(); {
			k = min(2*k, s.maxK())
			o.TopK(&a.single, k+1, &a.larger)
			scores, exact = enough(&a.larger, 0, s.Mu)
		}
		a.combine(b, scores, exact, s.Mu, func(k int) []int32 { return a.larger.Output(k, 0, hi-lo) })
		upper, proven = bound(o, 0)
		a.relax(b, upper, proven)
	}
}

// MaxBound is Max of an oracle, but with upper bounds of the best scores as values, for answers that are not proven to
// be the best.
func MaxBound(o Maximiser, θ *structured.Potentials, y []int32, value []float64) {
	o.Max(θ, y, value)
	for b := range value {
		if upper, exact := bound(o, b); !exact {
			value[b] = max(value[b], upper)
		}
	}
}

// bound returns the upper bound of a Bounder on example b, and whether the answer is exact. Others are exact.
func bound(o Maximiser, b int) (upper float64, exact bool) {
	if r, ok := o.(Bounder); ok {
		return r.Bound(b)
	}
	return math.Inf(-1), true
}

// relax corrects the answer for example b if the oracle's own was not proven to be exact.
func (a *Answer) relax(b int, upper float64, proven bool) {
	if !proven {
		a.Max[b], a.Exact[b] = max(a.Max[b], upper), false
	}
}

// enough returns the K best scores of example b, given lists of K+1, and whether no further output would get weight.
func enough(best *KBest, b int, μ float64) (scores []float64, exact bool) {
	z := best.Score[b*best.K:][:best.Count[b]]
	if len(z) < best.K {
		return z, true
	}
	return z[:len(z)-1], covers(z, μ)
}

// combine sets the answer for example b to the smoothed max over the outputs with the given scores.
func (a *Answer) combine(b int, scores []float64, exact bool, μ float64, output func(k int) []int32) {
	a.Exact[b] = exact
	if len(scores) == 0 || math.IsNaN(scores[0]) {
		a.Value[b] = math.Inf(-1)
		if len(scores) > 0 {
			a.Value[b] = RefuseSums(&a.U, b)
		}
		a.Max[b] = a.Value[b]
		a.mixture.end()
		return
	}
	a.q = vec.Grow(a.q, len(scores))
	a.Value[b], a.Max[b] = projectSimplex(scores, μ, a.q), scores[0]
	for k, q := range a.q {
		if q > 0 {
			a.add(b, output(k), float32(q))
		}
	}
	a.mixture.end()
}

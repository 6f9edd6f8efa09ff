package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// FullPass is the result of one pass over all examples at fixed weights w.
type FullPass struct {
	Primal   float64   // F(w), regulariser included
	Upper    float64   // F(w) rounded up: no less than in exact arithmetic, if the scorer is affine (rounding.go)
	Smoothed float64   // F_μ(w), regulariser included
	Grad     []float32 // g = (1/n) Σ c_i J_iᵀ(u_i − 1_{y_i}) [Dim]: the gradient of F_μ minus the regulariser's
	Exact    float64   // fraction of exact top-K answers

	// Linear is the part of the dual value that does not depend on w, for an affine scorer θ_i = a_i + J_i w:
	// (1/n) Σ c_i [⟨u_i, a_i + ℓ_i⟩ + H(u_i) − ⟨1_{y_i}, a_i⟩], where H is the entropy for log-sum-exp losses and 0
	// for the hinge. See certificate.go.
	Linear float64

	// Central is the value at the centre c of the linear lower bound on the mean loss, Linear + ⟨g,c⟩, from a gradient
	// that was not rounded to float32 yet. It is linear in u but for the entropy.
	Central float64

	Rounded float64 // allowance for rounding in a bound that is linear in g, but for GradientAllowance (rounding.go)
	Blur    float64 // as in Recomposed
}

// FullPass evaluates the objective, and the gradient of the smoothed objective, at w. Unless memory is nil it stores
// the marginals u_i there. Full passes are counted separately from a method's oracle calls.
func (e *Engine) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory) (*FullPass, error) {
	if e.doubles.on && memory == nil {
		if p, ok, err := e.fullPassInDoubles(ctx, w); ok || err != nil {
			return p, err
		}
	}
	g, r := e.vectors.zeros(len(w)), 0.0
	// A later rank waits for the sums of those before it, and so has time for the regulariser first. The first rank has
	// time afterwards, while others add to its sums.
	waits := e.group.Rank() > 0
	if waits {
		r = e.regulariser(w)
	}
	total, err := e.backend.fullPass(ctx, w, s, memory, g)
	if err != nil {
		return nil, err
	}
	if !waits {
		r = e.regulariser(w)
	}
	inv := 1 / float64(e.Len())
	f := total.Primal*inv + r
	p := &FullPass{
		Primal:   f,
		Upper:    e.roundUp(f, total),
		Smoothed: total.Smoothed*inv + r,
		Exact:    float64(total.Exact) * inv,
	}
	u, err := e.access.lower(ctx, w, g, total)
	p.Grad, p.Linear, p.Central, p.Rounded = u.Grad, u.Linear, u.Central, u.Rounded
	return p, err
}

// blockOfBound is how many numbers of a gradient lowerInto gives a thread at a time. The sums of blocks are added in
// their order, whatever the threads.
const blockOfBound = 1 << 16

// lowerInto sets grad to the gradient of the bound, from the sum g of gradients.
func (e *Engine) lowerInto(grad, w []float32, g []float64, sums Sums) Recomposed {
	type part struct {
		at, step      float64 // ⟨g, w⟩ and ⟨g, c − w⟩
		product, from float64 // Σ|g_j||w_j − c_j| and Σ|g_j|(|w_j| + |c_j|)
	}
	inv := 1 / float64(e.Len())
	parts := make([]part, (len(g)+blockOfBound-1)/blockOfBound)
	e.Parallel(len(parts), func(k int) {
		lo, hi := k*blockOfBound, min((k+1)*blockOfBound, len(g))
		p := &parts[k]
		p.at, p.product = vec.Narrow(inv, g[lo:hi], w[lo:hi], grad[lo:hi])
		if e.Center == nil {
			p.step, p.from = -p.at, p.product
			return
		}
		p.product = 0
		for j := lo; j < hi; j++ {
			x, v, c := g[j]*inv, float64(w[j]), float64(e.Center[j])
			p.step += x * (c - v)
			x = math.Abs(x)
			p.product += x * math.Abs(v-c)
			p.from += x * (math.Abs(v) + math.Abs(c))
		}
	})
	var all part
	for _, p := range parts {
		all.at, all.step, all.product, all.from = all.at+p.at, all.step+p.step, all.product+p.product, all.from+p.from
	}
	a := (sums.Linear + sums.Entropy) * inv
	return Recomposed{Grad: grad, Linear: a - all.at, Central: a + all.step, Rounded: e.linearRounding(w, all.product, all.from, sums)}
}

// Value returns F(w) without a gradient: the hinge's max or the loss's log-sum-exp, plus the regulariser.
func (e *Engine) Value(ctx context.Context, w []float32) (float64, error) {
	f, _, err := e.value(ctx, w, e.layout.all, e.layout.shards)
	return f, err
}

// Upper returns F(w) rounded up, no less than in exact arithmetic if the scorer is affine (rounding.go), and by how
// much it was rounded. Certificates show it.
func (e *Engine) Upper(ctx context.Context, w []float32) (upper, rounded float64, err error) {
	if e.doubles.on {
		if upper, rounded, ok, err := e.upperInDoubles(ctx, w); ok || err != nil {
			return upper, rounded, err
		}
	}
	f, total, err := e.value(ctx, w, e.layout.all, e.layout.shards)
	upper = e.roundUp(f, total)
	return upper, upper - f, err
}

// ValueOf returns F(w) with the mean loss over the given examples only, at least one.
func (e *Engine) ValueOf(ctx context.Context, w []float32, examples []int) (float64, error) {
	f, _, err := e.value(ctx, w, examples, cutIntoShards(e.Data, examples))
	return f, err
}

func (e *Engine) value(ctx context.Context, w []float32, examples []int, shards [][]int) (f float64, total Sums, err error) {
	if total, err = e.backend.value(ctx, w, examples, shards); err == nil {
		f = total.Primal/float64(len(examples)) + e.regulariser(w)
	}
	return f, total, err
}

// UpperAnswers is Upper on the host, for a loss that is not smooth. It calls found for the examples that this process
// has in full passes, each with the output that the max oracle finds; for several examples at a time, in any order.
func (e *Engine) UpperAnswers(ctx context.Context, w []float32, found func(i int, output []int32)) (float64, error) {
	total, err := hostBackend{e}.values(ctx, w, e.layout.shards, found)
	return e.roundUp(total.Primal/float64(e.Len())+e.regulariser(w), total), err
}

// overShards runs work on every shard and returns the sums over the lanes. Unless g [Dim] is nil, it adds Jᵀv to g,
// where v is what work leaves in its lane. It sums in float64 if the scorer can, and else in float32.
func (e *Engine) overShards(ctx context.Context, shards [][]int, g []float64, work func(ln *Lane) error) (Sums, error) {
	return e.sumOverShards(ctx, shards, g, false, work)
}

// sumOverShards is overShards. With toLast, g may have the sum on the last rank alone, as lower takes it.
func (e *Engine) sumOverShards(ctx context.Context, shards [][]int, g []float64, toLast bool,
	work func(ln *Lane) error) (Sums, error) {
	p := pass{engine: e, shards: shards, g: g, work: work, sums: make([]Sums, min(e.layout.lanes, len(shards)))}
	err := e.access.pass(ctx, p, toLast)
	var total Sums
	for _, s := range p.sums {
		total.add(s)
	}
	return total, err
}

// pass is work on the shards of a full pass.
type pass struct {
	engine *Engine
	shards [][]int
	g      []float64 // the gradient, or nil
	work   func(ln *Lane) error
	sums   []Sums // by lane
}

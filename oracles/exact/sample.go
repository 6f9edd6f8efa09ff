package exact

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample implements oracles.Sampler. It sums from the leaves to the roots once, and then draws the labels of every
// variable given that of its parent, for all samples together. In a graph with loops, it draws those of cliques of the
// junction tree.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	to.Resize(θ, n)
	o.prepareExp(θ, μ)
	o.scores = vec.Grow(o.scores, o.y)
	for b := range θ.Len() {
		if !o.guard.Valid(θ, b) {
			to.Count[b] = 0
			continue
		}
		o.draws.Seed(seed[b])
		x := exampleOf(θ, b)
		if !o.sample(&x, μ, n, func(k int) []int32 { return to.Output(k, θ.Outputs[b], θ.Outputs[b+1]) }) {
			to.Count[b] = 0
		}
	}
}

// sample draws n outputs of an example. It returns false if none is allowed.
func (o *Oracle) sample(x *example, μ float64, n int, output func(k int) []int32) bool {
	if !x.plan.forest {
		t := x.tree(μ)
		if math.IsInf(t.Sum(), -1) {
			return false
		}
		states := make([]int, x.n)
		for k := range n {
			t.Sample(&o.draws, states)
			for v, s := range states {
				output(k)[v] = int32(s)
			}
		}
		return true
	}
	value, ok := o.forestExp(x, μ, nil, nil)
	if !ok {
		value = o.logExp(x, μ, nil, nil)
	}
	if math.IsInf(value, -1) {
		return false
	}
	for _, s := range x.plan.steps {
		var logs []float64
		switch {
		case s.parent < 0:
		case !ok:
			logs = o.logTable(x, s, s.table^1, μ)
		case x.kind == graphs.Own:
			least := 0.0
			o.tableExps(o.table, x.table(s.edge), μ, &least)
		}
		for k := range n {
			y := output(k)
			parent := int32(-1)
			if s.parent >= 0 {
				parent = y[s.parent]
			}
			if ok {
				o.weightsGiven(x, s, μ, parent)
			} else {
				o.logWeightsGiven(s, logs, parent)
			}
			y[s.v] = int32(oracles.Pick(o.scores, o.draws.Uniform()*total(o.scores)))
		}
	}
	return true
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// weightsGiven sets scores to numbers proportional to the probabilities of the labels of variable s.v, given its
// parent's label l: below of forestExp times the weights of the edge, which o.table holds where every edge has its own.
func (o *Oracle) weightsGiven(x *example, s step, μ float64, l int32) {
	y := o.y
	copy(o.scores, o.rowOf(o.below, s.v)[:y])
	if s.parent < 0 {
		return
	}
	switch {
	case x.kind == graphs.Typed:
		for k, w := range o.typed(s.table ^ 1)[int(l)*o.wide:][:y] {
			o.scores[k] *= w
		}
	case x.kind == graphs.Potts:
		equal, different, _ := pottsWeights(x.edge[s.edge], μ)
		for k := range o.scores {
			if k == int(l) {
				o.scores[k] *= equal
			} else {
				o.scores[k] *= different
			}
		}
	case s.table&1 == 0:
		for k := range o.scores {
			o.scores[k] *= o.table[k*o.wide+int(l)]
		}
	default:
		for k, w := range o.table[int(l)*o.wide:][:y] {
			o.scores[k] *= w
		}
	}
}

// logWeightsGiven is weightsGiven after logExp. The rows of the table are the parent's labels.
func (o *Oracle) logWeightsGiven(s step, table []float64, l int32) {
	copy(o.scores, o.rowOf(o.below, s.v)[:o.y])
	if s.parent >= 0 {
		for k, w := range table[int(l)*o.wide:][:o.y] {
			o.scores[k] += w
		}
	}
	most := highest(o.scores)
	for k, v := range o.scores {
		o.scores[k] = math.Exp(v - most)
	}
}

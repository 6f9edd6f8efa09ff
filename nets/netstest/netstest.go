// Package netstest checks networks and ops from outside: their derivatives, and that they do not mix examples. Tests of
// own networks call Check, and tests of own ops CheckOp. The tests of this package compare every op and every preset
// with Gorgonia's TapeMachine in float64.
package netstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Check builds a network and runs CheckNet.
func Check(t testing.TB, spec graph.Spec, input graph.Input) {
	t.Helper()
	net, err := nets.Build(spec, input)
	if err != nil {
		t.Fatal(err)
	}
	CheckNet(t, net)
}

// tolerance bounds relative errors. Finite differences of float32 numbers have some 1e-3; a wrong derivative is off by
// far more.
const tolerance = 2e-2

// CheckNet checks a network at random weights, on examples of several lengths with random inputs:
//
//   - for every parameter, the push-forward Jẇ against central differences of the potentials,
//   - the pullback against it: ⟨Jẇ, v⟩ = ⟨ẇ, Jᵀv⟩,
//   - that potentials and gradients of an example do not depend on the others in its batch,
//   - that all workers return the same bits,
//   - sums in float64, if the network has them, against those in float32.
//
// Differentiable functions pass; so do those with kinks, as long as a small step seldom crosses one.
func CheckNet(t testing.TB, net *nets.Net) {
	t.Helper()
	c := &check{TB: t, net: net, rng: rand.New(rand.NewPCG(1, 2))}
	c.data = net.Draw(c.rng, 3, 1, 0, 6, 2, 11)
	c.w = c.normals(net.Dim(), 0.5)
	for _, examples := range [][]int{{0, 1, 2, 3, 4, 5}, {1}, {4, 3}} {
		c.batch.Reset(c.data, examples)
		c.derivatives()
		c.examplesAlone()
		c.precisely()
	}
}

type check struct {
	testing.TB
	net   *nets.Net
	rng   *rand.Rand
	data  *structured.Dataset
	batch structured.Batch
	w     []float32
}

func (c *check) normals(n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(c.rng.NormFloat64() * scale)
	}
	return x
}

func (c *check) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// derivatives checks the push-forward and the pullback, parameter by parameter.
func (c *check) derivatives() {
	c.Helper()
	worker := c.net.NewNetWorker()
	var θ, tangent structured.Potentials
	c.must(worker.Score(c.w, &c.batch, &θ))
	v := c.cotangent()
	grad := make([]float32, c.net.Dim())
	c.must(worker.Pullback(v, grad))
	for _, a := range c.net.Layout() {
		direction := make([]float32, c.net.Dim())
		copy(a.Of(direction), c.normals(a.Len(), 1/math.Sqrt(float64(a.Len()))))
		c.must(worker.PushForward(direction, &tangent))
		pushed := 0.0
		for b := range c.batch.Len() {
			pushed += v.Dot(b, &tangent)
		}
		pulled := vec.Dot64(a.Of(grad), a.Of(direction))
		if scale := norm(v.Parts) * norm(tangent.Parts); math.Abs(pushed-pulled) > 1e-4*scale+1e-6 {
			c.Errorf("net %s, parameter %q: ⟨Jẇ,v⟩ = %g by the push-forward, ⟨ẇ,Jᵀv⟩ = %g by the pullback",
				c.net.Name(), a.Name, pushed, pulled)
		}
		if off := c.difference(direction, flat(tangent.Parts)); off > tolerance {
			c.Errorf("net %s, parameter %q: the push-forward differs from finite differences by %.2g of its size",
				c.net.Name(), a.Name, off)
		}
	}
}

// difference returns how far a push-forward is from central differences of the potentials, relative to the larger of
// the two. It takes the step that fits best, since a wrong derivative fits none.
func (c *check) difference(direction, tangent []float32) float64 {
	c.Helper()
	score := func(step float64) []float32 {
		w := slices.Clone(c.w)
		vec.Axpy(float32(step), direction, w)
		var θ structured.Potentials
		c.must(c.net.NewNetWorker().Score(w, &c.batch, &θ))
		return flat(θ.Parts)
	}
	return bestStep(score, tangent)
}

// rounding is a relative error of potentials: derivatives that are zero, such as those of the bias of the keys of
// attention, are noise.
const rounding = 1e-6

// bestStep compares a tangent with central differences of f at 0, for several steps, and returns the least relative
// error.
func bestStep(f func(step float64) []float32, tangent []float32) float64 {
	best := math.Inf(1)
	for _, step := range []float64{0.1, 0.03, 0.01, 3e-3, 1e-3} {
		ahead, behind := f(step), f(-step)
		off, size, noise := 0.0, 0.0, 0.0
		for i, x := range tangent {
			slope := (float64(ahead[i]) - float64(behind[i])) / (2 * step)
			off += (slope - float64(x)) * (slope - float64(x))
			size += max(slope*slope, float64(x)*float64(x))
			noise += math.Pow(rounding*(math.Abs(float64(ahead[i]))+math.Abs(float64(behind[i])))/(2*step), 2)
		}
		if math.IsNaN(off) {
			continue
		}
		if off == 0 || size < 1e-10 || size < noise {
			return 0
		}
		best = min(best, math.Sqrt(off/size))
	}
	return best
}

// examplesAlone checks that each example has the same potentials and gradient alone and in the batch, on any worker.
func (c *check) examplesAlone() {
	c.Helper()
	one, other := c.net.NewNetWorker(), c.net.NewNetWorker()
	var θ, again, alone structured.Potentials
	c.must(one.Score(c.w, &c.batch, &θ))
	c.must(other.Score(c.w, &c.batch, &again))
	v := c.cotangent()
	grad, same, sum := make([]float32, c.net.Dim()), make([]float32, c.net.Dim()), make([]float32, c.net.Dim())
	c.must(one.Pullback(v, grad))
	c.must(other.Pullback(v, same))
	if !slices.Equal(flat(θ.Parts), flat(again.Parts)) || !slices.Equal(grad, same) {
		c.Errorf("net %s: two workers return different bits", c.net.Name())
	}
	var batch structured.Batch
	var vc structured.Marginals
	for b, e := range c.batch.Examples {
		batch.Reset(c.data, []int{e})
		c.must(other.Score(c.w, &batch, &alone))
		for k := range θ.Parts {
			if got, want := alone.Parts[k].Of(0), θ.Parts[k].Of(b); !near(got, want) {
				c.Errorf("net %s: the %s potentials of an example depend on the others in its batch", c.net.Name(), θ.Parts[k].Name)
				return
			}
		}
		v.View(b, &vc)
		c.must(other.Pullback(&vc, sum))
	}
	if !near(sum, grad) {
		c.Errorf("net %s: the gradient of a batch is not the sum of those of its examples", c.net.Name())
	}
}

// precisely checks the network's sums in float64 (nets.PreciseScorer).
func (c *check) precisely() {
	c.Helper()
	precise := c.net.NewPreciseWorker()
	if precise == nil {
		return
	}
	worker := c.net.NewNetWorker()
	var want, got structured.Potentials
	c.must(worker.Score(c.w, &c.batch, &want))
	c.must(precise.ScorePrecisely(c.w, 0, &c.batch, &got))
	if !near(flat(got.Parts), flat(want.Parts)) {
		c.Errorf("net %s: potentials by sums in float64 differ", c.net.Name())
	}
	v, grad, double, single := c.cotangent(), make([]float32, c.net.Dim()), make([]float64, c.net.Dim()),
		make([]float32, c.net.Dim())
	c.must(worker.Pullback(v, grad))
	c.must(precise.PullbackPrecisely(v, double))
	for j, x := range double {
		single[j] = float32(x)
	}
	if !near(single, grad) {
		c.Errorf("net %s: the gradient by sums in float64 differs", c.net.Name())
	}
}

// near reports whether two arrays are the same to rounding.
func near(got, want []float32) bool {
	scale := 1.0
	for _, x := range want {
		scale = max(scale, math.Abs(float64(x)))
	}
	for i, x := range want {
		if !(math.Abs(float64(got[i])-float64(x)) <= 1e-4*scale) {
			return false
		}
	}
	return true
}

// cotangent draws v. It has zeros for the step into the first position of a chain, as marginals do.
func (c *check) cotangent() *structured.Marginals {
	v := new(structured.Marginals)
	form := c.net.Form()
	v.Resize(&c.batch, form)
	for k := range v.Parts {
		copy(v.Parts[k].Values, c.normals(len(v.Parts[k].Values), 1))
	}
	if _, chain := form.Structure.(chains.Chain); chain && form.Parts[1].Rows != structured.Tied {
		edge := &v.Parts[1]
		for b := range c.batch.Len() {
			if one := edge.Of(b); len(one) > 0 {
				clear(one[:edge.Width])
			}
		}
	}
	return v
}

func flat(parts []structured.Part) []float32 {
	var all []float32
	for _, p := range parts {
		all = append(all, p.Values...)
	}
	return all
}

func norm(parts []structured.Part) float64 { return math.Sqrt(vec.Norm2(flat(parts))) }

package nets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// geometry is a convolution of maps to a number of channels.
type geometry struct {
	of  graph.Map
	f   graph.Filter
	out int
}

var geometries = []geometry{
	{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 1, Padding: 1}, 2},
	{graph.Map{Height: 7, Width: 6, Channels: 2}, graph.Filter{Kernel: 3, Stride: 2, Padding: 1}, 3},
	{graph.Map{Height: 4, Width: 9, Channels: 1}, graph.Filter{Kernel: 2, Stride: 3, Padding: 0}, 4},
	// the filter is larger than the map
	{graph.Map{Height: 2, Width: 1, Channels: 5}, graph.Filter{Kernel: 5, Stride: 1, Padding: 4}, 2},
	{graph.Map{Height: 3, Width: 3, Channels: 4}, graph.Filter{Kernel: 1, Stride: 1, Padding: 0}, 3}, // a product
	// a product of whole rows
	{graph.Map{Height: 3, Width: 3, Channels: 2}, graph.Filter{Kernel: 3, Stride: 2, Padding: 0}, 3},
	{graph.Map{Height: 3, Width: 4, Channels: 2}, graph.Filter{Kernel: 1, Stride: 2, Padding: 0}, 3},
}

// perCell is a form with one part, of the given width on positions.
func perCell(width int) structured.Form {
	return structured.Form{Parts: []structured.Shape{{Name: "node", Rows: structured.Positions, Width: width}}}
}

// spec is a network with the convolution and its bias: of the features alone, or also of a product of features and
// parameters, so that maps have a gradient, too.
func (o geometry) spec(alone bool) graph.Spec {
	to, err := o.f.Over(o.of, o.out)
	if err != nil {
		panic(err)
	}
	patch, n := o.f.Kernel*o.f.Kernel*o.of.Channels, o.of.Len()
	return graph.Spec{
		Name: "convolution", Form: perCell(to.Len()),
		Params: []graph.Param{{Name: "weight", Shape: []int{patch, o.out}, Init: graph.Glorot},
			{Name: "bias", Shape: []int{o.out}, Init: graph.Gaussian(1)},
			{Name: "in", Shape: []int{n, n}, Init: graph.Glorot}},
		Parts: func(g *graph.Graph) ([]*gorgonia.Node, error) {
			y := node(g.Conv(g.Features(), g.Param("weight"), g.Param("bias"), o.of, o.f))
			if !alone {
				x := node(gorgonia.Tanh(node(gorgonia.Mul(g.Features(), g.Param("in")))))
				y = node(gorgonia.Add(y, node(g.Conv(x, g.Param("weight"), nil, o.of, o.f))))
				y = node(gorgonia.Add(y,
					node(g.Conv(node(gorgonia.Square(x)), node(gorgonia.Tanh(g.Param("weight"))), nil, o.of, o.f))))
			}
			return []*gorgonia.Node{y}, nil
		},
	}
}

// Score, pullback and push-forward of convolutions equal those of Gorgonia's TapeMachine in float64.
func TestConvolutionsEqualGorgonia(t *testing.T) {
	for _, o := range geometries {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			rng, input := rand.New(rand.NewPCG(31, 32)), graph.Input{Dim: o.of.Len(), Map: o.of}
			net, err := nets.Build(o.spec(false), input)
			must(t, err)
			var batch structured.Batch
			batch.Reset(randomData(rng, input, 3, 5, 1, 0, 9), seq(4))
			checkAgainst(t, newReference(t, net, &batch, 0), net, &batch, randomVector(rng, net.Dim(), 0.7), 0, rng)
		})
	}
}

// A convolution is what its definition says, also in many blocks, and is linear in its weights.
func TestConvolutionsEqualLoops(t *testing.T) {
	all := append(slices.Clone(geometries),
		geometry{graph.Map{Height: 40, Width: 50, Channels: 16}, graph.Filter{Kernel: 3, Stride: 1, Padding: 1}, 2})
	for _, o := range all {
		rng, input := rand.New(rand.NewPCG(33, 34)), graph.Input{Dim: o.of.Len(), Map: o.of}
		spec := o.spec(true)
		spec.Params = spec.Params[:2]
		net, err := nets.Build(spec, input)
		must(t, err)
		if !net.Affine() {
			t.Errorf("%v: a convolution of the inputs is not affine in its weights", o)
		}
		data := randomData(rng, input, 3, 2, 1)
		w := randomVector(rng, net.Dim(), 1)
		var batch structured.Batch
		batch.Reset(data, []int{0, 1})
		var θ structured.Potentials
		must(t, net.NewNetWorker().Score(w, &batch, &θ))
		want := widen(nil)
		for row := range data.Positions() {
			x := data.Features[row*input.Dim : (row+1)*input.Dim]
			want = append(want, o.loops(x, w)...)
		}
		mustEqual(t, fmt.Sprint(o), θ.Parts[0].Values, want, 1e-5)
	}
}

// loops computes the convolution of a map.
func (o geometry) loops(x, w []float32) (y []float64) {
	k, c := o.f.Kernel, o.of.Channels
	weight, bias := w[:k*k*c*o.out], w[k*k*c*o.out:]
	for top := -o.f.Padding; top+k <= o.of.Height+o.f.Padding; top += o.f.Stride {
		for left := -o.f.Padding; left+k <= o.of.Width+o.f.Padding; left += o.f.Stride {
			for n := range o.out {
				sum := float64(bias[n])
				for i := range k {
					for j := range k {
						for ch := range c {
							if r, s := top+i, left+j; r >= 0 && r < o.of.Height && s >= 0 && s < o.of.Width {
								sum += float64(x[(r*o.of.Width+s)*c+ch]) * float64(weight[((i*k+j)*c+ch)*o.out+n])
							}
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y
}

// Filters that do not fit are refused.
func TestFilters(t *testing.T) {
	for _, o := range []geometry{
		{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 5, Stride: 1}, 2},
		{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 0}, 2},
		{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 1, Padding: 3}, 2},
		{graph.Map{Height: 5, Width: 4}, graph.Filter{Kernel: 3, Stride: 1}, 2},
		{graph.Map{Height: 5, Width: 4, Channels: 3}, graph.Filter{Kernel: 3, Stride: 1}, 0},
	} {
		if to, err := o.f.Over(o.of, o.out); err == nil {
			t.Errorf("%v: made %v", o, to)
		}
	}
}

// A step (score and pullback) of a 3×3 convolution on 256 maps of 32×32×16.
func BenchmarkConvolution(b *testing.B) {
	o := geometry{graph.Map{Height: 32, Width: 32, Channels: 16}, graph.Filter{Kernel: 3, Stride: 2, Padding: 1}, 32}
	spec := o.spec(true)
	spec.Params = spec.Params[:2]
	input := graph.Input{Dim: o.of.Len(), Map: o.of}
	net, err := nets.Build(spec, input)
	must(b, err)
	rng := rand.New(rand.NewPCG(35, 36))
	var batch structured.Batch
	batch.Reset(randomData(rng, input, 3, 256), []int{0})
	w, grad, worker := randomVector(rng, net.Dim(), 1), make([]float32, net.Dim()), net.NewNetWorker()
	var θ structured.Potentials
	must(b, worker.Score(w, &batch, &θ))
	v := randomMarginals(rng, &batch, net.Form())
	for b.Loop() {
		must(b, worker.Score(w, &batch, &θ))
		must(b, worker.Pullback(v, grad))
	}
	to, _ := o.f.Over(o.of, o.out)
	b.ReportMetric(2*2*256*float64(to.Len())*9*16*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

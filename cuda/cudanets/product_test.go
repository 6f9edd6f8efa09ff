package cudanets_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// What follows a product gives the same bits in the product's kernel as in one of its own: potentials, tangents and
// gradients, with widths that 4 divides or not, of one tile or several, and with products that are added up from parts.
func TestEpiloguesKeepBits(t *testing.T) {
	d, rng := cudatest.Device(t), rand.New(rand.NewPCG(11, 12))
	type network struct {
		config nets.Config
		input  graph.Input
	}
	all := []network{
		{nets.Config{Net: "mlp", Hidden: []int{70}, Dropout: 0.3}, graph.Input{Dim: 6}},
		{nets.Config{Net: "mlp", Hidden: []int{132, 8}, Activation: graph.GELU}, graph.Input{Dim: 9}},
		{nets.Config{Net: "mlp", Hidden: []int{5}, Activation: graph.Tanh}, graph.Input{Dim: 700}},
	}
	for _, p := range presets {
		all = append(all, network{p.config, p.input})
	}
	fewer := 0
	for _, c := range all {
		net, err := nets.New(c.config, c.input, 4)
		cudatest.Must(t, err)
		r := newRig(t, d, net, cudatest.RandomData(rng, c.input, 4, 30, 3, 100, 1), graph.Bucket(140))
		examples := []int{1, 2, 3, 0}
		var batch structured.Batch
		batch.Reset(r.data, examples)
		w, ẇ := cudatest.Vector(rng, net.Dim(), 0.5), cudatest.Vector(rng, net.Dim(), 1)
		_, node, edge := r.cotangent(&batch)
		answers := func(apart bool) (numbers [][]float32, commands int) {
			e := cudanets.NewExecutor(d, net, r.blas)
			defer e.Free()
			if apart {
				e.KeepApart()
			}
			cudatest.Must(t, e.Reserve(r.batch))
			r.batch.Set(examples)
			r.batch.SetSeed(17)
			for _, of := range []func(){
				func() { e.Score(r.upload(w), r.batch, r.θ.Parts()) },
				func() { e.PushForward(r.upload(ẇ), r.θ.Parts()) },
			} {
				of()
				n, g := r.potentials()
				numbers = append(numbers, n, g)
			}
			grad := device.New[float32](d, net.Dim(), "a gradient")
			device.Zero(d, grad)
			e.Pullback(cudanets.Parts{node, edge}, grad)
			commands, _ = e.Launches(r.batch)
			return append(numbers, r.download(grad)), commands
		}
		want, most := answers(true)
		got, commands := answers(false)
		for k := range want {
			if !slices.Equal(got[k], want[k]) {
				t.Errorf("%+v: numbers %d differ", c.config, k)
			}
		}
		if commands > most {
			t.Errorf("%+v: %d commands, apart %d", c.config, commands, most)
		}
		fewer += most - commands
	}
	if fewer < 2*len(all) {
		t.Errorf("%d networks have %d commands less", len(all), fewer)
	}
}

// A product's kernel takes what follows unless that writes where other blocks still read the factors, or reads what
// other blocks have yet to write.
func TestEpilogueLeavesFactors(t *testing.T) {
	blas := device.NewOwnBLAS(cudatest.Device(t), false)
	defer blas.Close()
	at := func(offset int) *graph.Buffer { return &graph.Buffer{Offset: offset, N: 12} }
	assign := func(to, from *graph.Buffer, by graph.Expand) graph.Instruction {
		return graph.Instruction{Op: graph.Assign{}, Out: to, Args: []graph.Operand{{Buffer: from, Expand: by}}}
	}
	x, w, y, z := at(0), at(12), at(24), at(36)
	product := graph.Instruction{Op: graph.MatMul{Batch: 1, M: 3, N: 4, K: 3}, Out: y,
		Args: []graph.Operand{{Buffer: x}, {Buffer: w}}}
	turned := graph.Expand{Outer: 1, Repeat: 1, Inner: 12}
	for what, c := range map[string]struct {
		then []graph.Instruction
		want int
	}{
		"nothing":            {nil, 0},
		"its result":         {[]graph.Instruction{assign(z, y, graph.Expand{}), assign(at(60), z, graph.Expand{})}, 2},
		"something else":     {[]graph.Instruction{assign(z, at(60), graph.Expand{})}, 0},
		"other entries":      {[]graph.Instruction{assign(z, y, turned)}, 0},
		"a factor":           {[]graph.Instruction{assign(at(5), y, graph.Expand{})}, 0},
		"a factor, at last":  {[]graph.Instruction{assign(z, y, graph.Expand{}), assign(w, z, graph.Expand{})}, 1},
		"other entries then": {[]graph.Instruction{assign(z, y, graph.Expand{}), assign(at(60), y, turned)}, 1},
	} {
		if got := cudanets.Epilogue(blas, append([]graph.Instruction{product}, c.then...)); got != c.want {
			t.Errorf("%s: %d instructions, want %d", what, got, c.want)
		}
	}
}

// Products that read features where the data has them give the bits of products of gathered ones: potentials, tangents
// and gradients. Networks whose other ops read the features gather them.
func TestFeaturesInPlaceKeepBits(t *testing.T) {
	d, rng := cudatest.Device(t), rand.New(rand.NewPCG(21, 22))
	inPlace := 0
	for _, c := range append(slices.Clone(presets), []struct {
		name   string
		config nets.Config
		input  graph.Input
	}{
		{"mlp, many features", nets.Config{Net: "mlp", Hidden: []int{70}, Dropout: 0.3}, graph.Input{Dim: 700}},
		{"mlp, 8 features", nets.Config{Net: "mlp", Hidden: []int{132, 8}, Activation: graph.GELU}, graph.Input{Dim: 8}},
	}...) {
		if c.input.Dim == 0 {
			continue
		}
		net, err := nets.New(c.config, c.input, 4)
		cudatest.Must(t, err)
		r := newRig(t, d, net, cudatest.RandomData(rng, c.input, 4, 30, 3, 100, 1, 7), graph.Bucket(150))
		examples := []int{4, 2, 3, 0} // not all rows of the data, in another order
		var batch structured.Batch
		batch.Reset(r.data, examples)
		w, ẇ := cudatest.Vector(rng, net.Dim(), 0.5), cudatest.Vector(rng, net.Dim(), 1)
		_, node, edge := r.cotangent(&batch)
		answers := func(gather bool) (numbers [][]float32, bytes int) {
			e := cudanets.NewExecutor(d, net, r.blas)
			defer e.Free()
			if gather {
				e.GatherFeatures()
			}
			cudatest.Must(t, e.Reserve(r.batch))
			r.batch.Set(examples)
			r.batch.SetSeed(17)
			for _, of := range []func(){
				func() { e.Score(r.upload(w), r.batch, r.θ.Parts()) },
				func() { e.PushForward(r.upload(ẇ), r.θ.Parts()) },
			} {
				of()
				n, g := r.potentials()
				numbers = append(numbers, n, g)
			}
			grad := device.New[float32](d, net.Dim(), "a gradient")
			device.Zero(d, grad)
			e.Pullback(cudanets.Parts{node, edge}, grad)
			return append(numbers, r.download(grad)), e.FeatureBytes()
		}
		want, all := answers(true)
		got, bytes := answers(false)
		for k := range want {
			if !slices.Equal(got[k], want[k]) {
				t.Errorf("%s: numbers %d differ", c.name, k)
			}
		}
		if bytes == 0 && all > 0 {
			inPlace++
		} else if c.config.Net == "mlp" || c.config.Net == "linear" && c.config.Window == 0 {
			t.Errorf("%s: %d bytes of gathered features", c.name, bytes)
		}
	}
	if inPlace < 7 {
		t.Errorf("%d networks read features in place", inPlace)
	}
}

package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

var netChecks = []Check{
	{"matrix products: " + kernels.CurrentBLAS().Name() + " vs plain loops", checkBLAS},
	checkNet(nets.Config{Net: "linear", Window: 3}),
	checkNet(nets.Config{Net: "mlp", Hidden: []int{11, 7}, Edges: nets.EdgesPosition}),
	checkNet(nets.Config{Net: "cnn", Channels: []int{9}, Activation: graph.Tanh}),
	checkNet(nets.Config{Net: "cnn-image", Channels: []int{4, 5}, Hidden: []int{12}}),
	checkNet(nets.Config{Net: "embed", Channels: []int{10}, Embed: []int{6, 3}}),
	checkNet(nets.Config{Net: "deep", Recurrent: []int{4}, CharEmbed: 3, CharChannels: 5, AttributeUnits: 2, Activation: graph.Tanh}),
	checkNet(nets.Config{Net: "attention", Channels: []int{12}, Heads: 3, Layers: 2}),
	checkNet(nets.Config{Net: "rnn", Recurrent: []int{6, 4}, Hidden: []int{5}, Activation: graph.GELU}),
}

// checkBLAS compares products of matrices of odd sizes, transposed or not.
func checkBLAS(_ context.Context, r *rand.Rand, w *worst) (string, error) {
	b := kernels.CurrentBLAS()
	for _, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {64, 128, 32}, {65, 129, 33}, {1, 200, 300}, {130, 26, 128}} {
		m, n, k := size[0], size[1], size[2]
		x, y := normals(r, m*k), normals(r, k*n)
		for form := range 8 {
			transX, transY, beta := form&1 != 0, form&2 != 0, float32(form>>2)
			c := normals(r, m*n)
			want := product(transX, transY, m, n, k, x, y, beta, c)
			b.Sgemm(transX, transY, m, n, k, x, y, beta, c)
			if err := w.nearAll("product", c, want, 1e-5*math.Sqrt(float64(k))); err != nil {
				return "", fmt.Errorf("%d×%d×%d: %w", m, k, n, err)
			}
		}
	}
	return "", nil
}

func product(transX, transY bool, m, n, k int, x, y []float32, beta float32, c []float32) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			sum := float64(beta) * float64(c[i*n+j])
			for l := range k {
				a, b := x[i*k+l], y[l*n+j]
				if transX {
					a = x[l*m+i]
				}
				if transY {
					b = y[j*k+l]
				}
				sum += float64(a) * float64(b)
			}
			out[i*n+j] = sum
		}
	}
	return out
}

// checkNet compares a network's push-forward Jẇ and pullback Jᵀv with finite differences of its potentials, and with
// each other: ⟨v, Jẇ⟩ = ⟨Jᵀv, ẇ⟩.
func checkNet(c nets.Config) Check {
	return Check{"net " + c.Net + ": gradient vs finite differences", func(_ context.Context, r *rand.Rand, w *worst) (string, error) {
		data := randomInputs(r, c.Preset().CanRead(nets.ReadsWords))
		net, err := nets.New(c, inputOf(data), 5)
		if err != nil {
			return "", err
		}
		var batch structured.Batch
		batch.Reset(data, []int{0, 1, 2, 3})
		worker, at := net.NewNetWorker(), net.Init(r.Uint64())
		for range 5 {
			if err := compareDerivatives(worker, at, &batch, r, w); err != nil {
				return "", err
			}
		}
		return "", nil
	}}
}

func compareDerivatives(worker *nets.NetWorker, at []float32, batch *structured.Batch, r *rand.Rand, w *worst) error {
	const ε = 2e-3
	direction := normals(r, len(at))
	vec.Scale(float32(1/math.Sqrt(vec.Norm2(direction))), direction)
	score := func(step float32, to *structured.Potentials) error {
		moved := append([]float32(nil), at...)
		vec.Axpy(step, direction, moved)
		return worker.Score(moved, batch, to)
	}
	var ahead, behind, θ, tangent structured.Potentials
	if err := score(ε, &ahead); err != nil {
		return err
	}
	if err := score(-ε, &behind); err != nil {
		return err
	}
	if err := score(0, &θ); err != nil {
		return err
	}
	v := drawMarginals(r, batch, structured.Form{Structure: θ.Structure, Parts: []structured.Shape{θ.Parts[0].Shape, θ.Parts[1].Shape}})
	grad := make([]float32, len(at))
	if err := worker.PushForward(direction, &tangent); err != nil {
		return err
	}
	if err := worker.Pullback(v, grad); err != nil {
		return err
	}
	difference, push, pull := 0.0, 0.0, vec.Dot64(grad, direction)
	for b := range v.Len() {
		difference += (v.Dot(b, &ahead) - v.Dot(b, &behind)) / (2 * ε)
		push += v.Dot(b, &tangent)
	}
	if err := w.near("⟨v, Jẇ⟩ by finite differences", difference, push, 2e-2); err != nil {
		return err
	}
	return w.near("⟨Jᵀv, ẇ⟩", pull, push, 1e-3)
}

// randomInputs draws four chains, of lengths 3, 0, 1 and 6, with image or with two discrete inputs, characters and
// attributes.
func randomInputs(r *rand.Rand, discrete bool) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0, 3, 3, 4, 10}}
	if !discrete {
		d.Dim = nets.ImageHeight * nets.ImageWidth
		d.Features = normals(r, d.Positions()*d.Dim)
		return d
	}
	d.Vocab = []*structured.Alphabet{structured.NewAlphabet("?", "a", "b", "c", "d"), structured.NewAlphabet("?", "x", "y")}
	for range d.Positions() {
		d.Ids = append(d.Ids, r.Int32N(5), r.Int32N(3))
	}
	d.Characters, d.Attributes = drawCharacters(r, d, 6), drawSparse(r, d, attributes, 4, true, false)
	return d
}

// attributes is how many attributes randomInputs draws from.
const attributes = 9

func inputOf(d *structured.Dataset) graph.Input {
	in := graph.Input{Dim: d.Dim}
	for _, v := range d.Vocab {
		in.Vocab = append(in.Vocab, v.Len())
	}
	if d.Characters != nil {
		in.Characters, in.Attributes = d.Characters.Vocab.Len(), attributes
	}
	return in
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

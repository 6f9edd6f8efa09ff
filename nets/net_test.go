package nets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// presets are small versions of all preset networks.
var presets = []struct {
	name   string
	config nets.Config
	input  graph.Input
	affine bool
}{
	{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 5}, true},
	{"linear, no edges", nets.Config{Net: "linear", Edges: nets.EdgesNone}, graph.Input{Dim: 5}, true},
	{"linear, edges by position, window", nets.Config{Net: "linear", Edges: nets.EdgesPosition, Window: 3},
		graph.Input{Dim: 3}, true},
	{"mlp elu", nets.Config{Net: "mlp", Hidden: []int{7, 6}}, graph.Input{Dim: 5}, false},
	{"mlp tanh", nets.Config{Net: "mlp", Hidden: []int{7}, Activation: graph.Tanh, Edges: nets.EdgesPosition},
		graph.Input{Dim: 5}, false},
	{"mlp relu, dropout", nets.Config{Net: "mlp", Hidden: []int{7, 9}, Activation: graph.ReLU, Dropout: 0.3},
		graph.Input{Dim: 5}, false},
	{"cnn", nets.Config{Net: "cnn", Channels: []int{6, 5}, Hidden: []int{4}}, graph.Input{Dim: 3}, false},
	{"cnn-image", nets.Config{Net: "cnn", Channels: []int{3, 2}, Hidden: []int{5}, Activation: graph.Tanh},
		graph.Input{Dim: 128}, false},
	{"embed", nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, Dropout: 0.2},
		graph.Input{Vocab: []int{11, 5}}, false},
	{"attention", nets.Config{Net: "attention", Channels: []int{8}, Layers: 2, Heads: 2, BlockUnits: 6, Embed: []int{4, 3},
		Dropout: 0.2}, graph.Input{Vocab: []int{11, 5}}, false},
	{"attention on features", nets.Config{Net: "attention", Channels: []int{5, 6}, Window: 1, Heads: 3, Hidden: []int{4},
		Edges: nets.EdgesPosition}, graph.Input{Dim: 3}, false},
	{"attention, both inputs", nets.Config{Net: "attention", Channels: []int{4}, Heads: 1, Activation: graph.GELU,
		Edges: nets.EdgesNone}, graph.Input{Vocab: []int{11}, Dim: 2}, false},
	{"rnn", nets.Config{Net: "rnn", Recurrent: []int{5, 3, 3}, Embed: []int{4, 3}, Dropout: 0.2},
		graph.Input{Vocab: []int{11, 5}}, false},
	{"rnn on features, gelu", nets.Config{Net: "rnn", Recurrent: []int{2}, Hidden: []int{6}, Activation: graph.GELU,
		Edges: nets.EdgesPosition}, graph.Input{Dim: 4}, false},
	{"rnn, both inputs", nets.Config{Net: "rnn", Recurrent: []int{9}, Hidden: []int{5}, Activation: graph.SiLU},
		graph.Input{Vocab: []int{11}, Dim: 2}, false},
	{"embed and features", nets.Config{Net: "embed", Channels: []int{6}, Window: 3, Edges: nets.EdgesNone},
		graph.Input{Vocab: []int{11}, Dim: 2}, false},
	{"deep", nets.Config{Net: "deep", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, CharEmbed: 4, CharChannels: 5,
		Dropout: 0.2}, graph.Input{Vocab: []int{11, 5}, Characters: 9, Attributes: 13}, false},
	{"deep and wide", nets.Config{Net: "deep", Channels: []int{5}, Activation: graph.Tanh, CharEmbed: 2, CharWindow: 5,
		CharChannels: 3, AttributeUnits: 4, Edges: nets.EdgesPosition},
		graph.Input{Vocab: []int{11}, Dim: 2, Characters: 9, Attributes: 13}, false},
	{"deep and recurrent", nets.Config{Net: "deep", Recurrent: []int{3, 2}, Embed: []int{4, 3}, CharEmbed: 4,
		CharChannels: 5, Dropout: 0.2}, graph.Input{Vocab: []int{11, 5}, Characters: 9, Attributes: 13}, false},
	{"deep, many characters", nets.Config{Net: "deep", Channels: []int{5}, CharEmbed: 2, CharChannels: 3,
		Activation: graph.Tanh}, graph.Input{Vocab: []int{11}, Characters: 1030}, false},
	{"embed and vectors", nets.Config{Net: "embed", Channels: []int{6}, Window: 3},
		graph.Input{Vocab: []int{5, 3}, Vectors: someVectors(5, 4, false)}, false},
	{"rnn and vectors", nets.Config{Net: "rnn", Recurrent: []int{3}},
		graph.Input{Vocab: []int{5}, Dim: 2, Vectors: someVectors(5, 4, false)}, false},
	{"embed and frozen vectors", nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{2}, Window: 3},
		graph.Input{Vocab: []int{5}, Vectors: someVectors(5, 4, true)}, false},
}

const testLabels = 4

func mustNew(t testing.TB, c nets.Config, input graph.Input, labels int) *nets.Net {
	t.Helper()
	n, err := nets.New(c, input, labels)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func pad(xs []float32, n int) []float64 {
	return append(widen(xs), make([]float64, n-len(xs))...)
}

// Every preset equals Gorgonia's TapeMachine in float64, and its push-forward finite differences of that.
func TestPresetsEqualGorgonia(t *testing.T) {
	for _, p := range presets {
		for _, c := range []struct {
			labels  int
			lengths []int
		}{{4, []int{3, 1, 0, 4, 2}}, {4, []int{1}}, {4, []int{8}}, {4, []int{9, 20, 3}}, {1, []int{3, 2}}, {8, []int{8}}} {
			t.Run(fmt.Sprint(p.name, c.labels, c.lengths), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				net := mustNew(t, p.config, p.input, c.labels)
				if net.Affine() != p.affine {
					t.Errorf("Affine() = %v", net.Affine())
				}
				data := randomData(rng, p.input, c.labels, c.lengths...)
				var batch structured.Batch
				batch.Reset(data, seq(data.Len()))
				w := randomVector(rng, net.Dim(), 0.5)
				seed := uint64(0)
				if p.config.Dropout > 0 {
					seed = 7
				}
				checkAgainst(t, newReference(t, net, &batch, seed), net, &batch, w, seed, rng)
			})
		}
	}
}

func checkAgainst(t *testing.T, r *reference, net *nets.Net, batch *structured.Batch, w []float32,
	seed uint64, rng *rand.Rand) {
	t.Helper()
	worker := net.NewNetWorker()
	var θ, dθ structured.Potentials
	if err := worker.ScoreDropout(w, seed, batch, &θ); err != nil {
		t.Fatal(err)
	}
	v := randomMarginals(rng, batch, net.Form())
	grad := make([]float32, net.Dim())
	for range 2 { // Pullback adds, and may be called again
		if err := worker.Pullback(v, grad); err != nil {
			t.Fatal(err)
		}
	}
	for i := range grad {
		grad[i] /= 2
	}
	direction := randomVector(rng, net.Dim(), 1)
	if err := worker.PushForward(direction, &dθ); err != nil {
		t.Fatal(err)
	}
	cotangents := make([][]float64, len(v.Parts))
	for k := range v.Parts {
		p := &v.Parts[k]
		if p.Rows != structured.Tied && r.f.Outputs[k] != nil {
			cotangents[k] = pad(p.Values, r.f.Outputs[k].Shape().TotalSize())
			continue
		}
		if p.Rows != structured.Tied {
			continue
		}
		cotangents[k] = make([]float64, p.Width)
		for i, x := range p.Values {
			cotangents[k][i%p.Width] += float64(x)
		}
	}
	wide := widen(w)
	at := func(ε float64) []float64 {
		moved := slices.Clone(wide)
		for i, d := range direction {
			moved[i] += ε * float64(d)
		}
		return moved
	}
	parts, want := r.run(wide, cotangents)
	mustEqual(t, "gradient", grad, want, 2e-5)

	const ε = 1e-6
	after, _ := r.run(at(ε), cotangents)
	before, _ := r.run(at(-ε), cotangents)
	for k := range θ.Parts {
		got, tangent, name := θ.Parts[k].Values, dθ.Parts[k].Values, θ.Parts[k].Name
		if parts[k] == nil {
			mustEqual(t, name, got, make([]float64, len(got)), 0)
			mustEqual(t, name+" tangent", tangent, make([]float64, len(got)), 0)
			continue
		}
		mustEqual(t, name, got, parts[k], 1e-5)
		mustEqual(t, name+" tangent", tangent, differences(after[k], before[k], 2*ε), 1e-4)
	}
	// ⟨Jẇ, v⟩ = ⟨ẇ, Jᵀv⟩
	l, rr := 0.0, 0.0
	for b := range batch.Len() {
		l += v.Dot(b, &dθ)
	}
	for i, d := range direction {
		rr += float64(d) * float64(grad[i])
	}
	if math.Abs(l-rr) > 1e-4*(1+math.Abs(l)) {
		t.Errorf("⟨Jẇ,v⟩ = %g but ⟨ẇ,Jᵀv⟩ = %g", l, rr)
	}
}

func differences(a, b []float64, h float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = (a[i] - b[i]) / h
	}
	return out
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// A chain has the same potentials and gradient alone and in a batch, and a batch has the same bits on every worker.
func TestBatchesDoNotMix(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			net := mustNew(t, p.config, p.input, testLabels)
			data := randomData(rng, p.input, testLabels, 3, 5, 1, 9, 4)
			w := randomVector(rng, net.Dim(), 0.5)
			var all, one structured.Batch
			all.Reset(data, []int{3, 1, 4, 2, 0})
			var θ, again, alone structured.Potentials
			worker, other := net.NewNetWorker(), net.NewNetWorker()
			must(t, worker.ScoreDropout(w, 5, &all, &θ))
			v := randomMarginals(rng, &all, net.Form())
			grad, sum := make([]float32, net.Dim()), make([]float32, net.Dim())
			must(t, worker.Pullback(v, grad))
			for c, e := range all.Examples {
				one.Reset(data, []int{e})
				must(t, other.ScoreDropout(w, 5, &one, &alone))
				lo, hi := all.Offsets[c]*testLabels, all.Offsets[c+1]*testLabels
				mustEqual(t, "node", alone.Parts[0].Values, widen(θ.Parts[0].Values[lo:hi]), 1e-6)
				var vc structured.Marginals
				v.View(c, &vc)
				must(t, other.Pullback(&vc, sum))
			}
			mustEqual(t, "gradient", sum, widen(grad), 1e-5)
			must(t, other.ScoreDropout(w, 5, &all, &again))
			if !slices.Equal(θ.Parts[0].Values, again.Parts[0].Values) ||
				!slices.Equal(θ.Parts[1].Values, again.Parts[1].Values) {
				t.Error("another worker returns different bits")
			}
			repeated := make([]float32, net.Dim())
			must(t, other.Pullback(v, repeated))
			if !slices.Equal(repeated, grad) {
				t.Error("another worker returns a different gradient")
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The linearised net equals the net at w_k, is affine, and has the net's slope at w_k.
func TestLinearise(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			net := mustNew(t, p.config, p.input, testLabels)
			data := randomData(rng, p.input, testLabels, 3, 5, 1)
			var batch structured.Batch
			batch.Reset(data, []int{0, 1, 2})
			wk, d := randomVector(rng, net.Dim(), 0.5), randomVector(rng, net.Dim(), 1)
			lin := nets.Linearise(net, wk)
			if !lin.Affine() || lin.Dim() != net.Dim() || !reflect.DeepEqual(lin.Form(), net.Form()) {
				t.Error("shape differs")
			}
			at := func(s nets.Worker, c float32) []float64 {
				w := slices.Clone(wk)
				for i := range w {
					w[i] += c * d[i]
				}
				var θ structured.Potentials
				must(t, s.Score(w, &batch, &θ))
				return append(widen(θ.Parts[0].Values), widen(θ.Parts[1].Values)...)
			}
			model, own := lin.NewWorker(), net.NewWorker()
			var other structured.Batch // earlier calls of the worker must not matter
			other.Reset(data, []int{2, 0})
			must(t, model.Score(d, &other, new(structured.Potentials)))
			zero, one, two := at(model, 0), at(model, 1), at(model, 2)
			for i, x := range at(own, 0) {
				if x != zero[i] {
					t.Fatalf("θ[%d] at w_k: %g, the net's is %g", i, zero[i], x)
				}
				if math.Abs(two[i]-2*one[i]+zero[i]) > 1e-4*(1+math.Abs(two[i])) {
					t.Fatalf("θ[%d] is not affine: %g %g %g", i, zero[i], one[i], two[i])
				}
			}
			var dθ structured.Potentials
			must(t, own.(*nets.NetWorker).PushForward(d, &dθ))
			mustEqual(t, "slope", append(dθ.Parts[0].Values, dθ.Parts[1].Values...), differences(one, zero, 1), 1e-4)
			v := randomMarginals(rng, &batch, net.Form())
			g, want := make([]float32, net.Dim()), make([]float32, net.Dim())
			at(model, 1)
			must(t, model.Pullback(v, g))
			at(own, 0)
			must(t, own.Pullback(v, want))
			if !slices.Equal(g, want) {
				t.Error("pullback is not the net's at w_k")
			}
		})
	}
}

func TestWorkersRunConcurrently(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	net := mustNew(t, nets.Config{Net: "cnn", Channels: []int{6}}, graph.Input{Dim: 3}, testLabels)
	data := randomData(rng, graph.Input{Dim: 3}, testLabels, 3, 50, 1, 9, 70, 4)
	w := net.Init(1)
	var wg sync.WaitGroup
	grads := make([][]float32, 4)
	for k := range grads {
		wg.Go(func() {
			worker := net.NewWorker()
			var batch structured.Batch
			var θ structured.Potentials
			grads[k] = make([]float32, net.Dim())
			for i := range data.Len() {
				batch.Reset(data, []int{i, 0})
				if err := worker.Score(w, &batch, &θ); err != nil {
					t.Error(err)
				}
				var v structured.Marginals
				v.Like(&θ)
				v.Clear()
				v.Add(0, batch.Gold(0), 1)
				if err := worker.Pullback(&v, grads[k]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, g := range grads[1:] {
		if !slices.Equal(g, grads[0]) {
			t.Error("workers return different bits")
		}
	}
}

func TestWarmWorkersDoNotAllocate(t *testing.T) {
	for _, p := range presets {
		rng := rand.New(rand.NewPCG(9, 9))
		net := mustNew(t, p.config, p.input, testLabels)
		data := randomData(rng, p.input, testLabels, 3, 50, 1, 9, 70, 4)
		w, ẇ, grad := net.Init(1), randomVector(rng, net.Dim(), 1), make([]float32, net.Dim())
		worker := net.NewNetWorker()
		var batch structured.Batch
		batch.Reset(data, []int{3, 1, 4})
		var θ, dθ structured.Potentials
		must(t, worker.ScoreDropout(w, 3, &batch, &θ))
		v := randomMarginals(rng, &batch, net.Form())
		if n := testing.AllocsPerRun(5, func() {
			_ = worker.ScoreDropout(w, 3, &batch, &θ)
			_ = worker.Pullback(v, grad)
			_ = worker.PushForward(ẇ, &dθ)
		}); n > 0 {
			t.Errorf("%s: %g allocations per step", p.name, n)
		}
	}
}

func TestBucket(t *testing.T) {
	last := 0
	for n := range 5000 {
		b := graph.Bucket(n)
		if b < n || b < 8 || b < last || n > 64 && float64(b) > 1.126*float64(n) || graph.Bucket(b) != b {
			t.Fatalf("bucket(%d) = %d", n, b)
		}
		last = b
	}
}

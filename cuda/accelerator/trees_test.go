package accelerator_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// parsing is a problem on drawn sentences with drawn projective trees, for a biaffine network.
func parsing(t testing.TB, of trees.SpanningTree, loss engine.Loss, lengths ...int) *train.Problem {
	t.Helper()
	r, input, form := rand.New(rand.NewPCG(9, 9)), graph.Input{Vocab: []int{9, 4}}, of.Form(3)
	net, err := nets.Make(nets.Config{Net: "biaffine", Channels: []int{4}, Embed: []int{3, 2}, Window: 3, ArcUnits: 4, LabelUnits: 3}, input, nets.Output{Labels: 3, Form: form})
	cudatest.Must(t, err)
	d := cudatest.RandomData(r, input, 3, lengths...)
	d.Labels, d.Outputs, d.Lines = nil, []int{0}, nil
	rows := []int{0}
	for i, n := range lengths {
		heads := make([]int32, n)
		attach(r, heads, 0, n, 0)
		d.Labels = append(d.Labels, heads...)
		for range n {
			d.Labels = append(d.Labels, r.Int32N(3))
		}
		d.Outputs, rows = append(d.Outputs, len(d.Labels)), append(rows, rows[i]+n*n)
		d.Weights, d.Lines = append(d.Weights, 0.5+float64(i%3)/2), append(d.Lines, 1+10*i)
	}
	d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: rows}, {Name: trees.LabelRows, Offsets: rows}}
	o := &engine.Objective{Scorer: network{net}, Data: d, Loss: loss, Lambda: 0.1}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Batch: 3, Seed: 3}
}

// attach draws a projective tree over words lo to hi-1 below a head.
func attach(r *rand.Rand, heads []int32, lo, hi int, head int32) {
	if lo == hi {
		return
	}
	root := lo + r.IntN(hi-lo)
	heads[root] = head
	attach(r, heads, lo, root, int32(root)+1)
	attach(r, heads, root+1, hi, int32(root)+1)
}

var sentences = []int{3, 1, 0, 9, 6, 2, 5, 1}

// eachParsing calls test for projective and all trees, both smooth losses, and the hinge, smoothed by entropy and not.
func eachParsing(t *testing.T, test func(t *testing.T, p *train.Problem)) {
	entropy := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.7}
	for _, crossing := range []bool{false, true} {
		for _, c := range []struct {
			loss      engine.Loss
			smoothing oracles.Smoothing
		}{{loss: engine.CRF}, {loss: engine.SoftmaxMargin}, {loss: engine.Hinge}, {engine.Hinge, entropy}} {
			t.Run(fmt.Sprintf("%v,%v,crossing=%v", c.loss, c.smoothing.Kind, crossing), func(t *testing.T) {
				p := parsing(t, trees.SpanningTree{NonProjective: crossing}, c.loss, sentences...)
				p.Smoothing = c.smoothing
				test(t, p)
			})
		}
	}
}

// Every call that methods make gives with the kernels of trees what it gives with the host's oracle, and a second time
// the same bits.
func TestTreeKernelsTellWhatTheHostTells(t *testing.T) {
	d := cudatest.Device(t)
	eachParsing(t, func(t *testing.T, p *train.Problem) {
		if !accelerator.HasKernels(p.Objective, p.Smoothing) {
			t.Fatal("trees have no kernels")
		}
		net := p.Scorer.(network)
		c := &lossCase{Objective: *p.Objective, smoothing: p.Smoothing, w: net.Init(1), to: net.Init(2)}
		host, err := accelerator.NewAcceleratorWithHostOracle(d, &c.Objective)
		cudatest.Must(t, err)
		defer host.Close()
		want := collect(t, host, c)
		var first results
		for k := range 2 {
			kernels, err := accelerator.NewAccelerator(d, &c.Objective, c.smoothing, false)
			cudatest.Must(t, err)
			got := collect(t, kernels, c)
			kernels.Close()
			got.compare(t, "kernels", want)
			if k > 0 && fmt.Sprint(got) != fmt.Sprint(first) {
				t.Error("a second run gives other bits")
			}
			first = got
		}
	})
}

// Parsers train on a device as on the CPU.
func TestParsersTrainOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	for name, method := range map[string]func() train.Method{
		"sgd, hinge":             func() train.Method { return &methods.SGD{Rate: 0.1} },
		"prox-linear, hinge":     func() train.Method { return &methods.ProxLinear{WarmUp: -1} },
		"sgd":                    func() train.Method { return &methods.SGD{Rate: 0.1} },
		"adam":                   func() train.Method { return &methods.Adam{} },
		"prox-linear, batches":   func() train.Method { return &methods.BatchProxLinear{ModelBatch: 4, Passes: 2} },
		"prox-linear, its model": func() train.Method { return &methods.ProxLinear{WarmUp: -1} },
	} {
		t.Run(name, func(t *testing.T) {
			loss := engine.CRF
			if strings.HasSuffix(name, "hinge") {
				loss = engine.Hinge
			}
			p := parsing(t, trees.SpanningTree{NonProjective: name == "adam" || name == "prox-linear, batches" || name == "prox-linear, hinge"}, loss, sentences...)
			want := trained(t, p, method(), 2)
			got, again := trained(t, deviceProblem(t, d, p), method(), 2), trained(t, deviceProblem(t, d, p), method(), 2)
			if !slices.Equal(got.W, again.W) {
				t.Error("a second run gives other bits")
			}
			cudatest.Near(t, "w", got.W, want.W, 1e-3)
			if !(math.Abs(got.Primal-want.Primal) <= 1e-4*(1+want.Primal)) {
				t.Errorf("F is %v, on the CPU %v", got.Primal, want.Primal)
			}
		})
	}
}

// What trees have no kernels for is left to the host's oracle.
func TestTreesWithoutKernels(t *testing.T) {
	p := parsing(t, trees.SpanningTree{}, engine.Hinge, sentences...)
	if accelerator.HasKernels(p.Objective, oracles.Smoothing{Kind: oracles.L2}) {
		t.Error("the K best trees have kernels")
	}
	if p = parsing(t, trees.SpanningTree{}, engine.CRF, 3); !accelerator.HasKernels(p.Objective, p.Smoothing) {
		t.Error("the CRF loss has no kernels")
	}
	p.Objective.Task = halved{trees.Hamming{}}
	if accelerator.HasKernels(p.Objective, p.Smoothing) {
		t.Error("another task loss has kernels")
	}
}

// A potential that is not finite is found, in full passes and in recalled points.
func TestTreeKernelsFindWhatIsNotFinite(t *testing.T) {
	d := cudatest.Device(t)
	p := parsing(t, trees.SpanningTree{}, engine.CRF, 4, 3)
	a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
	cudatest.Must(t, err)
	defer a.Close()
	w, g := p.Scorer.(network).Init(1), make([]float32, p.Scorer.Dim())
	memory, err := a.NewMemory()
	cudatest.Must(t, err)
	memory.ToGold(0)
	_, err = a.Recompose(t.Context(), w, memory, g)
	cudatest.Must(t, err)
	for k := range w {
		w[k] = float32(math.NaN())
	}
	var bad *engine.NonFiniteError
	if _, err := a.FullPass(t.Context(), w, oracles.Smoothing{}, nil, g); !errors.As(err, &bad) || bad.Where != "example 0 (random:1)" {
		t.Errorf("a full pass: %v", err)
	}
	if _, err := a.Value(t.Context(), w, []int{1}); !errors.As(err, &bad) || bad.Where != "example 1 (random:11)" {
		t.Errorf("a value: %v", err)
	}
	if _, err := a.Recompose(t.Context(), w, memory, g); !errors.As(err, &bad) {
		t.Errorf("a recalled point: %v", err)
	}
}

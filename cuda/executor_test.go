package cuda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// presets are small versions of all the networks.
var presets = []struct {
	name   string
	config nets.Config
	input  nets.Input
}{
	{"linear", nets.Config{Net: "linear"}, nets.Input{Dim: 5}},
	{"linear, no edges", nets.Config{Net: "linear", Edges: nets.EdgesNone}, nets.Input{Dim: 5}},
	{"linear, edges by position, window", nets.Config{Net: "linear", Edges: nets.EdgesPosition, Window: 3}, nets.Input{Dim: 3}},
	{"mlp elu", nets.Config{Net: "mlp", Hidden: []int{7, 6}}, nets.Input{Dim: 5}},
	{"mlp tanh", nets.Config{Net: "mlp", Hidden: []int{7}, Activation: nets.Tanh, Edges: nets.EdgesPosition}, nets.Input{Dim: 5}},
	{"mlp relu, dropout", nets.Config{Net: "mlp", Hidden: []int{7, 9}, Activation: nets.ReLU, Dropout: 0.3}, nets.Input{Dim: 5}},
	{"cnn", nets.Config{Net: "cnn", Channels: []int{6, 5}, Hidden: []int{4}}, nets.Input{Dim: 3}},
	{"cnn-image", nets.Config{Net: "cnn", Channels: []int{3, 2}, Hidden: []int{5}, Activation: nets.Tanh}, nets.Input{Dim: 128}},
	{"embed", nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, Dropout: 0.2}, nets.Input{Vocab: []int{300, 5}}},
	{"embed and features", nets.Config{Net: "embed", Channels: []int{6}, Window: 3, Edges: nets.EdgesNone}, nets.Input{Vocab: []int{11}, Dim: 2}},
}

// rig is a network on a device and on the CPU, with a batch of capacities beyond what it holds.
type rig struct {
	t      testing.TB
	device *cuda.Device
	net    *nets.Net
	data   *structured.Dataset
	batch  *cuda.Batch
	θ      *cuda.Chains
	blas   *cuda.BLAS
	rng    *rand.Rand
}

func newRig(t testing.TB, d *cuda.Device, net *nets.Net, data *structured.Dataset, rows int) *rig {
	longest := 0
	for i := range data.Len() {
		longest = max(longest, data.Length(i))
	}
	y := net.Labels()
	edges := y * y
	if net.PerPosition() {
		edges *= rows
	}
	batch := cuda.NewBatch(cuda.NewData(d, data), data.Len()+1, rows, longest)
	return &rig{t: t, device: d, net: net, data: data, batch: batch, blas: cuda.NewBLAS(d, false), rng: rand.New(rand.NewPCG(1, 2)),
		θ: &cuda.Chains{B: batch.Chains, N: rows, Y: y, Longest: longest, Offsets: batch.Offsets, PerPosition: net.PerPosition(),
			Node: cuda.New[float32](d, rows*y, "nodes"), Edge: cuda.New[float32](d, edges, "edges")}}
}

// executor returns a new one, reserved.
func (r *rig) executor() *cuda.Executor {
	e := cuda.NewExecutor(r.device, r.net, r.blas)
	must(r.t, e.Reserve(r.batch))
	return e
}

func (r *rig) upload(xs []float32) cuda.Array[float32] {
	x := cuda.New[float32](r.device, len(xs), "numbers")
	cuda.Upload(r.device, x, xs)
	return x
}

func (r *rig) download(x cuda.Array[float32]) []float32 {
	to := make([]float32, x.Len())
	cuda.Download(r.device, to, x)
	must(r.t, r.device.Err())
	return to
}

// potentials returns θ without the rows of padding.
func (r *rig) potentials() (node, edge []float32) {
	node, edge = r.download(r.θ.Node)[:r.batch.N*r.θ.Y], r.download(r.θ.Edge)
	if r.θ.PerPosition {
		edge = edge[:r.batch.N*r.θ.Y*r.θ.Y]
	}
	return node, edge
}

// cotangent draws v for a batch on the CPU, and uploads it as Pullback takes it.
func (r *rig) cotangent(batch *structured.Batch) (v *structured.Marginals, node, edge cuda.Array[float32]) {
	y := r.net.Labels()
	v = new(structured.Marginals)
	v.Resize(batch.Offsets, y, r.net.PerPosition())
	copy(v.Node, vector(r.rng, len(v.Node), 1))
	copy(v.Edge, vector(r.rng, len(v.Edge), 1))
	edges := make([]float32, r.θ.Edge.Len())
	if v.PerPosition {
		for b := range v.Len() {
			if t := v.Offsets[b]; t < v.Offsets[b+1] {
				clear(v.Edge[t*y*y : (t+1)*y*y])
			}
		}
		copy(edges, v.Edge)
	} else {
		for i, x := range v.Edge {
			edges[i%(y*y)] += x
		}
	}
	nodes := make([]float32, r.θ.Node.Len())
	copy(nodes, v.Node)
	return v, r.upload(nodes), r.upload(edges)
}

// check compares scores, pullback, push-forward and the linearised network with the CPU's, on a batch of the given examples.
func (r *rig) check(examples []int, seed uint64) {
	r.t.Helper()
	net, θ := r.net, r.θ
	var batch structured.Batch
	batch.Reset(r.data, examples)
	r.batch.Set(examples)
	r.batch.SetSeed(seed)
	w, w0, ẇ := vector(r.rng, net.Dim(), 0.5), vector(r.rng, net.Dim(), 0.5), vector(r.rng, net.Dim(), 1)
	v, node, edge := r.cotangent(&batch)

	worker := net.NewNetWorker()
	worker.SetDropout(seed)
	var want, push structured.Potentials
	must(r.t, worker.Score(w, &batch, &want))
	grad := vector(r.rng, net.Dim(), 0.1)
	g := r.upload(grad)
	must(r.t, worker.Pullback(v, grad))
	must(r.t, worker.Pullback(v, grad))
	must(r.t, worker.PushForward(ẇ, &push))

	e := r.executor()
	defer e.Free()
	e.Score(r.upload(w), r.batch, θ)
	gotNode, gotEdge := r.potentials()
	near(r.t, "node", gotNode, want.Node, 1e-5)
	near(r.t, "edge", gotEdge, want.Edge, 1e-5)
	e.PushForward(r.upload(ẇ), θ)
	pushNode, pushEdge := r.potentials()
	near(r.t, "node tangent", pushNode, push.Node, 1e-5)
	near(r.t, "edge tangent", pushEdge, push.Edge, 1e-5)
	e.Pullback(node, edge, g)
	e.Pullback(node, edge, g)
	near(r.t, "gradient", r.download(g), grad, 1e-5)

	model := nets.Linearise(net, w0).NewLinearisedWorker()
	model.SetDropout(seed)
	must(r.t, model.Score(w, &batch, &want))
	clear(grad)
	must(r.t, model.Pullback(v, grad))
	linear := cuda.NewLinearised(e)
	linear.MoveTo(r.upload(w0))
	linear.Score(r.upload(w), r.batch, θ)
	gotNode, gotEdge = r.potentials()
	near(r.t, "linearised node", gotNode, want.Node, 1e-5)
	near(r.t, "linearised edge", gotEdge, want.Edge, 1e-5)
	cuda.Zero(r.device, g)
	linear.Pullback(node, edge, g)
	near(r.t, "linearised gradient", r.download(g), grad, 1e-5)

	// ⟨Jẇ, v⟩ = ⟨ẇ, Jᵀv⟩, all on the device: the gradient is at w0 now.
	e.PushForward(r.upload(ẇ), θ)
	pushNode, pushEdge = r.potentials()
	left := dot(pushNode, v.Node) + dot(pushEdge, r.download(edge))
	if right := dot(ẇ, r.download(g)); math.Abs(left-right) > 1e-4*(1+math.Abs(left)) {
		r.t.Errorf("⟨Jẇ,v⟩ = %g but ⟨ẇ,Jᵀv⟩ = %g", left, right)
	}
}

func TestNetsEqualCPU(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			d := cudatest.Device(t)
			net, err := nets.New(p.config, p.input, 4)
			must(t, err)
			data := randomData(rand.New(rand.NewPCG(3, 4)), p.input, 4, 3, 1, 0, 4, 2)
			seed := uint64(0)
			if p.config.Dropout > 0 {
				seed = 7
			}
			r := newRig(t, d, net, data, nets.Bucket(data.Positions()))
			r.check([]int{3, 0, 1, 2, 4}, seed)
			r = newRig(t, d, net, data, nets.Bucket(data.Positions()+14)) // mostly padding
			r.check([]int{4, 1}, seed)
		})
	}
}

// A captured graph replayed on another batch is that batch computed directly, and two runs give the same bits.
func TestExecutorGraph(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			d := cudatest.Device(t)
			net, err := nets.New(p.config, p.input, 3)
			must(t, err)
			r := newRig(t, d, net, randomData(rand.New(rand.NewPCG(5, 6)), p.input, 3, 3, 1, 4), 16)
			e := r.executor()
			w := r.upload(vector(r.rng, net.Dim(), 0.5))
			var batch structured.Batch
			batch.Reset(r.data, []int{2, 0})
			_, node, edge := r.cotangent(&batch)
			grad := r.upload(make([]float32, net.Dim()))
			step := func() {
				cuda.Zero(d, grad)
				e.Score(w, r.batch, r.θ)
				e.Pullback(node, edge, grad)
			}
			r.batch.Set([]int{1, 0, 2})
			r.batch.SetSeed(3)
			graph := d.Capture(step)
			defer graph.Free()
			r.batch.Set([]int{2, 0})
			r.batch.SetSeed(9)
			result := func(run func()) []float32 {
				run()
				n, e := r.potentials()
				return slices.Concat(n, e, r.download(grad))
			}
			direct := result(step)
			if !slices.Equal(direct, result(step)) {
				t.Error("two runs give different bits")
			}
			if !slices.Equal(direct, result(func() { d.Replay(graph) })) {
				t.Error("the captured graph gives something else")
			}
		})
	}
}

// Masks are the CPU's bit for bit: with weights that only pass them on, so are the potentials.
func TestDropoutIsTheCPUs(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{37}, Activation: nets.ReLU, Dropout: 0.4, Edges: nets.EdgesNone}, nets.Input{Dim: 1}, 37)
	must(t, err)
	data := randomData(rand.New(rand.NewPCG(1, 1)), nets.Input{Dim: 1}, 37, 3, 5, 1)
	r := newRig(t, d, net, data, 16)
	w := make([]float32, net.Dim())
	for _, a := range net.Layout() {
		switch a.Name {
		case "hidden1.bias":
			for i := range a.Of(w) {
				a.Of(w)[i] = 1
			}
		case "node.weight":
			for i := range 37 {
				a.Of(w)[i*37+i] = 1
			}
		}
	}
	e, worker := r.executor(), net.NewNetWorker()
	for _, seed := range []uint64{0, 1, 1 << 63} {
		var batch structured.Batch
		var want structured.Potentials
		batch.Reset(data, []int{2, 1})
		worker.SetDropout(seed)
		must(t, worker.Score(w, &batch, &want))
		r.batch.Set([]int{2, 1})
		r.batch.SetSeed(seed)
		e.Score(r.upload(w), r.batch, r.θ)
		if got, _ := r.potentials(); !slices.Equal(got, want.Node) {
			t.Errorf("seed %d: masks differ", seed)
		}
		if zeros := len(want.Node) - count(want.Node); (zeros > 0) != (seed != 0) {
			t.Errorf("seed %d: %d zeros", seed, zeros)
		}
	}
}

// A batch larger than a tile of the sort and than a tile of the scatter, with frequent and rare ids.
func TestScatterOfManyIds(t *testing.T) {
	d := cudatest.Device(t)
	input := nets.Input{Vocab: []int{70000, 2}}
	net, err := nets.New(nets.Config{Net: "embed", Embed: []int{3, 2}, Channels: []int{2}, Window: 1, Edges: nets.EdgesNone}, input, 2)
	must(t, err)
	rng := rand.New(rand.NewPCG(8, 8))
	data := randomData(rng, input, 2, 300, 200, 70)
	for t := range data.Positions() {
		if id := &data.Ids[2*t]; rng.IntN(3) > 0 {
			*id = 256 * (*id % 4)
		}
	}
	r := newRig(t, d, net, data, nets.Bucket(data.Positions()))
	var batch structured.Batch
	batch.Reset(data, []int{1, 0, 2})
	r.batch.Set([]int{1, 0, 2})
	w := vector(rng, net.Dim(), 0.5)
	v, node, edge := r.cotangent(&batch)
	worker, grad := net.NewNetWorker(), make([]float32, net.Dim())
	must(t, worker.Score(w, &batch, new(structured.Potentials)))
	must(t, worker.Pullback(v, grad))
	e, g := r.executor(), r.upload(make([]float32, net.Dim()))
	e.Score(r.upload(w), r.batch, r.θ)
	e.Pullback(node, edge, g)
	near(t, "gradient", r.download(g), grad, 1e-5)
}

// What runs of elementwise instructions save: a quarter of the launches of a network with dropout.
func TestLaunches(t *testing.T) {
	d := cudatest.Device(t)
	for _, p := range presets {
		net, err := nets.New(p.config, p.input, 4)
		must(t, err)
		r := newRig(t, d, net, randomData(rand.New(rand.NewPCG(3, 4)), p.input, 4, 3), 8)
		commands, instructions := r.executor().Launches(8)
		t.Logf("%s: %d instructions, %d commands", p.name, instructions, commands)
		if p.name == "mlp relu, dropout" && 5*commands > 4*instructions {
			t.Errorf("%s: %d commands for %d instructions", p.name, commands, instructions)
		}
	}
}

// A graph stays valid when a larger batch is reserved.
func TestReserveLater(t *testing.T) {
	d := cudatest.Device(t)
	p := presets[7]
	net, err := nets.New(p.config, p.input, 3)
	must(t, err)
	r := newRig(t, d, net, randomData(rand.New(rand.NewPCG(5, 6)), p.input, 3, 3, 1, 4), 8)
	e, w := r.executor(), r.upload(vector(r.rng, net.Dim(), 0.5))
	r.batch.Set([]int{0, 2})
	graph := d.Capture(func() { e.Score(w, r.batch, r.θ) })
	defer graph.Free()
	d.Replay(graph)
	before, _ := r.potentials()
	larger := newRig(t, d, net, r.data, 16)
	must(t, e.Reserve(larger.batch))
	larger.batch.Set([]int{0, 2})
	e.Score(w, larger.batch, larger.θ)
	after, _ := larger.potentials()
	near(t, "node", after, before, 1e-6)
	cuda.Zero(d, r.θ.Node)
	d.Replay(graph)
	if again, _ := r.potentials(); !slices.Equal(before, again) {
		t.Error("the graph gives something else")
	}
}

func TestReserveRefuses(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.New(nets.Config{Net: "embed"}, nets.Input{Vocab: []int{5}}, 2)
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	large := randomData(rng, nets.Input{Vocab: []int{5}}, 2, 3)
	large.Ids[1] = 7
	for _, c := range []struct {
		data *structured.Dataset
		want string
	}{
		{randomData(rng, nets.Input{Vocab: []int{5, 5}}, 2, 3), "reads 1"},
		{large, "knows 0 to 4"},
	} {
		err := cuda.NewExecutor(d, net, cuda.NewBLAS(d, false)).Reserve(cuda.NewBatch(cuda.NewData(d, c.data), 1, 8, 3))
		if err == nil || !strings.Contains(err.Error(), c.want) || !structured.IsBadInput(err) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
	dense, err := nets.New(nets.Config{Net: "linear"}, nets.Input{Dim: 4}, 2)
	must(t, err)
	err = cuda.NewExecutor(d, dense, nil).Reserve(cuda.NewBatch(cuda.NewData(d, large), 1, 8, 3))
	if err == nil || !strings.Contains(err.Error(), "reads 4") {
		t.Errorf("error %v, want one about features", err)
	}
}

func TestScoreBeforeReserve(t *testing.T) {
	d := cudatest.Emulated(t)
	net, err := nets.New(nets.Config{Net: "linear"}, nets.Input{Dim: 4}, 2)
	must(t, err)
	r := newRig(t, d, net, randomData(rand.New(rand.NewPCG(1, 1)), nets.Input{Dim: 4}, 2, 3), 8)
	cuda.NewExecutor(d, net, r.blas).Score(r.upload(net.Init(1)), r.batch, r.θ)
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "before Reserve") {
		t.Errorf("error %v, want one about Reserve", err)
	}
}

// BenchmarkExecutor is a step of an mlp 300→200→25 over 65536 positions: scores and the gradient.
func BenchmarkExecutor(b *testing.B) {
	d := cudatest.Device(b)
	positions := 65536
	if d.Info().Emulated() {
		positions = 64
	}
	input := nets.Input{Dim: 300}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{200}}, input, 25)
	must(b, err)
	rng := rand.New(rand.NewPCG(1, 1))
	lengths := make([]int, positions/32)
	for i := range lengths {
		lengths[i] = 32
	}
	r := newRig(b, d, net, randomData(rng, input, 25, lengths...), nets.Bucket(positions))
	examples := make([]int, len(lengths))
	for i := range examples {
		examples[i] = i
	}
	r.batch.Set(examples)
	e := r.executor()
	w, grad := r.upload(net.Init(1)), r.upload(make([]float32, net.Dim()))
	var batch structured.Batch
	batch.Reset(r.data, examples)
	_, node, edge := r.cotangent(&batch)
	step := d.Capture(func() {
		e.Score(w, r.batch, r.θ)
		e.Pullback(node, edge, grad)
	})
	d.Replay(step)
	must(b, d.Sync())
	for b.Loop() {
		d.Replay(step)
		must(b, d.Sync())
	}
	b.ReportMetric(float64(positions)*float64(b.N)/b.Elapsed().Seconds(), "positions/s")
}

func count(xs []float32) (n int) {
	for _, x := range xs {
		if x != 0 {
			n++
		}
	}
	return n
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func vector(rng *rand.Rand, n int, scale float64) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(rng.NormFloat64() * scale)
	}
	return w
}

// randomData has chains of the given lengths with dense features and discrete inputs.
func randomData(rng *rand.Rand, input nets.Input, labels int, lengths ...int) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0}, Dim: input.Dim}
	for _, n := range lengths {
		d.Offsets = append(d.Offsets, d.Positions()+n)
	}
	for range d.Positions() {
		d.Labels = append(d.Labels, int32(rng.IntN(labels)))
		d.Features = append(d.Features, vector(rng, input.Dim, 1)...)
		for _, v := range input.Vocab {
			d.Ids = append(d.Ids, int32(rng.IntN(v)))
		}
	}
	for range input.Vocab {
		d.Vocab = append(d.Vocab, structured.NewAlphabet())
	}
	return d
}

// near fails unless got equals want to tolerance, relative to the largest entry.
func near(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	top := 1.0
	for _, x := range want {
		top = max(top, math.Abs(float64(x)))
	}
	for i, g := range got {
		if d := math.Abs(float64(g) - float64(want[i])); !(d <= tolerance*top) {
			t.Fatalf("%s[%d] = %g, want %g (scale %g)", what, i, g, want[i], top)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

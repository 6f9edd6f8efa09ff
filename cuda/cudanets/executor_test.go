package cudanets_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// presets are small versions of all the networks.
var presets = []struct {
	name   string
	config nets.Config
	input  graph.Input
}{
	{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 5}},
	{"linear, no edges", nets.Config{Net: "linear", Edges: nets.EdgesNone}, graph.Input{Dim: 5}},
	{"linear, edges by position, window", nets.Config{Net: "linear", Edges: nets.EdgesPosition, Window: 3},
		graph.Input{Dim: 3}},
	{"mlp elu", nets.Config{Net: "mlp", Hidden: []int{7, 6}}, graph.Input{Dim: 5}},
	{"mlp tanh", nets.Config{Net: "mlp", Hidden: []int{7}, Activation: graph.Tanh, Edges: nets.EdgesPosition},
		graph.Input{Dim: 5}},
	{"mlp relu, dropout", nets.Config{Net: "mlp", Hidden: []int{7, 9}, Activation: graph.ReLU, Dropout: 0.3},
		graph.Input{Dim: 5}},
	{"cnn", nets.Config{Net: "cnn", Channels: []int{6, 5}, Hidden: []int{4}}, graph.Input{Dim: 3}},
	{"cnn-image", nets.Config{Net: "cnn", Channels: []int{3, 2}, Hidden: []int{5}, Activation: graph.Tanh},
		graph.Input{Dim: 128}},
	{"embed", nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, Dropout: 0.2},
		graph.Input{Vocab: []int{300, 5}}},
	{"attention", nets.Config{Net: "attention", Channels: []int{8}, Layers: 2, Heads: 2, BlockUnits: 6, Embed: []int{4, 3},
		Dropout: 0.2}, graph.Input{Vocab: []int{300, 5}}},
	{"rnn", nets.Config{Net: "rnn", Recurrent: []int{5, 3, 3}, Embed: []int{4, 3}, Dropout: 0.2},
		graph.Input{Vocab: []int{300, 5}}},
	{"rnn on features, gelu", nets.Config{Net: "rnn", Recurrent: []int{2}, Hidden: []int{6}, Activation: graph.GELU,
		Edges: nets.EdgesPosition}, graph.Input{Dim: 4}},
	{"embed and features", nets.Config{Net: "embed", Channels: []int{6}, Window: 3, Edges: nets.EdgesNone},
		graph.Input{Vocab: []int{11}, Dim: 2}},
	{"deep", nets.Config{Net: "deep", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, CharEmbed: 4, CharChannels: 5,
		Dropout: 0.2}, graph.Input{Vocab: []int{11, 5}, Characters: 9, Attributes: 13}},
	{"deep and wide", nets.Config{Net: "deep", Channels: []int{5}, Activation: graph.Tanh, CharEmbed: 2, CharWindow: 5,
		CharChannels: 3, AttributeUnits: 4, Edges: nets.EdgesPosition},
		graph.Input{Vocab: []int{11}, Dim: 2, Characters: 9, Attributes: 13}},
	{"deep and recurrent", nets.Config{Net: "deep", Recurrent: []int{3}, Embed: []int{4}, CharEmbed: 4, CharChannels: 5},
		graph.Input{Vocab: []int{11}, Characters: 9, Attributes: 13}},
	{"deep, many characters", nets.Config{Net: "deep", Channels: []int{5}, CharEmbed: 2, CharChannels: 3,
		Activation: graph.Tanh}, graph.Input{Vocab: []int{11}, Characters: 1030}},
	{"embed and vectors", nets.Config{Net: "embed", Channels: []int{6}, Window: 3},
		graph.Input{Vocab: []int{30, 5}, Vectors: wordVectors(30, 7, false)}},
	{"embed and frozen vectors", nets.Config{Net: "embed", Channels: []int{6}, Window: 3},
		graph.Input{Vocab: []int{30}, Vectors: wordVectors(30, 3, true)}},
}

// wordVectors makes vectors for two of three words.
func wordVectors(words, dim int, frozen bool) *graph.WordVectors {
	v := &graph.WordVectors{Dim: dim, Rows: make([]float32, words*dim), Frozen: frozen}
	for i := range v.Rows {
		if i/dim%3 > 0 {
			v.Rows[i] = float32(i%11)/4 - 1
		}
	}
	return v
}

// check compares scores, pullback, push-forward and the linearised network with the CPU's, on a batch of the given
// examples.
func (r *rig) check(examples []int, seed uint64) {
	r.t.Helper()
	net, θ := r.net, r.θ
	var batch structured.Batch
	batch.Reset(r.data, examples)
	r.batch.Set(examples)
	r.batch.SetSeed(seed)
	w, w0, ẇ := cudatest.Vector(r.rng, net.Dim(), 0.5), cudatest.Vector(r.rng, net.Dim(), 0.5),
		cudatest.Vector(r.rng, net.Dim(), 1)
	v, node, edge := r.cotangent(&batch)

	worker := net.NewNetWorker()
	var want, push structured.Potentials
	cudatest.Must(r.t, worker.ScoreDropout(w, seed, &batch, &want))
	grad := cudatest.Vector(r.rng, net.Dim(), 0.1)
	g := r.upload(grad)
	cudatest.Must(r.t, worker.Pullback(v, grad))
	cudatest.Must(r.t, worker.Pullback(v, grad))
	cudatest.Must(r.t, worker.PushForward(ẇ, &push))

	e := r.executor()
	defer e.Free()
	e.Score(r.upload(w), r.batch, θ.Parts())
	gotNode, gotEdge := r.potentials()
	cudatest.Near(r.t, "node", gotNode, chains.Of(&want).Node, 1e-5)
	cudatest.Near(r.t, "edge", gotEdge, chains.Of(&want).Edge, 1e-5)
	e.PushForward(r.upload(ẇ), θ.Parts())
	pushNode, pushEdge := r.potentials()
	cudatest.Near(r.t, "node tangent", pushNode, chains.Of(&push).Node, 1e-5)
	cudatest.Near(r.t, "edge tangent", pushEdge, chains.Of(&push).Edge, 1e-5)
	e.Pullback(cudanets.Parts{node, edge}, g)
	r.checkMarks(g, func() { e.Pullback(cudanets.Parts{node, edge}, g) })
	cudatest.Near(r.t, "gradient", r.download(g), grad, 1e-5)

	model := nets.Linearise(net, w0).NewLinearisedWorker()
	cudatest.Must(r.t, model.ScoreDropout(w, seed, &batch, &want))
	clear(grad)
	cudatest.Must(r.t, model.Pullback(v, grad))
	linear := cudanets.NewLinearised(e)
	linear.MoveTo(r.upload(w0))
	linear.Score(r.upload(w), r.batch, θ.Parts())
	gotNode, gotEdge = r.potentials()
	cudatest.Near(r.t, "linearised node", gotNode, chains.Of(&want).Node, 1e-5)
	cudatest.Near(r.t, "linearised edge", gotEdge, chains.Of(&want).Edge, 1e-5)
	device.Zero(r.device, g)
	linear.Pullback(cudanets.Parts{node, edge}, g)
	cudatest.Near(r.t, "linearised gradient", r.download(g), grad, 1e-5)

	// ⟨Jẇ, v⟩ = ⟨ẇ, Jᵀv⟩, all on the device. The gradient is now at w0.
	e.PushForward(r.upload(ẇ), θ.Parts())
	pushNode, pushEdge = r.potentials()
	left := dot(pushNode, chains.In(v).Node) + dot(pushEdge, r.download(edge))
	if right := dot(ẇ, r.download(g)); math.Abs(left-right) > 1e-4*(1+math.Abs(left)) {
		r.t.Errorf("⟨Jẇ,v⟩ = %g but ⟨ẇ,Jᵀv⟩ = %g", left, right)
	}
}

// checkMarks calls a pullback to g, and checks that numbers of g which it marks as final change no more. It returns the
// marks.
func (r *rig) checkMarks(g device.Array[float32], pullback func()) (marks []int) {
	r.t.Helper()
	var then [][]float32
	r.device.OnMark(func(n int) {
		marks, then = append(marks, n), append(then, r.download(g.Slice(0, n)))
	})
	defer r.device.OnMark(nil)
	pullback()
	now := r.download(g)
	for k, n := range marks {
		if !slices.Equal(then[k], now[:n]) || k > 0 && n <= marks[k-1] {
			r.t.Errorf("marks %v: some of the first %d numbers have changed since, or are marked again", marks, n)
		}
	}
	return marks
}

// A network of several layers marks the gradients of the first ones before those of the last are there.
func TestMarks(t *testing.T) {
	d := cudatest.Emulated(t) // a real one sends nothing so small
	input := graph.Input{Dim: 16}
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{30, 20, 10}}, input, 5)
	cudatest.Must(t, err)
	r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(3, 3)), input, 5, 9, 7, 1), graph.Bucket(20))
	r.batch.Set([]int{0, 1})
	var batch structured.Batch
	batch.Reset(r.data, []int{0, 1})
	_, node, edge := r.cotangent(&batch)
	e := r.executor()
	defer e.Free()
	e.Score(r.upload(cudatest.Vector(r.rng, net.Dim(), 0.5)), r.batch, r.θ.Parts())
	g := device.New[float32](d, net.Dim(), "gradient")
	device.Zero(d, g)
	marks := r.checkMarks(g, func() { e.Pullback(cudanets.Parts{node, edge}, g) })
	// Layers of 16·30 + 30, 30·20 + 20, 20·10 + 10 and 10·5 + 5 weights; an eighth of all is 179.
	if want := []int{480, 1110, 1330}; !slices.Equal(marks, want) {
		t.Errorf("marks %v, want %v", marks, want)
	}
}

// Weights that are used again are final only after their last use; nothing is told after the last command, nor for few
// weights.
func TestFinals(t *testing.T) {
	gradient := func(at, n int) graph.Instruction {
		return graph.Instruction{Out: &graph.Buffer{Space: graph.SpaceGradient, Offset: at, N: n}}
	}
	other := graph.Instruction{Out: &graph.Buffer{Space: graph.SpaceArena, N: 9}}
	for _, c := range []struct {
		list []graph.Instruction
		ends []int
		want []int
	}{
		{[]graph.Instruction{other, gradient(0, 30), gradient(30, 30), other, gradient(60, 40)},
			[]int{1, 2, 3, 4, 5}, []int{0, 30, 60, 0, 0}},
		{[]graph.Instruction{gradient(0, 30), gradient(30, 30), gradient(0, 10), gradient(60, 40)},
			[]int{1, 2, 3, 4}, []int{0, 0, 60, 0}},
		{[]graph.Instruction{gradient(0, 30), gradient(30, 30), gradient(60, 40), gradient(35, 1)},
			[]int{2, 3, 4}, []int{35, 0, 0}},
		{[]graph.Instruction{gradient(0, 5), gradient(5, 20), gradient(25, 5), gradient(30, 70)},
			[]int{1, 2, 3, 4}, []int{0, 25, 0, 0}},
		{[]graph.Instruction{gradient(0, 90), other}, []int{1, 2}, []int{100, 0}},
	} {
		if got := cudanets.Finals(c.list, c.ends, 100, 10); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

func TestNetsEqualCPU(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			d := cudatest.Device(t)
			net, err := nets.New(p.config, p.input, 4)
			cudatest.Must(t, err)
			data := cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), p.input, 4, 3, 1, 0, 4, 2)
			seed := uint64(0)
			if p.config.Dropout > 0 {
				seed = 7
			}
			r := newRig(t, d, net, data, graph.Bucket(data.Positions()))
			r.check([]int{3, 0, 1, 2, 4}, seed)
			r = newRig(t, d, net, data, graph.Bucket(data.Positions()+14)) // mostly padding
			r.check([]int{4, 1}, seed)
		})
	}
}

// A captured graph replayed on another batch gives what direct calls give, and two runs give the same bits.
func TestExecutorGraph(t *testing.T) {
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			d := cudatest.Device(t)
			net, err := nets.New(p.config, p.input, 3)
			cudatest.Must(t, err)
			r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(5, 6)), p.input, 3, 3, 1, 4), 16)
			e := r.executor()
			w := r.upload(cudatest.Vector(r.rng, net.Dim(), 0.5))
			var batch structured.Batch
			batch.Reset(r.data, []int{2, 0})
			_, node, edge := r.cotangent(&batch)
			grad := r.upload(make([]float32, net.Dim()))
			step := func() {
				device.Zero(d, grad)
				e.Score(w, r.batch, r.θ.Parts())
				e.Pullback(cudanets.Parts{node, edge}, grad)
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
				t.Error("the captured graph gives another result")
			}
		})
	}
}

// Dropout masks equal the CPU's bit for bit. The weights only pass masks on, so the potentials must be equal, too.
func TestDropoutIsTheCPUs(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.New(nets.Config{Net: "mlp", Hidden: []int{37}, Activation: graph.ReLU, Dropout: 0.4,
		Edges: nets.EdgesNone}, graph.Input{Dim: 1}, 37)
	cudatest.Must(t, err)
	data := cudatest.RandomData(rand.New(rand.NewPCG(1, 1)), graph.Input{Dim: 1}, 37, 3, 5, 1)
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
		cudatest.Must(t, worker.ScoreDropout(w, seed, &batch, &want))
		r.batch.Set([]int{2, 1})
		r.batch.SetSeed(seed)
		e.Score(r.upload(w), r.batch, r.θ.Parts())
		if got, _ := r.potentials(); !slices.Equal(got, chains.Of(&want).Node) {
			t.Errorf("seed %d: masks differ", seed)
		}
		if zeros := len(chains.Of(&want).Node) - count(chains.Of(&want).Node); (zeros > 0) != (seed != 0) {
			t.Errorf("seed %d: %d zeros", seed, zeros)
		}
	}
}

// The batch exceeds a stretch of the sort and many stretches of the scatter, with frequent and rare ids.
func TestScatterOfManyIds(t *testing.T) {
	d := cudatest.Device(t)
	input := graph.Input{Vocab: []int{70000, 2}}
	net, err := nets.New(nets.Config{Net: "embed", Embed: []int{3, 2}, Channels: []int{2}, Window: 1,
		Edges: nets.EdgesNone}, input, 2)
	cudatest.Must(t, err)
	rng := rand.New(rand.NewPCG(8, 8))
	data := cudatest.RandomData(rng, input, 2, 1800, 500, 270)
	for t := range data.Positions() {
		if id := &data.Ids[2*t]; rng.IntN(3) > 0 {
			*id = 256 * (*id % 4)
		}
	}
	r := newRig(t, d, net, data, graph.Bucket(data.Positions()))
	var batch structured.Batch
	batch.Reset(data, []int{1, 0, 2})
	r.batch.Set([]int{1, 0, 2})
	w := cudatest.Vector(rng, net.Dim(), 0.5)
	v, node, edge := r.cotangent(&batch)
	worker, grad := net.NewNetWorker(), make([]float32, net.Dim())
	cudatest.Must(t, worker.Score(w, &batch, new(structured.Potentials)))
	cudatest.Must(t, worker.Pullback(v, grad))
	e, g := r.executor(), r.upload(make([]float32, net.Dim()))
	e.Score(r.upload(w), r.batch, r.θ.Parts())
	e.Pullback(cudanets.Parts{node, edge}, g)
	cudatest.Near(t, "gradient", r.download(g), grad, 1e-5)
}

// Runs of elementwise instructions save a fifth of the launches of a network with dropout.
func TestLaunches(t *testing.T) {
	d := cudatest.Device(t)
	for _, p := range presets {
		net, err := nets.New(p.config, p.input, 4)
		cudatest.Must(t, err)
		r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(3, 4)), p.input, 4, 3), 8)
		commands, instructions := r.executor().Launches(r.batch)
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
	cudatest.Must(t, err)
	r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(5, 6)), p.input, 3, 3, 1, 4), 8)
	e, w := r.executor(), r.upload(cudatest.Vector(r.rng, net.Dim(), 0.5))
	r.batch.Set([]int{0, 2})
	graph := d.Capture(func() { e.Score(w, r.batch, r.θ.Parts()) })
	defer graph.Free()
	d.Replay(graph)
	before, _ := r.potentials()
	larger := newRig(t, d, net, r.data, 16)
	cudatest.Must(t, e.Reserve(larger.batch))
	larger.batch.Set([]int{0, 2})
	e.Score(w, larger.batch, larger.θ.Parts())
	after, _ := larger.potentials()
	cudatest.Near(t, "node", after, before, 1e-6)
	device.Zero(d, r.θ.Node)
	d.Replay(graph)
	if again, _ := r.potentials(); !slices.Equal(before, again) {
		t.Error("the graph gives another result")
	}
}

func TestReserveRefuses(t *testing.T) {
	d := cudatest.Device(t)
	net, err := nets.New(nets.Config{Net: "embed"}, graph.Input{Vocab: []int{5}}, 2)
	cudatest.Must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	large := cudatest.RandomData(rng, graph.Input{Vocab: []int{5}}, 2, 3)
	large.Ids[1] = 7
	for _, c := range []struct {
		data *structured.Dataset
		want string
	}{
		{cudatest.RandomData(rng, graph.Input{Vocab: []int{5, 5}}, 2, 3), "reads 1"},
		{large, "knows 0 to 4"},
	} {
		err := cudanets.NewExecutor(d, net,
			device.NewBLAS(d, false)).Reserve(resident.NewBatch(resident.NewData(d, c.data), 1, 8, 3))
		if err == nil || !strings.Contains(err.Error(), c.want) || !structured.IsBadInput(err) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
	dense, err := nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: 4}, 2)
	cudatest.Must(t, err)
	err = cudanets.NewExecutor(d, dense, nil).Reserve(resident.NewBatch(resident.NewData(d, large), 1, 8, 3))
	if err == nil || !strings.Contains(err.Error(), "reads 4") {
		t.Errorf("error %v, want one about features", err)
	}
}

func TestScoreBeforeReserve(t *testing.T) {
	d := cudatest.Emulated(t)
	net, err := nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: 4}, 2)
	cudatest.Must(t, err)
	r := newRig(t, d, net, cudatest.RandomData(rand.New(rand.NewPCG(1, 1)), graph.Input{Dim: 4}, 2, 3), 8)
	cudanets.NewExecutor(d, net, r.blas).Score(r.upload(net.Init(1)), r.batch, r.θ.Parts())
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "before Reserve") {
		t.Errorf("error %v, want one about Reserve", err)
	}
}

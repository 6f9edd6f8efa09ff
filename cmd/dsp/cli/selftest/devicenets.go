package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

func (g *rig) netChecks() []Check {
	var all []Check
	for _, c := range []struct {
		name   string
		config nets.Config
		input  graph.Input
	}{
		{"linear", nets.Config{Net: "linear"}, graph.Input{Dim: 5}},
		{"linear, window, edges by position", nets.Config{Net: "linear", Edges: nets.EdgesPosition, Window: 3}, graph.Input{Dim: 3}},
		{"mlp, elu", nets.Config{Net: "mlp", Hidden: []int{g.pick(70, 7), 6}}, graph.Input{Dim: g.pick(130, 5)}},
		{"mlp, tanh, edges by position", nets.Config{Net: "mlp", Hidden: []int{7}, Activation: graph.Tanh, Edges: nets.EdgesPosition}, graph.Input{Dim: 5}},
		{"mlp, relu, dropout", nets.Config{Net: "mlp", Hidden: []int{7, 9}, Activation: graph.ReLU, Dropout: 0.3}, graph.Input{Dim: 5}},
		{"cnn", nets.Config{Net: "cnn", Channels: []int{6, 5}, Hidden: []int{4}}, graph.Input{Dim: 3}},
		{"cnn-image", nets.Config{Net: "cnn-image", Channels: []int{3, 2}, Hidden: []int{5}, Activation: graph.Tanh}, graph.Input{Dim: 128}},
		{"conv-crop", nets.Config{Net: "conv-crop", Channels: []int{g.pick(16, 3), 4}, Hidden: []int{5}, Activation: graph.Tanh},
			graph.Input{Dim: 11 * 9 * 3, Map: graph.Map{Height: 11, Width: 9, Channels: 3}}},
		{"embed, dropout", nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Window: 3, Dropout: 0.2}, graph.Input{Vocab: []int{300, 5}}},
		{"attention, dropout", nets.Config{Net: "attention", Channels: []int{8}, Layers: 2, Heads: 2, Dropout: 0.2}, graph.Input{Vocab: []int{300, 5}}},
		{"rnn, dropout", nets.Config{Net: "rnn", Recurrent: []int{g.pick(70, 5), 3}, Embed: []int{4, 3}, Dropout: 0.2}, graph.Input{Vocab: []int{300, 5}}},
		{"deep, dropout", nets.Config{Net: "deep", Recurrent: []int{3}, Embed: []int{4}, CharEmbed: 4, CharChannels: g.pick(50, 5), Dropout: 0.2}, graph.Input{Vocab: []int{300}, Characters: 30, Attributes: 40}},
		{"deep, window", nets.Config{Net: "deep", Channels: []int{5}, CharEmbed: 2, CharChannels: 3, AttributeUnits: 4}, graph.Input{Vocab: []int{11}, Characters: 1030, Attributes: 40}},
		{"embed and features, no edges", nets.Config{Net: "embed", Channels: []int{6}, Window: 3, Edges: nets.EdgesNone}, graph.Input{Vocab: []int{11}, Dim: 2}},
		{"embed and vectors of words", nets.Config{Net: "embed", Channels: []int{6}, Window: 3}, graph.Input{Vocab: []int{30, 5}, Vectors: wordVectors(30, 7, false)}},
		{"embed and frozen vectors of words", nets.Config{Net: "embed", Channels: []int{6}, Window: 3}, graph.Input{Vocab: []int{30}, Vectors: wordVectors(30, 3, true)}},
	} {
		build := func() (*nets.Net, error) { return nets.New(c.config, c.input, netLabels) }
		all = append(all, Check{"net " + c.name, g.net(build, c.input, c.config.Dropout > 0, false)})
		if c.name == "mlp, elu" || c.name == "cnn" {
			all = append(all, Check{"net " + c.name + ", TF32", g.net(build, c.input, false, true)})
		}
	}
	for _, own := range ownGraphs {
		build := func() (*nets.Net, error) { return nets.Build(own.spec(), ownInput) }
		all = append(all, Check{"custom net: " + own.name, g.net(build, ownInput, false, false)})
	}
	long := func() (*nets.Net, error) {
		return nets.New(nets.Config{Net: "rnn", Recurrent: []int{3}, Edges: nets.EdgesNone}, graph.Input{Dim: 3}, netLabels)
	}
	all = append(all, Check{"net rnn, long chains", g.net(long, graph.Input{Dim: 3}, false, false, 150, g.pick(1000, 2))})
	all = append(all, Check{"net conv-crop, squares of images", g.crops})
	all = append(append(all, g.pairChecks()...), g.rowChecks()...)
	return append(all, Check{"sparse linear", g.sparseLinear}, Check{"sums by key", g.sumsByKey})
}

const netLabels = 4

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

// net compares scores, pullback, push-forward and the linearised network with the CPU's, on two batches that do not
// fill their capacities. more are the lengths of further chains.
func (g *rig) net(build func() (*nets.Net, error), input graph.Input, dropout, rounded bool, more ...int) func(context.Context, *rand.Rand, *worst) (string, error) {
	return func(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
		net, err := build()
		if err != nil {
			return "", err
		}
		lengths := append([]int{3, 1, 0, 4, 2}, more...)
		for range g.pick(40, 0) {
			lengths = append(lengths, r.IntN(20))
		}
		n := &netCase{rig: g, net: net, data: randomChains(r, input, netLabels, lengths...), w: w, rounded: rounded}
		if dropout {
			n.seed = 1 + r.Uint64N(1000)
		}
		all := r.Perm(len(lengths))
		for _, examples := range [][]int{all, {4, 1}} {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := n.check(r, examples); err != nil {
				return "", err
			}
			if err := g.Sync(); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}

// netCase is a network with its data.
type netCase struct {
	*rig
	net     *nets.Net
	data    *structured.Dataset
	w       *worst
	seed    uint64 // of dropout; 0: no dropout
	rounded bool   // products are in TF32
}

func (n *netCase) near(what string, got, want []float32) error {
	if n.rounded {
		return n.w.nearAsVectors(what, got, want, 3*tf32) // products of products
	}
	return n.w.nearScaled(what, got, want, single)
}

func (n *netCase) check(r *rand.Rand, examples []int) error {
	d, net := n.Device, n.net
	var batch structured.Batch
	batch.Reset(n.data, examples)
	rows, longest := graph.Bucket(n.data.Positions()+3), 0
	for i := range n.data.Len() {
		longest = max(longest, n.data.Length(i))
	}
	data := resident.NewData(d, n.data)
	defer data.Free()
	on := resident.NewBatch(data, n.data.Len()+1, rows, longest)
	defer on.Free()
	on.Set(examples)
	on.SetSeed(n.seed)
	θ := potentialsOf(n.rig, on, net)
	s := device.NewBLAS(d, n.rounded)
	defer s.Close()
	e := cudanets.NewExecutor(d, net, s)
	defer e.Free()
	if err := e.Reserve(on); err != nil {
		return err
	}

	w, w0, ẇ := scaled(r, net.Dim(), 0.5), scaled(r, net.Dim(), 0.5), normals(r, net.Dim())
	v := drawMarginals(r, &batch, net.Form())
	node, edge := pulled(n.rig, v, rows)
	var want, push structured.Potentials
	worker, grad := net.NewNetWorker(), scaled(r, net.Dim(), 0.1)
	onGrad := upload(n.rig, grad)
	if err := worker.ScoreDropout(w, n.seed, &batch, &want); err != nil {
		return err
	}
	if err := worker.Pullback(v, grad); err != nil {
		return err
	}
	if err := worker.PushForward(ẇ, &push); err != nil {
		return err
	}
	e.Score(upload(n.rig, w), on, θ.Parts())
	if err := n.potentials("score", θ, &want); err != nil {
		return err
	}
	e.PushForward(upload(n.rig, ẇ), θ.Parts())
	if err := n.potentials("tangent", θ, &push); err != nil {
		return err
	}
	e.Pullback(cudanets.Parts{node, edge}, onGrad)
	if err := n.near("gradient", download(n.rig, onGrad), grad); err != nil {
		return err
	}

	model := nets.Linearise(net, w0).NewLinearisedWorker()
	clear(grad)
	if err := model.ScoreDropout(w, n.seed, &batch, &want); err != nil {
		return err
	}
	if err := model.Pullback(v, grad); err != nil {
		return err
	}
	linear := cudanets.NewLinearised(e)
	linear.MoveTo(upload(n.rig, w0))
	linear.Score(upload(n.rig, w), on, θ.Parts())
	if err := n.potentials("linearised score", θ, &want); err != nil {
		return err
	}
	device.Zero(d, onGrad)
	linear.Pullback(cudanets.Parts{node, edge}, onGrad)
	return n.near("linearised gradient", download(n.rig, onGrad), grad)
}

// potentialsOf allocates the potentials of a batch.
func potentialsOf(g *rig, b *resident.Batch, net nets.Scorer) *cudaoracles.Chains {
	form := net.Form()
	y, perPosition := form.Parts[0].Width, form.Parts[1].Rows != structured.Tied
	edges := y * y
	if perPosition {
		edges *= b.Rows
	}
	return &cudaoracles.Chains{B: b.Chains, N: b.Rows, Y: y, Longest: b.Longest, Offsets: b.Offsets, PerPosition: perPosition,
		Node: poisoned[float32](g, b.Rows*y), Edge: poisoned[float32](g, edges)}
}

func (n *netCase) potentials(what string, got *cudaoracles.Chains, want *structured.Potentials) error {
	node, edge := download(n.rig, got.Node), download(n.rig, got.Edge)
	if err := n.Sync(); err != nil {
		return err
	}
	θ := chains.Of(want)
	if err := n.near(what+" of nodes", node[:len(θ.Node)], θ.Node); err != nil {
		return err
	}
	return n.near(what+" of edges", edge[:len(θ.Edge)], θ.Edge)
}

// drawMarginals draws a cotangent; the first position of a chain has no edge into it.
func drawMarginals(r *rand.Rand, batch *structured.Batch, form structured.Form) *structured.Marginals {
	all := &structured.Marginals{}
	all.Resize(batch, form)
	v := chains.In(all)
	copy(v.Node, normals(r, len(v.Node)))
	copy(v.Edge, normals(r, len(v.Edge)))
	if v.PerPosition {
		for b := range v.Len() {
			part := v.EdgeOf(b)
			clear(part[:min(len(part), v.Y*v.Y)])
		}
	}
	return all
}

// pulled uploads a cotangent in the layout that device scorers pull back: with rows beyond the batch, and with shared
// edges summed.
func pulled(g *rig, all *structured.Marginals, rows int) (node, edge device.Array[float32]) {
	v := chains.In(all)
	yy := v.Y * v.Y
	edges := make([]float32, yy)
	if v.PerPosition {
		edges = slices.Concat(v.Edge, make([]float32, rows*yy-len(v.Edge)))
	} else {
		for i, x := range v.Edge {
			edges[i%yy] += x
		}
	}
	return upload(g, slices.Concat(v.Node, make([]float32, rows*v.Y-len(v.Node)))), upload(g, edges)
}

func scaled(r *rand.Rand, n int, scale float32) []float32 {
	x := normals(r, n)
	for i := range x {
		x[i] *= scale
	}
	return x
}

// randomChains draws chains of the given lengths with labels, dense features and discrete inputs.
func randomChains(r *rand.Rand, input graph.Input, labels int, lengths ...int) *structured.Dataset {
	d := &structured.Dataset{Name: "random", Offsets: []int{0}, Dim: input.Dim, Alphabet: structured.NewAlphabet()}
	for l := range labels {
		d.Alphabet.Add(fmt.Sprint(l))
	}
	for _, n := range lengths {
		d.Offsets = append(d.Offsets, d.Positions()+n)
	}
	for range d.Positions() {
		d.Labels = append(d.Labels, r.Int32N(int32(labels)))
		d.Features = append(d.Features, normals(r, input.Dim)...)
		for _, v := range input.Vocab {
			d.Ids = append(d.Ids, r.Int32N(int32(v)))
		}
	}
	for range input.Vocab {
		d.Vocab = append(d.Vocab, structured.NewAlphabet())
	}
	if input.Characters > 0 {
		d.Characters = drawCharacters(r, d, input.Characters)
	}
	if input.Attributes > 0 {
		d.Attributes = drawSparse(r, d, input.Attributes, 5, true, false)
	}
	return d
}

package foreign

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// Device is a GPU that answers about potentials in its memory, where the caller's other libraries compute them: in the
// caller's stream, and in the context that they share (the primary one). Potentials are not copied. Any number of
// goroutines may ask; they take turns. After an error of the GPU the Device answers no more, and others still do.
type Device struct {
	turn  sync.Mutex
	d     *device.Device
	chain *cudaoracles.Oracle
	sum   *cudaoracles.TreeSums
	best  *cudaoracles.BestTrees

	offsets, pairs, relation, source device.Array[int32] // of the batch being asked about
	first                            device.Array[int32] // and labels, or heads of words
	invalid                          device.Array[int32] // [B+1] as find_invalid writes it
	score, value                     device.Array[float64]
	host                             []int32
}

// There are places of a caller: addresses in the memory of a GPU, of arrays that are aligned to 16 bytes, as their
// allocators align them.
type There struct {
	Stream uint64   // a CUstream: 0 is the default one
	Values []uint64 // of each part, as in questions about the host's memory
}

// BuiltWithCUDA reports whether this build can open a Device.
const BuiltWithCUDA = device.Built

// OpenDevice opens a GPU by its number.
func OpenDevice(ordinal int) (*Device, error) {
	if !device.Built {
		return nil, errNotBuilt
	}
	g := new(Device)
	return g, device.Aside(func() (err error) {
		if g.d, err = device.Open(ordinal); err != nil {
			return err
		}
		g.chain, g.sum, g.best = cudaoracles.NewOracle(g.d), cudaoracles.NewTreeSums(g.d), cudaoracles.NewBestTrees(g.d)
		return nil
	})
}

var errNotBuilt = errors.New("this library was built without CUDA: make libdsp-gpu builds one with it, " +
	"which DSP_LIBRARY=build/libdsp-gpu.so names")

// OwnerOf returns the number of the GPU in whose memory an address is, −1 for the host's.
func OwnerOf(address uint64) (int, error) {
	if !device.Built {
		return 0, errNotBuilt
	}
	ordinal := -1
	return ordinal, device.Aside(func() (err error) {
		ordinal, err = device.OwnerOf(address)
		return err
	})
}

// Failed reports whether an error of the GPU has ended the Device.
func (g *Device) Failed() bool {
	g.turn.Lock()
	defer g.turn.Unlock()
	return g.d.Err() != nil
}

// Close waits for the GPU and releases what is there. Nobody may ask any more.
func (g *Device) Close() error { return device.Aside(g.d.Close) }

// guest is a question about a batch on a device.
type guest struct {
	*Batch
	on     *Device
	chains cudaoracles.Chains
	trees  *cudaoracles.Trees      // nil for chains
	there  []device.Array[float32] // the potentials of each part
}

// ask answers a question in the caller's stream.
func (t *Batch) ask(g *Device, at There, question func(q *guest) error) error {
	switch of := t.form.Structure.(type) {
	case chains.Chain:
		if t.form.ends() {
			return fmt.Errorf("chains with the parts start and end do not answer on a GPU")
		}
	case trees.SpanningTree:
		if of.Siblings || t.form.Settings.Roots {
			return fmt.Errorf("trees with siblings or with several roots do not answer on a GPU")
		}
	default:
		return fmt.Errorf("a %s does not answer on a GPU: chains and dependency trees do", t.form.Settings.Structure)
	}
	if len(at.Values) != len(t.parts) {
		return fmt.Errorf("%d parts, expected %d", len(at.Values), len(t.parts))
	}
	g.turn.Lock()
	defer g.turn.Unlock()
	return device.Aside(func() error {
		q := &guest{Batch: t, on: g}
		var err error
		if q.there, err = q.arrays(at.Values, t.Size); err != nil {
			return err
		}
		var failed error
		err = g.d.In(at.Stream, func() {
			if failed = q.place(); failed == nil {
				failed = question(q)
			}
		})
		return errors.Join(failed, err)
	})
}

// arrays returns the caller's arrays of the parts.
func (q *guest) arrays(addresses []uint64, size func(k int) int) ([]device.Array[float32], error) {
	all := make([]device.Array[float32], len(addresses))
	for k, a := range addresses {
		var err error
		if all[k], err = device.At[float32](q.on.d, a, size(k), fmt.Sprintf("part %q", q.parts[k].Name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place copies the layout of the batch to the device.
func (q *guest) place() error {
	d, n, what := q.on.d, q.Len(), "a layout"
	_, chain := q.form.Structure.(chains.Chain)
	each, longest := 1, 0
	if !chain {
		each = 2 // a head and a relation of each word
	}
	if q.Numbers()/each > math.MaxInt32 || q.parts[0].Offsets[n] > math.MaxInt32 {
		return fmt.Errorf("%d rows, expected at most %d on a GPU", q.parts[0].Offsets[n], math.MaxInt32)
	}
	q.on.host = vec.Grow(q.on.host, n+1)
	for b, o := range q.outputs {
		q.on.host[b] = int32(o / each)
		if b > 0 {
			longest = max(longest, int(q.on.host[b]-q.on.host[b-1]))
		}
	}
	offsets := device.Grow(d, &q.on.offsets, n+1, what)
	device.Upload(d, offsets, q.on.host)
	device.Zero(d, device.Grow(d, &q.on.invalid, n+1, what))
	if chain {
		q.chains = cudaoracles.Chains{B: n, N: q.Numbers(), Y: q.parts[0].Width, Longest: longest,
			Offsets: offsets, Node: q.there[0], Edge: q.there[1], PerPosition: q.parts[1].Offsets != nil}
		return nil
	}
	for b, o := range q.parts[0].Offsets {
		q.on.host[b] = int32(o)
	}
	pairs := device.Grow(d, &q.on.pairs, n+1, what)
	device.Upload(d, pairs, q.on.host)
	q.trees = &cudaoracles.Trees{B: n, N: q.Numbers() / 2, P: q.parts[0].Offsets[n], R: q.parts[1].Width,
		Longest: longest, NonProjective: q.form.Structure.(trees.SpanningTree).NonProjective,
		Offsets: offsets, Pairs: pairs, Arc: q.there[0], Label: q.there[1]}
	return nil
}

// rows returns where the rows of each example of a part begin; nothing for a shared one.
func (q *guest) rows(k int) device.Array[int32] {
	switch {
	case q.parts[k].Offsets == nil:
		return device.Array[int32]{}
	case q.trees != nil:
		return q.trees.Pairs
	}
	return q.chains.Offsets
}

var block = device.Dim{X: device.BlockThreads}

// mostOverTemperature is the largest potential, in units of the temperature, that sums over chains support:
// cuda/devicecode/cudaoracles/gibbs.cuh.
const mostOverTemperature = 4e7

// most returns the largest potential that sums at a temperature support.
func (q *guest) most(μ float64) float64 {
	if q.trees != nil {
		return structured.MostPotential
	}
	return min(structured.MostPotential, mostOverTemperature*μ)
}

// find looks for potentials that are NaN, +∞ or beyond ±most.
func (q *guest) find(most float64) device.Array[int32] {
	invalid := q.on.invalid.Slice(0, q.Len()+1)
	for k := range q.there {
		grid := device.Dim{X: q.Len()}
		if q.parts[k].Offsets == nil {
			grid.X = min(1, q.Len())
		}
		skipped := device.Flag(q.parts[k].Rows == structured.Steps) // there is no step into a first position
		q.on.d.Launch("find_invalid", grid, block, 4*device.BlockThreads/32,
			q.there[k], q.rows(k), int32(q.parts[k].Width), skipped, int32(q.Len()), float32(most), invalid)
	}
	return invalid
}

// refuse writes NaN where potentials are beyond ±most.
func (q *guest) refuse(most float64, value device.Array[float64], u []device.Array[float32]) {
	invalid := q.find(most)
	for k := range q.there {
		var to device.Array[float32]
		if u != nil {
			to = u[k]
		}
		q.on.d.Launch("refuse", device.Dim{X: q.Len()}, block, 0,
			invalid, q.rows(k), int32(q.parts[k].Width), int32(q.Len()), value, to)
		if u == nil {
			return
		}
	}
}

// sum writes log Σ exp and marginals, and the scores of gold outputs unless score is empty.
func (q *guest) sum(μ float64, value device.Array[float64], u []device.Array[float32], score device.Array[float64]) {
	none := device.Array[float32]{}
	if u == nil {
		u = []device.Array[float32]{none, none}
	}
	if q.trees == nil {
		a := cudaoracles.Augmentation{}
		if !score.IsEmpty() {
			a.Gold = q.on.first.Slice(0, q.chains.N)
		}
		q.on.chain.Exp(&q.chains, a, μ, value, u[0], u[1], score)
		return
	}
	q.on.sum.Exp(q.trees, cudaoracles.GoldTrees{}, μ, value, u[0], u[1], cudaoracles.FiniteTrees{})
	if !score.IsEmpty() {
		of := func(x device.Array[int32]) device.Array[int32] { return x.Slice(0, q.trees.N) }
		gold := cudaoracles.GoldTrees{Source: of(q.on.source), Head: of(q.on.first), Relation: of(q.on.relation)}
		gold.Score(q.on.d, q.trees, score)
	}
}

// ExpOn is Exp, whose values and marginals are in the memory of a GPU, too: it writes float64 to the address value, and
// marginals to u unless it is nil. It does not wait for them: later work in the stream finds them. Of chains,
// potentials beyond ±4e7·μ count as invalid.
func (t *Batch) ExpOn(g *Device, at There, μ float64, value uint64, u []uint64) error {
	if err := t.sums(make([]float64, t.Len()), μ, nil); err != nil {
		return err
	}
	return t.ask(g, at, func(q *guest) error {
		to, marginals, err := q.answers(value, u)
		if err != nil || t.Len() == 0 {
			return err
		}
		q.sum(μ, to, marginals, device.Array[float64]{})
		q.refuse(q.most(μ), to, marginals)
		return nil
	})
}

// answers returns the arrays for answers.
func (q *guest) answers(value uint64, u []uint64) (device.Array[float64], []device.Array[float32], error) {
	to, err := device.At[float64](q.on.d, value, q.Len(), "values")
	if err != nil || u == nil {
		return to, nil, err
	}
	if len(u) != len(q.there) {
		return to, nil, fmt.Errorf("marginals of %d parts, expected %d", len(u), len(q.there))
	}
	marginals, err := q.arrays(u, q.MarginalSize)
	return to, marginals, err
}

// LossOn is Loss, whose values and gradient are in the memory of a GPU, and whose outputs y are in the host's. It does
// not wait for them.
func (t *Batch) LossOn(g *Device, at There, y []int32, value uint64, gradient []uint64) error {
	if err := t.sums(make([]float64, t.Len()), 1, nil); err != nil {
		return err
	}
	if err := t.CheckOutputs(y); err != nil {
		return err
	}
	if gradient == nil {
		return fmt.Errorf("the loss has no place for its gradient")
	}
	return t.ask(g, at, func(q *guest) error {
		to, u, err := q.answers(value, gradient)
		if err != nil || t.Len() == 0 {
			return err
		}
		q.put(y)
		d, n := q.on.d, device.Dim{X: t.Len()}
		score := device.Grow(d, &q.on.score, t.Len(), "scores")
		q.sum(1, to, u, score)
		if q.trees == nil {
			d.Launch("chain_loss", n, block, 0, q.chains.Offsets, q.on.first, score, to, u[0], u[1],
				int32(q.chains.Y), device.Flag(q.chains.PerPosition))
		} else {
			d.Launch("tree_loss", n, block, 0, q.trees.Offsets, q.trees.Pairs, q.on.first, q.on.relation, score,
				to, u[0], u[1], int32(q.trees.R))
		}
		q.refuse(q.most(1), to, u)
		return nil
	})
}

// put copies gold outputs to the device.
func (q *guest) put(y []int32) {
	const what = "gold outputs"
	if q.trees == nil {
		device.Upload(q.on.d, device.Grow(q.on.d, &q.on.first, len(y), what), y)
		return
	}
	n := q.trees.N
	column, relation, source := make([]int32, 0, n), make([]int32, 0, n), make([]int32, n)
	for b := range q.Len() {
		tree := y[q.outputs[b]:q.outputs[b+1]]
		words := len(tree) / 2
		for d, h := range tree[:words] {
			if h == 0 {
				h = int32(d) + 1 // the root's column is the word's own
			}
			column = append(column, h-1)
		}
		relation = append(relation, tree[words:]...)
	}
	for i := range source {
		source[i] = int32(i)
	}
	device.Upload(q.on.d, device.Grow(q.on.d, &q.on.first, n, what), column)
	device.Upload(q.on.d, device.Grow(q.on.d, &q.on.relation, n, what), relation)
	device.Upload(q.on.d, device.Grow(q.on.d, &q.on.source, n, what), source)
}

// MaxOn is Max of potentials in the memory of a GPU. Outputs and values are in the host's: it waits for them.
func (t *Batch) MaxOn(g *Device, at There, y []int32, value []float64) error {
	if err := t.fits(y, 1, value, 1); err != nil {
		return err
	}
	return t.ask(g, at, func(q *guest) error {
		d, n := q.on.d, t.Len()
		if n == 0 {
			return nil
		}
		invalid, to := q.find(structured.MostPotential), device.Grow(d, &q.on.value, n, "values")
		bad := make([]int32, n+1)
		if q.trees == nil {
			labels := device.Grow(d, &q.on.first, t.Numbers(), "labels")
			q.on.chain.Max(&q.chains, cudaoracles.Augmentation{}, labels, to, device.Array[float64]{})
			device.Download(d, y, labels)
		} else {
			words := q.trees.N
			heads := cudaoracles.Heads{Column: device.Grow(d, &q.on.first, words, "heads"),
				Relation: device.Grow(d, &q.on.relation, words, "relations")}
			q.on.best.Max(q.trees, cudaoracles.GoldTrees{}, heads, to, cudaoracles.FiniteTrees{})
			column, relation := make([]int32, words), make([]int32, words)
			device.Download(d, column, heads.Column)
			device.Download(d, relation, heads.Relation)
			q.take(y, column, relation)
		}
		device.Download(d, value, to)
		device.Download(d, bad, invalid)
		var host [][]float32
		for b := range n {
			if bad[b] == 0 && bad[n] == 0 {
				continue
			}
			if host == nil {
				for k, x := range q.there {
					host = append(host, make([]float32, t.Size(k)))
					device.Download(d, host[k], x)
				}
			}
			value[b] = math.NaN()
			err := t.inLane(b, b+1, func(l *lane) { l.standIn(t, host, b, y[t.outputs[b]:t.outputs[b+1]]) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// take writes trees whose heads are columns of the words' rows as outputs: zeros where there is no tree.
func (q *guest) take(y, column, relation []int32) {
	word := 0
	for b := range q.Len() {
		tree := y[q.outputs[b]:q.outputs[b+1]]
		words := len(tree) / 2
		for d := range words {
			switch c := column[word]; {
			case c < 0:
				tree[d], tree[words+d] = 0, 0
			case int(c) == d:
				tree[d], tree[words+d] = 0, relation[word]
			default:
				tree[d], tree[words+d] = c+1, relation[word]
			}
			word++
		}
	}
}

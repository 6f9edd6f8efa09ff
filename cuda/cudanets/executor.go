// Package cudanets computes potentials on a GPU, from batches of data that package resident keeps there. A Scorer maps
// weights and a batch to potentials, and pulls gradients back. Executor runs the networks of package nets, Linearised
// their linearisation at a point, and SparseLinear linear scorers on attributes.
package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Executor runs the programs of a nets.Net on a device: potentials (Score), Jᵀv (Pullback) and Jẇ (PushForward). Like a
// nets.NetWorker, it serves one batch at a time: Pullback and PushForward refer to the weights and the batch of the
// last Score, whose arrays must not have changed.
type Executor struct {
	device *device.Device
	net    *nets.Net
	blas   *device.BLAS
	apart  bool // products and what follows them are launches of their own; only tests set it
	gather bool // gather the features of every batch; only tests set it

	programs map[graph.Size]*program
	memory   struct { // shared by programs, since only one runs at a time: as large as the largest program needs
		arena, features, boundary, edges, vectors, columns device.Array[float32]
	}
	waves   map[int]device.Array[float32] // of positions, by the number of frequencies
	owned   owned
	bags    map[bagOf]*sparseRows
	checked *resident.Data // data that check has accepted

	now    *program // program of the last Score
	batch  *resident.Batch
	spaces [spaces]device.Array[float32]
}

// The memory spaces of a program on a device: those of nets, with the cotangents of up to mostParts parts, and the same
// number of parts of the potentials.
const (
	mostParts       = 3
	spacePotentials = graph.SpaceCotangent + mostParts
	spaces          = spacePotentials + mostParts
)

// NewExecutor returns an executor that multiplies matrices with blas. Call Reserve before Score, and Free at the end.
func NewExecutor(d *device.Device, net *nets.Net, blas *device.BLAS) *Executor {
	return &Executor{device: d, net: net, blas: blas, programs: map[graph.Size]*program{},
		waves: map[int]device.Array[float32]{}, owned: owned{device: d}, bags: map[bagOf]*sparseRows{}}
}

// Dim returns the number of weights.
func (e *Executor) Dim() int { return e.net.Dim() }

// Form returns the form of the potentials.
func (e *Executor) Form() structured.Form { return e.net.Form() }

// Affine reports whether θ is an affine function of w.
func (e *Executor) Affine() bool { return e.net.Affine() }

// Reserve compiles the program for the batch's capacity of rows, which should be a graph.Bucket, and allocates its
// memory. It returns an error for data that the network does not read, for an op without a kernel, or if memory runs
// out. Batches of different capacities share most memory if the largest comes first. Graphs captured before stay valid.
func (e *Executor) Reserve(b *resident.Batch) error {
	if err := e.check(b.Data); err != nil {
		return err
	}
	size := e.sizeOf(b)
	if compiled := e.programs[size]; compiled != nil {
		e.reserve(compiled, b)
		return e.device.Err()
	}
	p, err := e.net.Program(size)
	if err != nil {
		return err
	}
	compiled, err := e.compile(p)
	if err != nil {
		return err
	}
	e.programs[size] = compiled
	e.reserve(compiled, b)
	return e.device.Err()
}

// reserve allocates what a program needs for batches of b's data.
func (e *Executor) reserve(p *program, b *resident.Batch) {
	if n := p.Rows * e.net.Input().Dim; p.gathers(b.Data) && p.features.Len() < n {
		p.features = e.share(&e.memory.features, n, "the network's arrays")
	}
	e.reserveBags(p, b)
}

// sizeOf returns the program's size for a batch's capacities. Potentials of pairs have the batch's capacity of rows.
func (e *Executor) sizeOf(b *resident.Batch) graph.Size {
	size := graph.Size{Rows: b.Rows}
	if e.net.Needs().Pairs {
		size.Pairs = b.Others
	}
	if e.net.Needs().Characters {
		size.Chars = b.Chars
	}
	return size
}

// check refuses data that the network cannot read. It checks the same data only once.
func (e *Executor) check(data *resident.Data) error {
	if data == e.checked {
		return nil
	}
	set, in, needs := data.Set, e.net.Input(), e.net.Needs()
	if nets.Tunes(e.net) {
		return device.Unsupported("a network that trains a pretrained encoder runs on the CPU")
	}
	if needs.Features && set.Features == nil && set.Source != nil && data.Crops == nil {
		return device.Unsupported("%s: the features stay out of memory, where a device needs them", set.Name)
	}
	if needs.Features && (set.Features == nil && data.Crops == nil || set.Dim != in.Dim) {
		return structured.BadInput("%s has %d features per position; the network reads %d", set.Name, set.Dim, in.Dim)
	}
	if fields := len(set.Vocab); len(needs.Fields) > 0 {
		if len(in.Vocab) == 0 || fields != len(in.Vocab) {
			return structured.BadInput("%s has %d discrete inputs; the network reads %d", set.Name, fields, len(in.Vocab))
		}
		for i := range set.Len() {
			for t := set.Offsets[i]; t < set.Offsets[i+1]; t++ {
				for _, f := range needs.Fields {
					if id := set.Ids[t*fields+f]; id < 0 || int(id) >= in.Vocab[f] {
						return structured.BadInput("%s: discrete input %d is %d; the network knows 0 to %d",
							set.Where(i), f, id, in.Vocab[f]-1)
					}
				}
			}
		}
	}
	if err := checkWords(set, in, needs); err != nil {
		return err
	}
	if needs.EdgeFeatures {
		if err := in.CheckEdges(set); err != nil {
			return err
		}
	}
	if err := e.net.CheckTables(set, data.All()); err != nil {
		return err
	}
	e.checked = data
	return nil
}

// checkWords refuses data without the characters or attributes that the network reads, or with numbers that it does not
// know.
func checkWords(set *structured.Dataset, in graph.Input, needs graph.Needs) error {
	if needs.Characters {
		if set.Characters == nil {
			return structured.BadInput("%s has no characters of words, which the network reads", set.Name)
		}
		for _, id := range set.Characters.Ids {
			if id < 0 || int(id) >= in.Characters {
				return structured.BadInput("%s: character number %d; the network knows 0 to %d", set.Name, id, in.Characters-1)
			}
		}
	}
	if needs.Attributes {
		if set.Attributes == nil {
			return structured.BadInput("%s has no attributes of positions, which the network reads", set.Name)
		}
		for _, a := range set.Attributes.Index {
			if a < 0 || int(a) >= in.Attributes {
				return structured.BadInput("%s: attribute number %d; the network knows 0 to %d", set.Name, a, in.Attributes-1)
			}
		}
	}
	if t := set.Table(structured.Pairs); needs.PairAttributes {
		if t == nil || t.Attributes == nil {
			return structured.BadInput("%s has no attributes of pairs, which the network reads", set.Name)
		}
		for _, a := range t.Attributes.Index {
			if a < 0 || int(a) >= in.PairAttributes {
				return structured.BadInput("%s: attribute number %d of pairs; the network knows 0 to %d",
					set.Name, a, in.PairAttributes-1)
			}
		}
	}
	return nil
}

// Score computes the potentials of the batch at weights w [Dim] into θ, whose arrays have the batch's capacities.
// Padding rows are undefined.
func (e *Executor) Score(w device.Array[float32], b *resident.Batch, θ Parts) {
	p := e.programs[e.sizeOf(b)]
	if p == nil {
		e.device.Fail(errNotReserved)
		return
	}
	e.now, e.batch = p, b
	e.spaces = [spaces]device.Array[float32]{
		graph.SpaceArena: p.arena, graph.SpaceLiterals: p.literals, graph.SpaceFeatures: p.features,
		graph.SpaceBoundary: p.boundary,
		graph.SpaceEdges:    p.edges,
		graph.SpaceWeights:  w,
	}
	e.setSpaces(spacePotentials, θ)
	e.loadInputs(p, b)
	for k, out := range p.Outputs {
		if out == nil {
			device.Zero(e.device, θ[k])
		}
	}
	e.run(p.run.forward)
}

// Pullback adds Jᵀv to grad [Dim], as Scorer says. It may be called any number of times after Score. On its way it sets
// marks (device.Mark): how many weights, from the first one on, have their final gradients.
func (e *Executor) Pullback(v Parts, grad device.Array[float32]) {
	if e.now == nil {
		e.device.Fail(errNotReserved)
		return
	}
	e.setSpaces(graph.SpaceCotangent, v)
	e.spaces[graph.SpaceGradient] = grad
	for k, c := range e.now.run.pullback {
		c(e)
		if n := e.now.final[k]; n > 0 {
			e.device.Mark(n)
		}
	}
}

// PushForward computes Jẇ into θ, for ẇ [Dim].
func (e *Executor) PushForward(ẇ device.Array[float32], θ Parts) {
	for _, part := range θ {
		device.Zero(e.device, part)
	}
	e.addPush(ẇ, θ)
}

// addPush adds Jẇ to θ.
func (e *Executor) addPush(ẇ device.Array[float32], θ Parts) {
	if e.now == nil {
		e.device.Fail(errNotReserved)
		return
	}
	e.spaces[graph.SpaceDirection] = ẇ
	e.setSpaces(spacePotentials, θ)
	e.run(e.now.run.push)
}

// setSpaces maps the parts to consecutive spaces, starting with first.
func (e *Executor) setSpaces(first graph.Space, parts Parts) {
	for k, part := range parts {
		e.spaces[first+graph.Space(k)] = part
	}
}

func (e *Executor) run(list []command) {
	for _, c := range list {
		c(e)
	}
}

// at returns the array of a program's buffer.
func (e *Executor) at(b *graph.Buffer) device.Array[float32] {
	if b.Space == graph.SpaceVectors {
		return e.memory.vectors
	}
	return e.spaces[b.Space].Slice(b.Offset, b.Offset+b.N)
}

// Free releases the memory.
func (e *Executor) Free() {
	e.owned.free()
	for _, b := range e.bags {
		b.free(e.device)
	}
	e.bags = map[bagOf]*sparseRows{}
	e.programs, e.waves, e.now, e.checked = map[graph.Size]*program{}, map[int]device.Array[float32]{}, nil, nil
	e.memory.arena, e.memory.features, e.memory.boundary, e.memory.vectors = device.Array[float32]{},
		device.Array[float32]{}, device.Array[float32]{}, device.Array[float32]{}
	e.memory.edges, e.memory.columns = device.Array[float32]{}, device.Array[float32]{}
}

// loadInputs gathers the inputs of the batch that a program reads.
func (e *Executor) loadInputs(p *program, b *resident.Batch) {
	data, needs := b.Data, p.Needs
	switch c := data.Crops; {
	case !p.gathers(data):
	case c != nil:
		e.entries("load_crops", p.features.Len(), p.features, c.Pixels, c.At, c.Shapes, c.Beside, b.Source,
			int32(c.Side), int32(c.Width))
	default:
		e.entries("load_features", p.features.Len(), p.features, data.Features, b.Source, int32(data.Set.Dim))
	}
	for _, f := range needs.Fields {
		e.entries("load_ids", p.Rows, p.ids[f], data.Ids, b.Source, int32(len(data.Set.Vocab)), int32(f))
	}
	if needs.Boundary {
		e.entries("load_boundary", p.Rows, p.boundary, b.Chain)
	}
	switch {
	case needs.Edges:
		e.loadEdges(p, b)
	case needs.Split:
		e.loadSplits(p, b)
	case needs.Pairs:
		e.entries("pair_rows", p.Pairs, p.pairs.dependents, p.pairs.heads, p.pairs.distances,
			b.Offsets, b.Pairs, int32(b.Chains))
	}
	if needs.Characters {
		e.loadCharacters(p, b)
	}
	if p.layers > 0 {
		e.entries("dropout_states", p.Rows*p.layers, p.states, b.Chain, b.Examples, b.Offsets, b.Seed, int32(p.Rows))
	}
}

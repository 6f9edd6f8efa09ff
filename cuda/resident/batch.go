package resident

import (
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Batch is a choice of examples of one data set, as structured.Batch is. Its arrays have the size of its capacities, so
// that a captured graph can be replayed with another choice.
type Batch struct {
	Data *Data

	B, N                  int // chains and positions of the chosen examples
	Chains, Rows, Longest int // capacities: chains, positions, and positions of one chain
	Others                int // capacity: rows of each other table of the data
	Chars                 int // capacity: characters of words

	Examples device.Array[int32] // [Chains] −1 beyond B
	// [Chains+1] chain b owns rows Offsets[b] to Offsets[b+1]-1; chains beyond B have none
	Offsets device.Array[int32]
	// [Chains+1] first pair of each chain; n positions have n·n pairs, n source and m target items n·m, a graph its edges.
	// Zeros if the data has no other tables
	Pairs   device.Array[int32]
	Sources device.Array[int32] // [Chains+1] first source item of each chain. Zeros if the data has none
	// [capacity of other tables] row of each pair in the data's table of pairs, if that has attributes, or of each edge in
	// that of edges; −1 beyond
	PairSource device.Array[int32]
	Characters device.Array[int32]   // [Chains+1] first character of each chain. Zeros if the data has no characters
	Source     device.Array[int32]   // [Rows] position in Data of each row; −1 from N on
	Chain      device.Array[int32]   // [Rows] chain of each row; −1 from N on
	Gold       device.Array[int32]   // [Rows] gold label of each row; −1 if there is none, and from N on
	Weight     device.Array[float32] // [Chains] c_i, 0 beyond B
	Seed       device.Array[uint64]  // [1] dropout seed; 0: no dropout

	header device.Array[int32] // Examples, Offsets, Pairs, Characters and Sources, uploaded together
	host   []int32             // the last upload of header
}

// NewBatch returns an empty batch with capacity for this many chains and positions (rows), and for longest positions in
// a chain.
func NewBatch(data *Data, chains, rows, longest int) *Batch {
	return data.NewBatch(Capacity{Chains: chains, Rows: rows, Longest: longest,
		Chars: graph.CharBucket(data.CharactersBetween(0, data.Set.Positions()))})
}

// NewBatch returns an empty batch of the given capacity.
func (data *Data) NewBatch(c Capacity) *Batch {
	d, what, chains, rows := data.Device, "a batch", c.Chains, c.Rows
	b := &Batch{
		Data: data, Chains: chains, Rows: rows, Longest: c.Longest, Others: c.Others, Chars: c.Chars,
		Source: device.New[int32](d, rows, what),
		Chain:  device.New[int32](d, rows, what),
		Gold:   device.New[int32](d, rows, what),
		Weight: device.New[float32](d, chains, what),
		Seed:   device.New[uint64](d, 1, what),
		header: device.New[int32](d, 5*chains+4, what),
		host:   make([]int32, 5*chains+4),
	}
	if data.PairAttributes != nil || data.Edges != nil {
		b.PairSource = device.New[int32](d, c.Others, what)
	}
	b.Examples, b.Offsets = b.header.Slice(0, chains), b.header.Slice(chains, 2*chains+1)
	b.Pairs, b.Characters = b.header.Slice(2*chains+1, 3*chains+2), b.header.Slice(3*chains+2, 4*chains+3)
	b.Sources = b.header.Slice(4*chains+3, 5*chains+4)
	b.SetSeed(0)
	b.Set(nil)
	return b
}

// Free releases the memory.
func (b *Batch) Free() {
	d := b.Data.Device
	device.Free(d, b.Source)
	device.Free(d, b.Chain)
	device.Free(d, b.Gold)
	device.Free(d, b.Weight)
	device.Free(d, b.Seed)
	device.Free(d, b.header)
	device.Free(d, b.PairSource)
}

// Fits reports whether the examples are within the capacities.
func (b *Batch) Fits(examples []int) bool {
	n := b.Data.sizeOf(examples)
	return n.Chains <= b.Chains && n.Rows <= b.Rows && n.Longest <= b.Longest && n.Others <= b.Others && n.Chars <= b.Chars
}

// RowsOf returns the batch's capacity of rows in a table; 1 for a tied part.
func (b *Batch) RowsOf(table string) int {
	switch {
	case table == structured.Tied:
		return 1
	case table == structured.Examples:
		return b.Chains
	case structured.PerPosition(table), table == structured.Sources:
		return b.Rows
	}
	return b.Others
}

// Chosen returns the examples that the last Set chose.
func (b *Batch) Chosen() []int {
	all := make([]int, b.B)
	for k := range all {
		all[k] = int(b.host[k])
	}
	return all
}

// Set makes b the batch of the given examples, without repetitions. They must fit. Call it outside of captured graphs,
// before replays.
func (b *Batch) Set(examples []int) {
	d, set := b.Data.Device, b.Data.Set
	if !b.Fits(examples) {
		d.Fail(fmt.Errorf("cuda: %d examples do not fit a batch of %d chains, %d positions, %d per chain", len(examples),
			b.Chains, b.Rows, b.Longest))
		return
	}
	which, offsets, pairs := b.host[:b.Chains], b.host[b.Chains:2*b.Chains+1], b.host[2*b.Chains+1:3*b.Chains+2]
	characters, sources := b.host[3*b.Chains+2:4*b.Chains+3], b.host[4*b.Chains+3:]
	n, squares, letters, first := int32(0), int32(0), int32(0), int32(0)
	for k := range which {
		which[k], offsets[k], pairs[k], characters[k], sources[k] = -1, n, squares, letters, first
		if k < len(examples) {
			i := examples[k]
			which[k] = int32(i)
			n += int32(set.Length(i))
			letters += int32(b.Data.CharactersBetween(set.Offsets[i], set.Offsets[i+1]))
			if b.Others > 0 {
				items, rows := b.Data.pairsOf(i)
				first += int32(items)
				squares += int32(rows)
			}
		}
	}
	offsets[b.Chains], pairs[b.Chains], characters[b.Chains], sources[b.Chains] = n, squares, letters, first
	b.B, b.N = len(examples), int(n)
	device.Upload(d, b.header, b.host)
	d.Launch("batch", device.Dim{X: device.CeilDiv(max(b.Rows, b.Chains), device.BlockThreads)},
		device.Dim{X: device.BlockThreads}, 0,
		b.Examples, b.Offsets, int32(b.Chains), int32(b.Rows), b.Data.Offsets, b.Data.Labels, b.Data.Weights,
		b.Source, b.Chain, b.Gold, b.Weight)
	b.setPairs()
}

// SetSeed sets the dropout seed of the networks for this batch; 0 turns dropout off. Call it outside of captured
// graphs.
func (b *Batch) SetSeed(seed uint64) { device.Upload(b.Data.Device, b.Seed, []uint64{seed}) }

// setPairs uploads what depends on the pairs of the chosen examples.
func (b *Batch) setPairs() {
	data := b.Data
	if data.PairAttributes == nil && data.Edges == nil || b.Others == 0 {
		return
	}
	data.Device.Launch("pair_sources", device.Dim{X: device.CeilDiv(b.Others, device.BlockThreads)},
		device.Dim{X: device.BlockThreads}, 0,
		b.Examples, b.Pairs, data.Pairs, int32(b.Chains), uint32(b.Others), b.PairSource)
}

package train

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// dualShards is how many shards the weights of attributes of positions fall into. It is fixed, so that sums over shards do
// not depend on the number of threads.
const dualShards = 2

// rowsOfShard is how many attributes in a row belong to a shard: so many that shards meet between cache lines, whatever Y,
// and so few that the frequent attributes, whose numbers are low and close, are dealt evenly.
const rowsOfShard = 32

// dualShard is a share of the weights of a sparse scorer with what of the data refers to them. A thread that keeps to its
// shards finds their weights in its own cache; weights that another thread has just changed come from that one's, which
// takes longer than all the arithmetic on them.
type dualShard struct {
	scorer *nets.SparseLinear // of the share alone: its weights begin as all weights do
	worker nets.Worker
	data   structured.Dataset
	batch  structured.Batch
	θ      structured.Potentials // the share's part of the batch's scores
	norms  [nets.ScatterParts]float64
}

// newDualShards returns the shards of a sparse problem: those of the attributes of positions, then that of all the rest.
func newDualShards(p *Problem) ([]*dualShard, error) {
	var shards []*dualShard
	add := func(scorer *nets.SparseLinear, nodes, edges *structured.Sparse) {
		sh := &dualShard{scorer: scorer, worker: scorer.NewWorker(), data: *p.Data}
		sh.data.Attributes, sh.data.EdgeAttributes = nodes, edges
		shards = append(shards, sh)
	}
	for _, part := range p.sparse.Layout() {
		if part.Name != "attributes" {
			continue
		}
		for k := range dualShards {
			scorer, err := nets.NewSparseLinear(part.Shape[0], 0, p.Scorer.Labels(), nets.EdgesNone)
			if err != nil {
				return nil, err
			}
			add(scorer, shareOf(p.Data.Attributes, k), nil)
		}
	}
	add(p.sparse, nil, p.Data.EdgeAttributes)
	return shards, nil
}

// shareOf returns what of x belongs to a shard.
func shareOf(x *structured.Sparse, shard int) *structured.Sparse {
	if x == nil {
		return nil
	}
	share := &structured.Sparse{Offsets: make([]int, len(x.Offsets))}
	for t := range len(x.Offsets) - 1 {
		index, value := x.Row(t)
		for j, row := range index {
			if int(row)/rowsOfShard%dualShards != shard {
				continue
			}
			share.Index = append(share.Index, row)
			if value != nil {
				share.Value = append(share.Value, value[j])
			}
		}
		share.Offsets[t+1] = len(share.Index)
	}
	return share
}

// score adds up the shards' parts of the scores of chain b of their batch, in the order of shards.
func score(shards []*dualShard, b int, θ *structured.Potentials) {
	rest := shards[len(shards)-1]
	lo, hi := rest.batch.Offsets[b], rest.batch.Offsets[b+1]
	y, yy := θ.Y, θ.Y*θ.Y
	first := true
	for _, sh := range shards[:len(shards)-1] {
		if first {
			copy(θ.Node, sh.θ.Node[lo*y:hi*y])
			first = false
			continue
		}
		vec.Axpy(1, sh.θ.Node[lo*y:hi*y], θ.Node)
	}
	if first {
		clear(θ.Node)
	}
	if θ.PerPosition {
		copy(θ.Edge, rest.θ.Edge[lo*yy:hi*yy])
	} else {
		copy(θ.Edge, rest.θ.Edge)
	}
}

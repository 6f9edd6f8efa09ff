package sdca

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
	"github.com/dsp-go/dsp/train"
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
	scorer *sparse.Linear // of the share alone: its weights begin as all weights do
	worker nets.Worker
	data   structured.Dataset
	batch  structured.Batch
	θ      structured.Potentials // the share's part of the batch's scores
	norms  [sparse.Stripes]float64
}

// newDualShards returns the shards of a sparse problem: those of the first part's attributes, then that of all the rest.
func newDualShards(p *train.Problem) []*dualShard {
	var shards []*dualShard
	part := p.Sparse().Form().Parts[0]
	add := func(scorer *sparse.Linear, x *structured.Sparse) {
		sh := &dualShard{scorer: scorer, worker: scorer.NewWorker(), data: *p.Data}
		sh.data.SetAttributes(part, x)
		shards = append(shards, sh)
	}
	if x := p.Data.AttributesOf(part); x != nil {
		for k := range dualShards {
			add(p.Sparse().First(), shareOf(x, k))
		}
	}
	add(p.Sparse(), nil)
	return shards
}

// shareOf returns what of x belongs to a shard.
func shareOf(x *structured.Sparse, shard int) *structured.Sparse {
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

// score adds up the shards' parts of the scores of example b of their batch, in the order of shards.
func score(shards []*dualShard, b int, θ *structured.Potentials) {
	rest, first := shards[len(shards)-1], true
	for _, sh := range shards[:len(shards)-1] {
		if from := sh.θ.Parts[0].Of(b); first {
			copy(θ.Parts[0].Values, from)
			first = false
		} else {
			vec.Axpy(1, from, θ.Parts[0].Values)
		}
	}
	if first {
		clear(θ.Parts[0].Values)
	}
	for k := 1; k < len(θ.Parts); k++ {
		copy(θ.Parts[k].Values, rest.θ.Parts[k].Of(b))
	}
}

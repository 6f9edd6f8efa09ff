package sdca

import (
	"errors"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
)

// dualShards is the number of shards of the weights of position attributes, and of those of dense inputs. It is fixed,
// so that sums over shards do not depend on the number of threads. Attributes of other rows, such as pairs of words,
// are one shard: they are many, so that a copy of them would take more memory than it saves time.
const dualShards = 2

// rowsOfShard is the number of consecutive attributes in a shard. It is large enough that shards meet between cache
// lines for any Y, and small enough to spread the frequent attributes, whose numbers are low and close together,
// evenly.
const rowsOfShard = 32

// dualShard is a shard of a sparse scorer's weights, with the part of the data that refers to them. A thread that keeps
// to its shards finds their weights in its own cache. Weights that another thread has just changed must come from that
// thread's cache, which takes longer than all the arithmetic on them.
type dualShard struct {
	scorer *sparse.Linear // of this shard only; its weights start at the same offset as all weights
	worker nets.Worker
	data   structured.Dataset
	batch  structured.Batch
	θ      structured.Potentials // the shard's part of the batch's scores
	change float64               // of ‖w‖² by the last scatter
}

// newDualShards returns the shards of a sparse problem: first those of the first part's attributes, then those of dense
// inputs, then one for the rest. They score with weights thresholded by τ.
func newDualShards(p *train.Problem, τ float32) ([]*dualShard, error) {
	var shards []*dualShard
	part := p.Scorer.Form().Parts[0]
	add := func(scorer *sparse.Linear, x *structured.Sparse) {
		sh := &dualShard{scorer: scorer, worker: scorer.NewWorker(), data: *p.Data}
		sh.data.SetAttributes(part, x)
		shards = append(shards, sh)
	}
	rows, _ := p.Rows()
	scorer := rows.Thresholded(τ)
	switch x := p.Data.AttributesOf(part); {
	case x != nil && !structured.PerPosition(part.Rows):
		add(scorer.Attributes(), x)
	case x != nil:
		var shares [dualShards]*structured.Sparse
		var errs [dualShards]error
		p.Parallel(dualShards, func(k int) { shares[k], errs[k] = shareOf(p.Data, x, k) })
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
		for _, share := range shares {
			add(scorer.Attributes(), share)
		}
	}
	if scorer.HasDense() {
		for k := range dualShards {
			add(scorer.DenseShare(k, dualShards), nil)
		}
	}
	add(scorer.Rest(), p.Data.AttributesOf(part)) // other parts may have the same attributes
	return shards, nil
}

// threshold changes the threshold of the shard's weights.
func (sh *dualShard) threshold(τ float32) {
	sh.scorer = sh.scorer.Thresholded(τ)
	sh.worker = sh.scorer.NewWorker()
}

// shareOf returns the part of x, attributes of d, that belongs to a shard. It is a file if x is one.
func shareOf(d *structured.Dataset, x *structured.Sparse, shard int) (*structured.Sparse, error) {
	if d.Mapped != "" {
		return packed.Part(d.Mapped, x, func(row int32) bool { return inShard(row, shard) == 1 })
	}
	entries := 0
	for _, row := range x.Index {
		entries += inShard(row, shard)
	}
	// Entries are written whether they are the shard's or not, and the next one over those that are not: there is
	// nothing to predict.
	share := &structured.Sparse{Offsets: make([]int, len(x.Offsets)), Index: make([]int32, entries+1)}
	vec.HugePages(share.Index)
	if x.Value != nil {
		share.Value = make([]float32, entries+1)
		vec.HugePages(share.Value)
	}
	n := 0
	for t := range len(x.Offsets) - 1 {
		index, value := x.Row(t)
		for j, row := range index {
			share.Index[n] = row
			if value != nil {
				share.Value[n] = value[j]
			}
			n += inShard(row, shard)
		}
		share.Offsets[t+1] = n
	}
	share.Index = share.Index[:entries]
	if share.Value != nil {
		share.Value = share.Value[:entries]
	}
	return share, nil
}

// fetched is how many numbers of an example's attributes are asked for ahead. From there on the processor sees by
// itself that they are read in order.
const fetched = 64

// prefetch asks for the first attributes of example i.
func (sh *dualShard) prefetch(i int) {
	for k := range sh.scorer.Form().Parts {
		part := sh.scorer.Form().Parts[k]
		x := sh.data.AttributesOf(part)
		if x == nil || !sh.scorer.Scores(k) {
			continue
		}
		rows := sh.data.Rows(part.Rows)
		numbers := x.Index[x.Offsets[rows[i]]:x.Offsets[rows[i+1]]]
		vec.Prefetch(numbers[:min(len(numbers), fetched)])
	}
}

// inShard is 1 if the row is in the shard, and 0 if it is in the other one.
func inShard(row int32, shard int) int { return 1 &^ (int(row)/rowsOfShard ^ shard) }

// score sums the shards' parts of the scores of example b of their batch: those of the rest first, then in shard order.
func score(shards []*dualShard, b int, θ *structured.Potentials) {
	rest := shards[len(shards)-1]
	for k := range θ.Parts {
		copy(θ.Parts[k].Values, rest.θ.Parts[k].Of(b))
	}
	for _, sh := range shards[:len(shards)-1] {
		for k := range sh.θ.Parts {
			if sh.scorer.Scores(k) {
				vec.Axpy(1, sh.θ.Parts[k].Of(b), θ.Parts[k].Values)
			}
		}
	}
}

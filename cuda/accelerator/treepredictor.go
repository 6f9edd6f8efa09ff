package accelerator

import (
	"cmp"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// treePredictor answers for dependency trees whose relations do not interact, on the device.
type treePredictor struct {
	data   *resident.Data
	scorer cudanets.Scorer
	batch  *resident.Batch
	θ      cudaoracles.Trees
	best   *cudaoracles.BestTrees
	sum    *cudaoracles.TreeSums
	heads  cudaoracles.Heads
	value  device.Array[float64] // [Chains]
	bad    device.Array[int32]   // as in treeKernels

	marginals struct{ arc, label device.Array[float32] } // empty before they are wanted

	column, relation []int32 // of the batch, downloaded
}

func newTreePredictor(data *resident.Data, scorer cudanets.Scorer, b *resident.Batch) *treePredictor {
	d, form := data.Device, scorer.Form()
	p := &treePredictor{data: data, scorer: scorer, batch: b, best: cudaoracles.NewBestTrees(d),
		sum:   cudaoracles.NewTreeSums(d),
		value: device.New[float64](d, b.Chains, "scores of trees"), bad: device.NewFrom(d, []int32{allNumbers}, "an example")}
	p.θ = newTrees(d, b, form)
	p.heads = cudaoracles.NewHeads(d, &p.θ)
	p.best.Reserve(&p.θ)
	return p
}

func (p *treePredictor) free() {
	d := p.data.Device
	for _, x := range []device.Array[float32]{p.θ.Arc, p.θ.Label, p.marginals.arc, p.marginals.label} {
		device.Free(d, x)
	}
	p.heads.Free(d)
	p.best.Free()
	p.sum.Free()
	device.Free(d, p.value)
	device.Free(d, p.bad)
}

// newTrees returns memory for the potentials of a batch's trees.
func newTrees(d *device.Device, b *resident.Batch, form structured.Form) cudaoracles.Trees {
	const what = "potentials and marginals"
	relations := form.Parts[1].Width
	return cudaoracles.Trees{B: b.Chains, N: b.Rows, P: b.Others, R: relations, Longest: b.Longest,
		NonProjective: form.Structure.(trees.SpanningTree).NonProjective, Offsets: b.Offsets, Pairs: b.Pairs,
		Arc: device.New[float32](d, b.Others, what), Label: device.New[float32](d, b.Others*relations, what)}
}

// answer computes what is wanted of the batch at w. The best trees are those of the CPU, also where several score the
// same.
func (p *treePredictor) answer(w device.Array[float32], wanted Wanted, a *Predicted) error {
	d, find := p.data.Device, cudaoracles.FiniteTrees{Examples: p.batch.Examples, Bad: p.bad}
	p.scorer.Score(w, p.batch, cudanets.Parts{p.θ.Arc, p.θ.Label})
	p.best.Max(&p.θ, cudaoracles.GoldTrees{}, p.heads, p.value, find)
	if err := badExample(p.data, p.bad); err != nil {
		return err
	}
	p.outputs(a)
	a.Score = fetch(d, a.Score, p.value, p.batch.B)
	if !wanted.LogZ && !wanted.Marginals {
		return nil
	}
	var arc, label device.Array[float32]
	if wanted.Marginals {
		u := &p.marginals
		if u.arc.IsEmpty() {
			u.arc = device.New[float32](d, p.θ.P, "marginals")
			u.label = device.New[float32](d, p.θ.P*p.θ.R, "marginals")
		}
		arc, label = u.arc, u.label
	}
	p.sum.Exp(&p.θ, cudaoracles.GoldTrees{}, cmp.Or(wanted.Temperature, 1), p.value, arc, label, cudaoracles.FiniteTrees{})
	a.LogZ = fetch(d, a.LogZ, p.value, p.batch.B)
	if wanted.Marginals {
		pairs := a.Rows[len(a.Rows)-1]
		a.Marginals = fetch(d, a.Marginals, arc, pairs)
		a.Relations = structured.Part{Shape: p.scorer.Form().Parts[1], Offsets: a.Rows,
			Values: fetch(d, a.Relations.Values, label, pairs*p.θ.R)}
	}
	return d.Err()
}

// outputs downloads the best trees. An output is a sentence's heads, numbered from 1 with 0 for the root, and then its
// relations.
func (p *treePredictor) outputs(a *Predicted) {
	d, n := p.data.Device, p.batch.N
	p.column, p.relation = fetch(d, p.column, p.heads.Column, n), fetch(d, p.relation, p.heads.Relation, n)
	a.Labels, a.Offsets, a.Rows = a.Labels[:0], append(a.Offsets[:0], 0), append(a.Rows[:0], 0)
	from, pairs := 0, 0
	for _, i := range p.batch.Chosen() {
		words := p.data.Set.Length(i)
		for word, column := range p.column[from : from+words] {
			head := column + 1 // −1, where there is no tree, becomes the root
			if int(column) == word {
				head = 0
			}
			a.Labels = append(a.Labels, head)
		}
		a.Labels = append(a.Labels, p.relation[from:from+words]...)
		from, pairs = from+words, pairs+words*words
		a.Offsets, a.Rows = append(a.Offsets, 2*from), append(a.Rows, pairs)
	}
}

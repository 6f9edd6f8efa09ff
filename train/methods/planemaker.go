package methods

import (
	"cmp"
	"context"
	"slices"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// planeMaker makes planes, on one thread at a time.
type planeMaker struct {
	lane   *engine.Lane
	origin []float32   // zeros [Dim]
	sums   []float32   // [Dim] zeros between calls, for gradients and for inner products
	flat   []float32   // [Dim]
	rows   sparse.Rows // that an example touches
	one    [1]int
}

// extend makes the planes of active outputs that some examples have got.
func (x *workingSet) extend(ctx context.Context, p *train.Problem, examples []int) error {
	var grown []int
	for _, i := range examples {
		if len(x.sets[i].planes) < len(x.active[i]) {
			grown = append(grown, i)
		}
	}
	errs := make([]error, p.Threads())
	strands := len(errs)
	p.Parallel(strands, func(s int) {
		errs[s] = host.Guard(func() error {
			k := <-x.makers
			defer func() { x.makers <- k }()
			for j := s; j < len(grown); j += strands {
				if err := cmp.Or(ctx.Err(), x.extendOne(p, k, grown[j])); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmp.Or(errs...)
}

// extendOne is extend for one example.
func (x *workingSet) extendOne(p *train.Problem, k *planeMaker, i int) error {
	of, gold, ln, ready := &x.sets[i], p.Data.Gold(i), k.lane, false
	for _, c := range x.active[i][len(of.planes):] {
		height := 0.0
		if !slices.Equal(c.labels, gold) {
			if !ready {
				ready = true
				if err := x.prepare(p, k, i); err != nil {
					return err
				}
			}
			ln.V.Clear()
			ln.V.Add(0, c.labels, 1)
			ln.V.Add(0, gold, -1)
			if x.covered {
				x.gatherCovered(k, of)
			} else if err := x.gather(k, of); err != nil {
				return err
			}
			x.gatherTerms(k, of)
			height = ln.V.Dot(0, &ln.Theta)
		}
		of.end(height)
		x.relate(k, of)
	}
	of.index()
	return nil
}

// prepare makes the lane's example i, its potentials those at the origin, and reads the inputs.
func (x *workingSet) prepare(p *train.Problem, k *planeMaker, i int) error {
	ln := k.lane
	k.one[0] = i
	ln.Batch.Reset(p.Data, k.one[:])
	if x.covered {
		ln.Theta.Resize(&ln.Batch, p.Scorer.Form())
		for _, part := range ln.Theta.Parts {
			clear(part.Values)
		}
		if err := p.Augment(&ln.Batch, &ln.Theta); err != nil {
			return err
		}
	} else if err := p.Potentials(ln, engine.At(k.origin)); err != nil {
		return err
	}
	ln.V.Like(&ln.Theta)
	of := &x.sets[i]
	if len(x.cells) == 0 || of.inputs != nil {
		return nil
	}
	if from, to := p.Data.Offsets[i], p.Data.Offsets[i+1]; p.Data.Features != nil {
		of.inputs = p.Data.Features[from*p.Data.Dim : to*p.Data.Dim]
		return nil
	}
	of.inputs = make([]float32, p.Data.Length(i)*p.Data.Dim)
	return p.Data.ReadFeatures(of.inputs, i)
}

// gatherTerms makes the terms of a plane from the lane's v, and cells for them.
func (x *workingSet) gatherTerms(k *planeMaker, of *planeSet) {
	for _, b := range x.cells {
		v := k.lane.V.Parts[b.Part].Of(0)
		for j, c := range v {
			if c != 0 {
				t, label := j/b.Width, j%b.Width
				of.terms = append(of.terms, term{int32(len(of.cells)), c})
				of.cells = append(of.cells, cellAt(t*b.Dim, b.Offset+label*b.Dim))
			}
		}
	}
}

// gatherCovered makes the runs of a plane from the lane's v.
func (x *workingSet) gatherCovered(k *planeMaker, of *planeSet) {
	for _, b := range x.cells {
		v := k.lane.V.Parts[b.Part].Of(0)
		if b.Bias >= 0 {
			sums := k.sums[b.Bias:][:b.Width]
			for j, c := range v {
				sums[j%b.Width] += c
			}
			of.takeAll(k.sums, b.Bias, b.Width)
		}
		if b.Ends >= 0 && len(v) > 0 {
			copy(k.sums[b.Ends:], v[:b.Width])
			copy(k.sums[b.Ends+b.Width:][:b.Width], v[len(v)-b.Width:])
			of.takeAll(k.sums, b.Ends, 2*b.Width)
		}
	}
	for _, b := range x.tied {
		copy(k.sums[b.Offset:][:b.Width], k.lane.V.Parts[b.Part].Of(0))
		of.takeAll(k.sums, b.Offset, b.Width)
	}
}

// pull pulls the lane's v back into sums, without what cells keep.
func (x *workingSet) pull(k *planeMaker) error {
	if err := k.lane.Worker.Pullback(&k.lane.V, k.sums); err != nil {
		return err
	}
	for _, b := range x.cells {
		clear(k.sums[b.Offset:][:b.Dim*b.Width])
	}
	return nil
}

// gatherAll makes the runs of a plane from a pullback of the lane's v.
func (x *workingSet) gatherAll(k *planeMaker, of *planeSet) error {
	if err := x.pull(k); err != nil {
		return err
	}
	x.byColumns(k.sums, k.flat)
	clear(k.sums)
	of.take(k.flat, 0, len(k.flat))
	return nil
}

// gatherRows is gatherAll by the rows that the batch touches.
func (x *workingSet) gatherRows(k *planeMaker, of *planeSet) error {
	if err := x.pull(k); err != nil {
		return err
	}
	x.rows.Rows(&k.lane.Batch, &k.rows)
	slices.Sort(k.rows.Index)
	for _, row := range k.rows.Index {
		lo, hi := x.rows.Row(row)
		of.takeAll(k.sums, lo, hi-lo)
	}
	return nil
}

// relate adds the inner products of the last plane of an example.
func (x *workingSet) relate(k *planeMaker, of *planeSet) {
	dim := x.inputs()
	old, n := of.gram, len(of.planes)-1
	gram := make([]float64, (n+1)*(n+1))
	for k := range n {
		copy(gram[k*(n+1):], old[k*n:(k+1)*n])
	}
	newTerms, newRuns, newValues := of.parts(n)
	for _, t := range newTerms {
		at := of.cells[t.place]
		vec.Axpy(t.factor, of.inputs[at.inputs():][:dim], k.sums[at.weights():][:dim])
	}
	addRuns(1, newRuns, newValues, k.sums)
	for l := range of.planes {
		terms, runs, values := of.parts(l)
		dot := dotRuns(runs, values, k.sums)
		for _, t := range terms {
			at := of.cells[t.place]
			dot += float64(t.factor) * float64(vec.Dot(of.inputs[at.inputs():][:dim], k.sums[at.weights():][:dim]))
		}
		gram[l*(n+1)+n], gram[n*(n+1)+l] = dot, dot
	}
	for _, t := range newTerms {
		clear(k.sums[of.cells[t.place].weights():][:dim])
	}
	for _, r := range newRuns {
		clear(k.sums[r.at:][:r.n])
	}
	of.gram = gram
}

package accelerator

import (
	"cmp"
	"context"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/train/engine"
)

// Predictor computes a network's predictions for the examples of a data set on a device, or if Predicts reports false,
// their potentials.
type Predictor struct {
	shared   *shared
	scorer   cudanets.Scorer
	batch    *resident.Batch
	w        device.Array[float32]
	capacity resident.Capacity

	trees *treePredictor // or nil, for other structures

	// If the host answers, from potentials:
	constraints structured.Constraints
	exchange    exchange
	chosen      structured.Batch

	// For chains:
	objective  *Objective // holds the constraints
	evaluation *ChainEvaluation
	labels     device.Array[int32]
	best       cudaoracles.KBest
}

// Wanted selects what a Predictor computes in addition to the best labels.
type Wanted struct {
	LogZ, Marginals, Potentials bool
	NBest                       int     // number of best outputs
	Temperature                 float64 // of LogZ and Marginals; 0 means 1
}

// Predicted holds predictions for consecutive examples, numbered by b. Fields that were not wanted are empty.
type Predicted struct {
	Offsets    []int           // [B+1] of the outputs
	Labels     []int32         // [N] of the best output
	Score      []float64       // [B] its score
	LogZ       []float64       // [B] times the temperature
	Marginals  []float32       // of the labels of chains [N×Y], of the arcs of trees [Rows[B]]
	Rows       []int           // [B+1] of the marginals of trees
	Relations  structured.Part // marginals of trees' second part
	Best       oracles.KBest
	Potentials structured.Potentials // with the constraints applied
}

// Predicts reports whether there are kernels for predictions of a form: for sequences of labels, and for dependency
// trees whose relations do not interact.
func Predicts(form structured.Form, c structured.Constraints) bool {
	return predictsChains(form, c) || PredictsTrees(form, c)
}

// PredictsTrees reports whether there are kernels for predictions of dependency trees of this form: the best one, sums
// and marginals, but not the K best, nor potentials beside them.
func PredictsTrees(form structured.Form, c structured.Constraints) bool {
	of, tree := form.Structure.(trees.SpanningTree)
	none, chain := c.(*chains.Constraints)
	return tree && !of.Siblings && (c == nil || chain && none == nil)
}

func predictsChains(form structured.Form, c structured.Constraints) bool {
	_, chain := form.Structure.(chains.Chain)
	_, constraints := c.(*chains.Constraints)
	return chain && (constraints || c == nil)
}

// Some makes θ a view of the potentials of examples lo to hi-1 of the batch.
func (a *Predicted) Some(lo, hi int, θ *structured.Potentials) { rangeOf(&a.Potentials, lo, hi, θ) }

// nbestPositions bounds positions times best outputs in a batch, and thus the memory for enumeration.
const nbestPositions = 1 << 20

// NewPredictor returns a predictor for a network on data, with constraints on its outputs (nil: none), for up to nbest
// outputs per example. Unsupported settings are bad input. Call SetWeights before Over, and Close at the end, unless
// the device is closed.
func NewPredictor(d *device.Device, net nets.Scorer, c structured.Constraints, set *structured.Dataset, nbest int,
	tf32 bool) (_ *Predictor, err error) {
	inputs := *set // without its labels
	inputs.LabelSets, inputs.Readings = nil, nil
	o := &engine.Objective{Scorer: net, Data: &inputs, Loss: engine.CRF, Constraints: c}
	if err := CheckObjective(o); err != nil {
		return nil, err
	}
	if set.Features == nil && set.Source != nil {
		if _, crops := set.Source.(*images.Crops); !crops {
			return nil, device.Unsupported("%s: the features stay out of memory, where a CUDA device needs them", set.Name)
		}
	}
	o.Data = set
	s := &shared{d: d, data: resident.NewData(d, set), blas: device.NewBLAS(d, tf32)}
	p := &Predictor{shared: s, w: device.New[float32](d, net.Dim(), "weights")}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	scorer, err := s.scorer(net)
	if err != nil {
		return nil, err
	}
	p.scorer = scorer
	if p.capacity, err = s.passCapacity(min(resident.PassPositions, nbestPositions/max(1, nbest)), scorer); err != nil {
		return nil, err
	}
	p.batch = s.data.NewBatch(p.capacity)
	switch {
	case PredictsTrees(net.Form(), c):
		p.trees = newTreePredictor(s.data, scorer, p.batch)
	case predictsChains(net.Form(), c):
		p.objective = NewObjective(s.data, o, scorer, cudaoracles.NewOracle(d))
		p.evaluation = p.objective.NewEvaluation(p.batch)
		p.labels = device.New[int32](d, p.batch.Rows, "labels")
	default:
		p.constraints = c
	}
	if err := scorer.Reserve(p.batch); err != nil {
		return nil, err
	}
	return p, d.Err()
}

// Close releases the memory.
func (p *Predictor) Close() {
	d := p.shared.d
	if p.trees != nil {
		p.trees.free()
	}
	if p.objective != nil {
		p.evaluation.Free()
		p.objective.Free()
	}
	p.best.Free(d)
	device.Free(d, p.labels)
	device.Free(d, p.exchange.all)
	device.Free(d, p.w)
	freeScorer(p.scorer)
	if p.batch != nil {
		p.batch.Free()
	}
	p.shared.data.Free()
	p.shared.blas.Close()
}

// SetWeights sets the network's weights.
func (p *Predictor) SetWeights(w []float32) { device.Upload(p.shared.d, p.w, w) }

// Over calls use with the predictions, batch by batch in the order of the data. The predictions are valid until use
// returns. If potentials are not finite, the error is a *engine.NonFiniteError.
func (p *Predictor) Over(ctx context.Context, wanted Wanted, use func(examples []int, a *Predicted) error) error {
	d, data := p.shared.d, p.shared.data
	var a Predicted
	for left := data.All(); len(left) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := data.Fit(left, p.capacity)
		p.batch.Set(left[:n])
		if err := p.answer(wanted, &a); err != nil {
			return err
		}
		if err := d.Err(); err != nil {
			return err
		}
		if err := use(left[:n], &a); err != nil {
			return err
		}
		left = left[n:]
	}
	return d.Err()
}

// answer computes what is wanted of the batch.
func (p *Predictor) answer(wanted Wanted, a *Predicted) error {
	if p.trees != nil && !wanted.Potentials {
		return p.trees.answer(p.w, wanted, a)
	}
	if p.evaluation == nil {
		return p.potentials(a)
	}
	p.evaluation.Score(p.w)
	if err := p.objective.NonFinite(); err != nil {
		return err
	}
	p.query(wanted, a)
	return nil
}

// potentials computes the potentials of the batch, with the constraints applied.
func (p *Predictor) potentials(a *Predicted) error {
	if p.exchange.parts == nil {
		p.exchange = newExchange(p.shared.d, p.scorer.Form(), p.batch)
	}
	p.scorer.Score(p.w, p.batch, p.exchange.parts)
	p.chosen.Reset(p.shared.data.Set, p.batch.Chosen())
	p.exchange.download(p.shared.d, &p.chosen, p.scorer.Form(), &a.Potentials)
	if err := p.shared.d.Err(); err != nil {
		return err
	}
	if !a.Potentials.Finite() {
		return engine.NotFinite(&p.chosen, &a.Potentials)
	}
	if p.constraints != nil {
		p.constraints.Apply(&a.Potentials)
	}
	return nil
}

// query queries the oracle for the batch and downloads its answers.
func (p *Predictor) query(wanted Wanted, a *Predicted) {
	d, l, o := p.shared.d, p.evaluation, p.objective.Oracle
	b, y := l.Batch, l.Scores.Y
	a.Offsets = append(a.Offsets[:0], 0)
	for _, i := range b.Chosen() {
		a.Offsets = append(a.Offsets, a.Offsets[len(a.Offsets)-1]+b.Data.Set.Length(i))
	}
	var none device.Array[float64]
	o.Max(&l.Scores, cudaoracles.Augmentation{}, p.labels, l.Answer.Value, none)
	a.Labels, a.Score = fetch(d, a.Labels, p.labels, b.N), fetch(d, a.Score, l.Answer.Value, b.B)
	if wanted.LogZ || wanted.Marginals {
		var node device.Array[float32]
		if wanted.Marginals {
			node = l.Answer.Node
		}
		o.Exp(&l.Scores, cudaoracles.Augmentation{}, cmp.Or(wanted.Temperature, 1), l.Answer.Value, node,
			device.Array[float32]{}, none)
		a.LogZ, a.Marginals = fetch(d, a.LogZ, l.Answer.Value, b.B), fetch(d, a.Marginals, node, min(node.Len(), b.N*y))
	}
	if k := wanted.NBest; k > 0 {
		o.TopK(&l.Scores, cudaoracles.Augmentation{}, k, &p.best)
		a.Best.Resize(&structured.Potentials{Outputs: a.Offsets}, k)
		for c, count := range fetch(d, nil, p.best.Count, b.B) {
			a.Best.Count[c] = int(count)
		}
		device.Download(d, a.Best.Score, p.best.Score)
		for j := range k {
			device.Download(d, a.Best.Output(j, 0, b.N), p.best.Labels.Slice(j*b.Rows, (j+1)*b.Rows))
		}
	}
	if wanted.Potentials {
		chains.Resize(&a.Potentials, a.Offsets, y, l.Scores.PerPosition)
		θ := chains.Of(&a.Potentials)
		device.Download(d, θ.Node, l.Scores.Node)
		device.Download(d, θ.Edge, l.Scores.Edge)
	}
}

// fetch downloads the first n elements of an array, reusing to.
func fetch[E device.Element](d *device.Device, to []E, from device.Array[E], n int) []E {
	to = vec.Grow(to, n)
	device.Download(d, to, from)
	return to
}

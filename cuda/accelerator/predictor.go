package accelerator

import (
	"cmp"
	"context"

	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// Predictor computes a network's predictions for the examples of a data set on a device.
type Predictor struct {
	shared     *shared
	objective  *Objective // holds the constraints
	w          device.Array[float32]
	evaluation *ChainEvaluation
	capacity   resident.Capacity
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
	Offsets    []int     // [B+1]
	Labels     []int32   // [N] of the best output
	Score      []float64 // [B] its score
	LogZ       []float64 // [B] times the temperature
	Marginals  []float32 // [N×Y]
	Best       oracles.KBest
	Potentials structured.Potentials // with the constraints applied
}

// nbestPositions bounds positions times best outputs in a batch, and thus the memory for enumeration.
const nbestPositions = 1 << 20

// NewPredictor returns a predictor for a network on data, with constraints on its outputs (nil: none), for up to nbest outputs per
// example. Unsupported settings are bad input. Call SetWeights before Over. Its memory is released with the device.
func NewPredictor(d *device.Device, net nets.Scorer, c structured.Constraints, set *structured.Dataset, nbest int, tf32 bool) (*Predictor, error) {
	inputs := *set // without its labels
	inputs.LabelSets, inputs.Readings = nil, nil
	o := &engine.Objective{Scorer: net, Data: &inputs, Loss: engine.CRF, Constraints: c}
	if err := CheckObjective(o); err != nil {
		return nil, err
	}
	if !hasChainKernels(o) {
		return nil, device.Unsupported("a CUDA device predicts only sequences of labels, not a %s", net.Form().Structure.Name())
	}
	o.Data = set
	s := &shared{d: d, data: resident.NewData(d, set), blas: device.NewBLAS(d, tf32)}
	p := &Predictor{shared: s, w: device.New[float32](d, net.Dim(), "weights")}
	scorer, err := s.scorer(net)
	if err != nil {
		return nil, err
	}
	p.objective = NewObjective(s.data, o, scorer, cudaoracles.NewOracle(d))
	if p.capacity, err = s.passCapacity(min(resident.PassPositions, nbestPositions/max(1, nbest)), scorer); err != nil {
		return nil, err
	}
	b := s.data.NewBatch(p.capacity)
	p.evaluation = p.objective.NewEvaluation(b)
	p.labels = device.New[int32](d, b.Rows, "labels")
	if err := scorer.Reserve(b); err != nil {
		return nil, err
	}
	return p, d.Err()
}

// SetWeights sets the network's weights.
func (p *Predictor) SetWeights(w []float32) { device.Upload(p.shared.d, p.w, w) }

// Over calls use with the predictions, batch by batch in the order of the data. The predictions are valid until use returns. If
// potentials are not finite, the error is a *engine.NonFiniteError.
func (p *Predictor) Over(ctx context.Context, wanted Wanted, use func(examples []int, a *Predicted) error) error {
	d, data, l := p.shared.d, p.shared.data, p.evaluation
	var a Predicted
	for left := data.All(); len(left) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := data.Fit(left, p.capacity)
		l.Batch.Set(left[:n])
		l.Score(p.w)
		if err := p.objective.NonFinite(); err != nil {
			return err
		}
		p.query(wanted, &a)
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
		o.Exp(&l.Scores, cudaoracles.Augmentation{}, cmp.Or(wanted.Temperature, 1), l.Answer.Value, node, device.Array[float32]{}, none)
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

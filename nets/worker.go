package nets

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// NetWorker runs a Net on batches. Besides Score and Pullback it has PushForward.
type NetWorker struct {
	net      *Net
	prog     *graph.Program // of the last Score
	programs map[graph.Size]*graph.Program
	m        *graph.Machine
	batch    *structured.Batch // of the last Score
	encoded  *encoded          // nil without an encoder
}

// NewWorker returns a worker of the net.
func (n *Net) NewWorker() Worker { return n.NewNetWorker() }

// NewNetWorker returns a worker of the net as its concrete type, which also has PushForward.
func (n *Net) NewNetWorker() *NetWorker {
	return &NetWorker{net: n, programs: map[graph.Size]*graph.Program{}, m: graph.NewMachine(n.shape, n.input),
		encoded: n.newEncoded()}
}

// Score computes the potentials of the batch at weights, without dropout.
func (w *NetWorker) Score(weights []float32, batch *structured.Batch, θ *structured.Potentials) error {
	return w.ScoreDropout(weights, 0, batch, θ)
}

func (w *NetWorker) ScoreDropout(weights []float32, seed uint64, batch *structured.Batch,
	θ *structured.Potentials) error {
	w.m.Seed = seed
	if err := w.load(weights, batch); err != nil {
		return err
	}
	w.m.Run(w.prog.Forward)
	θ.Resize(batch, w.prog.Form)
	w.emit(w.prog.Outputs, θ)
	return nil
}

// Pullback adds Jᵀv to grad, J at the weights and batch of the last Score.
func (w *NetWorker) Pullback(v *structured.Marginals, grad []float32) error {
	p := w.prog
	if p == nil {
		return fmt.Errorf("nets: Pullback before Score")
	}
	if len(v.Parts) != len(p.Form.Parts) {
		return fmt.Errorf("nets: Pullback of marginals with %d parts, expected %d", len(v.Parts), len(p.Form.Parts))
	}
	nonzero := false
	for k, shape := range p.Form.Parts {
		part := &v.Parts[k]
		if part.Shape != shape {
			return fmt.Errorf("nets: Pullback of marginals whose part %d is %v, expected %v", k, part.Shape, shape)
		}
		rows := w.batch.Len()
		if shape.Rows != structured.Tied {
			offsets := w.batch.Rows(shape.Rows)
			rows = offsets[len(offsets)-1]
		}
		if got := len(part.Values) / max(1, shape.Width); got != rows {
			return fmt.Errorf("nets: Pullback of marginals with %d rows of part %q, expected %d", got, shape.Name, rows)
		}
		nonzero = nonzero || !zero(part.Values)
	}
	if len(grad) != w.net.Dim() {
		return fmt.Errorf("nets: Pullback into %d numbers; the net has %d weights", len(grad), w.net.Dim())
	}
	if !nonzero {
		return nil // differences of an oracle's outputs are often zero
	}
	for k, out := range p.Outputs {
		if out != nil {
			w.m.Mem[int(graph.SpaceCotangent)+k] = w.cotangent(k, &v.Parts[k], out.N)
		}
	}
	w.m.Mem[graph.SpaceGradient] = grad
	w.m.Run(p.Pullback)
	w.m.Mem[graph.SpaceGradient] = nil
	return w.encoded.pullback(w.m, p, grad)
}

// PushForward computes Jẇ, J at the weights and batch of the last Score, as potentials of that batch.
func (w *NetWorker) PushForward(ẇ []float32, θ *structured.Potentials) error {
	p := w.prog
	if p == nil {
		return fmt.Errorf("nets: PushForward before Score")
	}
	if len(ẇ) != w.net.Dim() {
		return fmt.Errorf("nets: PushForward of %d numbers; the net has %d weights", len(ẇ), w.net.Dim())
	}
	if err := w.encoded.push(w.m, ẇ); err != nil {
		return err
	}
	w.m.Mem[graph.SpaceDirection] = ẇ
	w.m.Run(p.Push)
	θ.Resize(w.batch, p.Form)
	w.emit(p.Tangents, θ)
	w.m.Mem[graph.SpaceDirection] = nil
	return nil
}

func zero(xs []float32) bool {
	for _, x := range xs {
		if x != 0 {
			return false
		}
	}
	return true
}

// load prepares the program for the batch and the weights.
func (w *NetWorker) load(weights []float32, batch *structured.Batch) error {
	if len(weights) != w.net.Dim() {
		return fmt.Errorf("nets: %d weights given; the net has %d", len(weights), w.net.Dim())
	}
	if err := w.net.CheckTables(batch.Data, batch.Examples); err != nil {
		return err
	}
	size := w.net.Size(batch)
	p := w.programs[size]
	if p == nil {
		var err error
		if p, err = w.net.Program(size); err != nil {
			return err
		}
		keep(w.programs, size, p)
	}
	w.prog, w.batch = p, batch
	if err := w.m.Load(p, w.net.input, weights, batch); err != nil {
		return err
	}
	return w.encoded.load(w.m, p, weights, batch)
}

// emit copies results to θ without their padding. A nil result means zeros.
func (w *NetWorker) emit(results []*graph.Buffer, θ *structured.Potentials) {
	for k, b := range results {
		if to := θ.Parts[k].Values; b == nil {
			clear(to)
		} else {
			copy(to, w.m.At(b))
		}
	}
}

// cotangent returns part k of v as the program reads it, n numbers: for a tied part the sum over the examples,
// otherwise v itself with zeros in the padding. A chain has no step into its first position, so that cotangent is set
// to zero.
func (w *NetWorker) cotangent(k int, v *structured.Part, n int) []float32 {
	space := int(graph.SpaceCotangent) + k
	if v.Rows == structured.Tied {
		to := w.m.Input(graph.Space(space), n)
		clear(to)
		for b := range len(v.Offsets) - 1 {
			kernels.Rows.Add(to, to, v.Of(b))
		}
		return to
	}
	_, chain := w.prog.Form.Structure.(chains.Chain)
	edges := chain && k == 1
	if len(v.Values) == n && !edges {
		return v.Values
	}
	to := w.m.Input(graph.Space(space), n)
	clear(to[copy(to, v.Values):])
	if edges {
		for b := range len(v.Offsets) - 1 {
			if t := v.Offsets[b]; t < v.Offsets[b+1] {
				clear(to[t*v.Width : (t+1)*v.Width])
			}
		}
	}
	return to
}

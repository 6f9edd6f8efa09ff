package nets

import (
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// NetWorker runs a Net on batches. Besides Score and Pullback it has the push-forward.
type NetWorker struct {
	net      *Net
	prog     *Program // of the last Score
	programs map[int]*Program
	m        machine
	batch    *structured.Batch // of the last Score
	inputs   [Spaces][]float32
}

// NewWorker returns a worker of the net.
func (n *Net) NewWorker() Worker { return n.NewNetWorker() }

// NewNetWorker returns a worker of the net, with all of its methods.
func (n *Net) NewNetWorker() *NetWorker {
	w := &NetWorker{net: n, programs: map[int]*Program{}}
	w.m.blas = CurrentBLAS()
	w.m.widths = n.shape.Needs.Windows
	w.m.windows = make([][]int32, len(w.m.widths))
	w.m.ids = make([][]int32, len(n.input.Vocab))
	return w
}

// Score computes the potentials of the batch at weights, without dropout.
func (w *NetWorker) Score(weights []float32, batch *structured.Batch, θ *structured.Potentials) error {
	return w.ScoreDropout(weights, 0, batch, θ)
}

// ScoreDropout implements DropoutWorker.
func (w *NetWorker) ScoreDropout(weights []float32, seed uint64, batch *structured.Batch, θ *structured.Potentials) error {
	w.m.seed = seed
	if err := w.load(weights, batch); err != nil {
		return err
	}
	w.m.run(w.prog.Forward)
	θ.Resize(batch, w.prog.Form)
	w.emit(w.prog.Node, θ.Parts[0].Values)
	w.emit(w.prog.Edge, θ.Parts[1].Values)
	return nil
}

// Pullback adds Jᵀv to grad, J at the weights and batch of the last Score.
func (w *NetWorker) Pullback(v *structured.Marginals, grad []float32) error {
	p := w.prog
	if p == nil {
		return fmt.Errorf("nets: Pullback before Score")
	}
	for k, shape := range p.Form.Parts {
		if v.Parts[k].Shape != shape {
			return fmt.Errorf("nets: Pullback of marginals whose part %d is %v, expected %v", k, v.Parts[k].Shape, shape)
		}
	}
	node := &v.Parts[0]
	if n := w.batch.Positions(); len(node.Values) != n*node.Width {
		return fmt.Errorf("nets: Pullback of marginals of %d positions, expected %d", len(node.Values)/max(1, node.Width), n)
	}
	if len(grad) != w.net.Dim() {
		return fmt.Errorf("nets: Pullback into %d numbers; the net has %d weights", len(grad), w.net.Dim())
	}
	if zero(node.Values) && zero(v.Parts[1].Values) {
		return nil // as differences of an oracle's answers often are
	}
	w.m.mem[SpaceNodeCotangent] = w.padded(SpaceNodeCotangent, node.Values, p.Rows*node.Width)
	if p.Edge != nil {
		w.m.mem[SpaceEdgeCotangent] = w.edgeCotangent(&v.Parts[1])
	}
	w.m.mem[SpaceGradient] = grad
	w.m.run(p.Pullback)
	w.m.mem[SpaceGradient] = nil
	return nil
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
	w.m.mem[SpaceDirection] = ẇ
	w.m.run(p.Push)
	θ.Resize(w.batch, p.Form)
	w.emit(p.NodeTangent, θ.Parts[0].Values)
	w.emit(p.EdgeTangent, θ.Parts[1].Values)
	w.m.mem[SpaceDirection] = nil
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

// load makes the batch and the weights the program's inputs.
func (w *NetWorker) load(weightsNow []float32, batch *structured.Batch) error {
	if len(weightsNow) != w.net.Dim() {
		return fmt.Errorf("nets: %d weights given; the net has %d", len(weightsNow), w.net.Dim())
	}
	rows := Bucket(batch.Positions())
	p := w.programs[rows]
	if p == nil {
		var err error
		if p, err = w.net.Program(rows); err != nil {
			return err
		}
		w.programs[rows] = p
	}
	w.prog, w.batch = p, batch
	if len(w.m.mem[SpaceArena]) < p.Arena {
		w.m.mem[SpaceArena] = make([]float32, p.Arena)
	}
	w.m.mem[SpaceLiterals], w.m.mem[SpaceWeights] = p.Literals, weightsNow
	return w.loadInputs(p, batch)
}

// emit copies a result without its padding; nil is zero.
func (w *NetWorker) emit(b *Buffer, to []float32) {
	if b == nil {
		clear(to)
		return
	}
	copy(to, w.m.at(b))
}

// padded returns xs, with zeros behind it up to length n.
func (w *NetWorker) padded(s Space, xs []float32, n int) []float32 {
	if len(xs) == n {
		return xs
	}
	to := w.input(s, n)
	clear(to[copy(to, xs):])
	return to
}

// input returns the worker's own memory for a space, n long.
func (w *NetWorker) input(s Space, n int) []float32 {
	w.inputs[s] = vec.Grow(w.inputs[s], n)
	return w.inputs[s]
}

// edgeCotangent sums the examples' rows where the edge potentials are tied. The step into a chain's first position does not
// exist: its cotangent is zero whatever v says.
func (w *NetWorker) edgeCotangent(v *structured.Part) []float32 {
	width := v.Width
	if v.Rows == structured.Tied {
		to := w.input(SpaceEdgeCotangent, width)
		clear(to)
		for b := range len(v.Offsets) - 1 {
			fast.add(to, to, v.Of(b))
		}
		return to
	}
	to := w.input(SpaceEdgeCotangent, w.prog.Rows*width)
	clear(to[copy(to, v.Values):])
	for b := range len(v.Offsets) - 1 {
		if t := v.Offsets[b]; t < v.Offsets[b+1] {
			clear(to[t*width : (t+1)*width])
		}
	}
	return to
}

package encoders

import (
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// tunedWorker runs an encoder that is trained, stage by stage: each computes a hidden state from the one before it. It
// is used by one goroutine at a time.
type tunedWorker struct {
	t      *Tuned
	stages []stage     // by hidden state; unused for those that stay as they are
	states [][]float32 // [padded pieces × Width] by hidden state
	frozen *Worker     // of the layers that stay as they are
	arena  []float32   // that all stages share when lean
	// stages keep nothing for pullbacks: with Tuning.Recompute, and without dropout, as when a model predicts
	lean    bool
	checked *structured.Pieces

	data      structured.Dataset // the sequences as examples
	sequences []int
	batch     structured.Batch // of sequences
	ids       []int32
	words     [][2]int // by position, the rows of its word's pieces
	rows      int      // of the batch, with padding

	w      []float32
	seed   uint64
	below  []float32 // cotangent or tangent of the hidden state below a stage
	shares []float32 // the cotangent of each hidden state that is read
}

// stage is a program with the memory that holds its results.
type stage struct {
	m     *graph.Machine
	p     *graph.Program
	arena []float32 // of its own
}

func (t *Tuned) NewWorker() graph.EncoderWorker {
	w := &tunedWorker{t: t, stages: make([]stage, t.Read.To+1), states: make([][]float32, t.Read.To+1),
		data: structured.Dataset{Name: "pieces", Vocab: []*structured.Alphabet{nil}}}
	if t.Frozen >= 0 {
		w.frozen = t.Encoder.NewWorker(Layers{t.Frozen, t.Frozen}, Float32)
	}
	return w
}

func (w *tunedWorker) Encode(weights []float32, seed uint64, batch *structured.Batch, rows []float32) error {
	t := w.t
	if err := w.open(batch); err != nil {
		return err
	}
	w.w, w.seed, w.lean = weights, seed, t.Recompute || seed == 0
	clear(rows)
	if t.Frozen >= 0 {
		x, n := vec.Grow(w.states[t.Frozen], w.rows*t.Width()), len(w.ids)*t.Width()
		clear(x[n:])
		if err := w.frozen.Encode(w.ids, w.batch.Offsets, x[:n]); err != nil {
			return err
		}
		w.states[t.Frozen] = x
		w.read(t.Frozen, x, rows)
	}
	for k := t.Frozen + 1; k <= t.Read.To; k++ {
		x, err := w.forward(k)
		if err != nil {
			return err
		}
		w.states[k] = append(w.states[k][:0], x...) // pullbacks and push-forwards use the memory of results
		w.read(k, x, rows)
	}
	return nil
}

// open reads the pieces of a batch.
func (w *tunedWorker) open(batch *structured.Batch) error {
	data := batch.Data
	if p := data.Pieces; p == nil || p != w.checked {
		if err := w.t.check(data); err != nil {
			return err
		}
		w.checked = p
		w.data.Offsets, w.data.Ids = p.Offsets, p.Ids
	}
	p := data.Pieces
	w.sequences = p.Sequences(w.sequences[:0], batch.Examples)
	w.batch.Reset(&w.data, w.sequences)
	w.ids, w.words = w.ids[:0], w.words[:0]
	for _, i := range batch.Examples {
		first, end := p.Offsets[p.First[i]], p.Offsets[p.First[i+1]]
		shift := len(w.ids) - first
		w.ids = append(w.ids, p.Ids[first:end]...)
		for _, word := range p.Words[data.Offsets[i]:data.Offsets[i+1]] {
			w.words = append(w.words, [2]int{word[0] + shift, word[1] + shift})
		}
	}
	w.rows = graph.Bucket(len(w.ids))
	return nil
}

// forward computes a hidden state from the one before it.
func (w *tunedWorker) forward(k int) ([]float32, error) {
	t, s := w.t, &w.stages[k]
	p, err := t.stage(k, w.rows)
	if err != nil {
		return nil, err
	}
	in := t.stageInput(k)
	if s.p = p; s.m == nil {
		s.m = graph.NewMachine(p, in)
		s.m.Fixed = t.Encoder.w
	}
	if s.m.Seed = w.seed; w.seed != 0 {
		s.m.Seed += uint64(k) << 32
	}
	arena := &s.arena
	if w.lean {
		arena = &w.arena
	}
	s.m.Mem[graph.SpaceArena] = *arena
	if err := s.m.Load(p, in, w.w, &w.batch); err != nil {
		return nil, err
	}
	*arena = s.m.Mem[graph.SpaceArena]
	if k > 0 {
		s.m.Mem[graph.SpaceEncoded] = w.states[k-1]
	}
	s.m.Run(p.Forward)
	return s.m.At(p.Outputs[0]), nil
}

// reads reports whether hidden state k is read, and with what weight.
func (w *tunedWorker) reads(k int) (share float32, ok bool) {
	l := w.t.Read
	return 1 / float32(l.To-l.From+1), k >= l.From && k <= l.To
}

// read adds what is read of hidden state k to the rows of positions.
func (w *tunedWorker) read(k int, x, rows []float32) {
	share, ok := w.reads(k)
	if !ok {
		return
	}
	width := w.t.Width()
	for t, word := range w.words {
		for r := word[0]; r < word[1]; r++ {
			vec.Axpy(share/float32(word[1]-word[0]), x[r*width:(r+1)*width], rows[t*width:(t+1)*width])
		}
	}
}

func (w *tunedWorker) Pullback(v, grad []float32) error {
	t, width := w.t, w.t.Width()
	w.shares = vec.Grow(w.shares, w.rows*width)
	clear(w.shares)
	share, _ := w.reads(t.Read.To)
	for i, word := range w.words {
		for r := word[0]; r < word[1]; r++ {
			vec.Axpy(share/float32(word[1]-word[0]), v[i*width:(i+1)*width], w.shares[r*width:(r+1)*width])
		}
	}
	g := append(w.below[:0], w.shares...)
	w.below = g
	for k := t.Read.To; k > t.Frozen; k-- {
		s := &w.stages[k]
		if w.lean {
			if _, err := w.forward(k); err != nil {
				return err
			}
		}
		s.m.Mem[graph.SpaceCotangent], s.m.Mem[graph.SpaceGradient] = g, grad
		s.m.Run(s.p.Pullback)
		s.m.Mem[graph.SpaceGradient] = nil
		if k == t.Frozen+1 {
			break
		}
		copy(g, s.m.At(s.p.Encoded))
		if _, ok := w.reads(k - 1); ok {
			vec.Axpy(1, w.shares, g)
		}
	}
	return nil
}

func (w *tunedWorker) Push(ẇ, rows []float32) error {
	t := w.t
	clear(rows)
	ẋ := vec.Grow(w.below, w.rows*t.Width())
	clear(ẋ)
	w.below = ẋ
	for k := t.Frozen + 1; k <= t.Read.To; k++ {
		s := &w.stages[k]
		if w.lean {
			if _, err := w.forward(k); err != nil {
				return err
			}
		}
		s.m.Mem[graph.SpaceDirection], s.m.Mem[graph.SpaceEncodedDirection] = ẇ, ẋ
		s.m.Run(s.p.Push)
		s.m.Mem[graph.SpaceDirection] = nil
		copy(ẋ, s.m.At(s.p.Tangents[0]))
		w.read(k, ẋ, rows)
	}
	return nil
}

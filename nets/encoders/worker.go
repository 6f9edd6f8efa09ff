package encoders

import (
	"math/bits"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Worker computes hidden states. It is used by one goroutine at a time.
type Worker struct {
	e         *Encoder
	layers    Layers
	precision Precision
	m         *graph.Machine
	data      structured.Dataset
	batch     structured.Batch
	first     []int
}

// NewWorker returns a worker that reads the given layers, in a precision that the encoder Supports.
func (e *Encoder) NewWorker(layers Layers, precision Precision) *Worker {
	data := structured.Dataset{Name: "pieces", Vocab: []*structured.Alphabet{nil}}
	return &Worker{e: e, layers: layers, precision: precision, data: data, first: []int{0}}
}

// blockPieces is how many pieces are computed at a time, if no sequence is longer: so many that the weights, which are
// read once for each block, cost little, and so few that the rows stay in the cache.
const blockPieces = 512

// Encode computes the rows [pieces × Width] of sequences: sequence i has the pieces ids[offsets[i]:offsets[i+1]],
// special tokens included. Ids that the encoder does not have, and sequences longer than its positions, are bad input.
func (w *Worker) Encode(ids []int32, offsets []int, rows []float32) error {
	e := w.e
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != len(ids) || len(rows) != len(ids)*e.Width() {
		return structured.BadInput("encoder %s: %d ids, offsets of %d sequences and %d numbers for "+
			"their rows of %d do not fit", e.dir, len(ids), len(offsets)-1, len(rows), e.Width())
	}
	for i := range len(offsets) - 1 {
		switch n := offsets[i+1] - offsets[i]; {
		case n < 0:
			return structured.BadInput("encoder %s: offsets of sequences fall from %d to %d", e.dir, offsets[i], offsets[i+1])
		case n > e.Positions():
			return structured.BadInput("encoder %s: a sequence of %d pieces; it reads up to %d", e.dir, n, e.Positions())
		}
	}
	for from := 0; from < len(offsets)-1; {
		to := from + 1
		for to < len(offsets)-1 && offsets[to+1]-offsets[from] <= blockPieces {
			to++
		}
		if lo, hi := offsets[from], offsets[to]; lo < hi {
			if err := w.block(ids[lo:hi], offsets[from:to+1], rows[lo*e.Width():hi*e.Width()]); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// block computes the rows of some sequences.
func (w *Worker) block(ids []int32, offsets []int, rows []float32) error {
	p, err := w.e.program(w.layers, bucket(len(ids)))
	if err != nil {
		return err
	}
	if w.m == nil {
		w.m = graph.NewMachine(p, w.e.input())
		w.m.Factors = w.e.factors[w.precision]
	}
	w.data.Offsets = w.data.Offsets[:0]
	for _, at := range offsets {
		w.data.Offsets = append(w.data.Offsets, at-offsets[0])
	}
	w.data.Ids = ids
	for len(w.first) < len(offsets)-1 {
		w.first = append(w.first, len(w.first))
	}
	w.batch.Reset(&w.data, w.first[:len(offsets)-1])
	if err := w.m.Load(p, w.e.input(), w.e.w, &w.batch); err != nil {
		return err
	}
	w.m.Run(p.Forward)
	copy(rows, w.m.At(p.Outputs[0]))
	return nil
}

// bucket rounds a number of rows up to a power of two, at least 64: each needs a program, and the ops skip padding.
func bucket(rows int) int { return 1 << bits.Len(uint(max(64, rows)-1)) }

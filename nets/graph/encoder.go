package graph

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Encoder computes dense inputs of positions, Input.Encoded of them, with weights of its own. A network that reads it
// has these weights behind its own. The rows of an example depend on this example only.
type Encoder interface {
	// Width returns how many numbers it computes for each position.
	Width() int
	// Params lists the parameters, with their initial values.
	Params() []Param
	// Tables lists the parameters of which a batch reads only some rows, by their offsets in the encoder's weights.
	Tables() []EncoderTable
	// RowsRead appends the rows of table k that a batch reads, with repetitions.
	RowsRead(k int, batch *structured.Batch, rows []int32) []int32
	// NewWorker returns a worker, which owns all scratch memory: one per goroutine.
	NewWorker() EncoderWorker
	// Draw adds inputs of the encoder, drawn at random, to data.
	Draw(rng *rand.Rand, data *structured.Dataset)
}

// EncoderTable is a parameter of an encoder of which a batch reads only some rows.
type EncoderTable struct{ Offset, Rows, Cols int }

// EncoderWorker evaluates an Encoder on batches. All workers return the same bits for the same batch.
type EncoderWorker interface {
	// Encode computes the rows of the batch's positions [N×Width], with dropout if seed is not 0.
	Encode(w []float32, seed uint64, batch *structured.Batch, rows []float32) error
	// Pullback adds Jᵀv to grad, with J at the weights and batch of the last Encode, which it may have to compute
	// again, and v [N×Width].
	Pullback(v, grad []float32) error
	// Push computes Jẇ [N×Width] at the same place.
	Push(ẇ, rows []float32) error
}

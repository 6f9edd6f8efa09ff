package oracles

import "github.com/dsp-go/dsp/structured"

type (
	// Truncator is an oracle that is exact for some potentials only, and changes others until it is. Its answers for
	// changed potentials are outputs with their scores, but better outputs may exist: values are lower bounds of the
	// maximum, and prove nothing unless the oracle is a Bounder.
	Truncator interface {
		Maximiser
		// Check returns a bad-input error about the first potentials of θ that Max would change.
		Check(θ *structured.Potentials) error
		// Truncated returns how many times the oracle has changed potentials since the last reset, for instance of an
		// edge.
		Truncated() int
		// ResetTruncated starts a new count.
		ResetTruncated()
	}

	// Bounder is an oracle whose answers may be inexact, and which then bounds what the best ones score.
	Bounder interface {
		// Bound returns, for example b of the latest call of Max or TopK, an upper bound of max_y ⟨θ, 1_y⟩, and whether
		// that call's outputs are proven to be the best.
		Bound(b int) (upper float64, exact bool)
	}

	// Decoder finds good outputs that need not be the best. It is for predictions: its values are lower bounds of the
	// maximum, which prove nothing about a model. Hence it is no Maximiser.
	Decoder interface {
		// Decode finds an output of every example b, y[θ.Outputs[b]:θ.Outputs[b+1]], and its score value[b] ≤ max_y ⟨θ,
		// 1_y⟩.
		Decode(θ *structured.Potentials, y []int32, value []float64)
	}
)

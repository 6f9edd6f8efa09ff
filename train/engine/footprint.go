package engine

import "github.com/dsp-go/dsp/structured"

// StepBytes estimates the memory, in bytes, of full passes and of steps on batches of the given size. It does not count
// the data, the weights and the network's stored layers. It counts one gradient per lane with dense inputs, and the
// oracle's answer and the marginals to pull back for every example that is in a lane or in a step.
func (e *Engine) StepBytes(batch int) float64 {
	shards := (batch + StepExamples - 1) / StepExamples
	lanes := min(e.layout.lanes, max(shards, len(e.layout.shards)))
	answer := 2 * float64(MemoryFloats(e.Objective)) / float64(e.Len())
	return 4 * (float64(e.access.gradients(lanes))*float64(e.Scorer.Dim()) + float64(max(batch, lanes*StepExamples))*answer)
}

// MemoryFloats returns how many floats a Memory of o holds: the potentials of every example.
func MemoryFloats(o *Objective) int {
	all := 0
	for _, part := range o.Scorer.Form().Parts {
		rows := o.Data.Len()
		if part.Rows != structured.Tied {
			offsets := o.Data.Rows(part.Rows)
			rows = offsets[len(offsets)-1]
		}
		all += rows * part.Width
	}
	return all
}

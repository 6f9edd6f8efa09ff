package train

import "github.com/dsp-go/dsp/structured"

// StepBytes returns about how much memory full passes and steps take beyond the data, the weights and what the network keeps
// of its layers: with dense inputs a gradient for each lane, and for every example at work, or of a step, the oracle's answer
// and what is pulled back of it.
func (p *Problem) StepBytes() float64 {
	shards := (p.BatchSize() + stepExamples - 1) / stepExamples
	lanes := min(passLanes, max(shards, len(p.shards)))
	gradients := 0
	if p.sparse == nil {
		gradients = lanes
	}
	answer := 2 * float64(MemoryFloats(p.Objective)) / float64(p.Len())
	return 4 * (float64(gradients)*float64(p.Scorer.Dim()) + float64(max(p.BatchSize(), lanes*stepExamples))*answer)
}

// MemoryFloats returns how many numbers a Memory of o holds: the potentials of every example.
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

package train

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
	node, edge := memorySize(p.Objective)
	answer := 2 * float64(node+edge) / float64(p.Len())
	return 4 * (float64(gradients)*float64(p.Scorer.Dim()) + float64(max(p.BatchSize(), lanes*stepExamples))*answer)
}

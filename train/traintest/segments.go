package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SegmentProblem draws n sequences of 2 to 8 positions that are divided into segments of up to 3, with two labels and a
// third for single positions. Noisy features tell the tag of a position.
func SegmentProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	return segmentProblem(n, segments.Form(segmentTags, segmentLength, segments.Optional{Ends: true}), nil, loss, s, λ)
}

// CountedSegmentProblem is SegmentProblem with a task loss that counts segments.
func CountedSegmentProblem(n int, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	return segmentProblem(n, segments.CountedForm(segmentTags, segmentLength, segments.Optional{Ends: true}), segments.Count{Tags: segmentTags}, loss, s, λ)
}

const segmentTags, segmentLength = 5, 3

func segmentProblem(n int, form structured.Form, task structured.TaskLoss, loss engine.Loss, s oracles.Smoothing, λ float64) *train.Problem {
	const tags, longest = segmentTags, segmentLength
	r := rand.New(rand.NewPCG(6, uint64(n)))
	d := &structured.Dataset{Name: "segments", Offsets: []int{0}, Dim: tags}
	for range n {
		for end := d.Positions() + 2 + r.IntN(7); len(d.Labels) < end; {
			y, length := int32(r.IntN(3)), 1
			if y < 2 {
				length = 1 + r.IntN(min(longest, end-len(d.Labels)))
			}
			d.Labels = append(d.Labels, 2*y)
			for range length - 1 {
				d.Labels = append(d.Labels, 2*y+1)
			}
			for t := len(d.Labels) - length; t < len(d.Labels); t++ {
				for tag := range int32(tags) {
					x := r.NormFloat64()
					if tag == d.Labels[t] {
						x++
					}
					d.Features = append(d.Features, float32(x))
				}
			}
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	o := &engine.Objective{Scorer: &Linear{Inputs: tags, Structure: form}, Data: d, Task: task, Loss: loss, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: s, Seed: 3}
}

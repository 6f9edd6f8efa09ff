package traintest

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// TranscriptProblem draws n lines of two symbols, each of which stays for one to three frames, with or without blanks
// between them. Noisy features tell the label of a frame, and only what the lines read is known. The last two lines are
// empty, and without frames.
func TranscriptProblem(n int, λ float64) *train.Problem {
	const symbols = 2
	r := rand.New(rand.NewPCG(7, uint64(n)))
	d := &structured.Dataset{Name: "lines", Offsets: []int{0}, Dim: symbols + 1, LabelSets: [][]int32{nil}, Alphabet: structured.NewAlphabet("a", "b")}
	frame := func(label int32) {
		d.Labels = append(d.Labels, -1)
		for c := range int32(symbols + 1) {
			x := 0.5 * r.NormFloat64()
			if c == label {
				x++
			}
			d.Features = append(d.Features, float32(x))
		}
	}
	for i := range n {
		reading := []int32{}
		last := int32(-1)
		for range 1 + r.IntN(3) {
			if i >= n-2 {
				break
			}
			c := int32(r.IntN(symbols))
			if c == last || r.IntN(2) == 0 {
				frame(transcripts.Blank)
			}
			for range 1 + r.IntN(2) {
				frame(1 + c)
			}
			reading, last = append(reading, c), c
		}
		if i == n-2 {
			frame(transcripts.Blank)
			frame(transcripts.Blank)
		}
		d.Offsets, d.Readings = append(d.Offsets, len(d.Labels)), append(d.Readings, reading)
	}
	o := &engine.Objective{Scorer: &Linear{Inputs: symbols + 1, Structure: transcripts.Form(symbols)}, Data: d, Loss: engine.CRF, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 2), Seed: 3}
}

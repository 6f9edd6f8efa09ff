package benchmarks

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/transcript"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// transcriptMeasures measures every answer of the oracle of lines, which may read anything or must read a string of 30
// symbols, on 32 lines of 100 frames with 27 symbols.
func transcriptMeasures() []measure {
	const lines, frames, symbols, length = 32, 100, 27, 30
	offsets := make([]int, lines+1)
	for b := range offsets {
		offsets[b] = b * frames
	}
	r := rand.New(rand.NewPCG(1, 1))
	free, conditioned := &structured.Potentials{}, &structured.Potentials{}
	free.Reshape(transcripts.Form(symbols), offsets, func(string) []int { return offsets })
	drawNormal(free, r)
	conditioned.Copy(free)
	for b := range lines {
		reading := make([]int32, length)
		for k := range reading {
			reading[k] = int32(r.IntN(symbols))
		}
		transcripts.Frames{}.Restrict(conditioned, b, structured.Gold{Reading: reading})
	}
	names := answerNames{max: "max", topK: "top-5", exp: "exp", samples: "10 samples"}
	all := oracleMeasures("oracle, transcript, 27 symbols", transcript.New(), free, names)
	return append(all, oracleMeasures("oracle, transcript, one string", transcript.New(), conditioned, names)...)
}

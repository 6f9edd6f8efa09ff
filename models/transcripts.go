package models

import (
	"math"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles/transcript"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// transcribes reports whether the model's outputs are what the labels of frames read.
func (m *Model) transcribes() bool {
	if m.Net == nil {
		return false
	}
	_, ok := m.Net.Form().Structure.(transcripts.Frames)
	return ok
}

// checkTranscripts refuses options that are not about strings.
func (m *Model) checkTranscripts(o predictions.Options) error {
	name := o.Asker.Name
	if !m.transcribes() {
		if o.Beam > 0 {
			return structured.BadInput("%s searches for strings, of --task transcribe; --task %s predicts what is best exactly", name("beam", o.Beam), m.Config.Task)
		}
		return nil
	}
	for _, refused := range []struct {
		asked     bool
		flag, why string
	}{
		{o.NBest > max(1, o.Beam), name("nbest"), "the best strings are found by a search: give " + name("beam") + ", at least as wide"},
		{o.Marginals, name("marginals"), "frames have labels, and a string has none of them for its own; --score gives the probability of a string"},
		{o.Confidence, name("confidence"), "a symbol may be in many frames; --score gives the probability of a string"},
		{o.Decode == predictions.LeastRisk, name("decode", predictions.LeastRisk), "its risk is about frames; " + name("beam") + " finds probable strings"},
		{o.Decode == predictions.Expansion, name("decode", predictions.Expansion), "it is for graphs; " + name("beam") + " finds probable strings"},
		{o.Entropy, name("entropy"), "that of strings is not known, only that of frames; --select --by probability, or " + name("samples") + ", tell how sure the model is"},
		{o.Force, name("force"), "a line's text is known in full or not at all; eval --nll tells how probable it is"},
	} {
		if refused.asked {
			return structured.BadInput("%s: --task transcribe predicts strings, and %s", refused.flag, refused.why)
		}
	}
	return nil
}

// transcribe returns strings for the examples, whose potentials are there.
func (p *predictor) transcribe(d *structured.Dataset, examples []int, o predictions.Options) []predictions.Prediction {
	oracle, μ := p.oracle.(*transcript.Oracle), p.model.Temper()
	all := make([]predictions.Prediction, len(examples))
	p.logZ = vec.Grow(p.logZ, len(examples))
	oracle.Exp(&p.θ, μ, p.logZ, nil)
	if o.Samples > 0 {
		drawn := p.drawn(d, examples, μ, o)
		for b := range all {
			for k := range drawn.Count[b] {
				y := drawn.Output(k, p.θ.Outputs[b], p.θ.Outputs[b+1])
				all[b].Samples = append(all[b].Samples, transcripts.Read([]int32{}, y))
			}
		}
	}
	for b := range all {
		var strings []transcript.String
		if o.Beam > 0 {
			strings = oracle.Beam(&p.θ, b, μ, o.Beam, max(1, o.NBest))
		} else {
			strings = []transcript.String{oracle.Greedy(&p.θ, b, μ)}
		}
		for k, s := range strings {
			out := predictions.Output{Labels: s.Symbols, Score: p.logZ[b] + μ*s.LogP, Probability: math.Exp(s.LogP)}
			if k == 0 {
				all[b].Output = out
			}
			if o.NBest > 0 {
				all[b].NBest = append(all[b].NBest, out)
			}
		}
	}
	return all
}

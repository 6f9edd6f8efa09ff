// Package transcripts defines lines of symbols whose places are not known: an image of a line, or sound, is cut into
// frames, each of which shows a symbol or none, and what is known of a line is only what it reads (connectionist
// temporal classification, Graves et al. 2006).
package transcripts

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Frames is the structure of a line of T frames, each labelled with 0, the blank, or 1 plus one of L symbols. The
// labels of a line read as a string of symbols (Read). Potentials have one part: "frame" scores the labels of each
// frame [T×(L+1)].
//
// Gold outputs are known by what they read (structured.Gold.Reading). Restrict keeps the labelings that read so, the
// alignments, of which there are exponentially many: Potentials.Gold says what those of an example must read, and is
// nil where they may read anything.
type Frames struct{}

// Form returns the form of the potentials for a number of symbols.
func Form(symbols int) structured.Form {
	return structured.Form{Structure: Frames{},
		Parts: []structured.Shape{{Name: "frame", Rows: structured.Positions, Width: symbols + 1}}}
}

// Blank is the label of frames without a symbol.
const Blank = 0

// Read appends what the labels of frames read: runs of equal labels count once, and blanks not at all. Equal symbols
// that follow each other have a blank between them.
func Read(to, labels []int32) []int32 {
	last := int32(Blank)
	for _, l := range labels {
		if l != last && l != Blank {
			to = append(to, l-1)
		}
		last = l
	}
	return to
}

// Shortest returns the least number of frames that read so: one for each symbol, and one between equal symbols that
// follow each other.
func Shortest(reading []int32) int {
	n := len(reading)
	for k := 1; k < len(reading); k++ {
		if reading[k] == reading[k-1] {
			n++
		}
	}
	return n
}

// Required returns what labelings of example b of θ must read; ok is false where they may read anything.
func Required(θ *structured.Potentials, b int) (reading []int32, ok bool) {
	if len(θ.Gold) == 0 || θ.Gold[b] == nil {
		return nil, false
	}
	return θ.Gold[b], true
}

func (Frames) Name() string { return "transcript" }

func (Frames) Score(θ *structured.Potentials, b int, y []int32) float64 {
	frame, width, s := θ.Parts[0].Of(b), θ.Parts[0].Width, 0.0
	for t, l := range y {
		s += float64(frame[t*width+int(l)])
	}
	if reading, ok := Required(θ, b); ok && !slices.Equal(Read(nil, y), reading) {
		return math.Inf(-1)
	}
	return s
}

func (Frames) Add(u *structured.Marginals, b int, y []int32, c float32) {
	frame, width := u.Parts[0].Of(b), u.Parts[0].Width
	for t, l := range y {
		frame[t*width+int(l)] += c
	}
}

// Raise implements structured.Raiser.
func (Frames) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	chains.Chain{}.Raise(θ, b, y, c)
}

// Restrict implements structured.Restricter, for labels of frames and for what they read.
func (Frames) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	chains.RestrictRows(&θ.Parts[0], b, gold)
	if gold.Reading == nil {
		return
	}
	for len(θ.Gold) < θ.Len() {
		θ.Gold = append(θ.Gold, nil)
	}
	θ.Gold[b] = gold.Reading
}

// LeastRisk implements structured.RiskMinimiser: the most probable label of each frame that is not forbidden.
func (Frames) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
}

func (Frames) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	return float64(d.Positions()) / float64(d.Len()) * math.Log(float64(form.Parts[0].Width))
}

// TaskLoss implements structured.Structure: the number of frames with a wrong label.
func (Frames) TaskLoss() structured.TaskLoss { return chains.Hamming{} }

// CheckData implements structured.DataChecker: every line has room for what it reads.
func (Frames) CheckData(d *structured.Dataset) error {
	for i := range d.Readings {
		if err := CheckLine(d, i); err != nil {
			return err
		}
	}
	return nil
}

// CheckLine refuses a line with fewer frames than its string needs.
func CheckLine(d *structured.Dataset, i int) error {
	if n := Shortest(d.Readings[i]); n > d.Length(i) {
		return structured.BadInput("%s: %d frames for a line of %d symbols, expected at least %d: one for each symbol, and "+
			"one between two equal ones",
			d.Where(i), d.Length(i), len(d.Readings[i]), n)
	}
	return nil
}

func (Frames) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	chains.Chain{}.Each(θ, b, visit)
}

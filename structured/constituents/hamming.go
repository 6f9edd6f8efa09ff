package constituents

import "github.com/dsp-go/dsp/structured"

// Hamming is the task loss that counts the spans whose number in the output is wrong: constituents that are missing,
// that should not be there, or have another label. Numbers that are not known for certain cost nothing.
type Hamming struct{}

// Augment implements structured.TaskLoss: the known numbers less those in common.
func (Hamming) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	addToAll(θ, b, float32(raise(θ, b, gold.Output, -1)))
}

func (Hamming) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	n := Words(len(gold.Output))
	if n == 0 {
		return 0
	}
	label, width, s := v.Parts[1].Of(b), v.Parts[1].Width, 0.0
	some := 0
	for row, g := range gold.Output {
		if g < 0 || row/n > row%n {
			continue
		}
		at := label[row*width : (row+1)*width]
		if g != 0 {
			some++
			s -= float64(at[g])
			continue
		}
		for _, x := range at[1:] {
			s += float64(x)
		}
	}
	return s + float64(some)*float64(v.Parts[0].Of(b)[n-1])
}

func (Hamming) Loss(y []int32, gold structured.Gold) float64 {
	s := 0.0
	for row, g := range gold.Output {
		if y[row] != g {
			s++
		}
	}
	return s
}

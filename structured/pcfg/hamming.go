package pcfg

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Hamming is the task loss that counts wrong numbers: spans that are missing, that should not be there, or have another
// nonterminal, and words with another preterminal. Numbers that are not known for certain cost nothing.
type Hamming struct{}

// Augment implements structured.TaskLoss: the known numbers less those in common.
func (Hamming) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	loss(θ.Parts, gold.Output, func(part, entry int, c float32) { θ.Parts[part].Of(b)[entry] += c })
}

func (Hamming) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	sum := 0.0
	loss(v.Parts, gold.Output, func(part, entry int, c float32) {
		sum += float64(c) * float64(v.Parts[part].Of(b)[entry])
	})
	return sum
}

func loss(parts []structured.Part, y []int32, visit func(part, entry int, c float32)) {
	known, zeros := inCommon(parts, y, func(part, entry int, c float32) { visit(part, entry, -c) })
	inAll(parts, y, func(part, entry int) { visit(part, entry, float32(known-zeros)) })
}

func (Hamming) Loss(y []int32, gold structured.Gold) float64 {
	wrong := 0
	for row, g := range gold.Output {
		if y[row] != g {
			wrong++
		}
	}
	return float64(wrong)
}

// Raise implements structured.Raiser.
func (Tree) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	_, zeros := inCommon(θ.Parts, y, func(part, entry int, x float32) { θ.Parts[part].Of(b)[entry] += x * c })
	inAll(θ.Parts, y, func(part, entry int) { θ.Parts[part].Of(b)[entry] += float32(zeros) * c })
}

// inCommon visits entries whose sum over a tree, with the number of zeros that are known, is how many known numbers it
// has in common with y: those of its symbols, and less for each span where y has none. It returns how many numbers are
// known, and zeros.
func inCommon(parts []structured.Part, y []int32, visit func(part, entry int, c float32)) (known, zeros int) {
	nonterminals, preterminals := Sizes(parts)
	n := constituents.Words(len(y))
	for row, x := range y {
		if x < 0 {
			continue
		}
		known++
		switch i, j := row/n, row%n; {
		case i > j:
			zeros++
		case x > 0 && i == j:
			visit(terminal, i*preterminals+int(x)-1, 1)
		case x > 0:
			visit(span, row*nonterminals+int(x)-1, 1)
		case i < j:
			zeros++
			for a := range nonterminals {
				visit(span, row*nonterminals+a, -1)
			}
		}
	}
	return known, zeros
}

// inAll visits entries of which every tree has one, once.
func inAll(parts []structured.Part, y []int32, visit func(part, entry int)) {
	nonterminals, preterminals := Sizes(parts)
	switch n := constituents.Words(len(y)); {
	case n == 1:
		for p := range preterminals {
			visit(terminal, p)
		}
	case n > 1:
		for a := range nonterminals {
			visit(span, (n-1)*nonterminals+a)
		}
	}
}

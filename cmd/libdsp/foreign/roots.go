package foreign

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// A tree of several roots over n words is a tree of one root over n+1 words: the first of these is the root's only
// dependent, and its dependents are the roots. rootedForm is the form of these trees.
type rootedForm struct{ structured.Form }

func newRootedForm(s trees.SpanningTree, relations int) *rootedForm {
	return &rootedForm{s.Form(relations)}
}

// rooted holds a share of a batch as trees with one word more.
type rooted struct {
	θ       structured.Potentials
	u       structured.Marginals
	outputs []int
	arcs    []int
	y       []int32
}

// widen makes w.θ the potentials of the trees with one word more, with a score for what none of them has.
func (w *rooted) widen(f *rootedForm, θ *structured.Potentials, forbidden float32) {
	n := θ.Len()
	w.outputs, w.arcs = vec.Grow(w.outputs, n+1), vec.Grow(w.arcs, n+1)
	w.outputs[0], w.arcs[0] = 0, 0
	for b := range n {
		words := (θ.Outputs[b+1]-θ.Outputs[b])/2 + 1
		w.outputs[b+1] = w.outputs[b] + 2*words
		w.arcs[b+1] = w.arcs[b] + words*words
	}
	w.θ.Reshape(f.Form, w.outputs, func(string) []int { return w.arcs })
	relations := f.Parts[1].Width
	for b := range n {
		words := (θ.Outputs[b+1] - θ.Outputs[b]) / 2
		arc, label := w.θ.Parts[0].Of(b), w.θ.Parts[1].Of(b)
		for h := range words + 1 { // the added word has the root as its head, with one relation
			arc[h] = forbidden
			clear(label[h*relations : (h+1)*relations])
		}
		arc[0] = 0
		for r := 1; r < relations; r++ {
			label[r] = forbidden
		}
		w.rows(words, func(to, from int) {
			if from < 0 {
				arc[to] = forbidden
				clear(label[to*relations : (to+1)*relations])
				return
			}
			arc[to] = θ.Parts[0].Of(b)[from]
			copy(label[to*relations:(to+1)*relations], θ.Parts[1].Of(b)[from*relations:(from+1)*relations])
		})
	}
}

// rows visits the rows of the words of a sentence among those of the sentence with a word more, each with its row
// before, −1 where it has none.
func (w *rooted) rows(words int, visit func(to, from int)) {
	wide := words + 1
	for d := 1; d <= words; d++ {
		for h := range wide {
			switch {
			case h == 0: // the added word, which stands for the root
				visit(d*wide, (d-1)*words+d-1)
			case h == d: // the root itself
				visit(d*wide+d, -1)
			default:
				visit(d*wide+h, (d-1)*words+h-1)
			}
		}
	}
}

// narrow writes the marginals w.u in the form of the narrower trees.
func (w *rooted) narrow(u *structured.Marginals, outputs []int) {
	relations := w.u.Parts[1].Width
	arcs, labels := u.Parts[0].Values, u.Parts[1].Values
	for b := range len(outputs) - 1 {
		words := (outputs[b+1] - outputs[b]) / 2
		arc, label := w.u.Parts[0].Of(b), w.u.Parts[1].Of(b)
		w.rows(words, func(to, from int) {
			if from >= 0 {
				arcs[from] = arc[to]
				copy(labels[from*relations:(from+1)*relations], label[to*relations:(to+1)*relations])
			}
		})
		arcs, labels = arcs[words*words:], labels[words*words*relations:]
	}
}

// narrowOutputs writes outputs of all examples without the added word.
func narrowOutputs(to, from []int32, outputs []int) {
	for b := range len(outputs) - 1 {
		n := (outputs[b+1] - outputs[b]) / 2
		narrowOutput(to[outputs[b]:outputs[b+1]], from[outputs[b]+2*b:][:2*n+2])
	}
}

func narrowOutput(to, from []int32) {
	n := len(to) / 2
	for d := range n {
		to[d] = max(0, from[1+d]-1)
		to[n+d] = from[n+2+d]
	}
}

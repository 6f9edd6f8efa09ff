package foreign

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Chains with ends have the parts "start" and "end", scores [Y] of the first and the last label. Oracles know neither:
// they see node scores to which these are added.

const start = 2 // the number of the part "start"; that of "end" follows

// endsForm is a form of chains with the two parts more.
func endsForm(chain structured.Form, labels int) structured.Form {
	for _, name := range []string{"start", "end"} {
		chain.Parts = append(slices.Clip(chain.Parts), structured.Shape{Name: name, Width: labels, Rows: structured.Tied})
	}
	return chain
}

// addEnds makes a part, node scores of a share, their sum with the ends, in the memory of to, which it returns. The
// ends of example b begin at b·step: 0 where examples share them.
func addEnds(to []float32, node *structured.Part, start, end []float32, step int) []float32 {
	to = append(to[:0], node.Values...)
	node.Values = to
	for b := range len(node.Offsets) - 1 {
		first, last := endRows(node, b)
		for i := range first {
			first[i] += start[b*step+i]
		}
		for i := range last {
			last[i] += end[b*step+i]
		}
	}
	return to
}

// endMarginals writes the marginals of the ends of examples lo to hi-1, those of their first and last positions, which
// the lane has. An example without positions has zeros.
func (l *lane) endMarginals(t *Batch, to [][]float32, lo, hi int) {
	if !t.form.ends() || to == nil {
		return
	}
	y := t.parts[start].Width
	for b := range hi - lo {
		first, last := endRows(&l.u.Parts[0], b)
		for k, row := range [][]float32{first, last} {
			of := to[start+k][(lo+b)*y : (lo+b+1)*y]
			clear(of[copy(of, row):])
		}
	}
}

// endRows returns the first and the last row of an example, empty if it has none.
func endRows(p *structured.Part, b int) (first, last []float32) {
	rows := p.Of(b)
	width := min(p.Width, len(rows))
	return rows[:width], rows[len(rows)-width:]
}

// ends reports whether the form is one of endsForm.
func (f *Form) ends() bool {
	_, chain := f.Structure.(chains.Chain)
	return chain && f.Settings.Ends
}

package uai

import (
	"io"
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/structured"
)

// ReadEvidence reads which variables of a model are observed: a state for every variable, factors.Free for those that
// are not. A file of the older form, which begins with the number of its sets of evidence, may have one set.
func ReadEvidence(r io.Reader, path string, m *factors.Model) ([]int, error) {
	w := newWords(r, path)
	type number struct{ n, line int }
	var all []number
	for most := 2 + 2*len(m.States); w.read(); {
		if len(all) == most {
			return nil, w.bad("more evidence than the model has variables, which are %d", len(m.States))
		}
		n, err := w.number("a whole number of evidence", 0, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		all = append(all, number{n, w.line})
	}
	if err := w.damage(); err != nil {
		return nil, err
	}
	states := make([]int, len(m.States))
	for v := range states {
		states[v] = factors.Free
	}
	if len(all) == 0 {
		return states, nil
	}
	if len(all)%2 == 0 { // the older form
		if all[0].n != 1 {
			return nil, structured.BadInput("%s:%d: %d sets of evidence, expected 1", path, all[0].line, all[0].n)
		}
		all = all[1:]
	}
	if 1+2*all[0].n != len(all) {
		return nil, structured.BadInput("%s:%d: %d numbers follow, expected %d: a variable and its state for each "+
			"of %d observed variables", path,
			all[0].line, len(all)-1, 2*all[0].n, all[0].n)
	}
	for k := 1; k < len(all); k += 2 {
		v, s := all[k], all[k+1]
		switch {
		case v.n >= len(states):
			return nil, structured.BadInput("%s:%d: variable %d, expected one from 0 to %d", path, v.line, v.n, len(states)-1)
		case s.n >= m.States[v.n]:
			return nil, structured.BadInput("%s:%d: state %d of variable %d, which has states 0 to %d", path, s.line,
				s.n, v.n, m.States[v.n]-1)
		case states[v.n] != factors.Free && states[v.n] != s.n:
			return nil, structured.BadInput("%s:%d: variable %d is observed in state %d and in state %d", path,
				v.line, v.n, states[v.n], s.n)
		}
		states[v.n] = s.n
	}
	return states, nil
}

// Package uai reads graphical models and evidence, and writes answers, in the text formats of the UAI inference
// competitions, and reads models in toulbar2's (wcsp.go). The competitions' formats:
// https://uaicompetition.github.io/uci-2022/file-formats/. A model file holds
//
//	MARKOV or BAYES
//	the number of variables, and the number of states of each
//	the number of factors, and of each the number of variables and the variables
//	of each factor the number of entries and the entries, the last variable changing fastest
//
// as words separated by white space. Evidence is the number of observed variables and, for each, the variable and its
// state.
package uai

import (
	"io"
	"math"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Most states of a variable, and entries of a table, that a file may ask for before it has shown any.
const (
	mostStates  = 1 << 24
	mostEntries = 1 << 28
)

// ReadModel reads a model. Its tables are the logarithms of the file's. path is for messages.
func ReadModel(r io.Reader, path string) (*factors.Model, error) {
	w := newWords(r, path)
	if err := w.must("MARKOV or BAYES"); err != nil {
		return nil, err
	}
	if kind := string(w.word); kind != "MARKOV" && kind != "BAYES" {
		return nil, w.bad("%.40q, expected MARKOV or BAYES", kind)
	}
	m := &factors.Model{}
	variables, err := w.count("the number of variables", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	for range variables {
		n, err := w.count("a variable's number of states", 1, mostStates)
		if err != nil {
			return nil, err
		}
		m.States = append(m.States, n)
	}
	tables, err := w.count("the number of factors", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	for range tables {
		scope, err := w.scope(m.States)
		if err != nil {
			return nil, err
		}
		m.Factors = append(m.Factors, factors.Factor{Scope: scope})
	}
	for f := range m.Factors {
		if m.Factors[f].Table, err = w.table(m, f); err != nil {
			return nil, err
		}
	}
	return m, w.end("the last table")
}

// scope reads the variables of a factor.
func (w *words) scope(states []int) ([]int, error) {
	n, err := w.count("a factor's number of variables", 0, len(states))
	if err != nil {
		return nil, err
	}
	scope, entries := make([]int, n), 1.0
	for k := range scope {
		if scope[k], err = w.count("a variable", 0, len(states)-1); err != nil {
			return nil, err
		}
		for _, other := range scope[:k] {
			if other == scope[k] {
				return nil, w.bad("variable %d is twice in the same factor", other)
			}
		}
		if entries *= float64(states[scope[k]]); entries > mostEntries {
			return nil, w.bad("a factor with %.3g entries, expected at most %d", entries, mostEntries)
		}
	}
	return scope, nil
}

// table reads the entries of factor f.
func (w *words) table(m *factors.Model, f int) ([]float64, error) {
	want := 1
	for _, v := range m.Factors[f].Scope {
		want *= m.States[v]
	}
	n, err := w.count("the number of entries of a factor", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if n != want {
		return nil, w.bad("%d entries, expected %d: the product of the numbers of states of the factor's variables %v",
			n, want, m.Factors[f].Scope)
	}
	var table []float64 // grows with the file, not with what the file says
	for range n {
		log, err := w.weight("an entry of a factor")
		if err != nil {
			return nil, err
		}
		table = append(table, log)
	}
	return table, nil
}

package uai

import (
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/oracles/factors"
)

// mostCosts bounds the entries of all cost functions together: a file shows only those that differ from the default.
const mostCosts = 1 << 26

// IsWCSP reports whether a file holds a weighted constraint network by its name, which ends in .wcsp, perhaps
// compressed.
func IsWCSP(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, packed := range []string{".gz", ".xz"} {
		name = strings.TrimSuffix(name, packed)
	}
	return filepath.Ext(name) == ".wcsp"
}

// ReadWCSP reads a weighted constraint network in the text format of toulbar2, whose cost functions are given in
// extension:
//
//	a name, the number of variables, the largest number of states, the number of cost functions, an upper bound
//	the number of states of each variable
//	of each cost function the number of variables, the variables, the default cost, the number of tuples, and the tuples, each with its cost
//
// A negative number of variables shares the tuples with later functions, which give −k in place of a number of tuples
// to take the k-th shared ones. Costs of the upper bound or more are forbidden. Assignments whose cost reaches the
// bound are no solutions, which the caller must check. path is for messages.
func ReadWCSP(r io.Reader, path string) (*CostNetwork, error) {
	c := &costs{words: newWords(r, path), model: &factors.Model{}}
	if err := c.must("the name of the problem"); err != nil {
		return nil, err
	}
	variables, err := c.count("the number of variables", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	most, err := c.count("the largest number of states", 0, mostStates)
	if err != nil {
		return nil, err
	}
	functions, err := c.count("the number of cost functions", 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if c.upper, err = c.cost("the upper bound"); err != nil {
		return nil, err
	}
	for range variables {
		n, err := c.count("a variable's number of states", 1, most)
		if err != nil {
			return nil, err
		}
		c.model.States = append(c.model.States, n)
	}
	for range functions {
		if err := c.function(); err != nil {
			return nil, err
		}
	}
	if err := c.end("the last cost function"); err != nil {
		return nil, err
	}
	return c.network(), nil
}

// costs reads cost functions.
type costs struct {
	*words
	model   *factors.Model // without tables
	tables  [][]int64      // of the functions; those that share tuples are the same
	upper   int64
	shared  []int // functions whose tuples others may take
	entries int   // of all tables so far
}

// function reads a cost function.
func (c *costs) function() error {
	n, err := c.count("a cost function's number of variables", -len(c.model.States), len(c.model.States))
	if err != nil {
		return err
	}
	f := factors.Factor{}
	size := 1
	for range max(n, -n) {
		v, err := c.count("a variable", 0, len(c.model.States)-1)
		if err != nil {
			return err
		}
		for _, u := range f.Scope {
			if u == v {
				return c.bad("variable %d is twice in the same cost function", v)
			}
		}
		if size *= c.model.States[v]; size > mostCosts {
			return c.bad("a cost function with %d entries or more, expected at most %d", size, mostCosts)
		}
		f.Scope = append(f.Scope, v)
	}
	if c.entries += size; c.entries > mostCosts {
		return c.bad("cost functions with %d entries in all, expected at most %d", c.entries, mostCosts)
	}
	usual, err := c.cost("the default cost, given in extension (cost functions in intension are not supported)")
	if err != nil {
		return err
	}
	tuples, err := c.count("the number of tuples", -len(c.shared), size)
	if err != nil {
		return err
	}
	if n < 0 {
		c.shared = append(c.shared, len(c.model.Factors))
	}
	if tuples < 0 {
		from := c.model.Factors[c.shared[-tuples-1]]
		if !c.alike(from.Scope, f.Scope) {
			return c.bad("the %d. shared cost function has other numbers of states, of variables %v, than variables %v",
				-tuples, from.Scope, f.Scope)
		}
		c.tables = append(c.tables, c.tables[c.shared[-tuples-1]])
	} else {
		table, err := c.table(f.Scope, size, usual, tuples)
		if err != nil {
			return err
		}
		c.tables = append(c.tables, table)
	}
	c.model.Factors = append(c.model.Factors, f)
	return nil
}

// alike reports whether two scopes have the same numbers of states.
func (c *costs) alike(a, b []int) bool {
	for k := range a {
		if len(a) != len(b) || c.model.States[a[k]] != c.model.States[b[k]] {
			return false
		}
	}
	return len(a) == len(b)
}

func (c *costs) table(scope []int, size int, usual int64, tuples int) ([]int64, error) {
	table := make([]int64, size)
	for k := range table {
		table[k] = usual
	}
	for range tuples {
		at := 0
		for _, v := range scope {
			s, err := c.count("a state", 0, c.model.States[v]-1)
			if err != nil {
				return nil, err
			}
			at = at*c.model.States[v] + s
		}
		cost, err := c.cost("the cost of a tuple")
		if err != nil {
			return nil, err
		}
		table[at] = cost
	}
	return table, nil
}

// cost reads a whole number that is not negative.
func (c *costs) cost(what string) (int64, error) {
	if err := c.must(what); err != nil {
		return 0, err
	}
	x, err := strconv.ParseInt(string(c.word), 10, 64)
	if err != nil || x < 0 {
		return 0, c.bad("%.40q, expected %s: a whole number of at least 0", c.word, what)
	}
	return x, nil
}

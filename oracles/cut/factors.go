package cut

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Solve finds the best assignment of a factor graph by one cut. Variables have one or two states. After exchanging the
// states of some variables where that helps, factors of two variables must be submodular in sum, and so must those of
// more, which have nothing forbidden: a term a·x_1…x_k of more than two variables with a > 0 is the maximum over
// another variable w of a·w·(x_1 + … + x_k − k + 1), and one with a < 0 of three variables becomes such a term of their
// opposites (Kolmogorov and Zabih 2004, section 5). States are exchanged only if no factor has more than two variables.
// The error names the factor that keeps a cut from being exact.
//
// States are nil if every assignment is forbidden.
func Solve(m *factors.Model) (states []int, err error) {
	q, err := readFactors(m)
	if err != nil {
		return nil, err
	}
	flip, err := q.orient()
	if err != nil {
		return nil, err
	}
	return q.solve(flip), nil
}

// quadratic is a factor graph of variables with two states, as scores of single variables and of pairs. The first
// variables are the model's; the others stand for products.
type quadratic struct {
	model *factors.Model
	node  [][2]float64
	pairs []couple
	at    map[[2]int]int // of each pair of variables, lower first
	wide  bool           // some factor had more than two variables
}

// couple is the score θ[y_u][y_v] of two variables u < v.
type couple struct {
	u, v   int
	θ      [2][2]float64
	factor int     // the first that it comes from
	size   float64 // Σ |θ| over the tables that were added up
}

// mostVariables bounds the factors that are turned into sums of products, of which there may be 2 to the power of this.
const mostVariables = 16

func readFactors(m *factors.Model) (*quadratic, error) {
	q := &quadratic{model: m, node: make([][2]float64, len(m.States)), at: map[[2]int]int{}}
	for v, n := range m.States {
		if n > 2 {
			return nil, fmt.Errorf("variable %d has %d states: cuts need variables of two states", v, n)
		}
		if n == 1 {
			q.node[v][1] = -inf
		}
	}
	for k, f := range m.Factors {
		if err := q.add(k, f); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// add adds factor k to the scores. Variables with one state leave its scope.
func (q *quadratic) add(k int, f factors.Factor) error {
	var scope []int
	for _, v := range f.Scope {
		if q.model.States[v] > 1 {
			scope = append(scope, v)
		}
	}
	switch θ := f.Table; len(scope) {
	case 0: // moves the value of all assignments, or forbids all
		if len(q.node) > 0 && math.IsInf(θ[0], -1) {
			q.node[0] = [2]float64{-inf, -inf}
		}
		return nil
	case 1:
		q.node[scope[0]][0] += θ[0]
		q.node[scope[0]][1] += θ[1]
		return nil
	case 2:
		q.pair(k, scope[0], scope[1], [2][2]float64{{θ[0], θ[1]}, {θ[2], θ[3]}}, sum(θ))
		return nil
	}
	q.wide = true
	if len(scope) > mostVariables {
		return fmt.Errorf("factor %d has %d variables: cuts take at most %d", k, len(scope), mostVariables)
	}
	return q.products(k, scope, slices.Clone(f.Table))
}

// pair adds scores of factor k for the states of u, then v. They come from numbers whose absolute values add up to
// size.
func (q *quadratic) pair(k, u, v int, θ [2][2]float64, size float64) {
	if u > v {
		u, v, θ[0][1], θ[1][0] = v, u, θ[1][0], θ[0][1]
	}
	at, known := q.at[[2]int{u, v}]
	if !known {
		at = len(q.pairs)
		q.at[[2]int{u, v}] = at
		q.pairs = append(q.pairs, couple{u: u, v: v, factor: k})
	}
	q.pairs[at].size += size
	for a := range 2 {
		for b := range 2 {
			q.pairs[at].θ[a][b] += θ[a][b]
		}
	}
}

// products adds factor k with a table over three variables or more, as a sum of products of variables.
func (q *quadratic) products(k int, scope []int, table []float64) error {
	for _, x := range table {
		if math.IsInf(x, -1) {
			return fmt.Errorf("factor %d has %d variables and forbids some of their states: cuts take zeros in factors "+
				"of at most two variables", k, len(scope))
		}
	}
	size := sum(table)
	// Möbius inversion: table[i] becomes the coefficient of the product of the variables in i
	for step := 1; step < len(table); step *= 2 {
		for i := range table {
			if i&step != 0 {
				table[i] -= table[i^step]
			}
		}
	}
	for i, a := range table {
		var of []int
		for b, v := range scope {
			if i>>(len(scope)-1-b)&1 == 1 {
				of = append(of, v)
			}
		}
		switch {
		case len(of) == 0 || a == 0:
		case len(of) == 1:
			q.node[of[0]][1] += a
		case len(of) == 2:
			q.pair(k, of[0], of[1], [2][2]float64{{0, 0}, {0, a}}, size)
		case a > 0:
			w := q.product(0, -a*float64(len(of)-1))
			for _, v := range of {
				q.pair(k, v, w, [2][2]float64{{0, 0}, {0, a}}, size)
			}
		case len(of) == 3: // a·xyz = |a|·(1−x)(1−y)(1−z) + |a|·(x + y + z − xy − yz − zx − 1)
			w := q.product(2*a, 0)
			for i, v := range of {
				q.node[v][1] -= a
				q.pair(k, v, w, [2][2]float64{{-a, 0}, {0, 0}}, size)
				q.pair(k, v, of[(i+1)%3], [2][2]float64{{0, 0}, {0, a}}, size)
			}
		default:
			return fmt.Errorf("factor %d has a negative term of %d variables: cuts take such terms of at most three", k, len(of))
		}
	}
	return nil
}

// product adds a variable that stands for a product, with the scores of its states.
func (q *quadratic) product(zero, one float64) int {
	q.node = append(q.node, [2]float64{zero, one})
	return len(q.node) - 1
}

// sum returns Σ |x| over finite x.
func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		if !math.IsInf(x, -1) {
			s += math.Abs(x)
		}
	}
	return s
}

// Package monotone defines alignments of two sequences that never go back: paths through the table of their pairs of
// items, as in dynamic time warping (Sakoe and Chiba 1978).
package monotone

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Alignment is the structure of monotone alignments of n source items with m target items: paths from the pair of the
// first items to that of the last ones. A step of a path goes on by one item in the target (→), in the source (↓), or
// in both (↘), so that every item has a link.
//
// An output has n+m−1 numbers, one for each d = i+j: 1 + i if the path has a pair (i, j) with that sum, 0 if it steps
// over it by ↘. There are no outputs without source or target items: such an example has no numbers.
//
// Potentials have two parts, or three:
//
//	"pair" [n·m×1]  a score of each pair, in row i·m + j
//	"step" [n×2]    a score of ↓ and one of ↘, for each source item that the step goes on to; row 0 has no effect
//	"move" [n·m×3]  a score of ↓, one of ↘ and one of →, for each pair that the step goes on to; row 0 has no effect
//
// A score of → in "step" would change nothing: a path with D steps ↘ has m−1−D steps →, so it is the same as less for
// each ↘.
type Alignment struct {
	Moves bool // there is a part "move"
}

// The parts of the potentials, and the entries of a row of steps, of which the first two have scores, and of moves.
const (
	pairs = iota
	steps
	moves
)

const (
	Down     = iota // ↓
	Diagonal        // ↘
	Right           // →
	Directions
)

// Form returns the form of the potentials.
func (a Alignment) Form() structured.Form {
	form := structured.Form{Structure: a, Parts: []structured.Shape{
		{Name: "pair", Rows: structured.Pairs, Width: 1}, {Name: "step", Rows: structured.Sources, Width: 2},
	}}
	if a.Moves {
		form.Parts = append(form.Parts, structured.Shape{Name: "move", Rows: structured.Pairs, Width: Directions})
	}
	return form
}

// Numbers returns the length of the outputs of an example with n source and m target items.
func Numbers(n, m int) int {
	if n == 0 || m == 0 {
		return 0
	}
	return n + m - 1
}

// Sizes returns the numbers of source and target items of example b of potentials or marginals.
func Sizes(parts []structured.Part, b int) (n, m int) {
	n = len(parts[steps].Of(b)) / 2
	if n == 0 {
		return 0, 0
	}
	return n, len(parts[pairs].Of(b)) / n
}

// Each calls visit with the pairs of an output, in order.
func Each(y []int32, visit func(i, j int)) {
	for d, number := range y {
		if number > 0 {
			visit(int(number)-1, d-int(number)+1)
		}
	}
}

// Valid reports whether y is an output for n source and m target items.
func Valid(y []int32, n, m int) bool {
	if len(y) != Numbers(n, m) {
		return false
	}
	if len(y) == 0 {
		return true
	}
	i, j := 0, 0
	for d, number := range y {
		next := int(number) - 1
		switch {
		case d == 0:
			if next != 0 {
				return false
			}
			continue
		case number == 0:
			if y[d-1] == 0 {
				return false
			}
			continue
		case y[d-1] == 0:
			i, j = i+1, j+1
		case next == i:
			j++
		default:
			i++
		}
		if next != i || d-next != j || i >= n || j >= m {
			return false
		}
	}
	return i == n-1 && j == m-1
}

// walk visits the entries of the parts that an output uses.
func (a Alignment) walk(y []int32, m int, visit func(part, entry int)) {
	before := 0
	for d, number := range y {
		if number == 0 {
			continue
		}
		i := int(number) - 1
		visit(pairs, i*m+d-i)
		by := Down
		switch {
		case i == before:
			by = Right
		case y[d-1] == 0:
			by = Diagonal
		}
		if by != Right {
			visit(steps, 2*i+by)
		}
		if a.Moves && d > 0 {
			visit(moves, (i*m+d-i)*Directions+by)
		}
		before = i
	}
}

func (a Alignment) Name() string {
	if a.Moves {
		return "monotone alignment with moves"
	}
	return "monotone alignment"
}

func (a Alignment) Score(θ *structured.Potentials, b int, y []int32) float64 {
	_, m := Sizes(θ.Parts, b)
	if len(y) > 0 && y[0] == 0 {
		return math.Inf(-1) // what an oracle leaves where there is no output
	}
	sum := 0.0
	a.walk(y, m, func(part, entry int) { sum += float64(θ.Parts[part].Of(b)[entry]) })
	return sum
}

func (a Alignment) Add(u *structured.Marginals, b int, y []int32, c float32) {
	_, m := Sizes(u.Parts, b)
	a.walk(y, m, func(part, entry int) { u.Parts[part].Of(b)[entry] += c })
}

// SkipsRows implements structured.RowSkipper: a path has few of the pairs, and one step to every source item but the
// first.
func (Alignment) SkipsRows(part int) bool { return part != steps }

// Locate implements structured.Locator: the pairs.
func (Alignment) Locate(θ *structured.Potentials, y []int32, visit func(part, entry int, label int32)) {
	_, m := Sizes(θ.Parts, 0)
	Each(y, func(i, j int) { visit(pairs, i*m+j, -1) })
}

// Raise implements structured.Raiser. A number that is 0 is shared by the outputs that step over its pairs: all pairs
// with that sum get less, and all outputs more, through the pair of the first items.
func (Alignment) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	n, m := Sizes(θ.Parts, b)
	pair, over := θ.Parts[pairs].Of(b), 0
	for d, number := range y {
		if number > 0 {
			i := int(number) - 1
			pair[i*m+d-i] += c
			continue
		}
		over++
		for i := max(0, d-m+1); i <= min(d, n-1); i++ {
			pair[i*m+d-i] -= c
		}
	}
	if over > 0 {
		pair[0] += float32(over) * c
	}
}

// LeastRisk implements structured.RiskMinimiser for the task loss Loss{Miss: 1, False: 1}: a link of probability p
// costs 1 − p, and spares p that it would cost to lack it.
func (Alignment) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(pairs, func(k int) float32 { return 2*u.Parts[pairs].Values[k] - 1 })
	for k := steps; k < len(θ.Parts); k++ {
		θ.SetAllowed(k, func(int) float32 { return 0 })
	}
}

// LogOutputs implements structured.Structure. Paths with k steps ↘ are counted by the order of their n+m−2−k steps:
// Delannoy's numbers.
func (Alignment) LogOutputs(d *structured.Dataset, _ structured.Form) float64 {
	sum, pair, source := 0.0, d.Rows(structured.Pairs), d.Rows(structured.Sources)
	for i := range d.Len() {
		if n := source[i+1] - source[i]; n > 0 && pair[i+1] > pair[i] {
			sum += logPaths(n-1, (pair[i+1]-pair[i])/n-1)
		}
	}
	return sum / float64(max(1, d.Len()))
}

// logPaths returns the logarithm of Σ_k (a+b−k)! / (k!·(a−k)!·(b−k)!), the number of paths of a steps in one direction
// and b in the other.
func logPaths(a, b int) float64 {
	terms, top := make([]float64, min(a, b)+1), math.Inf(-1)
	for k := range terms {
		terms[k] = logFactorial(a+b-k) - logFactorial(k) - logFactorial(a-k) - logFactorial(b-k)
		top = max(top, terms[k])
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - top)
	}
	return top + math.Log(sum)
}

func logFactorial(n int) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l
}

// TaskLoss implements structured.Structure: missing links and false ones cost 1 each.
func (Alignment) TaskLoss() structured.TaskLoss { return Loss{Miss: 1, False: 1} }

// CostRows implements structured.CostReader: a cost per pair.
func (Alignment) CostRows() string { return structured.Pairs }

// CheckData implements structured.DataChecker: an example has as many pairs for every source item, and its gold output,
// if there is one, is a path.
func (Alignment) CheckData(d *structured.Dataset) error {
	pair, source := d.Rows(structured.Pairs), d.Rows(structured.Sources)
	for i := range d.Len() {
		n, rows := source[i+1]-source[i], pair[i+1]-pair[i]
		m := rows / max(1, n)
		if n*m != rows || d.OutputLength(i) != Numbers(n, m) {
			return structured.BadInput("%s: %d pairs of %d source items, and outputs of %d numbers, expected as many pairs "+
				"for every source item, and a number less than there are items",
				d.Where(i), rows, n, d.OutputLength(i))
		}
		if gold := d.Gold(i); d.Labels != nil && !Valid(gold, n, m) {
			return structured.BadInput("%s: the gold output %v is no path through %d by %d pairs", d.Where(i), gold, n, m)
		}
	}
	return nil
}

func (Alignment) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	n, m := Sizes(θ.Parts, b)
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	if len(y) == 0 {
		visit(y)
		return
	}
	var from func(i, j int)
	from = func(i, j int) {
		if i >= n || j >= m {
			return
		}
		y[i+j] = int32(i) + 1
		if i == n-1 && j == m-1 {
			visit(y)
			return
		}
		from(i, j+1)
		from(i+1, j)
		if i+1 < n && j+1 < m {
			y[i+j+1] = 0
			from(i+1, j+1)
		}
	}
	from(0, 0)
}

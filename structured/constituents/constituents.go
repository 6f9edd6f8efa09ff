// Package constituents defines trees of constituents: spans of words with labels, nested in each other.
package constituents

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// Tree is the structure of a tree of constituents over n words. A constituent is a span of words with one of R labels;
// constituents are nested or apart, and all words together are one. (Labels of the same span, one above the other, are
// joined to a single one.)
//
// An output has n·n numbers: number i·n + j is 0 if words i to j are no constituent, else 1 plus its label. Numbers
// with i > j are 0.
//
// For scores and algorithms a tree is made binary from the left: a constituent with children c₁ … c_m has the spans of
// c₁c₂, …, c₁…c_{m−1} below it, with the label 0 for none. A span without a label is a word, or a left child; so every
// tree has one binary form, and sums and lists count it once.
//
// Potentials have two parts of n·n rows, one for each pair of a first word i and a last word j: row i·n + j. "span"
// scores the span [n·n×1], "label" each of its labels, from 0 [n·n×(R+1)]. Rows with i > j are not used. The tables are
// those of pairs of words that dependency trees have, so that the same networks fill them.
type Tree struct{}

// The tables with one row per pair of words.
const (
	SpanRows  = "arc"
	LabelRows = "label"
)

// Form returns the form of the potentials for a number of labels.
func Form(labels int) structured.Form {
	return structured.Form{Structure: Tree{}, Parts: []structured.Shape{
		{Name: "span", Rows: SpanRows, Width: 1}, {Name: "label", Rows: LabelRows, Width: labels + 1},
	}}
}

// Words returns the number of words of an output of so many numbers.
func Words(numbers int) int { return int(math.Round(math.Sqrt(float64(numbers)))) }

func (Tree) Name() string { return "constituent tree" }

// Score implements structured.Structure. Numbers that are no tree score −∞.
func (Tree) Score(θ *structured.Potentials, b int, y []int32) float64 {
	span, label, width, s := θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[1].Width, 0.0
	if !Binary(y, width-1, func(row int, l int32) { s += float64(span[row]) + float64(label[row*width+int(l)]) }) {
		return math.Inf(-1)
	}
	return s
}

func (Tree) Add(u *structured.Marginals, b int, y []int32, c float32) {
	span, label, width := u.Parts[0].Of(b), u.Parts[1].Of(b), u.Parts[1].Width
	Binary(y, width-1, func(row int, l int32) {
		span[row] += c
		label[row*width+int(l)] += c
	})
}

// Binary visits the spans of the binary form of a tree, by their rows, with their labels. It returns false if y is no
// tree of that many labels.
func Binary(y []int32, labels int, visit func(row int, label int32)) bool {
	n := Words(len(y))
	if n == 0 {
		return true
	}
	seen, all := 0, 0
	for row, l := range y {
		if l != 0 {
			all++
		}
		if l < 0 || int(l) > labels || l != 0 && row/n > row%n {
			return false
		}
	}
	var node func(i, j int)
	node = func(i, j int) {
		row := i*n + j
		visit(row, y[row])
		if y[row] != 0 {
			seen++
		}
		if i == j {
			return
		}
		for first, children := i, 0; first <= j; children++ {
			last := LastOf(y, n, first, j, i)
			if children > 0 && last < j {
				visit(i*n+last, 0)
			}
			node(first, last)
			first = last + 1
		}
	}
	if y[n-1] == 0 {
		return false
	}
	node(0, n-1)
	return seen == all // the others cross
}

// LastOf returns the last word of the child that begins with a word, inside the constituent from i to j.
func LastOf(y []int32, n, first, j, i int) int {
	last := j
	if first == i {
		last = j - 1
	}
	for last > first && y[first*n+last] == 0 {
		last--
	}
	return last
}

// SkipsRows implements structured.RowSkipper.
func (Tree) SkipsRows(int) bool { return true }

// UsedRows implements structured.RowCounter: the binary form of a tree has 2n − 1 spans.
func (Tree) UsedRows(numbers int) int { return max(0, 2*Words(numbers)-1) }

// Locate implements structured.Locator: the label of each constituent.
func (Tree) Locate(θ *structured.Potentials, y []int32, visit func(part, entry int, label int32)) {
	for row, l := range y {
		if l > 0 {
			visit(1, row*θ.Parts[1].Width+int(l), l-1)
		}
	}
}

// Raise implements structured.Structure. A number that is 0 is shared by the outputs without a constituent there: all
// constituents of the span get less, and all outputs more, through the span of all words.
func (Tree) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	some := raise(θ, b, y, c)
	addToAll(θ, b, float32(len(y)-some)*c)
}

// raise adds c to the label of every constituent of y, whose number it returns, and takes it off all labels of other
// spans. Negative numbers are left out. Spans with i > j are no constituents of any tree.
func raise(θ *structured.Potentials, b int, y []int32, c float32) (some int) {
	n, label, width := Words(len(y)), θ.Parts[1].Of(b), θ.Parts[1].Width
	for row, l := range y {
		at := label[row*width : (row+1)*width]
		switch {
		case l > 0:
			some++
			at[l] += c
		case l == 0 && row/n <= row%n:
			for k := range at[1:] {
				at[1+k] -= c
			}
		}
	}
	return some
}

// Restrict implements structured.Restricter. A span that must be a constituent forbids those that cross it: a binary
// tree has every span that none of its own crosses.
func (Tree) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	never, single := float32(math.Inf(-1)), [1]int32{}
	n, span, label, width := Words(len(gold.Output)), θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[1].Width
	for row := range gold.Output {
		possible := gold.Possible(row, &single)
		if possible == nil {
			continue
		}
		i, j, needed := row/n, row%n, len(possible) == 0 || possible[0] != 0
		if i > j {
			if needed { // these numbers are 0 in all trees
				span[n-1] = never
			}
			continue
		}
		for l := range width {
			if len(possible) > 0 && possible[0] == int32(l) {
				possible = possible[1:]
			} else {
				label[row*width+l] = never
			}
		}
		for inside := i; needed && inside < j; inside++ {
			for first := range i {
				span[first*n+inside] = never
			}
			for last := j + 1; last < n; last++ {
				span[(inside+1)*n+last] = never
			}
		}
	}
}

// addToAll adds c to all trees of example b, which have the span of all words.
func addToAll(θ *structured.Potentials, b int, c float32) {
	if n := Words(θ.Outputs[b+1] - θ.Outputs[b]); n > 0 {
		θ.Parts[0].Of(b)[n-1] += c
	}
}

// LeastRisk implements structured.Structure. A constituent is worth its probability less that of no constituent there.
func (Tree) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	width := θ.Parts[1].Width
	p := u.Parts[1].Values
	θ.SetAllowed(0, func(int) float32 { return 0 })
	θ.SetAllowed(1, func(k int) float32 {
		row, l := k/width, k%width
		if l == 0 {
			return 0
		}
		some := float32(0)
		for _, q := range p[row*width+1 : (row+1)*width] {
			some += q
		}
		return p[k] - (1 - some)
	})
}

func (Tree) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	labels, longest := float64(form.Parts[1].Width-1), 0
	words := func(i int) int { return Words(d.Outputs[i+1] - d.Outputs[i]) }
	for i := range d.Len() {
		longest = max(longest, words(i))
	}
	// free[m] and right[m] are logarithms of the numbers of binary trees over m words that may be any child, or a right
	// one.
	inside, free, right := make([]float64, longest+1), make([]float64, longest+1), make([]float64, longest+1)
	for m := 1; m <= longest; m++ {
		if m == 1 {
			free[m], right[m] = math.Log(labels+1), math.Log(labels+1)
			continue
		}
		top, sum := math.Inf(-1), 0.0
		for k := 1; k < m; k++ {
			top = max(top, free[k]+right[m-k])
		}
		for k := 1; k < m; k++ {
			sum += math.Exp(free[k] + right[m-k] - top)
		}
		inside[m] = top + math.Log(sum)
		free[m], right[m] = inside[m]+math.Log(labels+1), inside[m]+math.Log(labels)
	}
	sum := 0.0
	for i := range d.Len() {
		if n := words(i); n > 0 {
			sum += inside[n] + math.Log(labels)
		}
	}
	return sum / float64(max(1, d.Len()))
}

// TaskLoss implements structured.Structure: the number of spans whose label, or lack of one, is wrong.
func (Tree) TaskLoss() structured.TaskLoss { return Hamming{} }

func (Tree) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	labels := int32(θ.Parts[1].Width - 1)
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	n := Words(len(y))
	if n == 0 {
		visit(y)
		return
	}
	// node chooses the label and the children of words i to j, from label least on, and goes on with then.
	var node func(i, j int, least int32, then func())
	var children func(i, first, j int, then func())
	node = func(i, j int, least int32, then func()) {
		for l := least; l <= labels; l++ {
			if y[i*n+j] = l; i == j {
				then()
			} else {
				children(i, i, j, then)
			}
		}
		y[i*n+j] = 0
	}
	// children divides what is left of a constituent i to j from word first on: its children are words, or
	// constituents.
	children = func(i, first, j int, then func()) {
		if first > j {
			then()
			return
		}
		for last := first; last <= j; last++ {
			if first == i && last == j {
				continue
			}
			least := int32(1)
			if last == first {
				least = 0
			}
			node(first, last, least, func() { children(i, last+1, j, then) })
		}
	}
	node(0, n-1, 1, func() { visit(y) })
}

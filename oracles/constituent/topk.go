package constituent

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/derivations"
	"github.com/dsp-go/dsp/structured"
)

// TopK finds the k best trees of every sentence by lazy enumeration on top of Max's chart (package derivations).
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	o.guard.Begin(θ)
	best.Resize(θ, k)
	for b := range θ.Len() {
		switch {
		case k == 0:
			best.Count[b] = 0
		case θ.Outputs[b] == θ.Outputs[b+1]:
			best.Count[b], best.Score[b*k] = 1, 0
		case !o.open(θ, b, 1):
			best.Refuse(θ, b)
		default:
			o.chart()
			best.Count[b] = o.enumerate(θ, b, best)
		}
	}
}

func (o *Oracle) enumerate(θ *structured.Potentials, b int, best *oracles.KBest) int {
	lo, hi := θ.Outputs[b], θ.Outputs[b+1]
	o.ranking.Begin(spanTable{o}, int(kindsOfCell)*o.n*o.n)
	root := o.entry(ofRight, 0, o.n-1)
	if o.n == 1 {
		root = o.entry(ofRoot, 0, 0)
	}
	for n := range best.K {
		if _, ok := o.ranking.Derivation(root, n); !ok {
			return n
		}
		y := best.Output(n, lo, hi)
		clear(y)
		o.write(y, root, n)
		best.Place(b, n, lo, hi, θ.Score(b, y))
	}
	return best.K
}

// kindOfCell is what is listed of a span: its insides, whose terms are its splits, and the subtrees that a left or a
// right child may be, whose terms are labels.
type kindOfCell int

const (
	ofInside kindOfCell = iota
	ofLeft
	ofRight // or the root, which has a label other than 0, too
	ofRoot  // of a sentence of one word
	kindsOfCell
)

// entry numbers what is listed.
func (o *Oracle) entry(kind kindOfCell, i, j int) int { return (i*o.n+j)*int(kindsOfCell) + int(kind) }

// cell is the reverse of entry.
func (o *Oracle) cell(entry int) (kind kindOfCell, i, j int) {
	row := entry / int(kindsOfCell)
	return kindOfCell(entry % int(kindsOfCell)), row / o.n, row % o.n
}

// spanTable has what is listed as derivations.Table.
type spanTable struct{ *Oracle }

// Terms implements derivations.Table.
func (o spanTable) Terms(entry int, open []derivations.Derivation) []derivations.Derivation {
	kind, i, j := o.cell(entry)
	row := i*o.n + j
	switch {
	case kind == ofInside && i == j:
		open = derivations.Open(open, 0, 0)
	case kind == ofInside:
		left, right := o.splits(i, j)
		for k := range left {
			open = derivations.Open(open, int32(k), left[k]+right[k])
		}
	default:
		least := 0
		if kind == ofRoot || kind == ofRight && i < j {
			least = 1
		}
		for l := least; l < o.width; l++ {
			open = derivations.Open(open, int32(l), o.inside[row]+float64(o.span[row])+float64(o.labels(row)[l]))
		}
	}
	return open
}

// Parts implements derivations.Table: the children of a split, or the inside of a label.
func (o spanTable) Parts(entry int, term int32) (left, right int) {
	kind, i, j := o.cell(entry)
	switch {
	case kind != ofInside:
		return o.entry(ofInside, i, j), derivations.None
	case i == j:
		return derivations.None, derivations.None
	}
	k := i + int(term)
	return o.entry(ofLeft, i, k), o.entry(ofRight, k+1, j)
}

// write writes the tree of an entry's derivation.
func (o *Oracle) write(y []int32, entry int, rank int) {
	x, _ := o.ranking.Derivation(entry, rank)
	left, right := spanTable{o}.Parts(entry, x.Term)
	if kind, i, j := o.cell(entry); kind != ofInside {
		y[i*o.n+j] = x.Term
	}
	if left != derivations.None {
		o.write(y, left, int(x.First))
	}
	if right != derivations.None {
		o.write(y, right, int(x.Then))
	}
}

// Package graphs is the structure of labels on the variables of a graph whose edges score pairs of labels: parts, loss,
// constraints, enumeration and metrics. Its sub-packages make graphs of images: masks, the regions that are the
// variables, data sets, drawn scenes, pictures.
package graphs

import (
	"math"

	"github.com/dsp-go/dsp/structured"
)

// EdgeRows is the table with one row per edge.
const EdgeRows = structured.Edges

// Edges says what scores the labels of an edge's two variables.
type Edges int

// Kinds of edge potentials, for Y labels.
const (
	Own   Edges = iota // a table [Y×Y] for every edge
	Typed              // a table [Y×Y] for every type of edge, which all edges of the type share
	Potts              // a number per edge, which counts if both variables have the same label
)

var edgeNames = []string{"own", "typed", "potts"}

// String returns "own", "typed" or "potts".
func (e Edges) String() string { return edgeNames[e] }

// ParseEdges parses a name in the form that String writes.
func ParseEdges(name string) (Edges, error) {
	return structured.ParseName[Edges]("edges", edgeNames, name)
}

// Pairwise is the structure of labels on the variables of a graph. The variables of an example are its positions, and
// its graph is one of Dataset.Graphs. An output is a label for every variable.
//
// Potentials have two parts. "node" scores the labels of each variable [V×Y]; a label of −∞ is one that the variable
// lacks. "edge" scores the labels of the two ends of each edge: see Edges.
type Pairwise struct {
	Edges Edges
	By    Inference // what finds the best labels
}

// Inference says what finds the best labels.
type Inference int

// Kinds of inference.
const (
	Exact   Inference = iota // messages in a forest or a junction tree, for any potentials
	Cut                      // a minimum cut, for two labels and edges that favour equal labels
	Relaxed                  // bounds over the local polytope, for any potentials and any graph
)

var inferenceNames = []string{"exact", "cut", "relaxed"}

// String returns "exact", "cut" or "relaxed".
func (i Inference) String() string { return inferenceNames[i] }

// ParseInference parses a name in the form that String writes.
func ParseInference(name string) (Inference, error) {
	return structured.ParseName[Inference]("inference", inferenceNames, name)
}

// Form returns the form of the potentials for Y labels, and for typed edges the given number of types.
func (p Pairwise) Form(labels, types int) structured.Form {
	edge := structured.Shape{Name: "edge", Rows: EdgeRows, Width: labels * labels}
	switch p.Edges {
	case Typed:
		edge.Rows, edge.Width = structured.Tied, types*labels*labels
	case Potts:
		edge.Width = 1
	}
	return structured.Form{Structure: p,
		Parts: []structured.Shape{{Name: "node", Rows: structured.Positions, Width: labels}, edge}}
}

// Name returns "graph", "typed graph" or "Potts graph", followed by " with cuts" or " with bounds" after the inference.
func (p Pairwise) Name() string {
	name := [...]string{"graph", "typed graph", "Potts graph"}[p.Edges]
	return name + [...]string{"", " with cuts", " with bounds"}[p.By]
}

// CheckLabels returns a bad-input error if the inference is not for that number of labels.
func (p Pairwise) CheckLabels(labels int) error {
	if p.By == Cut && labels != 2 {
		return structured.BadInput("%d labels: cuts find the best of 2 labels; exact inference takes any number", labels)
	}
	return nil
}

// CostRows implements structured.CostReader: a variable's cost multiplies the loss of a wrong label.
func (Pairwise) CostRows() string { return structured.Positions }

// ReadsGraphs implements structured.GraphReader.
func (Pairwise) ReadsGraphs() {}

// entry returns the place, among an example's values of the edge part, of the potential of edge e of g with labels a
// and b at its ends; −1 if there is none.
func (p Pairwise) entry(g *structured.Graph, e, labels int, a, b int32) int {
	switch p.Edges {
	case Typed:
		return (int(g.Types[e])*labels+int(a))*labels + int(b)
	case Potts:
		if a != b {
			return -1
		}
		return e
	}
	return (e*labels+int(a))*labels + int(b)
}

// Table returns the potentials [Y×Y] of edge e of example b.
func (p Pairwise) Table(θ *structured.Potentials, b, e int) []float32 {
	labels := int32(θ.Parts[0].Width)
	table := make([]float32, labels*labels)
	for at := range table {
		k := p.entry(θ.Graphs[b], e, int(labels), int32(at)/labels, int32(at)%labels)
		if k >= 0 {
			table[at] = θ.Parts[1].Of(b)[k]
		}
	}
	return table
}

func (p Pairwise) Score(θ *structured.Potentials, b int, y []int32) float64 {
	node, edge, labels, s := θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[0].Width, 0.0
	for v, l := range y {
		s += float64(node[v*labels+int(l)])
	}
	g := θ.Graphs[b]
	for e, ends := range g.Ends {
		if k := p.entry(g, e, labels, y[ends[0]], y[ends[1]]); k >= 0 {
			s += float64(edge[k])
		}
	}
	return s
}

func (p Pairwise) Add(u *structured.Marginals, b int, y []int32, c float32) {
	node, edge, labels := u.Parts[0].Of(b), u.Parts[1].Of(b), u.Parts[0].Width
	for v, l := range y {
		node[v*labels+int(l)] += c
	}
	g := u.Graphs[b]
	for e, ends := range g.Ends {
		if k := p.entry(g, e, labels, y[ends[0]], y[ends[1]]); k >= 0 {
			edge[k] += c
		}
	}
}

func (Pairwise) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	node, labels := θ.Parts[0].Of(b), θ.Parts[0].Width
	for v, l := range y {
		node[v*labels+int(l)] += c
	}
}

func (Pairwise) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	node, labels, single := θ.Parts[0].Of(b), θ.Parts[0].Width, [1]int32{}
	for v := range gold.Output {
		possible := gold.Possible(v, &single)
		if possible == nil {
			continue
		}
		for l := range labels {
			if len(possible) > 0 && possible[0] == int32(l) {
				possible = possible[1:]
			} else {
				node[v*labels+l] = float32(math.Inf(-1))
			}
		}
	}
}

// LeastRisk implements structured.Structure: a label is worth its probability.
func (Pairwise) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
	θ.SetAllowed(1, func(int) float32 { return 0 })
}

func (Pairwise) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	return float64(d.Positions()) / float64(d.Len()) * math.Log(float64(form.Parts[0].Width))
}

func (Pairwise) TaskLoss() structured.TaskLoss { return Hamming{} }

// Each implements structured.Structure. The first variable's label changes fastest.
func (Pairwise) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	labels := int32(θ.Parts[0].Width)
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	for {
		visit(y)
		v := 0
		for ; v < len(y); v++ {
			if y[v]++; y[v] < labels {
				break
			}
			y[v] = 0
		}
		if v == len(y) {
			return
		}
	}
}

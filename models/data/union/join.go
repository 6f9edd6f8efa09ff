// Package union joins data sets that were read from several files, and the names that they number.
package union

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Join appends the examples of all data sets, in their order, to one. The sets are of one structure and format. They
// number labels, words and attributes alike: see Relabel and Attributes. Messages about an example still name its own
// file (Dataset.Files). It is bad input if the sets have other columns, features or rows than the first.
//
// Join takes the sets over: they must not be used any more.
func Join(sets []*structured.Dataset) (*structured.Dataset, error) {
	if len(sets) == 1 {
		return sets[0], nil
	}
	first := sets[0]
	for _, d := range sets[1:] {
		if err := alike(first, d); err != nil {
			return nil, err
		}
	}
	all := &structured.Dataset{
		Name: name(sets), Alphabet: first.Alphabet, Dim: first.Dim, ColumnNames: first.ColumnNames, Vocab: first.Vocab,
		Dictionary: first.Dictionary, CostRows: first.CostRows,
	}
	all.Offsets = offsets(sets, func(d *structured.Dataset) []int { return d.Offsets })
	all.Outputs = offsets(sets, func(d *structured.Dataset) []int { return d.Outputs })
	joinLabels(all, sets)
	all.Readings = joined(sets, func(d *structured.Dataset) [][]int32 { return d.Readings })
	all.Looks = looks(sets)
	all.Costs = joined(sets, func(d *structured.Dataset) []float32 { return d.Costs })
	if slices.ContainsFunc(sets, func(d *structured.Dataset) bool { return d.Source != nil }) {
		all.Source = joinSources(sets)
		all.Stored = !slices.ContainsFunc(sets, func(d *structured.Dataset) bool { return d.Source != nil && !d.Stored })
	} else {
		all.Features = joined(sets, func(d *structured.Dataset) []float32 { return d.Features })
	}
	all.Ids = joined(sets, func(d *structured.Dataset) []int32 { return d.Ids })
	all.Graphs = joined(sets, func(d *structured.Dataset) []*structured.Graph { return d.Graphs })
	all.Attributes = sparse(sets, func(d *structured.Dataset) *structured.Sparse { return d.Attributes })
	all.EdgeAttributes = sparse(sets, func(d *structured.Dataset) *structured.Sparse { return d.EdgeAttributes })
	for c := range first.Columns {
		all.Columns = append(all.Columns, joined(sets, func(d *structured.Dataset) []string { return d.Columns[c] }))
	}
	for k, t := range first.Tables {
		of := func(d *structured.Dataset) *structured.Table { return d.Tables[k] }
		all.Tables = append(all.Tables, &structured.Table{
			Name: t.Name, Dim: t.Dim, Offsets: offsets(sets, func(d *structured.Dataset) []int { return of(d).Offsets }),
			Attributes: sparse(sets, func(d *structured.Dataset) *structured.Sparse { return of(d).Attributes }),
			Features:   joined(sets, func(d *structured.Dataset) []float32 { return of(d).Features }),
		})
	}
	joinCharacters(all, sets)
	joinPlaces(all, sets)
	return all, joinTaskData(all, sets)
}

// name names the files of a joined data set, for messages about all of it.
func name(sets []*structured.Dataset) string {
	names := make([]string, len(sets))
	for k, d := range sets {
		names[k] = d.Name
	}
	return Names(names)
}

// Names joins the names of files for a message.
func Names(files []string) string {
	const most = 3
	if len(files) > most {
		return fmt.Sprintf("%s and %d more files", files[0], len(files)-1)
	}
	return strings.Join(files, ", ")
}

// alike refuses a data set that cannot follow the first one.
func alike(first, d *structured.Dataset) error {
	refuse := func(what string, found, expected any) error {
		return structured.BadInput("%s: %s %v, expected %v as in %s", d.Name, what, found, expected, first.Name)
	}
	have := func(has bool) string {
		if has {
			return "known"
		}
		return "not known"
	}
	switch {
	case d.Dim != first.Dim:
		return refuse("the number of dense features per position is", d.Dim, first.Dim)
	case len(d.Columns) != len(first.Columns):
		return refuse("the number of columns is", len(d.Columns), len(first.Columns))
	case !slices.Equal(d.ColumnNames, first.ColumnNames):
		return refuse("the columns are", d.ColumnNames, first.ColumnNames)
	case (d.Labels == nil) != (first.Labels == nil):
		return refuse("the gold outputs are", have(d.Labels != nil), have(first.Labels != nil))
	case (d.Attributes == nil) != (first.Attributes == nil) || (d.Outputs == nil) != (first.Outputs == nil) ||
		(d.Costs == nil) != (first.Costs == nil) || (d.Ids == nil) != (first.Ids == nil) ||
		(d.Graphs == nil) != (first.Graphs == nil):
		return structured.BadInput("%s: its inputs or costs are not of the kind that %s has", d.Name, first.Name)
	case len(d.Tables) != len(first.Tables):
		return refuse("the number of tables is", len(d.Tables), len(first.Tables))
	}
	for k, t := range d.Tables {
		if of := first.Tables[k]; t.Dim != of.Dim || t.Name != of.Name {
			return refuse("the number of dense features per "+t.Name+" is", t.Dim, of.Dim)
		}
	}
	typed := func(d *structured.Dataset) bool {
		return slices.ContainsFunc(d.Graphs, func(g *structured.Graph) bool { return g.Types != nil })
	}
	if typed(d) != typed(first) {
		return refuse("types of edges are", have(typed(d)), have(typed(first)))
	}
	return nil
}

// offsets joins the offsets of ragged tables; nil where the first set has none.
func offsets(sets []*structured.Dataset, of func(*structured.Dataset) []int) []int {
	if of(sets[0]) == nil {
		return nil
	}
	all := []int{0}
	for _, d := range sets {
		from := all[len(all)-1]
		for _, end := range of(d)[1:] {
			all = append(all, from+end)
		}
	}
	return all
}

// joined joins arrays; nil where all are.
func joined[E any](sets []*structured.Dataset, of func(*structured.Dataset) []E) []E {
	size := 0
	for _, d := range sets {
		size += len(of(d))
	}
	if size == 0 && of(sets[0]) == nil {
		return nil
	}
	all := make([]E, 0, size)
	for _, d := range sets {
		all = append(all, of(d)...)
	}
	return all
}

func sparse(sets []*structured.Dataset, of func(*structured.Dataset) *structured.Sparse) *structured.Sparse {
	if of(sets[0]) == nil {
		return nil
	}
	var parts []*structured.Sparse
	for _, d := range sets {
		parts = append(parts, of(d))
	}
	return structured.JoinSparse(parts)
}

// looks joins what the images look like; nil where nobody has looked at those of some set.
func looks(sets []*structured.Dataset) []structured.ImageLook {
	if slices.ContainsFunc(sets, func(d *structured.Dataset) bool { return d.Looks == nil }) {
		return nil
	}
	return joined(sets, func(d *structured.Dataset) []structured.ImageLook { return d.Looks })
}

// joinLabels joins gold outputs and the sets of possible labels, which labels that are not known refer to by number.
func joinLabels(all *structured.Dataset, sets []*structured.Dataset) {
	if sets[0].Labels == nil {
		return
	}
	all.Labels = []int32{}
	for _, d := range sets {
		shift := int32(len(all.LabelSets))
		for _, l := range d.Labels {
			if l < 0 && len(d.LabelSets) > 0 {
				l -= shift
			}
			all.Labels = append(all.Labels, l)
		}
		all.LabelSets = append(all.LabelSets, d.LabelSets...)
	}
}

func joinCharacters(all *structured.Dataset, sets []*structured.Dataset) {
	if sets[0].Characters == nil {
		return
	}
	to := &structured.Segments{Vocab: sets[0].Characters.Vocab, Offsets: offsets(sets, func(d *structured.Dataset) []int {
		return d.Characters.Offsets
	})}
	to.Ids = joined(sets, func(d *structured.Dataset) []int32 { return d.Characters.Ids })
	all.Characters = to
}

// joinPlaces joins what says where the examples are in their files, and their names and weights.
func joinPlaces(all *structured.Dataset, sets []*structured.Dataset) {
	has := func(of func(*structured.Dataset) bool) bool { return slices.ContainsFunc(sets, of) }
	ids := has(func(d *structured.Dataset) bool { return d.IDs != nil })
	weights := has(func(d *structured.Dataset) bool { return d.Weights != nil })
	lines := !has(func(d *structured.Dataset) bool { return d.Lines == nil })
	from := 0
	for _, d := range sets {
		for i := range d.Len() {
			all.Files = append(all.Files, d.File(i))
			if ids {
				all.IDs = append(all.IDs, d.ID(i))
			}
			if weights {
				all.Weights = append(all.Weights, d.Weight(i))
			}
		}
		if lines {
			all.Lines = append(all.Lines, d.Lines...)
		}
		if d.Layout != nil {
			if all.Layout == nil {
				all.Layout = &structured.Layout{Separator: d.Layout.Separator, Filler: d.Layout.Filler}
			}
			for t, text := range d.Layout.Before {
				if t < d.Positions() { // the end of one file is inside of the joined data
					all.Layout.Set(from+t, text)
				}
			}
		}
		from += d.Positions()
	}
}

func joinTaskData(all *structured.Dataset, sets []*structured.Dataset) error {
	if sets[0].TaskData == nil {
		return nil
	}
	joiner, ok := sets[0].TaskData.(joiner)
	if !ok {
		return structured.BadInput("%s: data of this kind cannot be joined from several files", all.Name)
	}
	var others []structured.TaskData
	for _, d := range sets[1:] {
		others = append(others, d.TaskData)
	}
	var err error
	all.TaskData, err = joiner.Join(others)
	return err
}

// joiner is a TaskData that several data sets can have together.
type joiner interface {
	structured.TaskData
	// Join returns the data of the examples of the receiver's data set and then those of the others, which are of the
	// same type. It is bad input if they do not go together.
	Join(others []structured.TaskData) (structured.TaskData, error)
}

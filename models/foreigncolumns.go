package models

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// What a column holds is judged by the values of so many tokens. Fewer than the least of them may have values that
// training did not see by chance.
const (
	leastJudged = 20
	mostJudged  = 20000
)

// checkColumns refuses text in which a column that m reads beside the words holds labels: its file lacks that column.
// It remarks on one without any value that training saw there, and on one that may hold labels where m does not know
// what training saw.
func (m *Model) checkColumns(d *structured.Dataset, say *remarks.Remarks) error {
	others, err := m.ReadBesideWords()
	if err != nil {
		return err
	}
	for _, name := range others {
		k := slices.Index(d.ColumnNames, name)
		if number, err := strconv.Atoi(name); k < 0 && err == nil && number < len(d.ColumnNames) {
			k = number
		}
		if k < 0 || d.Positions() == 0 { // who makes inputs says that there is none
			continue
		}
		cells, values := judged(d.Columns[k])
		known, err := m.Knows(d.ColumnNames, k, values)
		if err != nil {
			return err
		}
		if known == nil && !m.Tags(name) {
			if d.Column(text.LabelColumn) == nil && m.areLabels(values) {
				say.Doubt(remarks.Labels, d.Name+": column "+name+" with "+quotedSome(values))
			}
			continue
		}
		seen := 0
		for _, is := range known {
			if is {
				seen++
			}
		}
		switch {
		case m.areLabels(values) && 2*seen < len(values):
			return m.lacksColumn(d, name, k, values)
		case seen == 0 && len(cells) >= leastJudged && !m.Tags(name):
			say.Doubt(remarks.Foreign, d.Name+": column "+name+" with "+quotedSome(values))
		}
	}
	return nil
}

// judged returns the cells of a column by which it is judged, and their different values in order.
func judged(column []string) (cells, values []string) {
	cells = column[:min(mostJudged, len(column))]
	return cells, slices.Compact(slices.Sorted(slices.Values(cells)))
}

// unknownLabels are what files have in place of labels that are not known.
var unknownLabels = []string{"_", "?", "-", "*"}

// checkReplaced refuses to put labels in place of what looks like no labels at all: those of the model, entity tags
// where it has such, and what says that they are not known.
func (m *Model) checkReplaced(d *structured.Dataset, o predictions.Options) error {
	if o.Into != text.LabelColumn || d.Column(o.Into) == nil {
		return nil
	}
	_, values := judged(d.Column(o.Into))
	some := func(value string) bool {
		return m.Labels.Index(value) >= 0 || slices.Contains(unknownLabels, value) || chains.EntityTags(m.Labels) && chains.EntityTags(structured.NewAlphabet(value, "O"))
	}
	if len(values) == 0 || slices.ContainsFunc(values, some) {
		return nil
	}
	return structured.BadInput("%s: --into %s would replace what looks like no labels (%s): the model knows %s; say with --columns which column holds labels",
		d.Where(0), o.Into, quotedSome(values), structured.SomeOf(m.Labels.Names()))
}

// areLabels reports whether different cells are labels of m, or entity tags of its types in another scheme.
func (m *Model) areLabels(cells []string) bool {
	if !slices.ContainsFunc(cells, func(cell string) bool { return m.Labels.Index(cell) < 0 }) {
		return true
	}
	if chains.Bracketed(cells) && chains.EntityTags(m.Labels) {
		return true
	}
	own, tags := chains.EntityTypes(m.Labels)
	types, are := chains.EntityTypes(structured.NewAlphabet(cells...))
	return tags && are && !slices.ContainsFunc(types, func(name string) bool { return !slices.Contains(own, name) })
}

// lacksColumn is the error for text whose column k, which has a name, holds labels.
func (m *Model) lacksColumn(d *structured.Dataset, name string, k int, values []string) error {
	cure := ""
	if formats.Find(m.Config.Format).TakesSetting("columns") {
		cure = "; if the file has no such column, say with --columns which ones it has"
		if k == len(d.ColumnNames)-1 {
			var has []string
			for c, column := range d.ColumnNames[:k] {
				if column != "" {
					has = append(has, column+"="+strconv.Itoa(c))
				}
			}
			cure += ", as in --columns " + strings.Join(append(has, text.LabelColumn+"=-1"), ",")
		}
		if !m.Tags(name) {
			cure += ", and with --tagger MODEL what predicts " + name
		}
	}
	return structured.BadInput("%s: column %s holds labels (%s), and not what it held in training%s", d.Where(0), name, quotedSome(values), cure)
}

// quotedSome lists the first of some values.
func quotedSome(values []string) string {
	const most = 3
	var quoted []string
	for _, value := range values[:min(most, len(values))] {
		quoted = append(quoted, strconv.Quote(value))
	}
	if len(values) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}

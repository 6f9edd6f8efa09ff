package models

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// startFrom copies the weights of attributes and transitions from a linear model. A model whose labels, template or hashing differ is
// bad input, and so is one with attributes that the training data lacks; attributes that only the training data has start at zero.
func (m *Model) startFrom(path string) error {
	from, err := Load(path)
	if err != nil {
		return err
	}
	refuse := func(why string, about ...any) error {
		return structured.BadInput("--init %s: "+why, append([]any{path}, about...)...)
	}
	switch {
	case from.Config.Net != "linear" || from.Dictionary == nil:
		return refuse("net %s; expected a linear model on attributes of tokens", from.Config.Net)
	case m.Dictionary == nil:
		return refuse("this network reads no attributes")
	case from.Dictionary.Edges() > 0:
		return refuse("the model has attributes of steps, which net %s does not read", m.Config.Net)
	case from.Labels.Len() != m.Labels.Len():
		return refuse("%d labels, the training data has %d", from.Labels.Len(), m.Labels.Len())
	case from.Dictionary.HashBits != m.Dictionary.HashBits:
		return refuse("attributes hashed to %d bits, here to %d (0: not hashed); give the same --hash-bits", from.Dictionary.HashBits, m.Dictionary.HashBits)
	case from.Template != nil && m.Template != nil && from.Template.String() != m.Template.String():
		return refuse("its template of attributes differs from that of this run; give the same --features or --template")
	}
	labels := make([]int32, m.Labels.Len())
	for l, name := range from.Labels.Names() {
		if labels[l] = m.Labels.Index(name); labels[l] < 0 {
			return refuse("label %s does not occur in the training data", name)
		}
	}
	rows := make([]int32, from.Dictionary.Nodes())
	for k := range rows {
		rows[k] = int32(k)
		if from.Dictionary.Node == nil {
			continue
		}
		name := from.Dictionary.Node.Name(int32(k))
		if rows[k] = m.Dictionary.Node.Index(name); rows[k] < 0 {
			return refuse("attribute %s is not one of the training data's; train both on the same data with the same --min-count", name)
		}
	}
	m.copyRows("attributes", from, "attributes", rows, labels)
	m.copyRows("transition", from, "transitions", labels, labels)
	return nil
}

// copyRows copies a matrix of weights of another model, if both have it: row r and column c go to rows[r] and columns[c].
func (m *Model) copyRows(name string, from *Model, as string, rows, columns []int32) {
	to, ok := m.Net.Layout().Find(name)
	source, known := from.Net.Layout().Find(as)
	if !ok || !known {
		return
	}
	into, w, width := to.Of(m.W), source.Of(from.W), len(columns)
	for r, values := range slices.Collect(slices.Chunk(w, width)) {
		for c, x := range values {
			into[int(rows[r])*width+int(columns[c])] = x
		}
	}
}

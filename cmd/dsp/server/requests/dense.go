package requests

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured"
)

// dense reads sequences of dense features.
type dense struct {
	dim    int
	limits Limits
}

func (r *dense) Inputs() []Input { return []Input{{Name: "features", Kind: Numbers, Width: r.dim}} }

func (r *dense) Sample() string {
	return fmt.Sprintf(`{"features": [[…], […]]} with %d numbers in each row`, r.dim)
}

func (r *dense) Members() []string { return []string{"features", "labels"} }

func (r *dense) Known() string { return labelsOf("position") }

func (r *dense) Example(o *Object) (Example, error) {
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	if len(o.Features) == 0 {
		return Example{}, o.missing("features", r.Sample())
	}
	if err := most(len(o.Features), r.limits.Positions, "positions"); err != nil {
		return Example{}, err
	}
	if err := checkCells("labels", o.Labels, len(o.Features), "position"); err != nil {
		return Example{}, err
	}
	x, err := matrix(nil, o.Features, r.dim, "features", "position")
	return o.example(len(o.Features), &rows{x, o.Labels}), err
}

// rows is the content of an example of dense features, with what is known of its labels or nil.
type rows struct {
	features []float32
	labels   []string
}

// Dataset implements Reader. All examples have labels, or none has.
func (r *dense) Dataset(all []Example) (*structured.Dataset, error) {
	d := &structured.Dataset{Offsets: offsets(all), Dim: r.dim}
	var labels []string
	for _, e := range all {
		x := e.content.(*rows)
		d.Features, labels = append(d.Features, x.features...), append(labels, x.labels...)
	}
	withLabels(d, labels)
	return named(d, all), nil
}

// attributes reads sequences whose positions have attributes.
type attributes struct {
	dictionary *structured.Dictionary
	limits     Limits
}

func (r *attributes) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *attributes) Sample() string {
	return `{"attributes": [["w=John", "cap:0.5"], ["w=Smith"]]}`
}

func (r *attributes) Members() []string { return []string{"attributes", "labels"} }

func (r *attributes) Known() string { return labelsOf("position") }

func (r *attributes) Example(o *Object) (Example, error) {
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	if len(o.Attributes) == 0 {
		return Example{}, o.missing("attributes", r.Sample())
	}
	if err := r.limits.short(len(o.Attributes), false, "positions"); err != nil {
		return Example{}, err
	}
	if err := checkCells("labels", o.Labels, len(o.Attributes), "position"); err != nil {
		return Example{}, err
	}
	var text bytes.Buffer
	for t, position := range o.Attributes {
		text.WriteByte('_') // in the place of the label, which nobody knows
		for k, attribute := range position {
			if strings.ContainsAny(attribute, "\t\n\r") {
				return Example{}, structured.BadInput("attributes[%d][%d] has a tab or the end of a line, expected name or name:value", t, k)
			}
			text.WriteByte('\t')
			text.WriteString(attribute)
		}
		text.WriteByte('\n')
	}
	text.WriteByte('\n')
	if _, err := r.read(text.Bytes()); err != nil {
		return Example{}, err
	}
	return o.example(len(o.Attributes), &attributeLines{text.Bytes(), o.Labels}), nil
}

func (r *attributes) read(content []byte) (*structured.Dataset, error) {
	return formats.Find(formats.CRFsuite).Read(bytes.NewReader(content), dataName,
		formats.Options{Dictionary: r.dictionary, Unlabeled: true, Threads: 1})
}

// Dataset implements Reader. All examples have labels, or none has.
func (r *attributes) Dataset(all []Example) (*structured.Dataset, error) {
	var text []byte
	var labels []string
	for _, e := range all {
		x := e.content.(*attributeLines)
		text, labels = append(text, x.text...), append(labels, x.labels...)
	}
	d, err := r.read(text)
	if err != nil {
		return nil, err
	}
	withLabels(d, labels)
	return named(d, all), nil
}

// attributeLines is the content of an example of attributes: its lines as CRFsuite has them, and what is known of its
// labels or nil.
type attributeLines struct {
	text   []byte
	labels []string
}

package exchange

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ImportWeights returns a model like m with the weights from a text that ExportWeights wrote and a user may have
// edited. Missing weights are zero. Unknown attributes are bad input; with add they are added, unless attributes are
// hashed.
func ImportWeights(m *models.Model, path string, add bool) (*models.Model, error) {
	if !linearOnAttributes(m) {
		return nil, structured.BadInput("only the weights of linear nets of attributes that label chains are read back "+
			"from text; this model's net is %s, for a %s", m.Config.Net, m.Net.Form().Structure.Name())
	}
	if err := m.NeedsNames("read weights back"); err != nil {
		return nil, err
	}
	in := &weightsReader{
		Model: m, path: path, add: add, newNodes: structured.NewAlphabet(), newEdges: structured.NewAlphabet(),
		w: make([]float32, len(m.W)), lines: make([]int32, len(m.W)), new: map[newWeight]float32{},
	}
	err := formats.Open(path, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 1<<16), math.MaxInt)
		for lines.Scan() {
			in.number++
			if err := in.line(lines.Text()); err != nil {
				return err
			}
		}
		if err := lines.Err(); err != nil {
			return structured.BadInput("%s: after line %d: %w", path, in.number, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if in.heading == "" {
		return nil, structured.BadInput("%s: no weights, expected a heading such as [%s]; dsp export --weights writes one",
			path, attributeRows)
	}
	return in.model()
}

// weightsReader reads the text of weights.
type weightsReader struct {
	*models.Model
	path    string
	add     bool
	number  int    // of the current line
	heading string // the parameter that it belongs to

	newNodes, newEdges *structured.Alphabet

	w     []float32             // the model's weights
	lines []int32               // line of each weight, 0 if missing
	new   map[newWeight]float32 // weights of new attributes
}

// newWeight is the place of a weight of a new attribute, after the parameter's known ones.
type newWeight struct {
	parameter string
	at        int // in the parameter
}

func (in *weightsReader) bad(format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{in.path, in.number}, args...)...)
}

func (in *weightsReader) line(text string) error {
	switch {
	case strings.TrimSpace(text) == "" || text[0] == '#':
		return nil
	case text[0] == '[' && strings.IndexByte(text, '\t') < 0:
		return in.setHeading(strings.TrimRight(text, " "))
	case in.heading == "":
		return in.bad("%q stands under no heading, expected one such as [%s]", text, attributeRows)
	}
	fields := strings.Split(text, "\t")
	if want := columnsOf[in.heading]; len(fields) != len(want) {
		return in.bad("%d columns separated by tabs, expected the %d of [%s]: %s", len(fields), len(want),
			in.heading, strings.Join(want, " "))
	}
	last := len(fields) - 1
	value, ok := host.Decimal(strings.TrimSpace(fields[last]), 32)
	if !ok {
		return in.bad("weight %q, expected a finite decimal number", fields[last])
	}
	at, err := in.place(fields[:last])
	if err != nil {
		return err
	}
	return in.set(at, float32(value))
}

// set sets a weight of the heading's parameter.
func (in *weightsReader) set(at int, value float32) error {
	a, _ := parameter(in.Model, in.heading)
	if at >= a.Len() {
		key := newWeight{in.heading, at}
		if _, twice := in.new[key]; twice {
			return in.bad("this weight was given already")
		}
		in.new[key] = value
		return nil
	}
	at += a.Offset
	if in.lines[at] > 0 {
		return in.bad("this weight was given in line %d already", in.lines[at])
	}
	in.w[at], in.lines[at] = value, int32(in.number)
	return nil
}

func (in *weightsReader) setHeading(text string) error {
	name := strings.Trim(text, "[]")
	if columnsOf[name] == nil {
		return in.bad("heading %s, expected [%s], [%s], [%s], [%s] or [%s]", text, transitionRows, attributeRows,
			edgeAttributeRows, biasRows, denseRows)
	}
	_, ok := parameter(in.Model, name)
	if !ok && !(in.add && name == edgeAttributeRows && in.Config.Edges == "transition") {
		return in.bad("heading %s, but the model has no such weights", text)
	}
	in.heading = name
	return nil
}

// place returns the index in the heading's parameter of the weight with these names.
func (in *weightsReader) place(names []string) (int, error) {
	y := in.Labels.Len()
	var labels []int
	count := 2
	if in.heading == attributeRows || in.heading == biasRows || in.heading == denseRows {
		count = 1
	}
	for _, name := range names[:count] {
		l := in.Labels.Index(unescapeName.Replace(name))
		if l < 0 {
			return 0, in.bad("label %q is not one of the model's: %s", name, structured.SomeOf(in.Labels.Names()))
		}
		labels = append(labels, int(l))
	}
	switch in.heading {
	case transitionRows:
		return labels[0]*y + labels[1], nil
	case biasRows:
		return labels[0], nil
	case denseRows:
		k, err := strconv.Atoi(unescapeName.Replace(names[1]))
		if err != nil || k < 0 || k >= in.Dim {
			return 0, in.bad("feature %q, expected a number below %d", names[1], in.Dim)
		}
		return k*y + labels[0], nil
	case attributeRows:
		row, err := in.row(names[1], in.Dictionary.Node, in.newNodes)
		return row*y + labels[0], err
	}
	edges := in.Dictionary.Edge
	if edges == nil {
		edges = structured.NewAlphabet()
	}
	row, err := in.row(names[2], edges, in.newEdges)
	return (row*y+labels[0])*y + labels[1], err
}

// row returns the number of an attribute: among the known ones (nil if hashed), or after them among the new ones.
func (in *weightsReader) row(escaped string, known, more *structured.Alphabet) (int, error) {
	name := unescapeName.Replace(escaped)
	if known == nil {
		k, err := strconv.Atoi(name)
		if err != nil || k < 0 || k >= in.Dictionary.Nodes() {
			return 0, in.bad("attribute %q, expected a number below %d: the model's attributes are hashed",
				name, in.Dictionary.Nodes())
		}
		return k, nil
	}
	if k := known.Index(name); k >= 0 {
		return int(k), nil
	}
	if !in.add {
		return 0, in.bad("attribute %q is not one of the model's; give --add if it is to be new", name)
	}
	return known.Len() + int(more.Add(name)), nil
}

// model makes the model from the weights read.
func (in *weightsReader) model() (*models.Model, error) {
	d := *in.Dictionary
	d.Node, d.Edge = joined(d.Node, in.newNodes), joined(d.Edge, in.newEdges)
	m, err := in.WithDictionary(&d)
	if err != nil {
		return nil, err
	}
	for _, was := range in.Net.Layout() {
		is, _ := parameter(m, was.Name)
		copy(is.Of(m.W), was.Of(in.w))
	}
	for key, value := range in.new {
		a, _ := parameter(m, key.parameter)
		a.Of(m.W)[key.at] = value
	}
	return m, nil
}

// joined returns an alphabet of the names of both.
func joined(a, more *structured.Alphabet) *structured.Alphabet {
	switch {
	case more.Len() == 0:
		return a
	case a == nil:
		return more
	}
	return structured.NewAlphabet(slices.Concat(a.Names(), more.Names())...)
}

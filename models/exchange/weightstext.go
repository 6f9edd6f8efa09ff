package exchange

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/nets/graph"
)

// The text of the weights of a linear net of attributes has a heading for each parameter and under it a line for each
// weight that is not zero, its columns separated by tabs:
//
//	# a comment
//	[transitions]
//	from<TAB>to<TAB>weight
//	[attributes]
//	label<TAB>attribute<TAB>weight
//	[edge_attributes]
//	from<TAB>to<TAB>attribute<TAB>weight
//
// A net that reads dense features beside attributes has two more, in which features are numbered from 0:
//
//	[bias]
//	label<TAB>weight
//	[dense]
//	label<TAB>feature<TAB>weight
//
// Labels are in the model's order and each label's attributes from the largest weight to the smallest. Tabs, line ends
// and backslashes in names are written \t, \n, \r and \\, and a # that begins a label \#. Hashed attributes are named
// by their numbers. Numbers have enough digits to restore the same bits.

// The names of the net's parameters, which are the headings.
const (
	attributeRows     = "attributes"
	transitionRows    = "transitions"
	edgeAttributeRows = "edge_attributes"
	biasRows          = "bias"
	denseRows         = "dense"
)

// columnsOf says what the lines under a heading hold.
var columnsOf = map[string][]string{
	attributeRows:     {"label", "attribute", "weight"},
	transitionRows:    {"from", "to", "weight"},
	edgeAttributeRows: {"from", "to", "attribute", "weight"},
	biasRows:          {"label", "weight"},
	denseRows:         {"label", "feature", "weight"},
}

var (
	escapeName   = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	unescapeName = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\#`, "#")
)

// escapeLabel escapes a label, which may begin a line.
func escapeLabel(name string) string {
	if name = escapeName.Replace(name); strings.HasPrefix(name, "#") {
		return `\` + name
	}
	return name
}

// writeAttributeWeights writes the weights of a linear net of attributes.
func writeAttributeWeights(to io.Writer, m *models.Model) error {
	w := bufio.NewWriterSize(to, 1<<16)
	fmt.Fprintf(w, "# The weights of a linear net of attributes, those that are not zero; dsp import reads them back.\n")
	fmt.Fprintf(w, "# %d labels, %d attributes", m.Labels.Len(), m.Dictionary.Nodes())
	if n := m.Dictionary.Edges(); n > 0 {
		fmt.Fprintf(w, ", %d attributes of steps", n)
	}
	w.WriteByte('\n')
	t := weightTable{labels: make([]string, m.Labels.Len())}
	for l, name := range m.Labels.Names() {
		t.labels[l] = escapeLabel(name)
	}
	for _, name := range []string{transitionRows, biasRows, denseRows, attributeRows, edgeAttributeRows} {
		a, ok := parameter(m, name)
		if !ok {
			continue
		}
		fmt.Fprintf(w, "\n[%s]\n# %s\n", name, strings.Join(columnsOf[name], "\t"))
		switch name {
		case transitionRows:
			t.writeTransitions(w, a.Of(m.W))
		case biasRows:
			for l, x := range a.Of(m.W) {
				if !isZero(x) {
					t.write(w, x, t.labels[l])
				}
			}
		case denseRows:
			t.writeAttributes(w, a.Of(m.W), func(k int32) string { return strconv.Itoa(int(k)) })
		case attributeRows:
			t.writeAttributes(w, a.Of(m.W), func(k int32) string { return nodeName(m, k) })
		case edgeAttributeRows:
			t.writeEdgeAttributes(w, a.Of(m.W), m.Dictionary.Edge.Name)
		}
	}
	return w.Flush()
}

// parameter finds a parameter of the net.
func parameter(m *models.Model, name string) (graph.Array, bool) {
	layout := m.Net.Layout()
	if k := slices.IndexFunc(layout, func(a graph.Array) bool { return a.Name == name }); k >= 0 {
		return layout[k], true
	}
	return graph.Array{}, false
}

// nodeName returns the name of an attribute of positions, or its number where it is hashed.
func nodeName(m *models.Model, k int32) string {
	if m.Dictionary.Node == nil {
		return strconv.Itoa(int(k))
	}
	return m.Dictionary.Node.Name(k)
}

// weightTable writes weights one per line.
type weightTable struct {
	labels []string // escaped
	line   []byte
}

func (t *weightTable) write(w *bufio.Writer, x float32, names ...string) {
	t.line = t.line[:0]
	for _, name := range names {
		t.line = append(append(t.line, name...), '\t')
	}
	t.line = append(strconv.AppendFloat(t.line, float64(x), 'g', -1, 32), '\n')
	w.Write(t.line) // Flush returns the error
}

// isZero reports whether a weight need not be written: −0 must.
func isZero(x float32) bool { return math.Float32bits(x) == 0 }

func (t *weightTable) writeTransitions(w *bufio.Writer, weights []float32) {
	for i, x := range weights {
		if !isZero(x) {
			t.write(w, x, t.labels[i/len(t.labels)], t.labels[i%len(t.labels)])
		}
	}
}

func (t *weightTable) writeAttributes(w *bufio.Writer, weights []float32, name func(int32) string) {
	y := len(t.labels)
	for l, label := range t.labels {
		for _, k := range bySize(weights, y, l) {
			t.write(w, weights[int(k)*y+l], label, escapeName.Replace(name(k)))
		}
	}
}

func (t *weightTable) writeEdgeAttributes(w *bufio.Writer, weights []float32, name func(int32) string) {
	y := len(t.labels)
	for pair := range y * y {
		for _, k := range bySize(weights, y*y, pair) {
			t.write(w, weights[int(k)*y*y+pair], t.labels[pair/y], t.labels[pair%y], escapeName.Replace(name(k)))
		}
	}
}

// bySize returns the rows of weights [·×width] that are not zero in a column, from the largest to the smallest weight.
func bySize(weights []float32, width, column int) []int32 {
	var rows []int32
	for at := column; at < len(weights); at += width {
		if !isZero(weights[at]) {
			rows = append(rows, int32(at/width))
		}
	}
	slices.SortFunc(rows, func(a, b int32) int {
		return cmp.Or(cmp.Compare(weights[int(b)*width+column], weights[int(a)*width+column]), cmp.Compare(a, b))
	})
	return rows
}

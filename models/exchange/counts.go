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
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// CountsEnding is that of the names of files of counts.
const CountsEnding = ".tsv"

// WriteCounts writes observed and expected counts as a table, the largest differences first, and leaves out those that
// are both zero. Its columns are separated by tabs: observed, expected, their difference, the parameter of the weight,
// and what the weight belongs to, as in the text of weights: labels, and an attribute or a feature last. Names are
// escaped as there.
func WriteCounts(m *models.Model, c *models.Counts, path string) error {
	var rows []int
	for j, observed := range c.Observed {
		if observed != 0 || c.Expected[j] != 0 {
			rows = append(rows, j)
		}
	}
	difference := func(j int) float64 { return c.Observed[j] - c.Expected[j] }
	slices.SortFunc(rows, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(difference(j)), math.Abs(difference(i))), cmp.Compare(i, j))
	})
	layout, names := m.Net.Layout(), newWeightNames(m)
	return host.WriteFile(path, func(to io.Writer) error {
		w := bufio.NewWriterSize(to, 1<<16)
		fmt.Fprintln(w, "observed\texpected\tdifference\tparameter\tnames")
		for _, j := range rows {
			k, _ := slices.BinarySearchFunc(layout, j+1, func(a graph.Array, end int) int {
				return cmp.Compare(a.Offset+a.Len(), end)
			})
			a := layout[k]
			fmt.Fprintf(w, "%.7g\t%.7g\t%.7g\t%s", c.Observed[j], c.Expected[j], difference(j), a.Name)
			for _, name := range names.of(a, j-a.Offset) {
				w.WriteByte('\t')
				w.WriteString(escapeName.Replace(name))
			}
			w.WriteByte('\n')
		}
		return w.Flush()
	})
}

// weightNames says what weights belong to.
type weightNames struct {
	m      *models.Model
	labels []string
	own    []string // labels of segments, or of spans, where the structure numbers them its own way
}

func newWeightNames(m *models.Model) weightNames {
	n := weightNames{m: m, labels: m.Labels.Names()}
	switch m.Net.Form().Structure.(type) {
	case constituents.Tree:
		n.own = append([]string{"_"}, n.labels...)
	case segments.Segments, segments.Counted:
		for y := range segments.Labels(len(n.labels)) {
			n.own = append(n.own, strings.TrimPrefix(strings.TrimPrefix(n.labels[2*y], "B-"), "I-"))
		}
	}
	return n
}

// of names weight i of a parameter.
func (n weightNames) of(a graph.Array, i int) []string {
	y := len(n.labels)
	switch s, second := n.m.Net.Form().Structure.(chains.Second); {
	case a.Name == "triples" && second:
		pair, _ := slices.BinarySearch(s.Start, i+1)
		pair--
		return []string{n.labels[int(s.Pairs[pair])/y], n.labels[int(s.Pairs[pair])%y], n.labels[s.Triples[i]]}
	case a.Len() == y*y && strings.HasPrefix(a.Name, "transition"):
		return []string{n.labels[i/y], n.labels[i%y]}
	case a.Len() == len(n.own)*len(n.own) && strings.HasPrefix(a.Name, "transition"):
		return []string{n.own[i/len(n.own)], n.own[i%len(n.own)]}
	case a.Name == "length" && len(n.own) > 0:
		return []string{n.own[i%len(n.own)], strconv.Itoa(1 + i/len(n.own))}
	}
	var names []string
	for k := len(a.Shape) - 1; k >= 0; k-- {
		at := i % a.Shape[k]
		i /= a.Shape[k]
		if a.Shape[k] > 1 || len(a.Shape) == 1 {
			names = append(names, n.coordinate(a, k, at))
		}
	}
	if len(names) == 3 { // from, to, attribute
		names[0], names[1] = names[1], names[0]
	}
	return names
}

// coordinate names a coordinate of a parameter: an attribute, a label, or its number.
func (n weightNames) coordinate(a graph.Array, k, at int) string {
	dictionary, first := n.m.Dictionary, k == 0 && len(a.Shape) > 1
	switch {
	case first && a.Name == edgeAttributeRows && dictionary != nil:
		return dictionary.Edge.Name(int32(at))
	case first && strings.HasSuffix(a.Name, attributeRows) && dictionary != nil:
		return nodeName(n.m, int32(at))
	case first:
	case a.Shape[k] == len(n.labels):
		return n.labels[at]
	case a.Shape[k] == len(n.own):
		return n.own[at]
	}
	return strconv.Itoa(at)
}

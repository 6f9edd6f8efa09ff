package report

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Table is a table of text; columns after the first are numbers unless it says otherwise.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]Cell
	Words   bool   // columns are text
	Class   string // of its style
}

// Cell is a cell of a table. Shade, from 0 to 1, is the intensity of its background.
type Cell struct {
	Text  string
	Shade float64
	Wrong bool // the background is that of mistakes
}

func (c Cell) Style() template.CSS { return background(c.Shade, c.Wrong) }

// background returns the style of a background of that intensity.
func background(shade float64, wrong bool) template.CSS {
	if !(shade > 0) {
		return ""
	}
	colour := "0,114,178"
	if wrong {
		colour = "213,94,0"
	}
	return template.CSS(fmt.Sprintf("background:rgba(%s,%.2f)", colour, 0.6*min(shade, 1)))
}

func (t *Table) row(cells ...string) {
	row := make([]Cell, len(cells))
	for k, c := range cells {
		row[k].Text = c
	}
	t.Rows = append(t.Rows, row)
}

// upright makes a table with a column for each row below the head.
func upright(rows [][]string) *Table {
	t := &Table{}
	for c := range rows[0] {
		var cells []string
		for _, row := range rows {
			cells = append(cells, row[c])
		}
		if c == 0 {
			t.Head = cells
		} else {
			t.row(cells...)
		}
	}
	return t
}

// percent formats a fraction.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}

// counts are measures that are numbers of something, not fractions.
var counts = []string{"tokens", "sequences", "gold", "predicted", "correct", "words", "words_nopunct", "sentences",
	"labelled", "sure", "possible", "pairs", "images", "objects", "detections"}

// measure formats a measure.
func measure(m structured.Measure) string {
	if slices.Contains(counts, m.Name) || m.Value > 1 {
		return fmt.Sprintf("%.0f", m.Value)
	}
	return percent(m.Value)
}

// measureName is the name of a measure for people.
func measureName(name string) string {
	if long, ok := map[string]string{"f1": "F1", "uas": "UAS", "las": "LAS", "aer": "AER", "ap": "AP",
		"ap50": "AP at IoU .50", "ap75": "AP at IoU .75", "corloc": "CorLoc", "miou": "mean class IoU",
		"class_iou": "mean class IoU", "mean_iou": "mean IoU", "iou": "IoU", "labelled": "labelled (variables or pixels)",
		"uas_nopunct": "UAS without punctuation", "las_nopunct": "LAS without punctuation",
		"words_nopunct": "words without punctuation",
		"oracle_iou":    "mean IoU of the best candidates",
		"oracle_corloc": "CorLoc of the best candidates"}[name]; ok {
		return long
	}
	return strings.ReplaceAll(name, "_", " ")
}

// metricTable lists the measures.
func metricTable(m structured.Metrics) *Table {
	t := &Table{Head: []string{"measure", "value"}}
	for _, x := range m.Measures {
		t.row(measureName(x.Name), measure(x))
	}
	return t
}

// typeTable has a row for each type; nil without types.
func typeTable(types map[string]structured.Metrics) *Table {
	names := slices.Sorted(maps.Keys(types))
	if len(names) == 0 {
		return nil
	}
	t := &Table{Head: []string{"type"}}
	for _, x := range types[names[0]].Measures {
		t.Head = append(t.Head, measureName(x.Name))
	}
	for _, name := range names {
		cells := []string{name}
		for _, x := range types[name].Measures {
			cells = append(cells, measure(x))
		}
		t.row(cells...)
	}
	return t
}

// A matrix of confusions has at most mostLabels labels; of more labels the mostMistakes most frequent mistakes are
// listed.
const (
	mostLabels   = 20
	mostMistakes = 25
)

// confusionTable shows which labels were predicted in place of which: a matrix whose rows are gold labels, or a list.
// It is nil where nothing was mistaken.
func confusionTable(names []string, count func(gold, predicted int) float64) *Table {
	type mistake struct {
		gold, predicted int
		n               float64
	}
	var mistakes []mistake
	totals := make([]float64, len(names))
	var used []int
	for g := range names {
		columns := 0.0
		for p := range names {
			n := count(g, p)
			totals[g] += n
			columns += count(p, g)
			if p != g && n > 0 {
				mistakes = append(mistakes, mistake{g, p, n})
			}
		}
		if totals[g]+columns > 0 {
			used = append(used, g)
		}
	}
	if len(mistakes) == 0 {
		return nil
	}
	if len(used) > mostLabels {
		slices.SortStableFunc(mistakes, func(a, b mistake) int { return cmp.Compare(b.n, a.n) })
		t := &Table{Caption: "The most frequent confusions", Head: []string{"gold", "predicted", "times", "share of gold"}}
		for _, m := range mistakes[:min(mostMistakes, len(mistakes))] {
			t.row(names[m.gold], names[m.predicted], fmt.Sprintf("%.0f", m.n), percent(m.n/totals[m.gold]))
		}
		return t
	}
	t := &Table{Caption: "Rows are gold labels, columns predicted ones; the shade is the share of the row",
		Head: []string{"gold"}, Class: "matrix"}
	for _, p := range used {
		t.Head = append(t.Head, names[p])
	}
	for _, g := range used {
		row := []Cell{{Text: names[g]}}
		for _, p := range used {
			n := count(g, p)
			c := Cell{Shade: n / max(1, totals[g]), Wrong: g != p}
			if n > 0 {
				c.Text = fmt.Sprintf("%.0f", n)
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

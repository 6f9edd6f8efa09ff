package pipelines

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// table is what a stage learns from or is asked: sequences of positions, with columns to read and, for training, a
// column of labels.
type table struct {
	names   []string // of the columns
	columns [][]string
	labels  []string // nil where they are not known
	offsets []int    // where each sequence begins, and the end of the last one
}

func newTable(names ...string) *table {
	return &table{names: names, columns: make([][]string, len(names)), offsets: []int{0}}
}

// add adds a position to the sequence that is not ended yet. Cells are never empty.
func (t *table) add(cells ...string) {
	for c, cell := range cells {
		if cell == "" {
			cell = conllu.Empty
		}
		t.columns[c] = append(t.columns[c], cell)
	}
}

// end ends a sequence. Empty ones are left out.
func (t *table) end() {
	if n := len(t.columns[0]); n > t.offsets[len(t.offsets)-1] {
		t.offsets = append(t.offsets, n)
	}
}

// sequences is how many there are.
func (t *table) sequences() int { return len(t.offsets) - 1 }

func (t *table) sequence(i int) (from, to int) { return t.offsets[i], t.offsets[i+1] }

// part returns the sequences for which keep holds.
func (t *table) part(keep func(i int) bool) *table {
	p := newTable(t.names...)
	for i := range t.sequences() {
		if !keep(i) {
			continue
		}
		from, to := t.sequence(i)
		for c := range t.columns {
			p.columns[c] = append(p.columns[c], t.columns[c][from:to]...)
		}
		if t.labels != nil {
			p.labels = append(p.labels, t.labels[from:to]...)
		}
		p.end()
	}
	return p
}

// dataset returns the table as data for a model, without labels.
func (t *table) dataset(name string) *structured.Dataset {
	return &structured.Dataset{Name: name, Offsets: t.offsets, Columns: t.columns, ColumnNames: t.names}
}

// columnSetting is the value of the setting columns for the file that write writes.
func (t *table) columnSetting() string {
	var all []string
	for c, name := range t.names {
		all = append(all, name+"="+strconv.Itoa(c))
	}
	return strings.Join(append(all, "label="+strconv.Itoa(len(t.names))), ",")
}

// write writes the table with its labels as a file of columns.
func (t *table) write(path string) error {
	return host.WriteFile(path, func(to io.Writer) error {
		w := bufio.NewWriterSize(to, 1<<16)
		for i := range t.sequences() {
			from, end := t.sequence(i)
			for at := from; at < end; at++ {
				for c := range t.columns {
					w.WriteString(t.columns[c][at])
					w.WriteByte('\t')
				}
				w.WriteString(t.labels[at])
				w.WriteByte('\n')
			}
			w.WriteByte('\n')
		}
		return w.Flush()
	})
}

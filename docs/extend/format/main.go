// Command format is dsp with one more format, "slash": every verb of dsp reads tagged sentences as the Brown corpus has
// them.
package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// slashSettings are what only this format has: --format-settings sign=_ reads word_label.
type slashSettings struct {
	Sign string `yaml:"sign" help:"what stands between a word and its label"`
}

// slash has a sentence per line, with tokens word/label between spaces. Files to predict on may have words alone.
var slash = formats.Format{
	Name:       "slash",
	Holds:      "a sentence per line, word/label word/label",
	Extensions: []string{".slash"},
	Starts: func(start []byte) bool {
		line, _, _ := bytes.Cut(start, []byte{'\n'})
		fields := bytes.Fields(line)
		return len(fields) > 0 && bytes.Count(line, []byte{'/'}) == len(fields)
	},
	Tasks:    []string{"tag"},
	Takes:    formats.TextSettings, // inputs are made of its columns
	Settings: slashSettings{Sign: "/"},

	Lines:       true, // predict reads it piece by piece
	Columns:     true,
	ColumnNames: func(string, string, int) ([]string, error) { return []string{text.WordColumn, text.LabelColumn}, nil },
	Read:        read,
}

// read makes the data set of a file, or of a piece of one that begins with line o.Line. Errors name file and line.
func read(r io.Reader, path string, o formats.Options) (*structured.Dataset, error) {
	sign := o.Own.(*slashSettings).Sign
	d := &structured.Dataset{Name: path, Offsets: []int{0}, Alphabet: o.Labels}
	var words, labels []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for number := max(1, o.Line); lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		for _, field := range fields {
			at := strings.LastIndex(field, sign)
			switch {
			case at > 0 && at+len(sign) < len(field):
				words, labels = append(words, field[:at]), append(labels, field[at+len(sign):])
			case o.Unlabeled:
				words = append(words, field)
			default:
				return nil, structured.BadInput("%s:%d: %q, expected word%slabel", path, number, field, sign)
			}
		}
		if len(fields) > 0 {
			d.Offsets, d.Lines = append(d.Offsets, len(words)), append(d.Lines, number)
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, structured.BadInput("%s: %w", path, err)
	case len(words) == 0 && o.Line == 0:
		return nil, structured.BadInput("%s: no words, expected lines of word%slabel", path, sign)
	}
	d.Columns, d.ColumnNames = [][]string{words}, []string{text.WordColumn}
	if len(labels) == len(words) {
		d.Columns, d.ColumnNames = append(d.Columns, labels), append(d.ColumnNames, text.LabelColumn)
	}
	if !o.Unlabeled {
		text.NumberLabels(d, o.Numbering())
	}
	return d, nil
}

func main() {
	formats.Register(slash)
	os.Exit(cli.Main())
}

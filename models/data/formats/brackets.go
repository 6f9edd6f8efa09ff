package formats

import (
	"bytes"
	"io"

	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Brackets is the name of the format.
const Brackets = "brackets"

// Trees of constituents as in the Penn Treebank.
var _ = builtin(Format{
	Name:       Brackets,
	Holds:      "trees of constituents in brackets, as in the Penn Treebank",
	Tasks:      []string{"constituency"},
	Takes:      []string{"max-words", "dense", "encoder", "features", "template", "hash-bits", "min-count"},
	Extensions: []string{".penn", ".mrg", ".ptb", ".brackets"},
	Starts: func(start []byte) bool {
		start = bytes.TrimLeft(start, " \t\r\n")
		if len(start) == 0 || start[0] != '(' {
			return false
		}
		rest := bytes.TrimLeft(start[1:], " \t\r\n")
		at := bytes.IndexByte(rest, '(')
		return at >= 0 && len(bytes.Fields(rest[:at])) <= 1
	},
	Columns:     true,
	ColumnNames: func(string, string, int) ([]string, error) { return brackets.ColumnNames(), nil },
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		d, err := brackets.Reader{Names: o.Labels, Line: o.Line, Failed: o.Failed, Remarks: o.Remarks}.Read(r, path)
		if err == nil && d.Len() == 0 {
			err = structured.BadInput("%s: %w, expected trees in brackets, such as (TOP (S (NP (DT the) (NN dog)) (VP (VBZ "+
				"barks))))", path, host.ErrNoTokens)
		}
		return d, err
	},
})

package formats

import (
	"cmp"
	"io"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// Conll is the name of the format.
const Conll = "conll"

// Text with a token per line, in columns. All text that no other format recognises is read as conll.
var _ = builtin(Format{
	Name:           Conll,
	Holds:          "a token per line, in columns",
	Tasks:          []string{"tag"},
	Takes:          append([]string{"columns", "comments", "max-words"}, TextSettings...),
	Extensions:     []string{".conll", ".iob", ".iob2", ".bio", ".bioes"},
	Tokens:         true,
	Columns:        true,
	Ranges:         true,
	DefaultColumns: text.DefaultColumns,
	ColumnNames: func(columns, _ string, width int) ([]string, error) {
		named, err := text.ParseColumns(cmp.Or(columns, text.DefaultColumns))
		return named.Names(width), err
	},
	LookThrough: func(open func() (io.ReadCloser, error), path string, o Options) (*text.Survey, error) {
		c, err := conllOf(o)
		if err != nil {
			return nil, err
		}
		c.Alphabet = o.Labels
		return c.LookThrough(open, path)
	},
	Recognise: func(r io.Reader, path string, o Options) string {
		return text.Conll{Comments: o.Comments}.Recognise(r, path)
	},
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		c, err := conllOf(o)
		if err != nil {
			return nil, err
		}
		return c.Read(r, path)
	},
})

func conllOf(o Options) (text.Conll, error) {
	columns, err := text.ParseColumns(o.Columns)
	if err != nil {
		return text.Conll{}, structured.BadInput("--%w", err)
	}
	columns.Origin = "--columns"
	return text.Conll{
		Columns: columns, Width: o.Width, Alphabet: o.Numbering(), Unlabeled: o.Unlabeled, Threads: o.Threads,
		Comments: o.Comments, Survey: o.Survey, Line: o.Line, Start: o.Start, Remarks: o.Remarks, Each: o.Each,
	}, nil
}

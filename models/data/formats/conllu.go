package formats

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/structured"
)

// Conllu is the name of the format.
const Conllu = "conllu"

// CoNLL-U: ten columns, of which one is the label or, for parsing, two are the tree.
var _ = builtin(Format{
	Name:         Conllu,
	Holds:        "CoNLL-U: ten columns, with trees",
	Tasks:        []string{"tag", "parse"},
	Takes:        append([]string{"label", "max-words"}, TextSettings...),
	DefaultField: "upos",
	Extensions:   []string{".conllu"},
	Starts: func(start []byte) bool {
		return everyLine(start, func(fields []string) bool {
			return len(fields) == 10 && strings.Trim(fields[0], "0123456789-.") == ""
		})
	},
	Tokens:      true,
	Columns:     true,
	Ranges:      true,
	Trees:       true,
	ColumnNames: func(_, field string, _ int) ([]string, error) { return text.ConlluColumns(field), nil },
	LookThrough: func(open func() (io.ReadCloser, error), path string, o Options) (*text.Survey, error) {
		if o.Trees {
			return nil, nil
		}
		return text.Conllu{Label: o.Field}.LookThrough(open, path, o.Labels)
	},
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		if o.Trees {
			b, err := treebank.Reader{Names: o.Labels, Unlabeled: o.Unlabeled, Threads: o.Threads, Line: o.Line,
				Remarks: o.Remarks}.Read(r, path)
			if err != nil {
				return nil, err
			}
			return b.Dataset(), nil
		}
		if err := text.CheckConlluLabel(o.Field); err != nil {
			return nil, structured.BadInput("%s: --label %w", path, err)
		}
		return text.Conllu{Label: o.Field, Alphabet: o.Numbering(), Unlabeled: o.Unlabeled, Survey: o.Survey,
			Threads: o.Threads, Line: o.Line, Remarks: o.Remarks, Each: o.Each}.Read(r, path)
	},
})

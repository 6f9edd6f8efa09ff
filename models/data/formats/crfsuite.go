package formats

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// CRFsuite is the name of the format.
const CRFsuite = "crfsuite"

// The input of CRFsuite: a label per line, then the token's attributes.
var _ = builtin(Format{
	Name:       CRFsuite,
	Holds:      "a label and its attributes per line",
	Tasks:      []string{"tag"},
	Takes:      []string{"max-words", "scheme", "partial", "hash-bits", "min-count"},
	Extensions: []string{".crfsuite"},
	Starts: func(start []byte) bool {
		return everyLine(start, func(fields []string) bool { return mostlyNamed(fields[1:]) })
	},
	Tokens:   true,
	Ranges:   true,
	Numbered: true,
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		return text.CRFsuite{
			Alphabet: o.Numbering(), Dictionary: o.Dictionary, MinCount: max(1, o.MinCount), HashBits: o.HashBits,
			Unlabeled: o.Unlabeled, Threads: o.Threads, Line: o.Line, Remarks: o.Remarks, Each: o.Each,
		}.Read(r, path)
	},
})

// mostlyNamed reports whether most of the fields have the form name=value, as CRFsuite's examples and most programs
// write attributes.
func mostlyNamed(fields []string) bool {
	n := 0
	for _, f := range fields {
		if strings.Contains(f, "=") {
			n++
		}
	}
	return 2*n > len(fields)
}

package formats

import (
	"bytes"
	"io"

	"github.com/dsp-go/dsp/models/drawn/ocr"
	"github.com/dsp-go/dsp/structured"
)

// Letters is the name of the format.
const Letters = "letters"

// The layout of the OCR set's letter.data: a letter per line, its pixels separated by tabs.
var _ = builtin(Format{
	Name:   Letters,
	Holds:  "the letter.data of the OCR set",
	Tasks:  []string{"ocr"},
	Takes:  []string{"fold"},
	Prefix: "letter.",
	Starts: func(start []byte) bool {
		line, _, _ := bytes.Cut(start, []byte{'\n'})
		return bytes.Count(line, []byte{'\t'}) > 128 // a column for each pixel, and more
	},
	Images: true,
	Read: func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
		l, err := ocr.ReadLetters(r, path, o.Remarks)
		if err != nil {
			return nil, err
		}
		return l.Dataset, nil
	},
})

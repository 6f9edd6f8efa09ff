package text

import (
	"log/slog"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// NotUTF8 are the words of a text that are in another encoding, which raw text and requests never have.
type NotUTF8 struct {
	Times int
	First string // file and line of the first
}

// Add adds the words of a data set, or of a part of one.
func (n *NotUTF8) Add(d *structured.Dataset) {
	words := d.Column(WordColumn)
	if len(words) != d.Positions() { // none, or those of pairs
		return
	}
	for i := range d.Len() {
		for t := range d.Length(i) {
			if utf8.ValidString(words[d.Offsets[i]+t]) {
				continue
			}
			if n.Times++; n.First == "" {
				n.First = d.WhereToken(i, t)
			}
		}
	}
}

// Warn warns of such words in the data of that name, if there are any.
func (n NotUTF8) Warn(log *slog.Logger, data string) {
	if n.Times > 0 {
		log.Warn("words are not UTF-8, which raw text and requests always are: convert the file, for instance with iconv "+
			"-f latin1 -t utf-8", "data", data, "times", n.Times, "first", n.First)
	}
}

// WarnNotUTF8 warns of words of data sets that are not UTF-8.
func WarnNotUTF8(log *slog.Logger, sets ...*structured.Dataset) {
	for _, d := range sets {
		var n NotUTF8
		n.Add(d)
		n.Warn(log, d.Name)
	}
}

// NotUTF8Label is the refusal of a label to train on.
func NotUTF8Label(where, label string) error {
	return structured.BadInput("%s: label %q is not UTF-8, which the names of labels in a model are: convert the file, "+
		"for instance with iconv -f latin1 -t utf-8", where, label)
}

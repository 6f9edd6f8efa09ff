package predictions

import (
	"bytes"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// LeftOut returns what takes the place of the lines of an example that is bad, or of lines without examples, so that
// the lines of the output are still those of the input: for text in columns, whose lines are as in, the lines as they
// came, with the filler in the columns that predictions add; for other text as many empty lines. Lists of entities have
// nothing.
func LeftOut(l Layout, lines []byte, in *structured.Layout) []byte {
	text := string(lines)
	columns, ok := l.(*columnLayout)
	switch {
	case in == nil:
		return bytes.Repeat([]byte("\n"), len(strings.Split(strings.TrimSuffix(text, "\n"), "\n")))
	case !ok:
		if _, trees := l.(*treeLayout); !trees {
			return nil
		}
		return lines
	}
	if strings.Contains(text, "\t") {
		in.Separator = '\t'
	}
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, in.Count(strings.TrimRight(line, "\r\n")))
	}
	in.Set(0, strings.ReplaceAll(text, "\r", ""))
	if last := len(text) - 1; text[last] != '\n' {
		in.Set(0, in.Before[0]+"\n")
	}
	return columns.linesBefore(nil, &structured.Dataset{Layout: in, Offsets: []int{0}, Columns: make([][]string, widest)}, 0, true)
}

// LeftOutJSON returns the object of an example that is bad, with the reason as its error, and the place of its number
// in it.
func LeftOutJSON(reason string) (text []byte, number int) {
	text = []byte(`{"id":"`)
	number = len(text)
	return append(append(append(text, `","error":`...), quoted(reason)...), "}\n"...), number
}

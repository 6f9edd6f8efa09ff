package onnx

import (
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
)

// The characters of words: rows of characters are [B·T·W], W characters for each word, of which −1 are none.

// wordsOfCharacters returns the characters as [B·T×W].
func (n *network) wordsOfCharacters() string {
	return n.once("words of characters", func() string {
		x := n.characters()
		return n.of("Reshape", x, n.concat(0, n.ints(-1), n.slice(n.of("Shape", x), 0, 2, 3)))
	})
}

// written returns [B·T×W]: whether there is a character.
func (n *network) written() string {
	return n.once("written", func() string { return n.of("GreaterOrEqual", n.wordsOfCharacters(), n.int(0)) })
}

// characterCount returns B·T·W as a vector.
func (n *network) characterCount() string {
	return n.once("character count", func() string {
		return n.add("ReduceProd", []string{n.of("Shape", n.wordsOfCharacters())}, integer("keepdims", 1))
	})
}

// byWord gives rows of characters [B·T·W×C] the shape [B·T×W×C].
func (n *network) byWord(x string, cols int) string {
	return n.of("Reshape", x, n.concat(0, n.of("Shape", n.wordsOfCharacters()), n.ints(cols)))
}

func (n *network) gatherCharacters(at int, s *graph.Step, o graph.Gather) {
	x, c, width, chars := s.Args[0], o.Cols, o.Index.Width, n.flow.Chars
	none := n.int(-1)
	switch ids := n.wordsOfCharacters(); o.Index.Kind {
	case graph.IndexCharacters:
		known := n.of("Max", ids, n.int(0))
		y := n.of("Where", n.of("Unsqueeze", n.written(), n.ints(2)), n.gather(n.in(x, n.flow.Steps[x].N/c, c), known, 0),
			n.float(0))
		n.set(at, n.reshape(y, -1, c), chars, c)
	case graph.IndexCharacterWindow:
		y := n.of("Where", n.of("Unsqueeze", n.written(), n.ints(2)), n.byWord(n.in(x, chars, c), c), n.float(0))
		parts := make([]string, width)
		for k := range parts {
			parts[k] = n.shifted(y, k-width/2, 3, n.float(0))
		}
		n.set(at, n.reshape(n.concat(2, parts...), -1, width*c), chars, width*c)
	case graph.IndexCharacterParts: // rows id·width + k of the table, and below them a row of zeros
		rows := n.flow.Steps[x].N / c
		table := n.of("Pad", n.in(x, rows, c), n.ints(0, 0, 1, 0), n.float(0))
		parts := make([]string, width)
		for k := range parts {
			there := n.shifted(ids, k-width/2, 2, none)
			row := n.of("Add", n.of("Mul", there, n.int(width)), n.int(k))
			row = n.of("Where", n.of("GreaterOrEqual", there, n.int(0)), row, n.int(rows))
			parts[k] = n.of("Unsqueeze", row, n.ints(2))
		}
		y := n.gather(table, n.concat(2, parts...), 0)
		n.set(at, n.reshape(y, -1, width, c), chars, width, c)
	}
}

// longest translates the maximum over the characters of each position, which is zero where there are none.
func (n *network) longest(at int, s *graph.Step, o graph.SegmentMax) {
	x := n.byWord(n.in(s.Args[0], n.flow.Chars, o.Cols), o.Cols)
	written := n.of("Unsqueeze", n.written(), n.ints(2))
	top := n.max(n.of("Where", written, x, n.float(lowest)), 1, false)
	some := n.max(n.cast(n.written(), format.Float), 1, true)
	y := n.of("Where", n.of("Greater", some, n.float(0)), top, n.float(0))
	n.set(at, y, n.flow.Rows, o.Cols)
}

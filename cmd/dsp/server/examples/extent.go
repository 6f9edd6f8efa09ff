package examples

import "github.com/dsp-go/dsp/structured"

// MostExamples bounds the examples of a request: each takes memory beside what its text takes.
const MostExamples = 1 << 16

// mostDepth bounds how deep lists and objects of a request are nested. What models read is at most seven deep.
const mostDepth = 32

// Extent is how much JSON text holds. It is counted without parsing, and takes no memory.
type Extent struct {
	Bytes    int
	Elements int // lists, objects, and what they have: at least as many as a parser makes
	Texts    int // bytes of texts that are no elements of lists, which may be raw text, or files in base64
}

// ExtentOf counts what JSON text holds, one value or several. Text that is no JSON has an extent, too. Lists and objects that are nested too
// deep are bad input: parsers recurse.
func ExtentOf(text []byte) (Extent, error) {
	e := Extent{Bytes: len(text)}
	depth := 0
	listed := uint64(0) // bit d: at depth d is a list
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			e.Elements++
			if depth++; depth > mostDepth {
				return e, structured.BadInput("lists and objects are nested more than %d deep", mostDepth)
			}
			if listed &^= 1 << depth; text[i] == '[' {
				listed |= 1 << depth
			}
		case ']', '}':
			depth = max(0, depth-1)
		case ',', ':', '\n':
			e.Elements++
		case '"':
			start := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if listed&(1<<depth) == 0 {
				e.Texts += min(i, len(text)) - start
			}
		}
	}
	return e, nil
}

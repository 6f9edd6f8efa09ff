package requests

import "github.com/dsp-go/dsp/structured"

// MostExamples bounds the examples of a request: each takes memory beside what its text takes.
const MostExamples = 1 << 16

// mostDepth bounds how deep lists and objects of a request are nested. What models read is at most seven deep.
const mostDepth = 32

// Extent is how much JSON text holds. It is counted without parsing, and takes no memory.
type Extent struct {
	Bytes   int
	Objects int
	Lists   int
	Items   int // commas, colons and lines: with objects and lists as many as what a parser makes
	Texts   int // bytes of texts that are no items of lists, which may be raw text, or files in base64
}

// What parsing takes, in bytes, measured with some to spare.
const (
	perObject = 512 // an Object, its Example, and their share of the answer
	perList   = 64
	perItem   = 48
	perByte   = 3  // copies of what JSON holds
	perText   = 64 // of each byte of raw text: tokens with their places, and sentences
)

// Parsed estimates the memory, in bytes, that is taken by the examples of a request that r reads, beside its text.
func (e Extent) Parsed(r Reader) int64 {
	text := 0
	if in := r.Inputs(); in[0].Kind == Strings { // others have files in base64 there
		text = perText
	}
	return e.sum() + int64(text)*int64(e.Texts)
}

// Tensors estimates the memory, in bytes, that is taken by the sequences of a request of tensors, beside its text: as
// many as it has items.
func (e Extent) Tensors(r Reader) int64 {
	return e.Parsed(r) + 2*perObject*int64(min(MostExamples, e.Items))
}

// RawText estimates the memory, in bytes, of the sentences of raw text, in JSON or as it is.
func (e Extent) RawText() int64 { return e.sum() + perText*int64(e.Bytes) }

func (e Extent) sum() int64 {
	return perObject*int64(e.Objects) + perList*int64(e.Lists) + perItem*int64(e.Items) + perByte*int64(e.Bytes)
}

// ExtentOf counts what JSON text holds, one value or several. Text that is no JSON has an extent, too. Lists and
// objects that are nested too deep are bad input: parsers recurse.
func ExtentOf(text []byte) (Extent, error) {
	e := Extent{Bytes: len(text)}
	depth := 0
	listed := uint64(0) // bit d: at depth d is a list
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			if text[i] == '[' {
				e.Lists++
			} else {
				e.Objects++
			}
			if depth++; depth > mostDepth {
				return e, structured.BadInput("lists and objects are nested more than %d deep", mostDepth)
			}
			if listed &^= 1 << depth; text[i] == '[' {
				listed |= 1 << depth
			}
		case ']', '}':
			depth = max(0, depth-1)
		case ',', ':', '\n':
			e.Items++
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

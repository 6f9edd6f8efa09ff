// Package requests reads the inputs of models from JSON objects, one per example, and makes data sets of them.
package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/structured"
)

// Object is an example as JSON has it. Which members there must be depends on the model.
type Object struct {
	ID *string `json:"id"` // names the example in the answer; without it, its number does

	Words   []string            `json:"words"`   // the column word
	Pos     []string            `json:"pos"`     // the column pos, or upos of a parser
	Columns map[string][]string `json:"columns"` // by name, or by number from 0
	Text    *string             `json:"text"`    // raw text, in place of words

	Features   [][]float32 `json:"features"`   // [T×D] dense features of positions
	Attributes [][]string  `json:"attributes"` // [T] of positions, as CRFsuite's files have them: name or name:value

	Source       []string      `json:"source"`        // words of a sentence pair
	Target       []string      `json:"target"`        //
	PairFeatures [][][]float32 `json:"pair_features"` // [n×m×D] of source items with target items

	NodeFeatures [][]float32 `json:"node_features"` // [V×D] of the variables of a graph
	Edges        [][]int     `json:"edges"`         // [E×2] the variables of each edge, from 0
	EdgeFeatures [][]float32 `json:"edge_features"` // [E×F]
	EdgeTypes    []int       `json:"edge_types"`    // [E]

	Image []byte `json:"image"` // a PNG or JPEG file, in base64

	// What is known of the output, for predictions to keep.
	Labels    Cells   `json:"labels"`    // [T] of words, or of the variables of a graph: a label, A|B, or ? for any
	Heads     Cells   `json:"heads"`     // [T] of words: a number, 0 for the root, 2|5, or ? for any
	Relations Cells   `json:"relations"` // [T] of words
	Tree      *string `json:"tree"`      // in brackets, in place of words; words that hang flat are open, and _ is any label
	Links     [][]int `json:"links"`     // [L×2] source and target words, from 0
	Mask      []byte  `json:"mask"`      // a PNG file, in base64; pixels of 255 are open

	tokens []tokens.Token // of Text, if it was split before
}

// Sentences yields an object for each sentence of raw text, with the same name and offsets in the whole text. It is
// valid until the next one. An object without text, or with values of its tokens beside it, is one sequence.
func (o *Object) Sentences(split tokens.Splitter) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		var all []tokens.Sentence
		if o.Text != nil && len(o.given()) == 1 {
			all = tokens.Rules{Splitter: split}.Split(*o.Text)
		}
		if len(all) == 0 { // if it is text, its reader returns ErrNoWords
			yield(o)
			return
		}
		sentence := *o
		for _, s := range all {
			if sentence.tokens = s.Tokens; !yield(&sentence) {
				return
			}
		}
	}
}

// Cells are texts of which numbers are known by their digits, and null is a cell of which nothing is known.
type Cells []string

// UnmarshalJSON implements json.Unmarshaler.
func (c *Cells) UnmarshalJSON(list []byte) error {
	var cells []any
	d := json.NewDecoder(bytes.NewReader(list))
	d.UseNumber()
	if err := d.Decode(&cells); err != nil {
		return err
	}
	if cells == nil {
		return nil
	}
	*c = make(Cells, len(cells))
	for k, cell := range cells {
		switch x := cell.(type) {
		case nil:
			(*c)[k] = text.AnyLabel
		case string:
			(*c)[k] = x
		case json.Number:
			(*c)[k] = x.String()
		default:
			return structured.BadInput("found %s in place of a label, expected text, a number, or null", list)
		}
	}
	return nil
}

// known reports whether an object says something of its output.
func (o *Object) known() bool {
	return o.Labels != nil || o.Heads != nil || o.Relations != nil || o.Tree != nil || o.Links != nil || o.Mask != nil
}

// checkCells refuses cells that are not one for each of n positions, or are empty.
func checkCells(name string, cells Cells, n int, of string) error {
	if cells != nil && len(cells) != n {
		return structured.BadInput("%s has length %d, expected %d, one for each %s", name, len(cells), n, of)
	}
	if t := slices.Index(cells, ""); t >= 0 {
		return structured.BadInput("%s[%d] is empty, expected what is known, several with | between, or ? for any", name, t)
	}
	return nil
}

// labelsOf says what an object may say of the labels of positions.
func labelsOf(position string) string {
	return `"labels", one for each ` + position + `: a label, several with | between, or ?`
}

// Parse parses one object for a reader, whose members messages list. Unknown members, wrong types and text that is not
// UTF-8 are bad input.
func Parse(line []byte, r Reader) (*Object, error) {
	if !utf8.Valid(line) {
		return nil, structured.BadInput("the text is not UTF-8")
	}
	if start := bytes.TrimLeft(line, " \t\r\n"); len(start) == 0 || start[0] != '{' {
		return nil, structured.BadInput(`expected a JSON object, such as {"words": ["John", "Smith"]}`)
	}
	if _, err := ExtentOf(line); err != nil {
		return nil, err
	}
	var o Object
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		what := Explain(err)
		if unknown(err) {
			what += "; members are id, " + strings.Join(r.Members(), ", ")
		}
		return nil, structured.BadInput("%s", what)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, structured.BadInput("more text after the object, expected one object per line")
	}
	return &o, nil
}

const unknownField = "json: unknown field " // how encoding/json's message begins

func unknown(err error) bool { return strings.HasPrefix(err.Error(), unknownField) }

// Explain words an error of encoding/json for somebody who does not know Go.
func Explain(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return "found " + article(wrong.Value) + ", expected an object"
		}
		if number, found := strings.CutPrefix(wrong.Value, "number "); found {
			return wrong.Field + " has the number " + number + ", expected " + kind(wrong.Type.String())
		}
		return wrong.Field + " has " + article(wrong.Value) + ", expected " + kind(wrong.Type.String())
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "the JSON object is cut off"
	}
	if structured.IsBadInput(err) {
		return err.Error()
	}
	if name, found := strings.CutPrefix(err.Error(), unknownField); found {
		return "no member is called " + name
	}
	return "not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
}

// article puts a or an before a JSON type.
func article(kind string) string {
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}

// kind names a Go type of Object in JSON's words.
func kind(t string) string {
	lists := strings.Count(t, "[]")
	name := map[string]string{"string": "text", "float32": "a number (of 32 bits)", "int": "a whole number", "uint8": "base64"}[strings.TrimLeft(t, "[]*")]
	switch {
	case t == "[]interface {}": // Cells
		return "a list of texts, numbers or null"
	case strings.HasPrefix(t, "map"):
		return "an object of lists of text"
	case name == "":
		return "something else"
	case name == "base64":
		return "an image in base64"
	case lists > 0:
		plural := map[string]string{"text": "texts", "a number (of 32 bits)": "numbers", "a whole number": "whole numbers"}[name]
		return strings.Repeat("a list of lists of ", lists/2) + strings.Repeat("a list of ", lists%2) + plural
	}
	return name
}

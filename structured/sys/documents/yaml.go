// Package documents parses YAML that anybody may have written: settings, sweeps, figures, and the stacks inside of
// model files. The parser's memory grows with the square of the nesting, and its time with that of the length, so both
// are bounded before it begins.
package documents

import (
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/dsp-go/dsp/structured"
)

// The largest document of YAML that ParseYAML takes: in bytes, and in lists and mappings inside one another. Settings
// and stacks of layers are far below both.
const (
	MostBytes = 256 << 10
	MostDepth = 64
)

// ParseYAML parses a document of YAML; name is for messages. One that is too long, too deep, or none is bad input, with
// its line.
func ParseYAML(name string, text []byte) (*ast.File, error) {
	if len(text) > MostBytes {
		return nil, structured.BadInput("%s: %d bytes of YAML, expected at most %d", name, len(text), MostBytes)
	}
	tokens := lexer.Tokenize(string(text))
	if line, deep := tooDeep(tokens); deep {
		return nil, structured.BadInput("%s:%d: more than %d lists and mappings inside one another, expected at most %[3]d",
			name, line, MostDepth)
	}
	file, err := parser.Parse(tokens, 0)
	var at yaml.Error
	switch {
	case err == nil:
		return file, nil
	// Error and FormatError print the text around, in time that grows with its square
	case errors.As(err, &at) && at.GetToken() != nil:
		return nil, structured.BadInput("%s:%d:%d: %s", name, at.GetToken().Position.Line, at.GetToken().Position.Column,
			at.GetMessage())
	}
	return nil, structured.BadInput("%s: %w", name, err)
}

// tooDeep returns the line where lists and mappings are nested deeper than MostDepth, and whether there is one.
func tooDeep(tokens token.Tokens) (line int, deep bool) {
	var open []token.Type // the brackets that are open
	var columns []int     // where the lists and mappings outside of brackets begin that the token is in
	begins := false
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			opener := token.SequenceStartType
			if t.Type == token.MappingEndType {
				opener = token.MappingStartType
			}
			if n := len(open); n > 0 && open[n-1] == opener {
				open = open[:n-1]
			}
		}
		entry := t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType
		if first := t.Position.Line != line; len(open) == 0 && (first || begins || entry) {
			for n := len(columns); n > 0 && columns[n-1] >= t.Position.Column; n = len(columns) {
				columns = columns[:n-1]
			}
			columns = append(columns, t.Position.Column)
		}
		line, begins = t.Position.Line, entry
		if len(open)+len(columns) > MostDepth {
			return line, true
		}
	}
	return 0, false
}

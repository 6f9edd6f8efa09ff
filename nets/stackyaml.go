package nets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
)

// layer is one entry of the list of layers: a name alone ("norm"), a name with the value of its first field ("dense:
// 64"), or a name with fields ("dense: {units: 64, activation: tanh}").
type layer struct {
	kind   *layerKind
	line   int
	values map[string]any // by field: int, float64, string, []int or []layer
}

func (l layer) has(field string) bool       { return l.values[field] != nil }
func (l layer) int(field string) int        { n, _ := l.values[field].(int); return n }
func (l layer) number(field string) float64 { x, _ := l.values[field].(float64); return x }
func (l layer) word(field string) string    { w, _ := l.values[field].(string); return w }
func (l layer) sizes(field string) []int    { n, _ := l.values[field].([]int); return n }
func (l layer) layers(field string) []layer { n, _ := l.values[field].([]layer); return n }

// field is a value that a layer takes.
type field struct {
	name     string
	kind     fieldKind
	required bool
	least    float64  // the least number
	below    float64  // numbers are less than this; 0: no limit
	words    []string // the words that are allowed
}

// fieldKind is what a field holds.
type fieldKind string

const (
	wholeNumber  fieldKind = "a whole number"
	realNumber   fieldKind = "a number"
	wholeNumbers fieldKind = "a list of whole numbers"
	oneWord      fieldKind = "a word"
	freeName     fieldKind = "a name of letters, digits and -"
	layerList    fieldKind = "a list of layers"
)

// expected says in words what a field holds.
func (f field) expected() string {
	switch {
	case f.kind == oneWord:
		return "one of " + strings.Join(f.words, ", ")
	case f.kind == layerList || f.kind == freeName:
		return string(f.kind)
	case f.below > 0:
		return fmt.Sprintf("%s of at least %g, below %g", f.kind, f.least, f.below)
	}
	return fmt.Sprintf("%s of %g to %d", f.kind, f.least, mostNumbers)
}

// parseLayers reads the list of layers of a stack; file is for messages.
func parseLayers(file, text string) ([]layer, error) {
	parsed, err := documents.ParseYAML(file, []byte(text))
	if err != nil {
		return nil, err
	}
	p := layerParser{file}
	for _, doc := range parsed.Docs {
		if doc.Body != nil {
			return p.list(doc.Body)
		}
	}
	return nil, structured.BadInput("%s: no layers; expected a list of layers, as in \"- dense: 64\"", file)
}

type layerParser struct{ file string }

func (p layerParser) refuse(n ast.Node, format string, args ...any) error {
	line := 1
	if t := n.GetToken(); t != nil {
		line = t.Position.Line
	}
	return structured.BadInput("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...))
}

func (p layerParser) list(n ast.Node) ([]layer, error) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) == 0 {
		return nil, p.refuse(n, "expected a list of layers, as in \"- dense: 64\", found %s", found(n))
	}
	var all []layer
	for _, v := range seq.Values {
		l, err := p.layer(v)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// layer reads one entry of a list of layers.
func (p layerParser) layer(n ast.Node) (l layer, err error) {
	var value ast.Node
	key := n
	switch pairs := pairsOf(n); {
	case len(pairs) == 1:
		key, value = pairs[0].Key, pairs[0].Value
	case len(pairs) > 1:
		return l, p.refuse(pairs[1].Key, "expected one layer in each entry of the list, found %q beside %q",
			name(pairs[1].Key), name(pairs[0].Key))
	}
	if _, null := value.(*ast.NullNode); null {
		value = nil
	}
	l = layer{kind: findLayer(name(key)), values: map[string]any{}}
	if t := key.GetToken(); t != nil {
		l.line = t.Position.Line
	}
	if l.kind == nil {
		return l, p.refuse(key, "unknown layer %q; expected one of %s", name(key), strings.Join(StackLayers(), ", "))
	}
	if fields := pairsOf(value); value != nil && len(fields) > 0 {
		for _, kv := range fields {
			i := slices.IndexFunc(l.kind.fields, func(f field) bool { return f.name == name(kv.Key) })
			switch {
			case i < 0:
				return l, p.refuse(kv.Key, "layer %s has no field %q%s", l.kind.name, name(kv.Key), l.kind.listFields())
			case l.has(name(kv.Key)):
				return l, p.refuse(kv.Key, "layer %s has the field %q twice", l.kind.name, name(kv.Key))
			}
			if err := p.set(&l, l.kind.fields[i], kv.Value); err != nil {
				return l, err
			}
		}
	} else if value != nil {
		if len(l.kind.fields) == 0 {
			return l, p.refuse(value, "layer %s has no fields, found %s", l.kind.name, found(value))
		}
		if err := p.set(&l, l.kind.fields[0], value); err != nil {
			return l, err
		}
	}
	for _, f := range l.kind.fields {
		if f.required && !l.has(f.name) {
			return l, p.refuse(key, "layer %s needs %s: %s", l.kind.name, f.name, f.expected())
		}
	}
	return l, nil
}

// set reads the value of a field.
func (p layerParser) set(l *layer, f field, n ast.Node) error {
	refuse := func() error {
		return p.refuse(n, "layer %s: %s: expected %s, found %s", l.kind.name, f.name, f.expected(), found(n))
	}
	inRange := func(x float64) bool { return x >= f.least && (f.below == 0 || x < f.below) && x <= mostNumbers }
	switch f.kind {
	case layerList:
		inner, err := p.list(n)
		if err != nil {
			return err
		}
		l.values[f.name] = inner
		return nil
	case oneWord:
		if !slices.Contains(f.words, name(n)) {
			return refuse()
		}
		l.values[f.name] = name(n)
		return nil
	case freeName:
		if !isName(name(n)) {
			return refuse()
		}
		l.values[f.name] = name(n)
		return nil
	case wholeNumbers:
		items := []ast.Node{n}
		if seq, ok := n.(*ast.SequenceNode); ok {
			items = seq.Values
		}
		var all []int
		for _, item := range items {
			x, whole, ok := number(item)
			if !ok || !whole || !inRange(x) {
				return refuse()
			}
			all = append(all, int(x))
		}
		if len(all) == 0 {
			return refuse()
		}
		l.values[f.name] = all
		return nil
	}
	x, whole, ok := number(n)
	if !ok || f.kind == wholeNumber && !whole || !inRange(x) {
		return refuse()
	}
	l.values[f.name] = any(x)
	if f.kind == wholeNumber {
		l.values[f.name] = int(x)
	}
	return nil
}

// isName reports whether a text can begin the names of parameters: conv1.
func isName(text string) bool {
	other := func(r rune) bool {
		return r != '-' && !('0' <= r && r <= '9') && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z')
	}
	return text != "" && !strings.ContainsFunc(text, other)
}

// number returns the number that a node is, and whether it is written as a whole one.
func number(n ast.Node) (x float64, whole, ok bool) {
	switch n.(type) {
	case *ast.IntegerNode:
		whole = true
	case *ast.FloatNode:
	default:
		return 0, false, false
	}
	err := yaml.NodeToValue(n, &x)
	return x, whole, err == nil
}

// pairsOf returns the keys and values of a mapping; none for another node.
func pairsOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// name returns the text of a scalar.
func name(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(n.String())
}

// found describes a node in one line.
func found(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SequenceNode:
		if len(n.Values) == 0 {
			return "an empty list"
		}
	case *ast.NullNode:
		return "nothing"
	}
	text, _, more := strings.Cut(strings.TrimSpace(n.String()), "\n")
	if more {
		text += " …"
	}
	return fmt.Sprintf("%q", text)
}

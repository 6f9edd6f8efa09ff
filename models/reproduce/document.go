package reproduce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
)

// document reads the nodes of a YAML file. Its errors are bad input with file and line.
type document struct {
	path    string
	anchors map[string]ast.Node // what aliases stand for
}

// keys says how to read the value of each key of a mapping.
type keys map[string]func(n ast.Node) error

// open parses text and returns its body.
func (d *document) open(text []byte) (ast.Node, error) {
	file, err := documents.ParseYAML(d.path, text)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.CommentType {
		return nil, structured.BadInput("%s: the file is empty; expected a figure", d.path)
	}
	d.anchors = map[string]ast.Node{}
	ast.Walk(d, file.Docs[0].Body)
	return file.Docs[0].Body, nil
}

// Visit implements ast.Visitor: it notes the nodes that have anchors.
func (d *document) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return d
}

// meant returns the node that an anchor marks or an alias stands for, and any other node itself.
func (d *document) meant(n ast.Node) ast.Node {
	switch at := n.(type) {
	case *ast.AnchorNode:
		return at.Value
	case *ast.AliasNode:
		if meant, ok := d.anchors[at.Value.GetToken().Value]; ok {
			return meant
		}
	}
	return n
}

// brief is the first line of a node, for messages.
func brief(n ast.Node) string {
	text, _, more := strings.Cut(strings.TrimSpace(n.String()), "\n")
	if more {
		text += " …"
	}
	return text
}

func (d *document) bad(n ast.Node, format string, args ...any) error {
	return structured.BadInput("%s:%d: %w", d.path, lineOf(n), fmt.Errorf(format, args...))
}

func lineOf(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return lineOf(m.Values[0])
	}
	if kv, ok := n.(*ast.MappingValueNode); ok {
		return kv.Key.GetToken().Position.Line
	}
	return n.GetToken().Position.Line
}

// mapping reads a mapping; each of its keys must be among those of k; the parser refuses keys given twice. what names
// the mapping in messages.
func (d *document) mapping(n ast.Node, what string, k keys) error {
	values := settings.MappingValues(n)
	if values == nil {
		return d.bad(n, "%s: expected \"key: value\" lines, found %s", what, brief(n))
	}
	for _, kv := range values {
		name := kv.Key.GetToken().Value
		read, ok := k[name]
		if !ok {
			return d.bad(kv, "%s has no key %q%s", what, name, d.near(name, k))
		}
		if err := read(d.meant(kv.Value)); err != nil {
			return err
		}
	}
	return nil
}

// near ends a message about an unknown key.
func (*document) near(name string, k keys) string {
	var names []string
	for key := range k {
		names = append(names, key)
	}
	slices.Sort(names)
	if near := settings.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; it has " + strings.Join(names, ", ")
}

// list reads every item of a list.
func (d *document) list(what string, read func(n ast.Node) error) func(n ast.Node) error {
	return func(n ast.Node) error {
		s, ok := n.(*ast.SequenceNode)
		if !ok {
			return d.bad(n, "%s: expected a list, found %s", what, brief(n))
		}
		for _, item := range s.Values {
			if err := read(d.meant(item)); err != nil {
				return err
			}
		}
		return nil
	}
}

// text reads a scalar as it is written.
func (d *document) text(what string, to *string) func(n ast.Node) error {
	return func(n ast.Node) error {
		switch n := n.(type) {
		case *ast.LiteralNode:
			*to = strings.TrimSpace(n.Value.Value)
			return nil
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			*to = strings.TrimSpace(n.GetToken().Value)
			return nil
		}
		if settings.MappingValues(n) != nil {
			return d.bad(n, "%s: expected text, found \"key: value\" in %s; put text with a colon in quotes", what, brief(n))
		}
		return d.bad(n, "%s: expected text, found %s", what, brief(n))
	}
}

// texts reads a list of scalars.
func (d *document) texts(what string, to *[]string) func(n ast.Node) error {
	return d.list(what, func(n ast.Node) error {
		var s string
		err := d.text(what, &s)(n)
		*to = append(*to, s)
		return err
	})
}

// count reads a whole number of at least least.
func (d *document) count(what string, least int, to *int) func(n ast.Node) error {
	return func(n ast.Node) error {
		k, err := strconv.Atoi(n.GetToken().Value)
		if _, whole := n.(*ast.IntegerNode); !whole || err != nil || k < least {
			return d.bad(n, "%s: expected a whole number of at least %d, found %s", what, least, brief(n))
		}
		*to = k
		return nil
	}
}

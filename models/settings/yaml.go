package settings

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
)

// givenKey is the key under which Write lists the names of the given settings.
const givenKey = "given"

// Parse sets the settings that the YAML text names; path is for messages. An unknown key, a key given twice, and a
// value of the wrong kind are bad input, with file and line.
//
// Settings with a record of what was given (Given) get those that the text names. A text with a list "given", as Write
// writes it, says itself which of its settings were; the others were resolved by a run. A text without that list that
// names more than half of all settings was written by a run of an older version: only values that differ from the
// defaults are known to be given then.
func Parse(path string, text []byte, all []Setting) error {
	file, err := documents.ParseYAML(path, text)
	if err != nil {
		return err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	return ParseNode(path, file.Docs[0].Body, all)
}

// ParseNode is Parse for a mapping inside of a larger document.
func ParseNode(path string, body ast.Node, all []Setting) error {
	seen := map[string]bool{}
	var given Given
	listed := false
	for _, kv := range MappingValues(body) {
		key := kv.Key.GetToken()
		name, line := key.Value, key.Position.Line
		if name == givenKey && !listed {
			if err := parseGiven(path, kv.Value, all, &given); err != nil {
				return err
			}
			listed = true
			continue
		}
		s, ok := Named(all, name)
		if ok {
			name = s.Name
		}
		switch {
		case !ok:
			return structured.BadInput("%s:%d: unknown setting %q%s", path, line, name, Suggest(all, name))
		case seen[name]:
			return structured.BadInput("%s:%d: setting %q is given twice", path, line, name)
		}
		seen[name] = true
		if !decode(kv.Value, s.Value) {
			return structured.BadInput("%s:%d: %s: expected %s, found %s", path, line, name, s.kind(), kv.Value)
		}
	}
	for name := range seen {
		if !listed && len(seen) <= len(all)/2 {
			given.add(name)
		}
	}
	for _, name := range given {
		if s, _ := Named(all, name); s.given != nil {
			s.given.add(name)
		}
	}
	if len(seen) == 0 && !listed && body.Type() != ast.MappingType && body.Type() != ast.CommentType {
		return structured.BadInput("%s:%d: expected settings, one \"name: value\" per line", path, body.GetToken().Position.Line)
	}
	return nil
}

// parseGiven adds the names in the list under givenKey.
func parseGiven(path string, list ast.Node, all []Setting, to *Given) error {
	line, names := list.GetToken().Position.Line, []string{}
	if err := yaml.NodeToValue(list, &names); err != nil {
		return structured.BadInput("%s:%d: %s: expected a list of names of settings, found %s", path, line, givenKey, list)
	}
	for _, name := range names {
		s, ok := Named(all, name)
		if !ok {
			return structured.BadInput("%s:%d: %s: unknown setting %q%s", path, line, givenKey, name, Suggest(all, name))
		}
		to.add(s.Name)
	}
	return nil
}

// decode sets v to the value of a YAML node, and reports whether the node is of v's kind. A missing value and an empty
// list are the zero value.
func decode(node ast.Node, v reflect.Value) bool {
	if _, null := node.(*ast.NullNode); null {
		v.SetZero()
		return true
	}
	if _, whole := node.(*ast.IntegerNode); !whole && (v.Kind() == reflect.Uint64 || v.Type() == reflect.TypeFor[int]()) {
		return false
	}
	if err := yaml.NodeToValue(node, v.Addr().Interface()); err != nil {
		return false
	}
	if k := v.Kind(); (k == reflect.Slice || k == reflect.Map) && v.Len() == 0 {
		v.SetZero()
	}
	return true
}

// MappingValues returns the key-value pairs of a document; none if the document is not a mapping.
func MappingValues(body ast.Node) []*ast.MappingValueNode {
	switch n := body.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

// Suggest ends a message about an unknown setting: with the nearest name, or with where the names are listed.
func Suggest(all []Setting, name string) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	if near := Nearest(strings.ReplaceAll(name, "_", "-"), names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; the settings are the flags of dsp train --help"
}

// kind says in words what the setting's value must be.
func (s Setting) kind() string {
	switch s.Value.Interface().(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int, uint64:
		return "a whole number"
	case float64:
		return "a number"
	case Gap, Strength:
		return "a number of at least 0, or auto"
	case Count:
		return "a number of at least 1, or auto"
	case Ranges:
		return `a list of ranges, as in ["reg=0.1,1,10"]`
	case Sizes:
		return "a list of whole numbers, as in [300, 200]"
	case Texts:
		return "a mapping from names to values"
	default:
		return "a mapping from labels to numbers"
	}
}

// Write writes settings as WriteValues does, and which of them were given.
func Write(w io.Writer, all []Setting) error {
	if err := WriteValues(w, all); err != nil {
		return err
	}
	var given Given
	recorded := false
	for _, s := range all {
		if s.given != nil {
			recorded = true
			if !s.silent() && s.given.Has(s.Name) {
				given = append(given, s.Name)
			}
		}
	}
	if !recorded {
		return nil
	}
	_, err := fmt.Fprintf(w, "# Which of these were given; the others are defaults and choices of the run\n%s: [%s]\n", givenKey, strings.Join(given, ", "))
	return err
}

// silent reports whether the setting only steers a command's output and is not set.
func (s Setting) silent() bool {
	return (s.Name == "resume" || s.Name == "quiet" || s.Name == "json") && s.Value.IsZero()
}

// WriteValues writes settings as the YAML that Parse reads, group by group with a heading for each, in the order in
// which groups and their settings come first. Settings that only steer a command's output are left out where they are
// not set.
func WriteValues(w io.Writer, all []Setting) error {
	var groups []string
	for _, s := range all {
		if !slices.Contains(groups, s.Group) {
			groups = append(groups, s.Group)
		}
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Setting) int { return slices.Index(groups, a.Group) - slices.Index(groups, b.Group) })
	group := ""
	for _, s := range all {
		if s.silent() {
			continue
		}
		if s.Group != group {
			group = s.Group
			if _, err := fmt.Fprintf(w, "# %s\n", group); err != nil {
				return err
			}
		}
		text, err := yaml.MarshalWithOptions(s.Value.Interface(), yaml.Flow(true))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", s.Name, strings.TrimSpace(string(text))); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// member is a member of an object of JSON.
type member struct{ name, value, what string }

// typeIn is a type of the module: the folder of its package, and its name.
type typeIn struct{ folder, name string }

// source holds the types of a package, with the imports of the files that declare them.
type source struct {
	types   map[string]*ast.TypeSpec
	docs    map[string]string
	imports map[string]map[string]string // by type: folder by the name of the import
}

var sources = map[string]*source{}

const module = "github.com/dsp-go/dsp/"

// sourceOf parses the package of a folder, without tests.
func sourceOf(folder string) (*source, error) {
	if s, ok := sources[folder]; ok {
		return s, nil
	}
	s := &source{map[string]*ast.TypeSpec{}, map[string]string{}, map[string]map[string]string{}}
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there is no package %s", folder)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		imports := map[string]string{}
		for _, i := range parsed.Imports {
			full, _ := strconv.Unquote(i.Path.Value)
			name := path.Base(full)
			if i.Name != nil {
				name = i.Name.Name
			}
			if below, ours := strings.CutPrefix(full, module); ours {
				imports[name] = below
			}
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					s.types[t.Name.Name], s.imports[t.Name.Name], s.docs[t.Name.Name] = t, imports, g.Doc.Text()
				}
			}
		}
	}
	sources[folder] = s
	return s, nil
}

// membersOf returns the members of the JSON of a struct, in the order of its fields; those of objects below it follow,
// with a dot after the name, or []. within are the types that are being described: one of them is not described again.
func membersOf(of typeIn, prefix string, within ...typeIn) ([]member, error) {
	s, err := sourceOf(of.folder)
	if err != nil {
		return nil, err
	}
	spec := s.types[of.name]
	if spec == nil {
		return nil, fmt.Errorf("package %s has no type %s", of.folder, of.name)
	}
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s.%s is no struct", of.folder, of.name)
	}
	within = append(within, of)
	var all []member
	for _, f := range fields.Fields.List {
		name, tagged := jsonName(f)
		switch {
		case name == "-":
			continue
		case len(f.Names) == 0 && !tagged: // embedded
			below, _ := resolve(f.Type, of, s)
			members, err := membersOf(below, prefix, within...)
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
			continue
		case !tagged:
			continue
		}
		what := strings.TrimSpace(f.Comment.Text())
		if what == "" {
			what = strings.TrimPrefix(strings.TrimSpace(f.Doc.Text()), f.Names[0].Name+" is ")
		}
		value, below, list := valueOf(f.Type, of, s)
		all = append(all, member{prefix + name, value, strings.ReplaceAll(what, "\n", " ")})
		switch verb, own := sectionOf(below); {
		case below == nil || seen(*below, within):
		case own:
			all[len(all)-1].what = strings.TrimPrefix(all[len(all)-1].what+"; as of ["+verb+"](#"+verb+")", "; ")
		default:
			inner := prefix + name + "."
			if list {
				inner = prefix + name + "[]."
			}
			members, err := membersOf(*below, inner, within...)
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
		}
	}
	return all, nil
}

// sectionOf returns the verb whose section describes a type.
func sectionOf(t *typeIn) (verb string, ok bool) {
	for _, a := range answers {
		if t != nil && a.object.of == *t && !strings.Contains(a.verb, " ") {
			return a.verb, true
		}
	}
	return "", false
}

func seen(t typeIn, within []typeIn) bool {
	for _, w := range within {
		if w == t {
			return true
		}
	}
	return false
}

// jsonName returns the name that the tag of a field gives it in JSON.
func jsonName(f *ast.Field) (name string, tagged bool) {
	if f.Tag == nil {
		return "", false
	}
	text, _ := strconv.Unquote(f.Tag.Value)
	tag, ok := reflect.StructTag(text).Lookup("json")
	name, _, _ = strings.Cut(tag, ",")
	return name, ok && name != ""
}

// resolve returns the type of the module that an expression names.
func resolve(x ast.Expr, in typeIn, s *source) (typeIn, bool) {
	switch x := x.(type) {
	case *ast.StarExpr:
		return resolve(x.X, in, s)
	case *ast.Ident:
		_, ok := s.types[x.Name]
		return typeIn{in.folder, x.Name}, ok
	case *ast.SelectorExpr:
		if name, ok := x.X.(*ast.Ident); ok {
			folder, ours := s.imports[in.name][name.Name]
			return typeIn{folder, x.Sel.Name}, ours
		}
	}
	return typeIn{}, false
}

// special are types that say themselves how they are written.
var special = map[string]string{
	"train/record.Number": "number or null", "structured.Metrics": "[measures](metrics.md) by name",
	"models/config.Config": "[settings](train.md)", "models/data/conllu/conll18.Scores": "F1 by measure, and `scores`",
	"models/settings.Texts": "object",
}

// valueOf says what a value is in JSON. below is the struct that it is, or a list of if list.
func valueOf(x ast.Expr, in typeIn, s *source) (value string, below *typeIn, list bool) {
	switch x := x.(type) {
	case *ast.StarExpr:
		value, below, list = valueOf(x.X, in, s)
		if !strings.Contains(value, "null") {
			value += " or null"
		}
		return value, below, list
	case *ast.ArrayType:
		value, below, _ = valueOf(x.Elt, in, s)
		return "list of " + value, below, true
	case *ast.MapType:
		value, below, _ := valueOf(x.Value, in, s)
		return "object of " + value, below, true
	case *ast.InterfaceType:
		return "any", nil, false
	case *ast.Ident:
		if value, ok := basic[x.Name]; ok {
			return value, nil, false
		}
	}
	t, ours := resolve(x, in, s)
	if value, ok := special[t.folder+"."+t.name]; ok {
		return value, nil, false
	}
	if !ours {
		return "text", nil, false
	}
	there, err := sourceOf(t.folder)
	if err != nil || there.types[t.name] == nil {
		return "any", nil, false
	}
	if _, is := there.types[t.name].Type.(*ast.StructType); is {
		return "object", &t, false
	}
	return valueOf(there.types[t.name].Type, t, there)
}

var basic = map[string]string{
	"string": "text", "bool": "true or false", "int": "number", "int32": "number", "int64": "number", "uint64": "number",
	"float64": "number", "float32": "number", "any": "any",
}

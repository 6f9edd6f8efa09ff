package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declared holds what the Go files of a repository declare.
type declared struct {
	folders  map[string]bool            // from the root
	packages map[string]map[string]bool // names at the top of packages, by the package's name
	members  map[string]bool            // "Type.Member": methods, and members of structs and interfaces
	names    map[string]bool            // all of these, without what they belong to
}

func declarations(t *testing.T, root string) declared {
	d := declared{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root {
			return err
		}
		if e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		d.folders[filepath.ToSlash(folder)] = true
		d.file(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d declared) file(f *ast.File) {
	top := d.packages[f.Name.Name]
	if top == nil {
		top = map[string]bool{}
		d.packages[f.Name.Name] = top
	}
	member := func(of, name string) { d.members[of+"."+name], d.names[name] = true, true }
	for _, x := range f.Decls {
		if fn, ok := x.(*ast.FuncDecl); ok {
			if fn.Recv == nil {
				top[fn.Name.Name], d.names[fn.Name.Name] = true, true
				continue
			}
			receiver := ""
			ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok && receiver == "" {
					receiver = name.Name
				}
				return true
			})
			member(receiver, fn.Name.Name)
			continue
		}
		for _, s := range x.(*ast.GenDecl).Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					top[name.Name], d.names[name.Name] = true, true
				}
			case *ast.TypeSpec:
				top[s.Name.Name], d.names[s.Name.Name] = true, true
				var fields *ast.FieldList
				switch of := s.Type.(type) {
				case *ast.StructType:
					fields = of.Fields
				case *ast.InterfaceType:
					fields = of.Methods
				default:
					continue
				}
				for _, field := range fields.List {
					for _, name := range field.Names {
						member(s.Name.Name, name.Name)
					}
				}
			}
		}
	}
}

var (
	code      = regexp.MustCompile("`([^`]+)`")
	link      = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	folder    = regexp.MustCompile(`^[a-z]+(/[a-z]+)+$`)
	qualified = regexp.MustCompile(`^(\w+)\.(\w+)$`)
	name      = regexp.MustCompile(`^[A-Z]\w*$`)
)

// missing returns what a page names in code or links to that is not there.
func (d declared) missing(page string) (all []string) {
	for _, m := range code.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		span, there := m[1], true
		switch q := qualified.FindStringSubmatch(span); {
		case folder.MatchString(span):
			there = d.folders[span]
		case q != nil && d.packages[q[1]] != nil:
			there = d.packages[q[1]][q[2]]
		case q != nil && name.MatchString(q[1]):
			there = d.members[span]
		case name.MatchString(span):
			there = d.names[span]
		}
		if !there {
			all = append(all, span)
		}
	}
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join("design", m[1])); err != nil && !strings.Contains(m[1], "://") {
			all = append(all, m[1])
		}
	}
	return all
}

// What the page names is there, so that a reader can look for it.
func TestArchitectureNames(t *testing.T) {
	page, err := os.ReadFile("design/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	d := declarations(t, "..")
	if all := d.missing(string(page)); len(all) > 0 {
		t.Errorf("docs/design/architecture.md names what is not there: %s", strings.Join(all, ", "))
	}
	wrong := "`models.Nothing` `Model.Nothing` `Nothing` `models/nothing` [a](nothing.go), but `models.Load`, " +
		"`Model.Predict`, `Predict`, `models/tasks`"
	if all := d.missing(wrong); len(all) != 5 {
		t.Errorf("of five wrong names, these were found: %q", all)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// goPackage is what go list says about a package.
type goPackage struct {
	ImportPath, Dir, Export            string // Export: the file with the types of the compiled package
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string // of the package, without its tests
	DepOnly                            bool     // the package is not of this module

	lines int             // of its files, without tests and generated ones
	users []*goPackage    // packages with tests that import it, those that build on the fewest packages first
	on    map[string]bool // the packages that it builds on, with its tests
}

// helps reports whether a package is for tests alone: it says what they check, and no test is for it.
func (p *goPackage) helps() bool { return slices.Contains(p.Imports, "testing") }

func (p *goPackage) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// imports reports whether p or its tests import a package.
func (p *goPackage) imports(path string) bool {
	return slices.Contains(slices.Concat(p.Imports, p.TestImports, p.XTestImports), path)
}

// mentions reports whether a file of p or of its tests names something of another package, or a method.
func (p *goPackage) mentions(name string) bool {
	for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		if text, err := os.ReadFile(filepath.Join(p.Dir, file)); err == nil && bytes.Contains(text, []byte("."+name)) {
			return true
		}
	}
	return false
}

// usersOf returns the packages with tests that import p, those first that mention the declaration that a change is in.
func (p *goPackage) usersOf(c change) (paths []string) {
	var others []string
	for _, user := range p.users {
		if c.in != "" && user.mentions(c.in) {
			paths = append(paths, user.ImportPath)
		} else {
			others = append(others, user.ImportPath)
		}
	}
	return append(paths, others...)
}

// list returns the packages of a module, by path, and what they are compiled to.
func list(dir string) ([]*goPackage, *compiled, error) {
	var stderr bytes.Buffer
	const fields = "ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps,DepOnly"
	c := exec.Command("go", "list", "-export", "-deps", "-json="+fields, "./...")
	c.Dir, c.Stderr = dir, &stderr
	out, err := c.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var all []*goPackage
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, err
		}
		if exports[p.ImportPath] = p.Export; !p.DepOnly {
			all = append(all, p)
		}
	}
	deps := map[string][]string{}
	for _, p := range all {
		deps[p.ImportPath] = p.Deps
	}
	for _, p := range all {
		p.on = map[string]bool{}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			p.on[path] = true
			for _, path := range deps[path] {
				p.on[path] = true
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *goPackage) int { return len(a.on) - len(b.on) })
	for _, p := range all {
		for _, user := range all {
			if user != p && user.tested() && user.imports(p.ImportPath) {
				p.users = append(p.users, user)
			}
		}
	}
	slices.SortFunc(all, func(a, b *goPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return all, newCompiled(exports), nil
}

// compiled is what type checks look up: the types of all packages.
type compiled struct {
	files    *token.FileSet
	importer types.Importer
}

// newCompiled reads types from the files that packages, by path, are compiled to.
func newCompiled(exports map[string]string) *compiled {
	files := token.NewFileSet()
	return &compiled{files, importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
}

// accepts reports whether a package still has its types right after a change. Those who import it need not be looked
// at: no change is of a declaration's type.
func (c *compiled) accepts(p *goPackage, file string, changed []byte) bool {
	var all []*ast.File
	for _, name := range p.GoFiles {
		var source any // nil: the parser reads the file
		if name = filepath.Join(p.Dir, name); name == file {
			source = changed
		}
		tree, err := parser.ParseFile(c.files, name, source, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		all = append(all, tree)
	}
	with := types.Config{Importer: c.importer, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := with.Check(p.ImportPath, c.files, all, nil)
	return err == nil
}

// changes lists those of all files of a package, and counts its lines.
func (p *goPackage) changes(read func(file string) ([]byte, error)) (all []change, err error) {
	for _, name := range p.GoFiles {
		file := filepath.Join(p.Dir, name)
		source, err := read(file)
		if err != nil {
			return nil, err
		}
		some, err := changesOf(file, source)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			p.lines += bytes.Count(source, []byte("\n"))
		}
		all = append(all, some...)
	}
	return all, nil
}

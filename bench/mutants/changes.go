package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// change is a single change of a file: the bytes from lo to hi become text.
type change struct {
	kind   string
	file   string
	line   int
	lo, hi int
	text   string
	in     string // the function, method or variable that is declared there
}

// apply returns the file with the change.
func (c change) apply(source []byte) []byte {
	return append(append(append([]byte{}, source[:c.lo]...), c.text...), source[c.hi:]...)
}

// describe says in a line what becomes of what.
func (c change) describe(source []byte) string {
	short := func(s string) string {
		if s = strings.Join(strings.Fields(s), " "); len(s) > 60 {
			s = s[:57] + "..."
		}
		return s
	}
	from, to := short(string(source[c.lo:c.hi])), short(c.text)
	switch {
	case from == "":
		return fmt.Sprintf("%s: %s", c.kind, to)
	case to == "":
		return fmt.Sprintf("%s: %s", c.kind, from)
	}
	return fmt.Sprintf("%s: %s becomes %s", c.kind, from, to)
}

// The kinds of changes.
const (
	comparison = "comparison"
	sign       = "sign"
	logic      = "logic"
	constant   = "constant"
	dropped    = "dropped statement"
	swapped    = "swapped arguments"
	returned   = "early return"
)

// operators are what binary operators and assignments become.
var operators = map[token.Token]struct {
	kind string
	to   token.Token
}{
	token.LSS:        {comparison, token.LEQ},
	token.LEQ:        {comparison, token.LSS},
	token.GTR:        {comparison, token.GEQ},
	token.GEQ:        {comparison, token.GTR},
	token.EQL:        {comparison, token.NEQ},
	token.NEQ:        {comparison, token.EQL},
	token.ADD:        {sign, token.SUB},
	token.SUB:        {sign, token.ADD},
	token.MUL:        {sign, token.QUO},
	token.QUO:        {sign, token.MUL},
	token.ADD_ASSIGN: {sign, token.SUB_ASSIGN},
	token.SUB_ASSIGN: {sign, token.ADD_ASSIGN},
	token.INC:        {sign, token.DEC},
	token.DEC:        {sign, token.INC},
	token.LAND:       {logic, token.LOR},
	token.LOR:        {logic, token.LAND},
}

// changesOf lists the changes of a file, in the order of the syntax tree. Some of them may not compile: see compiled.
func changesOf(name string, source []byte) ([]change, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(tree) || os.Getenv(emulator) == "" && needsDevice(tree) {
		return nil, nil
	}
	f := &finder{file: name, source: source, files: files, equivalent: map[ast.Node]bool{}}
	for _, d := range tree.Decls {
		f.in = declared(d)
		ast.Inspect(d, f.visit)
	}
	return f.found, nil
}

// emulator names the driver of the device that make test-gpu emulates. Where it is not set, tests skip what needs a
// device.
const emulator = "DSP_CUDA_LIBRARY"

// needsDevice reports whether a file works with a device.
func needsDevice(tree *ast.File) bool {
	return slices.ContainsFunc(tree.Imports, func(s *ast.ImportSpec) bool {
		return strings.Contains(s.Path.Value, "/cuda/")
	})
}

// declared returns the name that a declaration gives, the first of several.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return ""
}

type finder struct {
	file   string
	in     string // the declaration that is looked at
	source []byte
	files  *token.FileSet
	found  []change

	equivalent map[ast.Node]bool // a change of these changes nothing
}

func (f *finder) at(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) text(n ast.Node) string { return string(f.source[f.at(n.Pos()):f.at(n.End())]) }

func (f *finder) add(kind string, lo, hi token.Pos, text string) {
	p := f.files.Position(lo)
	f.found = append(f.found,
		change{kind: kind, file: f.file, line: p.Line, lo: p.Offset, hi: f.at(hi), text: text, in: f.in})
}

// operator adds the change of an operator.
func (f *finder) operator(p token.Pos, is token.Token) {
	if o, ok := operators[is]; ok {
		f.add(o.kind, p, p+token.Pos(len(is.String())), o.to.String())
	}
}

func (f *finder) visit(n ast.Node) bool {
	if f.equivalent[n] {
		return false
	}
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.StructType, *ast.InterfaceType:
		return false
	case *ast.BinaryExpr:
		f.operator(n.OpPos, n.Op)
	case *ast.AssignStmt:
		f.operator(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		f.operator(n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		switch n.Op {
		case token.SUB:
			f.add(sign, n.OpPos, n.OpPos+1, "")
		case token.NOT:
			f.add(logic, n.OpPos, n.OpPos+1, "")
		}
	case *ast.BasicLit:
		f.literal(n)
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add(constant, n.Pos(), n.End(), "false")
		case "false":
			f.add(constant, n.Pos(), n.End(), "true")
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CallExpr:
		if unseen(n) {
			return false
		}
		switch name := called(n); {
		// how much room there is, and which sign counts: a larger number says the same
		case name == "make" && len(n.Args) == 3, name == "math.IsInf":
			ast.Inspect(n.Args[len(n.Args)-2], f.visit)
			return false
		case len(n.Args) > 0 && compares.MatchString(name):
			if by, ok := n.Args[len(n.Args)-1].(*ast.FuncLit); ok {
				f.signs(by)
			}
		}
		for k := 1; k < len(n.Args) && !commutes(called(n)); k++ {
			if l, ok := n.Args[k-1].(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Contains(l.Value, "%") {
				continue // a format
			}
			if one, two := f.text(n.Args[k-1]), f.text(n.Args[k]); one != two {
				between := string(f.source[f.at(n.Args[k-1].End()):f.at(n.Args[k].Pos())])
				f.add(swapped, n.Args[k-1].Pos(), n.Args[k].End(), two+between+one)
			}
		}
	case *ast.FuncDecl:
		if n.Body != nil && len(n.Body.List) > 0 {
			values, ok := f.zeros(n.Type.Results)
			early := strings.TrimSpace("return " + values)
			if ok && f.text(n.Body.List[0]) != early { // it returns that anyway
				f.add(returned, n.Body.Lbrace+1, n.Body.Lbrace+1, early+";")
			}
		}
	}
	return true
}

// unseen reports whether a call makes nothing but a line of the log, or room that a slice or a buffer will have anyway:
// what changes there is not harmful.
func unseen(n *ast.CallExpr) bool {
	name := called(n)
	of, method, _ := strings.Cut(name, ".")
	switch method {
	case "Debug", "Info", "Warn":
		return slices.Contains([]string{"slog", "log", "Log", "logger"}, of)
	case "Grow":
		return true
	}
	return false
}

// compares matches functions whose last argument says by its sign what comes first.
var compares = regexp.MustCompile(`^slices\.(Sort|BinarySearch|Min|Max|IsSorted).*Func$`)

// signs leaves out the numbers that a comparison returns, of which the sign counts.
func (f *finder) signs(by *ast.FuncLit) {
	ast.Inspect(by.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			x := r.Results[0]
			if minus, ok := x.(*ast.UnaryExpr); ok {
				x = minus.X
			}
			if l, ok := x.(*ast.BasicLit); ok && l.Value != "0" {
				f.equivalent[l] = true
			}
		}
		return true
	})
}

// commutes reports whether a function gives the same for arguments that are swapped.
func commutes(name string) bool {
	_, method, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"min", "max", "math.Min", "math.Max", "math.Hypot"}, name) || method == "Equal"
}

// called returns the name of the function or method that a call names: f, or x.f where x is a name, or the last of
// several.
func called(n *ast.CallExpr) string {
	switch f := n.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		of := ""
		switch x := f.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		return of + "." + f.Sel.Name
	}
	return ""
}

// literal changes a number.
func (f *finder) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if x, err := strconv.ParseInt(n.Value, 0, 32); err == nil {
			f.add(constant, n.Pos(), n.End(), strconv.FormatInt(x+1, 10))
		}
	case token.FLOAT:
		to := "(2*" + n.Value + ")"
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil && x == 0 {
			to = "1.0"
		}
		f.add(constant, n.Pos(), n.End(), to)
	}
}

// statements drops statements of a list that compute something.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && unseen(call) {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt:
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE && s.Tok != token.BREAK {
				continue
			}
		default:
			continue
		}
		f.add(dropped, s.Pos(), s.End(), "")
	}
}

var numeric = regexp.MustCompile(`^(u?int(8|16|32|64)?|float(32|64)|byte|rune)$`)

// zeros returns what a function returns that does nothing, as far as the syntax of its results shows it.
func (f *finder) zeros(results *ast.FieldList) (values string, ok bool) {
	if results == nil {
		return "", true
	}
	var all []string
	for _, field := range results.List {
		if len(field.Names) > 0 {
			return "", true // named
		}
		value := ""
		switch t := field.Type.(type) {
		case *ast.StarExpr, *ast.ArrayType, *ast.MapType, *ast.FuncType, *ast.ChanType:
			value = "nil"
		case *ast.Ident:
			switch {
			case t.Name == "error":
				value = "nil"
			case t.Name == "string":
				value = `""`
			case t.Name == "bool":
				value = "false"
			case numeric.MatchString(t.Name):
				value = "0"
			}
		}
		if value == "" {
			value = "*new(" + f.text(field.Type) + ")"
		}
		all = append(all, value)
	}
	return strings.Join(all, ", "), true
}

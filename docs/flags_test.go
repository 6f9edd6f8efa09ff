package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a user should type is said in models and cmd: messages of packages below name no flags.
func TestNoFlagsBelowModels(t *testing.T) {
	flag := regexp.MustCompile("(^|[ (])--[a-z]")
	for _, room := range []string{"structured", "oracles", "nets", "train", "cuda"} {
		err := filepath.WalkDir(filepath.Join("..", room), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				// arguments of other programs have no blanks
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Contains(text.Value, " ") &&
					flag.MatchString(text.Value[1:]) {
					t.Errorf("%v names a flag: %s", files.Position(text.Pos()), text.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

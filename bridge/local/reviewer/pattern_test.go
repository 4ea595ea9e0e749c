package reviewer

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// noImports lets the package be checked alone; its constants need no others.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// A pattern is compiled when it is first used, so a mistake in one would be
// found by the change that needs it. This finds them all.
func TestEveryPatternCompiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	_, _ = config.Check("reviewer", fset, files, info) // what is imported is missing
	n := 0
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "newPattern" {
				return true
			}
			n++
			value := info.Types[call.Args[0]].Value
			if value == nil {
				t.Errorf("%s: the pattern is no constant", fset.Position(call.Pos()))
				return true
			}
			if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
				t.Errorf("%s: %v", fset.Position(call.Pos()), err)
			}
			return true
		})
	}
	if n < 100 {
		t.Errorf("found only %d patterns", n)
	}
}

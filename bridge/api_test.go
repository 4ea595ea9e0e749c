package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublicAPI walks everything that can be reached from an exported name and
// fails at a type of another module: a change of transport must not break users.
func TestPublicAPI(t *testing.T) {
	t.Parallel()
	pkg := typeCheck(t)
	w := &apiWalker{t: t, pkg: pkg, seen: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			w.walk(name, o.Type())
		}
	}
	for _, name := range []string{"Run", "Agents", "AgentInfo", "Catalog", "Tool", "Store"} {
		if !w.seen[pkg.Scope().Lookup(name).Type()] {
			t.Errorf("the walk has not reached %s", name)
		}
	}
}

// typeCheck loads this package from the build cache's export data.
func typeCheck(t *testing.T) *types.Package {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	pkg, err := importer.ForCompiler(token.NewFileSet(), "gc", lookup).Import("github.com/liaison-bot/liaison/bridge")
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

type apiWalker struct {
	t    *testing.T
	pkg  *types.Package
	seen map[types.Type]bool
}

func (w *apiWalker) walk(where string, typ types.Type) {
	if w.seen[typ] {
		return
	}
	w.seen[typ] = true
	switch typ := typ.(type) {
	case *types.Alias:
		w.walk(where, types.Unalias(typ))
	case *types.Named:
		w.named(where, typ)
	case *types.TypeParam:
		w.walk(where, typ.Constraint())
	case *types.Struct:
		for f := range typ.Fields() {
			if f.Exported() || f.Embedded() {
				w.walk(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range typ.Methods() {
			w.walk(where+"."+m.Name(), m.Type())
		}
		for e := range typ.EmbeddedTypes() {
			w.walk(where, e)
		}
	case *types.Union:
		for term := range typ.Terms() {
			w.walk(where, term.Type())
		}
	case *types.Signature:
		w.params(where, typ.TypeParams())
		w.walk(where, typ.Params())
		w.walk(where, typ.Results())
	case *types.Tuple:
		for v := range typ.Variables() {
			w.walk(where, v.Type())
		}
	case *types.Map:
		w.walk(where, typ.Key())
		w.walk(where, typ.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		w.walk(where, typ.Elem())
	case *types.Basic:
	default:
		w.t.Errorf("%s has a type of a kind that the walk does not know: %T", where, typ)
	}
}

func (w *apiWalker) params(where string, params *types.TypeParamList) {
	for p := range params.TypeParams() {
		w.walk(where, p)
	}
}

func (w *apiWalker) named(where string, typ *types.Named) {
	for arg := range typ.TypeArgs().Types() {
		w.walk(where, arg)
	}
	w.params(where, typ.TypeParams())
	p := typ.Obj().Pkg()
	if p == nil {
		return
	}
	if p != w.pkg {
		if first, _, _ := strings.Cut(p.Path(), "/"); strings.Contains(first, ".") {
			w.t.Errorf("%s shows %s", where, typ)
		}
		return
	}
	w.walk(where, typ.Underlying())
	for m := range typ.Methods() {
		if m.Exported() {
			w.walk(typ.Obj().Name()+"."+m.Name(), m.Type())
		}
	}
}

// TestEverythingIsExplained fails for an exported name without a comment. A group
// of constants or variables may have one for all.
func TestEverythingIsExplained(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	explained := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		n++
		for _, c := range comments {
			if strings.TrimSpace(c.Text()) != "" {
				return
			}
		}
		t.Errorf("%s has no comment", name.Name)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || exportedReceiver(d.Recv.List[0].Type) {
					explained(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						explained(s.Name, s.Doc, d.Doc)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							explained(name, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d exported names were found; there are more", n)
	}
}

func exportedReceiver(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return exportedReceiver(e.X)
	case *ast.IndexExpr:
		return exportedReceiver(e.X)
	case *ast.IndexListExpr:
		return exportedReceiver(e.X)
	case *ast.Ident:
		return e.IsExported()
	default:
		return false
	}
}

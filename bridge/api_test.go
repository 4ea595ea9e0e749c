package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
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
	if !w.seen[pkg.Scope().Lookup("Run").Type()] {
		t.Error("the walk has not reached Run")
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
	case *types.Signature:
		w.walk(where, typ.Params())
		w.walk(where, typ.Results())
	case *types.Tuple:
		for v := range typ.Variables() {
			w.walk(where, v.Type())
		}
	case *types.Map:
		w.walk(where, typ.Key())
		w.walk(where, typ.Elem())
	case interface{ Elem() types.Type }:
		w.walk(where, typ.Elem())
	}
}

func (w *apiWalker) named(where string, typ *types.Named) {
	for arg := range typ.TypeArgs().Types() {
		w.walk(where, arg)
	}
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

package agent

import (
	"testing"
	"testing/fstest"
)

func TestMemoryIsAFileSystem(t *testing.T) {
	t.Parallel()
	m := memory{
		{path: "a-b", data: []byte("1")}, {path: "a/b/c", data: []byte("22"), exec: true}, {path: "a/d"}, {path: "a0"}, {path: "z"},
	}
	if err := fstest.TestFS(m, "a-b", "a/b/c", "a/d", "a0", "z"); err != nil {
		t.Error(err)
	}
	if err := fstest.TestFS(memory{}); err != nil {
		t.Errorf("with nothing in it: %v", err)
	}
}

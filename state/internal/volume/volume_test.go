package volume_test

import (
	"path/filepath"
	"testing"

	"github.com/liaison-bot/liaison/state/internal/volume"
)

func TestAFolderHasAVolume(t *testing.T) {
	t.Parallel()
	u, err := volume.Of(t.TempDir())
	if err != nil || u.Size <= 0 || u.Free < 0 || u.Free > u.Size || u.FreeInodes > u.Inodes {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := volume.Of(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there has a volume")
	}
}

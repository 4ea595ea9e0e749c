package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// stagingPrefix begins the names of folders for what is not finished. Whoever
// holds the lock may remove them.
const stagingPrefix = ".staging-"

// Result is what [Install] did.
type Result struct {
	Installed
	// Already is true when this very archive was installed and intact.
	Already bool
}

// installation is one call of Install.
type installation struct {
	Options
	base  *url.URL
	fetch *fetcher
	root  *os.Root
	// limits and create are the unpacker's.
	limits limits
	create func(*os.Root) func(string, fs.FileMode) (target, error)
}

// Install makes the archive that the options name the current copy in o.Dir. It
// waits for an installation that is under way there. Until it has succeeded, the
// copy that was current stays so; it is kept for whoever still runs it, and older
// ones are removed.
//
// Errors: what is in this package's list, [*StatusError], ctx's, and those of
// the file system.
func Install(ctx context.Context, o Options) (Result, error) {
	base, err := o.complete()
	if err != nil {
		return Result{}, err
	}
	in := &installation{Options: o, base: base, limits: defaultLimits, fetch: newFetcher(o.Transport, o.AllowInsecure)}
	return in.run(ctx)
}

func (in *installation) run(ctx context.Context) (Result, error) {
	if err := os.MkdirAll(in.Dir, 0o755); err != nil {
		return Result{}, fmt.Errorf("make the folder to install in: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(in.Dir, ".lock"), func() { in.Progress(Progress{Step: StepWait}) })
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if in.root, err = openDir(in.Dir); err != nil {
		return Result{}, err
	}
	defer func() { _ = in.root.Close() }()
	if err := in.sweep(); err != nil {
		return Result{}, err
	}
	sum, err := in.expected(ctx)
	if err != nil {
		return Result{}, err
	}
	staging, err := os.MkdirTemp(in.root.Name(), stagingPrefix)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(staging) }() // the next one sweeps what cannot be removed now

	if r, ok := in.present(sum); ok {
		if err := in.accept(ctx, staging, r); err != nil {
			return Result{}, err
		}
		return Result{Installed: r.installed(in.root), Already: true}, nil
	}
	r, err := in.install(ctx, staging, sum)
	if err != nil {
		return Result{}, err
	}
	return Result{Installed: r.installed(in.root)}, nil
}

// install unpacks the archive with this sum and makes it the current copy.
func (in *installation) install(ctx context.Context, staging, sum string) (record, error) {
	archive, err := in.obtain(ctx, filepath.Join(staging, in.Platform.Archive()), sum)
	if err != nil {
		return record{}, err
	}
	defer archive.Close()
	in.Progress(Progress{Step: StepUnpack})
	tree := filepath.Join(staging, "tree")
	r, err := in.unpack(ctx, archive, tree)
	if err != nil {
		return record{}, err
	}
	r.SHA256 = sum
	r.Path = in.freeName(r.Version, sum)
	if err := in.describe(staging, tree, r); err != nil {
		return record{}, err
	}
	home := filepath.Join(in.root.Name(), r.Path)
	if err := os.Rename(tree, home); err != nil {
		return record{}, err
	}
	if err := in.accept(ctx, staging, r); err != nil {
		return record{}, errors.Join(err, os.RemoveAll(home))
	}
	return r, nil
}

// accept looks at the copy in its place and switches to it.
func (in *installation) accept(ctx context.Context, staging string, r record) error {
	// Read back from the disk: what was written may not be what is there.
	if err := verify(in.root, r); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if in.Check != nil {
		in.Progress(Progress{Step: StepCheck})
		if err := in.Check(ctx, r.installed(in.root).Executable); err != nil {
			return fmt.Errorf("the bridge is as it was published, but it does not start here: %w", err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return in.point(staging, r)
}

// point makes a copy the current one, and removes all but it and the one before.
func (in *installation) point(staging string, r record) error {
	before, err := readRecord(in.root, pointerName)
	known := err == nil
	if known && before == r {
		return nil
	}
	in.Progress(Progress{Step: StepSwitch})
	data, err := r.encode()
	if err != nil {
		return err
	}
	if err := writeFile(staging, filepath.Join(in.root.Name(), pointerName), data); err != nil {
		return err
	}
	if known {
		in.prune(r.Path, before.Path)
	}
	return nil
}

// unpack unpacks the archive into a new folder and reads its manifest.
func (in *installation) unpack(ctx context.Context, archive io.Reader, tree string) (record, error) {
	if err := os.Mkdir(tree, 0o755); err != nil {
		return record{}, err
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return record{}, err
	}
	defer func() { _ = root.Close() }() // Windows renames no folder that is open
	u := newUnpacker(root, in.limits)
	if in.create != nil {
		u.create = in.create(root)
	}
	files, err := u.unpack(ctx, archive)
	if err != nil {
		return record{}, err
	}
	m, err := readManifest(root)
	if err != nil {
		return record{}, err
	}
	if err := m.check(in.Platform, in.Version); err != nil {
		return record{}, err
	}
	executable := m.executable(in.Platform)
	sum, ok := files[executable]
	if !ok {
		return record{}, fmt.Errorf("%w: it has no %s", ErrManifest, executable)
	}
	if err := root.Chmod(filepath.FromSlash(executable), 0o755); err != nil {
		return record{}, err
	}
	version := m.version()
	if version == "" {
		version = in.Version
	}
	return record{
		Schema: schema, Version: version, Source: in.source(), InstalledAt: in.Now().UTC(),
		Executable: executable, ExecutableSHA256: sum,
	}, nil
}

// describe writes the copy's record into its folder.
func (in *installation) describe(staging, tree string, r record) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(tree, recordName)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it has a file of the name %s", ErrArchive, recordName)
	}
	return writeFile(staging, path, data)
}

// freeName is a name for a copy's folder that no other copy has: one that is in
// use is never written to.
func (in *installation) freeName(version, sum string) string {
	if version == "" {
		version = "unversioned"
	}
	name := version + "-" + sum[:12]
	for n := 2; ; n++ {
		if _, err := in.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = version + "-" + sum[:12] + "-" + strconv.Itoa(n)
	}
}

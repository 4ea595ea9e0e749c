package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/bridge/install"
	"github.com/liaison-bot/liaison/config"
)

// installCheckBudget bounds the start of a freshly installed bridge for --check.
const installCheckBudget = 2 * time.Minute

func newBridgeInstall(environ []string) *cobra.Command {
	var o install.Options
	var file string
	var check bool
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the vendor's bridge, verified",
		Long: `Install the vendor's bridge (cursor-sdk-bridge) for this machine.

The archive is downloaded from a release of https://github.com/cursor/sdk-bridge,
or taken from a file. Its SHA-256 must be the one of the release's
` + install.SumsFile + `, or the one that you give with --sha256. The sums file comes from
the same place as the archive: it finds damage, but only --sha256 also protects
against whoever can change the release.

Until everything is verified, what was installed before stays as it is.
"liaison serve" runs the installed bridge when CURSOR_API_KEY is set and
CURSOR_SDK_BRIDGE_BIN is not; start it again after an installation.`,
		Example: `  liaison bridge install
  liaison bridge install --version v1.2.3 --sha256 HEX --check
  liaison bridge install --from cursor-sdk-bridge-standalone-linux-x64.tar.gz --sums SHA256SUMS.txt`,
		Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := installSettings(environ, file, &o)
			if err != nil {
				return unusable(err)
			}
			if check {
				o.Check = func(ctx context.Context, path string) error { return startOnce(ctx, path, cfg) }
			}
			bar := newInstallProgress(c.ErrOrStderr())
			o.Progress = bar.show
			result, err := install.Install(c.Context(), o)
			bar.end()
			if errors.Is(err, install.ErrOptions) || errors.Is(err, install.ErrUnsupported) {
				return unusable(err)
			}
			if err != nil {
				return cfg.Redactor().Error(fmt.Errorf("install the vendor's bridge: %w", err))
			}
			return reportInstalled(c.OutOrStdout(), result, o.Dir, cfg)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Version, "version", "", "release to install, such as v1.2.3 (default: the latest)")
	f.StringVar(&o.SHA256, "sha256", "", "SHA-256 that the archive must have, instead of the sums file's")
	f.StringVar(&o.BaseURL, "base-url", "", "folder with the archives and "+install.SumsFile+", such as a mirror's (default: GitHub)")
	f.StringVar(&o.Archive, "from", "", "archive to install instead of downloading it; needs --sha256 or --sums")
	f.StringVar(&o.Sums, "sums", "", "sums file to read instead of downloading it")
	f.StringVar(&o.Dir, "dir", "", "where to install (default: "+config.EnvBridgeDir+")")
	f.BoolVar(&o.Force, "force", false, "install anew what is there already")
	f.BoolVar(&check, "check", false, "start the bridge once before it is used; it gets "+config.EnvCursorAPIKey+", if set")
	f.BoolVar(&o.AllowInsecure, "allow-insecure-url", false, "allow http to another host; use it with --sha256")
	f.StringVar(&file, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	return c
}

// installSettings reads the settings and takes the folder from them unless one was named.
func installSettings(environ []string, file string, o *install.Options) (*config.Config, error) {
	cfg, err := config.Load(environ, file)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		o.Dir = cfg.Bridge.Dir
	}
	o.Dir, err = filepath.Abs(o.Dir)
	return cfg, err
}

// startOnce starts the bridge, asks it what it is, and stops it. What it keeps
// is thrown away.
func startOnce(ctx context.Context, path string, cfg *config.Config) (err error) {
	dir, err := os.MkdirTemp("", "liaison-bridge-check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	choice, err := vendorsBridge(cfg, path, "")
	if err != nil {
		return err
	}
	choice.options.StateRoot, choice.options.Args = dir, nil
	choice.options.Redact = cfg.Redactor().String
	client, err := bridge.New(choice.options)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installCheckBudget)
	defer cancel()
	_, err = client.Version(ctx)
	// The bridge is stopped even when the check was broken off.
	stopping, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), stopBridge)
	defer cancelStop()
	return errors.Join(err, client.Close(stopping))
}

// reportInstalled says what is installed and what happens next.
func reportInstalled(w io.Writer, r install.Result, dir string, cfg *config.Config) error {
	verb := "Installed"
	if r.Already {
		verb = "Already installed and intact:"
	}
	version := r.Version
	if version == "" {
		version = "of an unknown version"
	}
	next := `"liaison serve" runs it from its next start on.`
	switch {
	case dir != cfg.Bridge.Dir:
		next = fmt.Sprintf(`"liaison serve" finds it when %s is %s.`, config.EnvBridgeDir, dir)
	case cfg.Bridge.VendorExecutable != "":
		next = fmt.Sprintf(`"liaison serve" runs it once %s is unset.`, config.EnvBridgeBin)
	case cfg.Bridge.CursorAPIKey == "":
		next = fmt.Sprintf(`"liaison serve" runs it once %s is set.`, config.EnvCursorAPIKey)
	}
	_, err := fmt.Fprintf(w, "%s cursor-sdk-bridge %s\n  executable      %s\n  archive sha256  %s\n%s\n", verb, version, r.Executable, r.SHA256, next)
	return err
}

package install

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Options say what [Install] installs, and where. Without any but Dir it is the
// latest release for this machine.
type Options struct {
	// Dir keeps the copies and says which is current; it is made. Required.
	Dir string
	// Version is a release such as v1.2.3; the manifest is compared with it too.
	Version string
	// BaseURL is a folder with the archives and the sums file of one release. When
	// empty it is [VersionURL] of Version, or [LatestURL].
	BaseURL string
	// AllowInsecure admits http to other hosts than this one, for a mirror behind
	// a closed network. What protects then is SHA256 alone.
	AllowInsecure bool
	// Archive is a file to install instead of downloading. It needs SHA256 or Sums.
	Archive string
	// Sums is a file to read instead of downloading the release's sums file.
	Sums string
	// SHA256 pins the archive, in hex; no sums file is read then.
	SHA256 string
	// Force installs anew what is there already.
	Force bool
	// Platform is that of this machine when zero.
	Platform Platform
	// Check, when set, is called with the new executable's path before it becomes
	// the current one. An error leaves everything as it was.
	Check func(ctx context.Context, executable string) error
	// Progress, when set, is told what goes on. It must return soon.
	Progress func(Progress)
	// Transport is used for downloads; nil takes the system's proxy settings.
	Transport http.RoundTripper
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Step is a part of an installation.
type Step string

// The steps, in their order. Those that are not needed are left out.
const (
	StepWait     Step = "waiting for another installation"
	StepDownload Step = "downloading"
	StepUnpack   Step = "unpacking"
	StepCheck    Step = "starting it for a check"
	StepSwitch   Step = "switching to it"
)

// Progress is what goes on.
type Progress struct {
	Step Step
	// Done and Total are bytes of a download; Total is -1 when it is not known.
	Done, Total int64
}

// tagPattern is a release's version.
var tagPattern = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)$`)

// complete checks the options and fills in what they leave open.
func (o *Options) complete() (base *url.URL, err error) {
	if o.Dir == "" {
		return nil, fmt.Errorf("%w: no folder to install in", ErrOptions)
	}
	if o.Platform == (Platform{}) {
		if o.Platform, err = Host(); err != nil {
			return nil, err
		}
	}
	if o.Version != "" {
		match := tagPattern.FindStringSubmatch(o.Version)
		if match == nil {
			return nil, fmt.Errorf("%w: version %.40q is not one such as v1.2.3", ErrOptions, o.Version)
		}
		o.Version = match[1]
	}
	if o.SHA256 != "" {
		sum, err := parseSHA256(strings.TrimSpace(o.SHA256))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOptions, err)
		}
		o.SHA256 = sum
	}
	switch {
	case o.Archive != "" && o.BaseURL != "":
		return nil, fmt.Errorf("%w: both a file and a base URL to install from", ErrOptions)
	case o.Archive != "" && o.SHA256 == "" && o.Sums == "":
		return nil, fmt.Errorf("%w: a file is installed only with its SHA-256 or the release's %s", ErrOptions, SumsFile)
	case o.SHA256 != "" && o.Sums != "":
		return nil, fmt.Errorf("%w: both a SHA-256 and a sums file", ErrOptions)
	}
	if o.BaseURL == "" {
		o.BaseURL = LatestURL
		if o.Version != "" {
			o.BaseURL = VersionURL(o.Version)
		}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return parseBaseURL(o.BaseURL, o.AllowInsecure)
}

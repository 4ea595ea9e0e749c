package sim

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
)

// nodeID is an opaque global id in the older of GitHub's two forms.
func nodeID(kind string, id int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%03d:%s%d", len(kind), kind, id))
}

// escape makes a name a single path segment; escapePath keeps the slashes.
func escape(segment string) string { return url.PathEscape(segment) }

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// digest is a 40-digit SHA-1 of the parts, for ids that only have to look real.
func digest(parts ...string) string {
	sum := sha1.Sum([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// guid is a delivery id in the form of X-GitHub-Delivery.
func guid(parts ...string) string {
	d := digest(parts...)
	return fmt.Sprintf("%s-%s-11f0-%s-%s", d[0:8], d[8:12], d[12:16], d[16:28])
}

// splitName divides "owner/name"; a name without a slash panics.
func splitName(full string) (owner, name string) {
	owner, name, found := strings.Cut(full, "/")
	if !found || owner == "" || name == "" || strings.Contains(name, "/") {
		panic("sim: repository name must be owner/name, not " + full)
	}
	return owner, name
}

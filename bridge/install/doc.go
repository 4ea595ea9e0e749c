// Package install fetches the vendor's bridge, cursor-sdk-bridge, and keeps it
// where the service finds it.
//
// [Install] downloads the archive for a platform (or takes a file), compares its
// SHA-256 with the release's sums file or with a pinned value, unpacks it beside
// what is there, and makes it the current one by replacing one small file.
// [Current] answers which copy that is, after it has looked at it again.
//
// What the checks protect against: the sums file comes from the same place as
// the archive, so that the two together find damage and a mirror that mixes
// releases up, and TLS keeps strangers on the way out. Only a pinned SHA-256
// also protects against whoever can change the release itself.
//
// Nothing of an archive is executed before it is verified.
package install

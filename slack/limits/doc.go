// Package limits is the one table of what Slack accepts: lengths, counts and
// times, each with where the number comes from. Whoever writes to Slack cuts by
// these names, and tests stand at one below, at, and one above them.
//
// Lengths are in characters unless a name says bytes. Slack does not say what a
// character is; [Length] counts in the way that never comes out shorter.
package limits

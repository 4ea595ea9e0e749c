// Package workspace gives a model read-only tools over the working directories of
// an agent: list, read, find and search files.
//
// The model and what it reads are not trusted. Every access goes through
// [os.Root], so that no path, no symbolic link and no race between a look and an
// open leads out of the directories; pipes and devices are never opened; and
// every result, every walk and every file has a limit. Files may change under a
// walk: what cannot be read is counted and said, not an error.
package workspace

// Package backup copies everything that is stored into one archive while the
// service runs, and puts such an archive into an empty folder again.
//
// An archive is a tar stream, compressed with zstd: the database as of one
// moment, the intake journal, the segments of packed sessions, the records of
// the others, and last a manifest with a checksum of all of it. What is in the
// records of decisions after that moment is left out, since their numbers are
// given again after a restore. Workspaces are not part of it: they are made anew.
package backup

// Package evidence fetches what an agent needs to judge a pull request and lays
// it out as plain files, so that the agent reads files and holds no token.
//
// The format is described in docs/evidence.md. Three rules shape the package.
// Everything is pinned to the head and base that were read at the start, and a
// head that moves meanwhile ends the work with a [MovedError]. Nothing is
// missing in silence: the manifest always lists every file that GitHub lists, and
// README.md names whatever was left out and why. Nothing that the pull request
// brings decides a name on disk: contents lie under numbers, so that a file can
// neither escape the folder nor configure the agent that reads it.
package evidence

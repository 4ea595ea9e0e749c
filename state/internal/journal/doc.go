// Package journal keeps deliveries exactly as they came in append-only files.
//
// An acknowledgement waits for one write and one flush, which all who wait
// share; nothing that is there is read, sorted or written anew for it. The
// bodies stay where they were first written, and the database names their
// place.
//
// A folder holds segments, <number>.log, each a header and records. Every record
// begins with a mark that only this journal's segments have and ends with its
// sum, so that one that is damaged is told from one that is whole, and what
// follows it is still found. What is torn at the end of the last segment was
// never acknowledged and is cut off.
package journal

// Package unseen makes characters visible that a person does not see on a page and
// a model reads all the same: zero-width, bidirectional and tag characters.
package unseen

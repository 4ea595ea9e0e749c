// Package config reads the operator's settings: the environment first, then
// one optional liaison.yaml, then defaults.
//
// Every setting is declared once, in settings.go, with its names, its meaning
// and how it is read; the help text, the file's JSON Schema and the loader all
// come from that table. A key or a value that is not understood is an error
// that names the setting, never a silent default.
package config

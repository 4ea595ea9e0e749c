// Package metrics counts what happens for an operator's graphs and alerts, and
// shows it in Prometheus' text format. It is a leaf: others tell it what they do
// through small interfaces of their own, and it asks for the rest when it is read.
//
// Names and labels are a contract; docs/metrics.md explains them. Labels have few
// values, all of them words of the service itself: nothing that a stranger sends
// becomes one.
package metrics

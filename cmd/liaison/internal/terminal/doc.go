// Package terminal writes what people read: tables that stay aligned with any
// script, times as somebody says them, and colours where they are wanted. What
// strangers wrote never reaches a terminal as a control sequence.
package terminal

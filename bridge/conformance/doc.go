// Package conformance is the checklist of the bridge contract, run as tests: the
// SDK in package bridge against a real executable. It has nothing but tests.
//
//	make conformance
//	CURSOR_SDK_BRIDGE_BIN=/path/to/cursor-sdk-bridge CURSOR_API_KEY=… make conformance
//
// Every box is run against Liaison's own bridge and, when CURSOR_SDK_BRIDGE_BIN
// names one, against that executable too. What needs an account is skipped
// without CURSOR_API_KEY, what needs the scripted test model is skipped for other
// bridges, and the report at the end names each box with what became of it.
package conformance

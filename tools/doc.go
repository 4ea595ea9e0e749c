// Package tools is what an agent may call on the host: the type of a tool, the
// registry that knows which exist, the check of what is handed in, and the
// memory of calls, so that one that is asked for twice is made once.
//
// Tools that write to a platform live with the platform and are registered by
// the command; nothing here knows a surface.
package tools

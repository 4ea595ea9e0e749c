// Package agent is the definition of an agent as a folder: its settings, its
// instructions, its skills, its subagents, the MCP servers that it uses, the
// tools that it has and the files that its workspace begins with.
//
// [Load] reads such a folder and says what is wrong with it, by file and line.
// Nothing here runs anything: what a definition means is for those who run it.
package agent

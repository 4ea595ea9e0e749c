package agent

import "time"

// Bounds of a folder. They keep a wrong path (a home directory, a repository with
// all that was built in it) from being read as an agent's.
const (
	// maxFiles bounds the entries of a folder.
	maxFiles = 5000
	// maxDepth bounds how deep folders are nested.
	maxDepth = 32
	// maxSettings bounds a YAML file in bytes.
	maxSettings = 64 << 10
	// maxInstructions bounds all instructions together in bytes. They are in front of
	// every turn: what is longer belongs into skills.
	maxInstructions = 256 << 10
	// maxKept bounds a file that is kept in memory, and maxKeptInAll all of them: what
	// belongs to skills, to scripts of the agent's machine, and seed files.
	maxKept      = 8 << 20
	maxKeptInAll = 64 << 20
	// maxExecutable bounds a file of a tool that runs on the host, in bytes. A
	// program in Go has tens of megabytes.
	maxExecutable = 256 << 20
	// maxScript bounds a file of a tool that runs where the agent does, in bytes.
	maxScript = 1 << 20

	// maxDescription bounds what an agent reads about a tool or a subagent before it
	// uses it, in bytes.
	maxDescription = 4096
	// maxSkillDescription and maxSkillName are the bounds of the format, in
	// characters: https://agentskills.io/specification
	maxSkillDescription = 1024
	maxSkillName        = 64
	// maxList bounds a list of a settings file.
	maxList = 200
)

// MaxToolTimeout is how long a call of a tool may take.
const MaxToolTimeout = 10 * time.Minute

package agent

// localOnly warns of what a folder has and an agent at the provider has not.
func (l *loader) localOnly() {
	if l.def.Runtime != CloudHosted {
		return
	}
	for _, s := range l.def.Skills {
		l.warn(skillsDir+"/"+s.Name, 0, "is not given to an agent that runs in the cloud: it has no workspace of the service's")
	}
	for _, t := range l.def.Tools {
		if t.Flavor != OnAgent {
			l.warn(toolsDir+"/"+t.Name, 0, "is not offered to an agent that runs in the cloud: it cannot call the host")
		}
	}
	if l.def.Seeds != nil {
		l.warn(seedsDir, 0, "is not given to an agent that runs in the cloud: it has no workspace of the service's")
	}
	for _, c := range l.def.Connections {
		switch {
		case c.Transport == Stdio:
			l.warn(c.file, 0, "is not connected for an agent that runs in the cloud: the server runs on the host")
		case len(c.HeadersCommand) > 0:
			l.warn(c.file, c.lines["headersCommand"], "headersCommand is refused for an agent that runs in the cloud")
		}
	}
}

package sim

// SlackFile is a file that somebody has shared.
type SlackFile struct {
	// ID such as "F0PATCH"; made up if empty. User shared it.
	ID, User, Name, Title, Mimetype string
	Content                         []byte
	// Gone is what is left of a file that was deleted.
	Gone bool
	// ExternalURL makes it a file of another host, such as a cloud drive's.
	ExternalURL string
}

type slackFile struct {
	SlackFile
	team string
}

// AddFile keeps a file that people then share by [Slack.Post].
func (s *Slack) AddFile(f SlackFile) SlackFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keepFile(s.mustUser(f.User).Team, f).SlackFile
}

func (s *Slack) keepFile(team string, f SlackFile) *slackFile {
	if f.ID == "" {
		f.ID = s.newID("F")
	}
	if f.Name == "" {
		f.Name = f.ID
	}
	if f.Title == "" {
		f.Title = f.Name
	}
	if f.Mimetype == "" {
		f.Mimetype = "text/plain"
	}
	kept := &slackFile{SlackFile: f, team: team}
	s.files[f.ID] = kept
	return kept
}

func (s *Slack) mustFile(id string) *slackFile {
	f := s.files[id]
	if f == nil {
		panic("sim: no file " + id)
	}
	return f
}

// fileJSON is a file as messages and files.info show it.
func (s *Slack) fileJSON(f *slackFile) object {
	if f.Gone {
		return object{"id": f.ID, "mode": "tombstone"}
	}
	private := s.base + "/files-pri/" + f.team + "-" + f.ID + "/"
	o := object{
		"id": f.ID, "created": s.opts.Now().Unix(), "timestamp": s.opts.Now().Unix(), "name": f.Name, "title": f.Title, "mimetype": f.Mimetype,
		"filetype": f.Mimetype, "pretty_type": f.Mimetype, "user": f.User, "user_team": f.team, "size": len(f.Content), "mode": "hosted",
		"is_external": false, "is_public": true, "file_access": "visible",
		"url_private": private + escape(f.Name), "url_private_download": private + "download/" + escape(f.Name),
	}
	if f.ExternalURL != "" {
		o["mode"], o["is_external"], o["external_type"], o["url_private"] = "external", true, "gdrive", f.ExternalURL
		delete(o, "url_private_download")
	}
	return o
}

package github

// maxShrinks is how often a text is cut again after GitHub found it too long:
// the last try has a sixteenth of the documented length.
const maxShrinks = 4

// shrinking calls write with a limit in characters, and again with half of it
// for as long as GitHub says that the text is too long. It counts otherwise
// than its documentation says where characters take four bytes.
func shrinking(limit int, write func(limit int) error) error {
	var err error
	for range 1 + maxShrinks {
		if err = write(limit); err == nil || !tooLong(err) {
			return err
		}
		limit /= 2
	}
	return err
}

// cutNote says where the rest of a text is.
func cutNote(session string) string {
	return "*This is cut here: GitHub takes no longer texts. The whole of it is in the record of session " + code(session) + ".*"
}

package repoconfig

// Key describes one key to people.
type Key struct {
	// Name has its parts joined by dots.
	Name string
	// Default is its value as a file would say it.
	Default string
	Doc     string
}

// Keys lists every key, in the order in which people read them.
func Keys() []Key {
	holds := Default()
	var keys []Key
	for _, f := range fields() {
		keys = append(keys, Key{Name: f.key, Default: scalar(f.at(&holds)), Doc: f.doc})
	}
	return keys
}

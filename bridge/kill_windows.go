package bridge

import "os"

// killStranded kills a bridge that an earlier program started. Its job object
// has ended what it had started itself.
func killStranded(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil // it has ended
	}
	defer func() { _ = p.Release() }()
	return p.Kill()
}

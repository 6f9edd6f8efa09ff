//go:build !linux

package vec

// HugePages does nothing where the system has no such request.
func HugePages[E any]([]E) {}

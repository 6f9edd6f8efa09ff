//go:build !linux

package host

// HugePages does nothing where the system has no such request.
func HugePages([]float32) {}

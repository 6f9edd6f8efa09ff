//go:build !linux

package host

// HugePages does nothing where the system has no such request.
func HugePages[E float32 | float64 | int32]([]E) {}

//go:build !amd64

package host

// Prefetch does nothing on other processors.
func Prefetch[E float32 | int32 | int]([]E) {}

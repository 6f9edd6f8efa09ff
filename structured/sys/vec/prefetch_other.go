//go:build !amd64

package vec

// Prefetch does nothing on other processors.
func Prefetch[E any]([]E) {}

// PrefetchString does nothing on other processors.
func PrefetchString(string) {}

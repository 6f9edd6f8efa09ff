//go:build linux || darwin

package ranks

// SetMost sets the largest number of bytes in a call.
func SetMost(bytes int) { most = bytes }

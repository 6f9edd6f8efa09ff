//go:build !linux

package host

import "io/fs"

// checkThreads returns nil: only Linux tells how many threads are left.
func checkThreads(fs.FS) error { return nil }

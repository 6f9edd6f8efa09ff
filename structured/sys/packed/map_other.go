//go:build !linux && !darwin

package packed

import (
	"io"
	"os"
)

// mapped returns the content of a file. This system has no mapping that we know, so it reads the file into memory.
func mapped(f *os.File, size int) ([]byte, error) {
	b := aligned(size)
	_, err := io.ReadFull(f, b)
	return b, err
}

func unmap([]byte) error { return nil }

func sequential([]byte, bool) {}

func forget([]byte) {}

//go:build !(gpu && linux && amd64)

package driver

import "errors"

// Load returns the driver, or why there is none.
func Load() (Driver, error) {
	return nil, errors.New("this build has no CUDA (make gpu)")
}

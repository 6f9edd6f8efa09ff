//go:build !(gpu && linux && amd64)

package driver

import "errors"

// Built tells whether this build can reach a driver.
const Built = false

// Load returns the driver, or why there is none.
func Load() (Driver, error) {
	return nil, errors.New("this build has no CUDA (make gpu)")
}

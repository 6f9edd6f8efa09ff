//go:build !(gpu && linux && amd64)

package driver

import "errors"

// Built reports whether this build can use a driver.
const Built = false

var errNoCUDA = errors.New("this build has no CUDA (make gpu)")

// Load returns the driver, or an error that says why there is none.
func Load() (Driver, error) {
	return nil, errNoCUDA
}

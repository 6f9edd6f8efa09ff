//go:build !(gpu && linux && amd64)

package driver

import "errors"

// OpenCUBLAS opens the first of these libraries, names or paths, that exists and works with the driver.
func OpenCUBLAS(files ...string) (CUBLAS, error) {
	return nil, errors.New("this build has no CUDA (make gpu)")
}

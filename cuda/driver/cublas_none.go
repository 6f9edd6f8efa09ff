//go:build !(gpu && linux && amd64)

package driver

// OpenCUBLAS opens the first of these libraries, names or paths, that exists and works with the driver.
func OpenCUBLAS(files ...string) (CUBLAS, error) {
	return nil, errNoCUDA
}

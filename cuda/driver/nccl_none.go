//go:build !(gpu && linux && amd64)

package driver

// OpenNCCL opens a library by its name or path.
func OpenNCCL(file string) (NCCL, error) { return nil, errNoCUDA }

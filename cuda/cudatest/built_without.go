//go:build !(gpu && linux && amd64)

package cudatest

const built = false

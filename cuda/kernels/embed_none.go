//go:build !(gpu && linux && amd64)

package kernels

import "embed"

// embedded is empty: a build without a driver does not need megabytes of PTX.
var embedded embed.FS

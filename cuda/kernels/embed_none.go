//go:build !(gpu && linux && amd64)

package kernels

import "embed"

// embedded is empty: a build that reaches no driver has no use for megabytes of PTX.
var embedded embed.FS

//go:build !(gpu && linux && amd64)

package devicecode

import "embed"

// embedded is empty: a build without a driver does not need megabytes of PTX.
var embedded embed.FS

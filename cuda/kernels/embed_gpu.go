//go:build gpu && linux && amd64

package kernels

import "embed"

//go:embed ptx/*.ptx
var embedded embed.FS

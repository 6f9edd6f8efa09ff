//go:build gpu && linux && amd64

package devicecode

import "embed"

//go:embed ptx/*.ptx
var embedded embed.FS

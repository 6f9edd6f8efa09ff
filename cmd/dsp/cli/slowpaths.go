package cli

import (
	"runtime"
	"strings"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles/chain"
)

// slowPath is a part of the program that computes more slowly than it could here, and what to do about it.
type slowPath struct {
	Part   string `json:"part"`
	Remedy string `json:"remedy"`
}

// slowPaths lists those of this program on this machine.
func slowPaths() []slowPath {
	return slowPathsOf(runtime.GOARCH, runtime.Version(), chain.Lanes(), kernels.CurrentBLAS().Name())
}

// slowPathsOf is slowPaths of a program that was built by that Go, and has vector kernels of so many lanes and such
// matrix products.
func slowPathsOf(arch, builtBy string, lanes int, blas string) []slowPath {
	var all []slowPath
	if arch == "amd64" && lanes == 1 {
		remedy := "build the program with GOEXPERIMENT=simd"
		if strings.Contains(builtBy, "simd") {
			remedy = "use a processor with AVX2 or AVX-512"
		}
		all = append(all, slowPath{"inner loops without vector instructions", remedy})
	}
	if strings.HasPrefix(blas, "gonum") {
		remedy := "install OpenBLAS"
		if arch == "amd64" {
			remedy += ", or build the program with GOEXPERIMENT=simd"
		}
		all = append(all, slowPath{"matrix products of gonum", remedy})
	}
	return all
}

//go:build !goexperiment.simd || !amd64

package kernels

func chooseGates() *gateLoops { return &plainGates }

func chooseNumbers() *numberLoops { return &plainNumbers }

//go:build !goexperiment.simd || !amd64

package kernels

// Without vector instructions there are the plain loops alone.

// AvailableDense returns the loops that this processor can run, the fastest first.
func AvailableDense() []*DenseLoops { return []*DenseLoops{&plainDense} }

// AvailableSparse returns the loops that this processor can run, the fastest first.
func AvailableSparse() []*SparseLoops { return []*SparseLoops{&plainSparse} }

func availableProducts() []*ProductLoops { return []*ProductLoops{&plainProducts} }

func chooseGates() *gateLoops { return &plainGates }

func chooseNumbers() *numberLoops { return &plainNumbers }

func chooseRows() *rowLoops { return &plainRows }

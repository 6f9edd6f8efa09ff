// Package kernels has the inner loops of networks and of sparse linear scorers: matrix products (BLAS), elementwise
// loops over rows (Rows), activations, and the gather and scatter loops over rows of sparse weights (Sparse). Each
// comes in plain Go and in vector code for amd64: the matrix products in assembly, the others in builds with
// GOEXPERIMENT=simd. The processor decides at start-up which code runs. The environment variable DSP_BLAS (own,
// openblas, gonum) chooses the matrix products.
package kernels

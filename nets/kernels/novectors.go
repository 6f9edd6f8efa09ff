//go:build !goexperiment.simd || !amd64

package kernels

// Without vector instructions there are the plain loops alone.
var (
	avx2Dense, avx512Dense       *DenseLoops
	avx2Sparse, avx512Sparse     *SparseLoops
	avx2Products, avx512Products *ProductLoops
	avx2Gates, avx512Gates       *gateLoops
	avx2Numbers                  *numberLoops
	avx2Rows                     *rowLoops
)

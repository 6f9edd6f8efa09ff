package nets

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BLAS multiplies matrices. An implementation runs on the calling goroutine only: dsp works on shards in parallel, so
// results depend on no number of threads.
type BLAS interface {
	Name() string
	// Sgemm computes c = op(a)·op(b) + beta·c, m×k by k×n, with op the transpose where asked for. The matrices are
	// dense and row-major: a is [m×k], or [k×m] with transA.
	Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32)
}

// gonumBLAS is the plain one, for any machine.
type gonumBLAS struct{}

func (gonumBLAS) Name() string { return "gonum" }

// Sgemm goes by panels so small that gonum starts no goroutines.
func (gonumBLAS) Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32) {
	const rows, cols = 64, 128
	ta, lda := blas.NoTrans, k
	if transA {
		ta, lda = blas.Trans, m
	}
	tb, ldb := blas.NoTrans, n
	if transB {
		tb, ldb = blas.Trans, k
	}
	for i := 0; i < m; i += rows {
		ai := i * k
		if transA {
			ai = i
		}
		for j := 0; j < n; j += cols {
			bj := j
			if transB {
				bj = j * k
			}
			gonum.Implementation{}.Sgemm(ta, tb, min(rows, m-i), min(cols, n-j), k, 1, a[ai:], lda, b[bj:], ldb, beta, c[i*n+j:], n)
		}
	}
}

// CurrentBLAS returns the implementation that new workers use.
func CurrentBLAS() BLAS { return gonumBLAS{} }

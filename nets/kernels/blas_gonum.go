package kernels

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// gonumBLAS is gonum's implementation in Go, for any machine.
type gonumBLAS struct{}

func (gonumBLAS) Name() string { return "gonum" }

// Sgemm computes panels so small that gonum starts no goroutines.
func (gonumBLAS) Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32) {
	if k == 0 {
		scaleBy(c[:m*n], beta)
		return
	}
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
			gonum.Implementation{}.Sgemm(ta, tb, min(rows, m-i), min(cols, n-j), k, 1, a[ai:], lda, b[bj:], ldb, beta, c[i*n+j:],
				n)
		}
	}
}

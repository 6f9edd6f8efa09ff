package driver

// CUBLAS is NVIDIA's library of matrix products. Every call works on the current context of the calling OS thread.
// Errors are *Error.
type CUBLAS interface {
	Version() int // 10000 major + 100 minor + patch

	// Start makes the library enqueue into a stream and use only the given scratch memory, so that its calls can be
	// captured and give the same bits every time.
	Start(s Stream, scratch Address, bytes int64) error
	// UseTF32 lets the library round to 11 significant bits for the tensor cores.
	UseTF32(bool) error
	// Sgemm enqueues C = op(A)·op(B) + beta·C for dense row-major matrices, as BLAS.Sgemm of package device does; k >
	// 0.
	Sgemm(transA, transB bool, m, n, k int, a, b Address, beta float32, c Address,
		batch, strideA, strideB, strideC int) error
	Close() error
}

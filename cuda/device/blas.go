package device

import (
	"fmt"
	"os"

	"github.com/dsp-go/dsp/cuda/driver"
)

// BLAS multiplies matrices on a device: with the cuBLAS library if the machine has it, else with the kernels of
// gemm.cu.
type BLAS struct {
	device  *Device
	Tf32    bool
	library driver.CUBLAS  // nil: the kernels of gemm.cu
	scratch Array[float32] // partial products of a split k, or the library's scratch memory
}

const (
	partsScratch   = 4 << 20 // entries for the partial products of a split k: 16 MiB
	libraryScratch = 8 << 20 // entries for cuBLAS: the 32 MiB that NVIDIA recommends for Hopper
	mostBatch      = 65535   // matrices of a product: the largest third dimension of a grid, also in cuBLAS
	ownBLAS        = "own"
	blasVariable   = "DSP_CUDA_BLAS"
)

var cublasFiles = []string{"libcublas.so.13", "libcublas.so.12"}

// NewBLAS returns the matrix products of a device. With tf32 they round both factors to 11 significant bits for the
// tensor cores: the relative error is about 1e-3 instead of 1e-6.
//
// If the environment variable DSP_CUDA_BLAS is own, the kernels of gemm.cu are used; any other value is the path of the
// library, which must exist.
func NewBLAS(d *Device, tf32 bool) *BLAS {
	files, must := libraries(d.info)
	return newBLAS(d, tf32, files, must)
}

// NewOwnBLAS returns matrix products by the kernels of gemm.cu.
func NewOwnBLAS(d *Device, tf32 bool) *BLAS { return newBLAS(d, tf32, nil, false) }

func newBLAS(d *Device, tf32 bool, files []string, must bool) *BLAS {
	s := &BLAS{device: d, Tf32: tf32}
	entries := partsScratch
	if len(files) > 0 {
		d.Do(func(uintptr) error {
			var err error
			if s.library, err = driver.OpenCUBLAS(files...); err != nil && must {
				return fmt.Errorf("%s: %v", blasVariable, err)
			}
			return nil
		})
	}
	if s.library != nil {
		entries = libraryScratch
	}
	s.scratch = New[float32](d, entries, "matrix products")
	if s.library != nil {
		d.Do(func(stream uintptr) error {
			if err := s.library.Start(driver.Stream(stream), s.scratch.at, s.scratch.bytes()); err != nil {
				return err
			}
			return s.library.UseTF32(tf32)
		})
	}
	return s
}

// libraries returns the files that may hold cuBLAS, and whether one of them must exist. A real cuBLAS cannot use an
// emulated device.
func libraries(device Info) (files []string, must bool) {
	switch named := os.Getenv(blasVariable); {
	case named == ownBLAS || named == "" && device.Emulated():
		return nil, false
	case named != "":
		return []string{named}, true
	}
	return cublasFiles, false
}

// Close frees the scratch memory.
func (s *BLAS) Close() {
	if s.library != nil {
		s.device.Do(func(uintptr) error { return s.library.Close() })
	}
	Free(s.device, s.scratch)
}

// Name returns "own", or cuBLAS with its version, and "TF32" if products round to it.
func (s *BLAS) Name() string {
	name := ownBLAS
	if s.library != nil {
		v := s.library.Version()
		name = fmt.Sprintf("cuBLAS %d.%d.%d", v/10000, v/100%100, v%100)
	}
	if s.Tf32 {
		name += ", TF32"
	}
	return name
}

// Sgemm enqueues C = op(A)·op(B) + beta·C, m×k by k×n, for each matrix of a batch; op is the transpose if transA or
// transB is set. The matrices are dense and row-major: A is [m×k], or [k×m] with transA, and matrix i of the batch
// starts at i·strideA. A stride of 0 uses one matrix for the whole batch; the matrices C must not overlap. With beta 0,
// C may hold anything. k may be 0. Repeated calls release the same bits.
//
// It allocates nothing and may be captured.
func (s *BLAS) Sgemm(transA, transB bool, m, n, k int, a, b Array[float32], beta float32, c Array[float32],
	batch, strideA, strideB, strideC int) {
	if m <= 0 || n <= 0 || batch <= 0 {
		return
	}
	for first := 0; first < batch; first += mostBatch {
		count := min(mostBatch, batch-first)
		part := func(x Array[float32], stride, size int) Array[float32] {
			if size == 0 {
				return Array[float32]{}
			}
			return x.Slice(first*stride, (first+count-1)*stride+size)
		}
		multiply := s.alone
		if s.library != nil && k > 0 {
			multiply = s.byLibrary
		}
		multiply(transA, transB, m, n, k, part(a, strideA, m*k), part(b, strideB, k*n), beta, part(c, strideC, m*n), count,
			strideA, strideB, strideC)
	}
}

// Epilogue is a program of elementwise steps that a kernel takes for each entry of its product, before it is stored.
type Epilogue struct {
	Args  []any // the parameters STEPS_PARAMETERS of cuda/devicecode/include/steps.cuh
	Bytes int   // of shared memory
}

// noEpilogue stores the product.
var noEpilogue = func() Epilogue {
	const arrays = 16
	args := []any{Array[uint64]{}, int32(0), int32(0), Array[uint64]{}, Array[uint64]{}}
	for range arrays {
		args = append(args, Array[float32]{})
	}
	return Epilogue{Args: args}
}()

// HasEpilogues reports whether SgemmThen may be called for that many matrices: dsp's kernels have epilogues in float32.
func (s *BLAS) HasEpilogues(batch int) bool { return s.library == nil && !s.Tf32 && batch <= mostBatch }

// SgemmThen is Sgemm on matrices that lie side by side, with an epilogue, which writes the results: C itself only if a
// step does. The steps must not write what the product reads.
func (s *BLAS) SgemmThen(transA, transB bool, m, n, k int, a, b Array[float32], beta float32, c Array[float32],
	batch int, then Epilogue) {
	if m > 0 && n > 0 && batch > 0 {
		s.own(transA, transB, m, n, k, a, Array[int32]{}, b, beta, c, batch, m*k, k*n, m*n, then)
	}
}

// HasRows reports whether SgemmRows may be called: dsp's kernels read rows in place, a library does not.
func (s *BLAS) HasRows() bool { return s.library == nil }

// SgemmRows is Sgemm of single matrices, where row i of A in memory is row rows[i] of from, which has as many columns;
// −1 is a row of zeros. The result has the bits that it has with the rows side by side. An epilogue that is not nil
// follows, as in SgemmThen.
func (s *BLAS) SgemmRows(transA, transB bool, m, n, k int, from Array[float32], rows Array[int32], b Array[float32],
	beta float32, c Array[float32], then *Epilogue) {
	if then == nil {
		then = &noEpilogue
	}
	if m > 0 && n > 0 {
		s.own(transA, transB, m, n, k, from, rows, b, beta, c, 1, 0, 0, 0, *then)
	}
}

func (s *BLAS) byLibrary(transA, transB bool, m, n, k int, a, b Array[float32], beta float32, c Array[float32],
	batch, strideA, strideB, strideC int) {
	s.device.Do(func(uintptr) error {
		return s.library.Sgemm(transA, transB, m, n, k, a.at, b.at, beta, c.at, batch, strideA, strideB, strideC)
	})
}

func (s *BLAS) alone(transA, transB bool, m, n, k int, a, b Array[float32], beta float32, c Array[float32],
	batch, strideA, strideB, strideC int) {
	s.own(transA, transB, m, n, k, a, Array[int32]{}, b, beta, c, batch, strideA, strideB, strideC, noEpilogue)
}

// own enqueues a product by the kernels of gemm.cu. If rows is not empty, A's rows are those of a.
func (s *BLAS) own(transA, transB bool, m, n, k int, a Array[float32], rows Array[int32], b Array[float32],
	beta float32, c Array[float32], batch, strideA, strideB, strideC int, then Epilogue) {
	ldA, ldB := k, n
	if transA {
		ldA = m
	}
	if transB {
		ldB = k
	}
	layoutA := layout(a, !transA, ldA, batch, strideA)
	layoutB := layout(b, transB, ldB, batch, strideB)
	tile, parts := choose(m, n, k, batch, s.Tf32)
	depth := depthOf(k, parts)
	partial := Array[float32]{}
	if parts > 1 {
		partial = s.scratch
	}
	args := []any{a, b, c, partial, int32(m), int32(n), int32(k), layoutA, layoutB, int32(ldA), int32(ldB),
		int64(strideA), int64(strideB), int64(strideC), int32(batch), int32(depth), beta}
	if !rows.IsEmpty() {
		args = append(args, rows)
	}
	here := then // where the steps are: here, or where the parts are added up
	if parts > 1 {
		here = noEpilogue
	}
	if !s.Tf32 {
		args = append(args, here.Args...)
	}
	s.device.Launch(tile.kernel(s.Tf32, !rows.IsEmpty()), Dim{X: tile.count(m, n), Y: parts, Z: batch},
		Dim{X: tile.threads(s.Tf32)}, tile.shared(s.Tf32)+here.Bytes, args...)
	if parts > 1 {
		const threads = 128
		s.device.Launch("gemm_sum", Dim{X: min(CeilDiv(batch*m*n, threads), 4096)}, Dim{X: threads}, then.Bytes,
			append([]any{partial, c, int32(parts), int64(batch), int64(m) * int64(n), int64(strideC), beta}, then.Args...)...)
	}
}

// layout returns how the kernels read a factor: one of the constants of gemm.cuh.
func layout(x Array[float32], alongDepth bool, ld, batch, stride int) int32 {
	switch {
	case alongDepth:
		return 0
	case ld%4 == 0 && x.Address()%16 == 0 && (batch == 1 || stride%4 == 0):
		return 2
	}
	return 1
}

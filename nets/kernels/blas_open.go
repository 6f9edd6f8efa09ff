//go:build (linux || darwin) && !static

package kernels

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openBLASNames are the libraries to try, in order.
var openBLASNames = map[string][]string{
	"linux": {"libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0"},
	"darwin": {"libopenblas.dylib", "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
		"/usr/local/opt/openblas/lib/libopenblas.dylib"},
}

// openBLASLibrary is OpenBLAS, loaded at run time. Calls use its Fortran interface: all of its arguments are addresses,
// so a call does not allocate.
type openBLASLibrary struct {
	sgemm uintptr
	call  struct {
		transA, transB         [1]byte
		m, n, k, lda, ldb, ldc int32
		alpha, beta            float32
		args                   [13]uintptr
	}
}

var loadOpenBLAS = sync.OnceValue(func() uintptr {
	for _, name := range openBLASNames[runtime.GOOS] {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		sgemm, err := purego.Dlsym(lib, "sgemm_")
		threads, err2 := purego.Dlsym(lib, "openblas_set_num_threads")
		if err == nil && err2 == nil {
			purego.SyscallN(threads, 1)
			return sgemm
		}
	}
	return 0
})

// openBLAS returns OpenBLAS if it is installed.
func openBLAS() []BLAS {
	if sgemm := loadOpenBLAS(); sgemm != 0 {
		return []BLAS{&openBLASLibrary{sgemm: sgemm}}
	}
	return nil
}

func (*openBLASLibrary) Name() string { return "OpenBLAS" }

// Sgemm implements BLAS. Fortran's arrays are column-major, so it computes cᵀ = op(b)ᵀ·op(a)ᵀ.
func (o *openBLASLibrary) Sgemm(transA, transB bool, m, n, k int, a, b []float32, beta float32, c []float32) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		scaleBy(c[:m*n], beta)
		return
	}
	_, _, _ = a[m*k-1], b[k*n-1], c[m*n-1]
	x := &o.call
	x.transA[0], x.lda = 'N', int32(k)
	if transA {
		x.transA[0], x.lda = 'T', int32(m)
	}
	x.transB[0], x.ldb = 'N', int32(n)
	if transB {
		x.transB[0], x.ldb = 'T', int32(k)
	}
	x.m, x.n, x.k, x.ldc, x.alpha, x.beta = int32(m), int32(n), int32(k), int32(n), 1, beta
	x.args = [...]uintptr{address(&x.transB[0]), address(&x.transA[0]), address(&x.n), address(&x.m), address(&x.k),
		address(&x.alpha), address(&b[0]), address(&x.ldb), address(&a[0]), address(&x.lda),
		address(&x.beta), address(&c[0]), address(&x.ldc)}
	purego.SyscallN(o.sgemm, x.args[:]...)
	runtime.KeepAlive(o)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	runtime.KeepAlive(c)
}

// address returns the address of *p for a C function. *p does not move: it is reached through an interface, so it is on
// the heap.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

//go:build gpu && linux && amd64

package driver

// #include <dlfcn.h>
// #include <stdlib.h>
//
// // The functions that are used, in version 11 and later of the library.
// typedef struct {
// 	int (*create)(void** handle);
// 	int (*destroy)(void* handle);
// 	int (*get_version)(void* handle, int* version);
// 	int (*set_stream)(void* handle, void* stream);
// 	int (*set_workspace)(void* handle, void* at, size_t bytes);
// 	int (*set_math_mode)(void* handle, int mode);
// 	int (*sgemm)(void* handle, int transA, int transB, int m, int n, int k, const float* alpha,
// 		const float* a, int ldA, long long strideA, const float* b, int ldB, long long strideB,
// 		const float* beta, float* c, int ldC, long long strideC, int batch);
// 	void* handle;
// } cublas;
//
// // cublas_open returns NULL on success, else the name of what is missing; *code is the result of creating a handle.
// static const char* cublas_open(cublas* l, const char* file, int* code) {
// 	*code = 0;
// 	void* so = dlopen(file, RTLD_NOW | RTLD_LOCAL);
// 	if (!so) return dlerror();
// 	const char* const names[] = {"cublasCreate_v2", "cublasDestroy_v2", "cublasGetVersion_v2", "cublasSetStream_v2",
// 		"cublasSetWorkspace_v2", "cublasSetMathMode", "cublasSgemmStridedBatched"};
// 	void** const to[] = {(void**)&l->create, (void**)&l->destroy, (void**)&l->get_version, (void**)&l->set_stream,
// 		(void**)&l->set_workspace, (void**)&l->set_math_mode, (void**)&l->sgemm};
// 	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
// 		if (!(*to[i] = dlsym(so, names[i]))) return names[i];
// 	*code = l->create(&l->handle);
// 	return *code ? "cublasCreate_v2" : NULL;
// }
//
// static int cublas_version(cublas* l) { int v = 0; return l->get_version(l->handle, &v) ? 0 : v; }
// static int cublas_destroy(cublas* l) { return l->destroy(l->handle); }
// static int cublas_stream(cublas* l, size_t s) { return l->set_stream(l->handle, (void*)s); }
// static int cublas_workspace(cublas* l, size_t at, size_t bytes) {
// 	return l->set_workspace(l->handle, (void*)at, bytes);
// }
// static int cublas_math(cublas* l, int mode) { return l->set_math_mode(l->handle, mode); }
// static int cublas_sgemm(cublas* l, int transA, int transB, int m, int n, int k, size_t a, int ldA, long long strideA,
// 		size_t b, int ldB, long long strideB, float beta, size_t c, int ldC, long long strideC, int batch) {
// 	const float alpha = 1;
// 	return l->sgemm(l->handle, transA, transB, m, n, k, &alpha, (const float*)a, ldA, strideA,
// 		(const float*)b, ldB, strideB, &beta, (float*)c, ldC, strideC, batch);
// }
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// OpenCUBLAS opens the first of these libraries, names or paths, that exists and works with the driver.
func OpenCUBLAS(files ...string) (CUBLAS, error) {
	var errs []error
	for _, file := range files {
		name := C.CString(file)
		defer C.free(unsafe.Pointer(name))
		l := new(cublas)
		var code C.int
		switch missing := C.cublas_open(&l.c, name, &code); {
		case missing == nil:
			return l, nil
		case code != 0:
			errs = append(errs, fmt.Errorf("%s: %w", file, status(C.GoString(missing), code)))
		default:
			errs = append(errs, fmt.Errorf("%s: %s", file, C.GoString(missing)))
		}
	}
	return nil, errors.Join(errs...)
}

type cublas struct{ c C.cublas }

// status returns the error of one of the library's result codes; nil for success.
func status(call string, code C.int) error {
	names := map[C.int]string{1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE",
		8: "ARCH_MISMATCH", 11: "MAPPING_ERROR", 13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR",
		15: "NOT_SUPPORTED", 16: "LICENSE_ERROR"}
	if code == 0 {
		return nil
	}
	name, ok := names[code]
	if !ok {
		name = fmt.Sprint(code)
	}
	return &Error{Code: int(code), Name: "CUBLAS_STATUS_" + name, Call: call}
}

func (l *cublas) Version() int { return int(C.cublas_version(&l.c)) }

func (l *cublas) Start(s Stream, scratch Address, bytes int64) error {
	if err := status("cublasSetStream_v2", C.cublas_stream(&l.c, C.size_t(s))); err != nil {
		return err
	}
	// a stream resets it
	return status("cublasSetWorkspace_v2", C.cublas_workspace(&l.c, C.size_t(scratch), C.size_t(bytes)))
}

func (l *cublas) UseTF32(on bool) error {
	const defaultMath, tf32TensorOpMath = 0, 3
	mode := C.int(defaultMath)
	if on {
		mode = tf32TensorOpMath
	}
	return status("cublasSetMathMode", C.cublas_math(&l.c, mode))
}

// Sgemm asks for Cᵀ = op(B)ᵀ·op(A)ᵀ: the library's matrices are column-major, which makes a row-major one its
// transpose.
func (l *cublas) Sgemm(transA, transB bool, m, n, k int, a, b Address, beta float32, c Address,
	batch, strideA, strideB, strideC int) error {
	op := func(trans bool, columns, rows int) (op, ld C.int) {
		if trans {
			return 1, C.int(rows)
		}
		return 0, C.int(columns)
	}
	opA, ldA := op(transA, k, m)
	opB, ldB := op(transB, n, k)
	return status("cublasSgemmStridedBatched", C.cublas_sgemm(&l.c, opB, opA, C.int(n), C.int(m), C.int(k),
		C.size_t(b), ldB, C.longlong(strideB), C.size_t(a), ldA, C.longlong(strideA), C.float(beta), C.size_t(c), C.int(n),
		C.longlong(strideC), C.int(batch)))
}

func (l *cublas) Close() error { return status("cublasDestroy_v2", C.cublas_destroy(&l.c)) }

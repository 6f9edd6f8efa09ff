package device_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// fakeCUBLAS has cuBLAS's functions, as column-major loops over the emulated device's memory, which a CPU can read. Its
// product fails unless it was given a stream and then scratch memory. With TF32 it drops low bits.
const fakeCUBLAS = `
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct handle { void* stream; void* scratch; int mode; };
int cublasCreate_v2(void** to) { *to = calloc(1, sizeof(struct handle)); return 0; }
int cublasDestroy_v2(void* h) { free(h); return 0; }
int cublasGetVersion_v2(void* h, int* v) { *v = 120304; return 0; }
int cublasSetStream_v2(void* h, void* s) { ((struct handle*)h)->stream = s; ((struct handle*)h)->scratch = NULL; return 0; }
int cublasSetWorkspace_v2(void* h, void* at, size_t bytes) { ((struct handle*)h)->scratch = bytes >= 32u << 20 ? at : NULL; return 0; }
int cublasSetMathMode(void* h, int mode) { ((struct handle*)h)->mode = mode; return 0; }
static float rounded(float x, int mode) {
	uint32_t b;
	memcpy(&b, &x, 4);
	if (mode == 3) b &= 0xffffe000u;
	memcpy(&x, &b, 4);
	return x;
}
int cublasSgemmStridedBatched(struct handle* h, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda, long long sa,
		const float* b, int ldb, long long sb, const float* beta, float* c, int ldc, long long sc, int batch) {
	if (!h->stream || !h->scratch) return 1;
	if (batch > 65535) return 7;
	if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || *alpha != 1) return 7;
	for (int z = 0; z < batch; z++)
		for (int i = 0; i < m; i++)
			for (int j = 0; j < n; j++) {
				double sum = 0;
				for (int l = 0; l < k; l++)
					sum += (double)rounded(a[z * sa + (ta ? l + i * lda : i + l * lda)], h->mode) * rounded(b[z * sb + (tb ? j + l * ldb : l + j * ldb)], h->mode);
				float* at = c + z * sc + i + j * ldc;
				*at = *beta == 0 ? sum : sum + *beta * *at;
			}
	return 0;
}
`

func buildFake(t *testing.T, source string) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	dir := t.TempDir()
	from, to := filepath.Join(dir, "fake.c"), filepath.Join(dir, "libcublas.so.12")
	if err := os.WriteFile(from, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(cc, "-O1", "-shared", "-fPIC", "-o", to, from).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return to
}

func TestCUBLAS(t *testing.T) {
	d := cudatest.Emulated(t, "DSP_EMULATED_STREAMS=now") // the fake library does not enqueue its work
	t.Setenv("DSP_CUDA_BLAS", buildFake(t, fakeCUBLAS))
	for _, by := range []struct {
		tf32      bool
		name      string
		tolerance float64
	}{{false, "cuBLAS 12.3.4", 1e-6}, {true, "cuBLAS 12.3.4, TF32", 1e-3}} {
		s := device.NewBLAS(d, by.tf32)
		defer s.Close()
		if s.Name() != by.name {
			t.Errorf("the library is %q, want %q", s.Name(), by.name)
		}
		for form := range 8 {
			p := product{transA: form&1 != 0, transB: form&2 != 0, beta: float32(form >> 2), m: 7, n: 5, k: 11, batch: 2,
				gapA: 1, gapB: 2, gapC: 3}
			p.check(t, d, s, by.tolerance)
		}
		product{m: 3, n: 4, k: 0, batch: 1, beta: 1}.check(t, d, s, by.tolerance) // done by the kernels
		product{m: 1, n: 2, k: 3, batch: 65537, gapB: 1}.check(t, d, s, 2*by.tolerance)
	}
}

// A library that is not named may be missing or unusable; a named one must work.
func TestCUBLASMissing(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{filepath.Join(t.TempDir(), "nothing.so"), "No such file"},
		{buildFake(t, "int cublasCreate_v2(void** to) { return 0; }"), "cublasDestroy_v2"},
		{buildFake(t, strings.Replace(fakeCUBLAS, "return 0;", "return 1;", 1)), "CUBLAS_STATUS_NOT_INITIALIZED"},
	} {
		d := cudatest.Emulated(t)
		t.Setenv("DSP_CUDA_BLAS", c.file)
		device.NewBLAS(d, false).Close()
		if err := d.Sync(); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "DSP_CUDA_BLAS") {
			t.Errorf("%s: error %v, want one with %q", c.file, err, c.want)
		}
	}
}

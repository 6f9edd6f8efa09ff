//go:build goexperiment.simd && amd64

package matching

// available returns the kernels that this build and machine can run.
func available() []*kernels {
	switch choose() {
	case &avx512:
		return []*kernels{&plain, &avx2, &avx512}
	case &avx2:
		return []*kernels{&plain, &avx2}
	}
	return []*kernels{&plain}
}

// fill: sets every entry of an array to one value.
//   x [n] float   out
// Bound: writes n·4 bytes.
#include "device.cuh"

KERNEL(fill)(float* x, float value, int64_t n) {
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) x[i] = value;
}
EXPORT(fill)

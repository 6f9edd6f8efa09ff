// Rearranged arrays: permute (axes in another order), concat (one part of a row), slice, and its adjoint unslice. Three axes are
// outer×middle×inner. One thread for each of n entries of the result (concat: of the part).
// Bound: reads and writes every entry once. Reference: nets/graph/shape.go; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

// axes [rank×2] int: size of each axis of the result, and the distance of its entries in x; rank ≤ 8.
KERNEL(permute)(const float* x, const int* axes, int rank, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t rest = i, at = 0;
	for (int a = rank - 1; a >= 0; a--) {
		uint32_t size = axes[2 * a], q = rest / size;
		at += (rest - q * size) * axes[2 * a + 1];
		rest = q;
	}
	out[i] = x[at];
}
EXPORT(permute)

KERNEL(concat)(const float* x, int part, int row, int offset, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t o = i / part;
	out[o * row + offset + (i - o * part)] = x[i];
}
EXPORT(concat)

KERNEL(slice)(const float* x, int size, int inner, int lo, int step, int count, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t j = i / inner, o = j / count;
	out[i] = x[(o * size + lo + (j - o * count) * step) * inner + (i - j * inner)];
}
EXPORT(slice)

KERNEL(unslice)(const float* x, int size, int inner, int lo, int step, int count, int accumulate, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t j = i / inner, o = j / size;
	int from = (int)(j - o * size) - lo;
	bool taken = from >= 0 && from % step == 0 && from / step < count;
	float v = taken ? x[(o * count + from / step) * inner + (i - j * inner)] : 0.f;
	out[i] = accumulate ? out[i] + v : v;
}
EXPORT(unslice)

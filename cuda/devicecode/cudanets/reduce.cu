// reduce: the sum or the maximum along the middle axis of x [outer×repeat×inner], over chunk entries at a time.
//   out [outer×chunks×inner] float, chunks = ⌈repeat/chunk⌉; if there are several, a second launch reduces them
// A block has width×height×rest threads: consecutive inner entries × terms of one sum × sums. A thread adds every height-th term of
// its sum, then the block adds these as a tree: the order depends on the sizes only. Shared: one float per thread.
// Bound: reads x once. Reference: nets/graph/reduce.go; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

DEVICE float larger(float a, float b) { return a != a || a > b ? a : b; }

template <bool SUM> DEVICE void reduce(const float* x, int outer, int repeat, int inner, int chunk, int width, int height, int accumulate, float* out) {
	SHARED(float, part);
	int tx = THREAD % width, ty = THREAD / width % height, rest = THREADS / (width * height);
	int chunks = (repeat + chunk - 1) / chunk, across = (inner + width - 1) / width;
	int block = BLOCK / across, i = BLOCK % across * width + tx; // of sums, and the inner entry
	int64_t sum = (int64_t)block * rest + THREAD / (width * height); // o·chunks + index of the chunk
	bool mine = sum < (int64_t)outer * chunks && i < inner;
	float r = SUM ? 0.f : NEVER;
	if (mine) {
		int o = (int)(sum / chunks), lo = (int)(sum % chunks) * chunk, hi = min(repeat, lo + chunk);
		const float* from = x + (int64_t)o * repeat * inner + i;
		for (int j = lo + ty; j < hi; j += height) r = SUM ? r + from[(int64_t)j * inner] : larger(from[(int64_t)j * inner], r);
	}
	part[THREAD] = r;
	BARRIER();
	for (int half = height / 2; half > 0; half /= 2) {
		if (ty < half) part[THREAD] = SUM ? part[THREAD] + part[THREAD + half * width] : larger(part[THREAD], part[THREAD + half * width]);
		BARRIER();
	}
	if (mine && ty == 0) out[sum * inner + i] = accumulate ? out[sum * inner + i] + part[THREAD] : part[THREAD];
}

BOUNDED_KERNEL(reduce_sum, 256)(const float* x, int outer, int repeat, int inner, int chunk, int width, int height, int accumulate, float* out) {
	reduce<true>(x, outer, repeat, inner, chunk, width, height, accumulate, out);
}
EXPORT(reduce_sum)

BOUNDED_KERNEL(reduce_max, 256)(const float* x, int outer, int repeat, int inner, int chunk, int width, int height, int accumulate, float* out) {
	reduce<false>(x, outer, repeat, inner, chunk, width, height, accumulate, out);
}
EXPORT(reduce_max)

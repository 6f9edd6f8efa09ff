// Maxima over 2×2 pixels of images of height×width pixels, each pixel a row of channels: y = pool_max(x), the tangent of the first
// pixel that attains the maximum (pool_push), and its cotangent (pool_pull).
// One thread for each of n entries of the result. Bound: reads every argument and writes the result once. Reference: nets/graph/pool.go;
// checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

// corner returns the index in x of the first of the four pixels of output entry i.
DEVICE uint32_t corner(uint32_t i, int height, int width, int channels) {
	uint32_t h = height / 2, w = width / 2, pixel = i / channels, c = i - pixel * channels;
	uint32_t line = pixel / w, column = pixel - line * w, image = line / h, row = line - image * h;
	return ((image * height + 2 * row) * width + 2 * column) * channels + c;
}

// choose returns which of the four pixels from at on is the first equal to y.
DEVICE int choose(const float* x, uint32_t at, int width, int channels, float y) {
	uint32_t t = as_bits(y);
	if (as_bits(x[at]) == t) return 0;
	if (as_bits(x[at + channels]) == t) return 1;
	return as_bits(x[at + width * channels]) == t ? 2 : 3;
}

DEVICE float larger(float a, float b) { return a != a || a > b ? a : b; }

KERNEL(pool_max)(const float* x, int height, int width, int channels, uint32_t n, float* y) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	const float* p = x + corner(i, height, width, channels);
	y[i] = larger(larger(p[0], p[channels]), larger(p[width * channels], p[width * channels + channels]));
}
EXPORT(pool_max)

KERNEL(pool_push)(const float* x, const float* y, const float* dx, int height, int width, int channels, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t at = corner(i, height, width, channels);
	int k = choose(x, at, width, channels, y[i]);
	out[i] = dx[at + (k >> 1) * width * channels + (k & 1) * channels];
}
EXPORT(pool_push)

KERNEL(pool_pull)(const float* x, const float* y, const float* g, int height, int width, int channels, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t pixel = i / channels, c = i - pixel * channels, line = pixel / width, column = pixel - line * width;
	uint32_t image = line / height, row = line - image * height;
	if (row / 2 >= (uint32_t)height / 2 || column / 2 >= (uint32_t)width / 2) { // an unpaired last row or column
		out[i] = 0.f;
		return;
	}
	uint32_t j = ((image * (height / 2) + row / 2) * (width / 2) + column / 2) * channels + c;
	int k = choose(x, corner(j, height, width, channels), width, channels, y[j]);
	out[i] = k == (int)((row & 1) * 2 + (column & 1)) ? g[j] : 0.f;
}
EXPORT(pool_pull)

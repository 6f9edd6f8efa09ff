// Ops that know the position of a row in its chain, t = 0, 1, ….
//   chain [rows] int, −1 in padding; offsets [B+1] int   the batch
//   waves [positions×2·F] float                          cos(t·f_i), then sin(t·f_i), for F frequencies
// One thread for each of n entries of out. Bound: reads and writes every entry once. Reference: nets/graph/positions.go; checked by
// cuda/cudanets/attention_test.go.
#include "device.cuh"

// out [rows×cols]: the first turned channels of x are heads of size channels, in which channels i and i + size/2 are turned by the angle t·f_i,
// or −t·f_i with back; the others are copied. Padding rows are zero.
KERNEL(rotate)(const float* RESTRICT x, const float* RESTRICT waves, const int* RESTRICT chain, const int* RESTRICT offsets, int cols, int turned, int size, int back,
	uint32_t n, float* RESTRICT out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	int row = (int)(i / cols), c = (int)(i - (uint32_t)row * cols), b = chain[row];
	float y = 0.f;
	if (b >= 0) {
		y = x[i];
		if (c < turned) {
			int half = size / 2, k = c % size;
			bool second = k >= half;
			const float* wave = waves + (int64_t)(row - offsets[b]) * size + (second ? k - half : k);
			float other = x[second ? i - half : i + half], sin = second == (back != 0) ? -wave[half] : wave[half];
			y = y * wave[0] + other * sin;
		}
	}
	out[i] = y;
}
EXPORT(rotate)

// out [rows×cols] = x + cos(t·f_i) in channel i < cols/2, and + sin(t·f_i) in channel i + cols/2. Padding rows are copied.
KERNEL(add_sinusoids)(const float* RESTRICT x, const float* RESTRICT waves, const int* RESTRICT chain, const int* RESTRICT offsets, int cols, uint32_t n,
	float* RESTRICT out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t row = i / cols;
	int b = chain[row];
	out[i] = b < 0 ? x[i] : x[i] + waves[(int64_t)((int)row - offsets[b]) * cols + (i - row * cols)];
}
EXPORT(add_sinusoids)

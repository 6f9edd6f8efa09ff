// The inputs of a batch that a network reads, row by row; padding rows are zero, or −1.
//   source [rows] int   position in the data            chain [rows] int   chain of the batch; both −1 in padding
// One thread per entry. Bound: writes every entry once. Reference: nets/graph/inputs.go, structured/images/crops.go, nets/graph/dropout.go; checked by cuda/cudanets/executor_test.go.
#include "functions.cuh"

// out [rows×dim] float, n entries: the dense inputs.
KERNEL(load_features)(const float* features, const int* source, int dim, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t t = i / dim;
	int from = source[t];
	out[i] = from < 0 ? 0.f : features[(int64_t)from * dim + (i - t * dim)];
}
EXPORT(load_features)

// out [rows×(side·side·3 + width)] float, n entries: the pixels of the square around each place, a byte b as b/64 − 2, then the numbers beside them.
//   at [positions×3] int   image, and column and row of the square's first pixel, which may lie outside: then the image's outermost pixels count
//   shapes [images×3] long   first pixel, width, height            beside [positions×width] float
KERNEL(load_crops)(const uint8_t* pixels, const int* at, const int64_t* shapes, const float* beside, const int* source, int side, int width, uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t square = (uint32_t)(side * side * 3), dim = square + (uint32_t)width, t = i / dim, k = i - t * dim;
	int64_t from = source[t];
	if (from < 0) {
		out[i] = 0.f;
	} else if (k >= square) {
		out[i] = beside[from * width + (k - square)];
	} else {
		const int64_t* shape = shapes + 3 * (int64_t)at[3 * from];
		int64_t x = at[3 * from + 1] + (int64_t)(k / 3 % (uint32_t)side), y = at[3 * from + 2] + (int64_t)(k / 3 / (uint32_t)side);
		x = x < 0 ? 0 : x < shape[1] ? x : shape[1] - 1;
		y = y < 0 ? 0 : y < shape[2] ? y : shape[2] - 1;
		out[i] = (float)pixels[3 * (shape[0] + y * shape[1] + x) + k % 3] * (1.f / 64) - 2.f;
	}
}
EXPORT(load_crops)

// out [rows] int: discrete input number field.
KERNEL(load_ids)(const int* ids, const int* source, int fields, int field, uint32_t rows, int* out) {
	uint32_t t = (uint32_t)BLOCK * THREADS + THREAD;
	if (t >= rows) return;
	out[t] = source[t] < 0 ? -1 : ids[(int64_t)source[t] * fields + field];
}
EXPORT(load_ids)

// out [rows×2] float: 1 where a chain starts, and where one ends.
KERNEL(load_boundary)(const int* chain, uint32_t rows, float* out) {
	uint32_t t = (uint32_t)BLOCK * THREADS + THREAD;
	if (t >= rows) return;
	int c = chain[t];
	out[2 * t] = c >= 0 && (t == 0 || chain[t - 1] != c) ? 1.f : 0.f;
	out[2 * t + 1] = c >= 0 && (t == rows - 1 || chain[t + 1] != c) ? 1.f : 0.f;
}
EXPORT(load_boundary)

// keys [rows] int, for sort.cu: the ids, with padding sorted last.
KERNEL(load_keys)(const int* ids, int padding, uint32_t rows, int* keys) {
	uint32_t t = (uint32_t)BLOCK * THREADS + THREAD;
	if (t < rows) keys[t] = ids[t] < 0 ? padding : ids[t];
}
EXPORT(load_keys)

// states [layers×rows] uint64, n entries: the initial random state of each row, from the seed, the layer, the example and the position in
// it.
KERNEL(dropout_states)(const int* chain, const int* examples, const int* offsets, const uint64_t* seed, int rows, uint32_t n, uint64_t* states) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	uint32_t layer = i / rows;
	int t = (int)(i - layer * rows), c = chain[t];
	uint64_t key = c < 0 ? 0 : mix((uint64_t)examples[c] << 32 | (uint64_t)(t - offsets[c]));
	states[i] = mix(*seed ^ mix(key ^ mix((uint64_t)layer)));
}
EXPORT(dropout_states)

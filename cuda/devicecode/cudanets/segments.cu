// The characters of the words of a batch: position t owns rows starts[t] to starts[t+1]-1, possibly none.
//   source, chain [rows] int, offsets [B+1] int     the batch, −1 in padding         first [B+1] int   first character of each chain
//   of_data [ΣT+1] int, ids [·] int                 the data set: the first character of each position, and their numbers
//   starts [rows+1] int, owner [C] int              the batch's characters: the position of each, −1 in padding
//   x, g [C×cols] float, y [rows×cols] float        rows of characters, and their maxima
// One thread for each of n entries, which adds its terms in order. Padding rows are zero.
// Bound: reads every argument and writes the result once. Reference: nets/graph/characters.go, nets/graph/segmentmax.go; checked by
// cuda/cudanets/words_test.go.
#include "device.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

// n = rows+1
KERNEL(segment_starts)(const int* RESTRICT source, const int* RESTRICT chain, const int* RESTRICT offsets, const int* RESTRICT first, int B,
	const int* RESTRICT of_data, uint32_t n, int* RESTRICT starts) {
	ENTRY_OR_RETURN(t, n);
	int b = t + 1 < n ? chain[t] : -1;
	starts[t] = b < 0 ? first[B] : first[b] + of_data[source[t]] - of_data[source[offsets[b]]];
}
EXPORT(segment_starts)

// n = C
KERNEL(segment_owners)(const int* RESTRICT starts, int rows, uint32_t n, int* RESTRICT owner) {
	ENTRY_OR_RETURN(i, n);
	int r = (int)i, t = -1;
	if (r < starts[rows]) {
		t = 0;
		for (int beyond = rows; beyond - t > 1;) { // starts[t] ≤ r < starts[beyond]
			int middle = t + (beyond - t) / 2;
			if (starts[middle] <= r) t = middle;
			else beyond = middle;
		}
	}
	owner[i] = t;
}
EXPORT(segment_owners)

// out [C×width] int: for each place of a window around a character in its word, the character's number (kind 0), its row (kind 1), or width
// times its number plus the place (kind 2); −1 outside the word and in padding.
KERNEL(segment_index)(const int* RESTRICT owner, const int* RESTRICT starts, const int* RESTRICT source, const int* RESTRICT of_data,
	const int* RESTRICT ids, int width, int kind, uint32_t n, int* RESTRICT out) {
	ENTRY_OR_RETURN(i, n);
	int r = (int)(i / width), k = (int)(i - (uint32_t)r * width), s = r + k - width / 2, t = owner[r], to = -1;
	if (t >= 0 && s >= starts[t] && s < starts[t + 1]) {
		to = s;
		if (kind != 1) to = ids[of_data[source[t]] + s - starts[t]];
		if (kind == 2) to = to * width + k;
	}
	out[i] = to;
}
EXPORT(segment_index)

// g [C·width×cols] float, out [C×cols] float: the adjoint of a gather of kind 1.
KERNEL(scatter_segment_window)(const float* RESTRICT g, const int* RESTRICT owner, const int* RESTRICT starts, int width, int cols, int accumulate,
	uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	int s = (int)(i / cols), c = (int)(i - (uint32_t)s * cols), half = width / 2, t = owner[s];
	float sum = accumulate ? out[i] : 0.f;
	if (t >= 0)
		for (int r = max(starts[t], s - half); r <= min(starts[t + 1] - 1, s + half); r++)
			sum += g[((uint32_t)r * width + (s - r + half)) * cols + c];
	out[i] = sum;
}
EXPORT(scatter_segment_window)

KERNEL(segment_max)(const float* RESTRICT x, const int* RESTRICT starts, int cols, uint32_t n, float* RESTRICT y) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	int r = starts[t], end = starts[t + 1];
	float top = 0;
	if (r < end) top = x[(uint32_t)r * cols + c];
	for (r++; r < end; r++) {
		float v = x[(uint32_t)r * cols + c];
		if (v != v || v > top) top = v;
	}
	y[i] = top;
}
EXPORT(segment_max)

// first_of returns the first row of a segment whose entry c has the bits of y; end if there is none.
DEVICE int first_of(const float* x, int r, int end, int cols, uint32_t c, float y) {
	while (r < end && as_bits(x[(uint32_t)r * cols + c]) != as_bits(y)) r++;
	return r;
}

// out [rows×cols] float: the tangent dx of the first row that attains the maximum.
KERNEL(segment_max_push)(const float* RESTRICT x, const float* RESTRICT y, const float* RESTRICT dx, const int* RESTRICT starts, int cols,
	uint32_t n, float* RESTRICT out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	int end = starts[t + 1], r = first_of(x, starts[t], end, cols, c, y[i]);
	out[i] = r < end ? dx[(uint32_t)r * cols + c] : 0.f;
}
EXPORT(segment_max_push)

// out [C×cols] float: the cotangent g [rows×cols] goes to the first row that attains the maximum.
KERNEL(segment_max_pull)(const float* RESTRICT x, const float* RESTRICT y, const float* RESTRICT g, const int* RESTRICT owner,
	const int* RESTRICT starts, int cols, uint32_t n, float* RESTRICT out) {
	ENTRY_OR_RETURN(i, n);
	int r = (int)(i / cols), t = owner[r];
	uint32_t c = i - (uint32_t)r * cols;
	float take = 0;
	if (t >= 0) {
		uint32_t j = (uint32_t)t * cols + c;
		if (first_of(x, starts[t], r + 1, cols, c, y[j]) == r) take = g[j];
	}
	out[i] = take;
}
EXPORT(segment_max_pull)

// bag: out [rows×cols] = Σ value·table[index] over the attributes of each row's position.
//   offsets [ΣT+1] int64, index [·] int, value [·] float or null   the attributes of each position, and their values (null: 1)
// Reference: nets/graph/bag.go.
KERNEL(bag)(const float* RESTRICT table, const int64_t* RESTRICT offsets, const int* RESTRICT index, const float* RESTRICT value,
	const int* RESTRICT source, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	int p = source[t];
	float sum = accumulate ? out[i] : 0.f;
	if (p >= 0)
		for (int64_t k = offsets[p]; k < offsets[p + 1]; k++) sum += (value ? value[k] : 1.f) * table[(int64_t)index[k] * cols + c];
	out[i] = sum;
}
EXPORT(bag)

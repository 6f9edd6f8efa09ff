// The linear scorer on sparse inputs: w has one row of W numbers per attribute, W = Y labels or Y×Y transitions.
//   source [N] int                                     the position of each row of a batch, −1: none
//   offsets [ΣT+1] int64, index [·] int, value [·] float or null   the attributes of each position, and their values (null: 1)
// Reference: nets/sparse/worker.go, nets/sparse/scatter.go; checked by cuda/cudanets/sparselinear_test.go.
#include "sparse.cuh"

// sparse_score: to [N][W] = base + Σ value·w[index], base [W] or null; rows without a position are zero. A sum has the order of the
// position's attributes. A group of lanes (4, 8, 16 or 32, at least W or 32) handles one row and 32 columns, BLOCK_Y of them.
// Bound: reads W·4 bytes per attribute, of weights that are mostly in L2.
KERNEL(sparse_score)(const float* RESTRICT w, const float* RESTRICT base, const int64_t* RESTRICT offsets, const int* RESTRICT index,
	const float* RESTRICT value, const int* RESTRICT source, float* RESTRICT to, int N, int W, int group) {
	int t = BLOCK * (THREADS / group) + THREAD / group, column = BLOCK_Y * 32 + THREAD % group;
	if (t >= N || column >= W) return;
	int p = source[t];
	float sum = p >= 0 && base ? base[column] : 0.f;
	if (p >= 0 && offsets) {
		int64_t first = offsets[p];
		int n = (int)(offsets[p + 1] - first);
		const int* attribute = index + first;
		if (value) {
			const float* x = value + first;
#pragma unroll 8
			for (int k = 0; k < n; k++) sum += x[k] * w[(int64_t)attribute[k] * W + column];
		} else {
#pragma unroll 8
			for (int k = 0; k < n; k++) sum += w[(int64_t)attribute[k] * W + column];
		}
	}
	to[(int64_t)t * W + column] = sum;
}
EXPORT(sparse_score)

// transpose_mark: place [ΣT] int, zero before, becomes 1 + the row for each position of the batch whose row of v [N][W] is not zero.
// One warp per row. Bound: reads v once.
KERNEL(transpose_mark)(const int* RESTRICT source, const float* RESTRICT v, int* RESTRICT place, int N, int W) {
	int t = BLOCK * (THREADS / 32) + WARP;
	if (t >= N || source[t] < 0) return;
	bool any = warp_nonzero(v + (int64_t)t * W, W);
	if (LANE == 0 && any) place[source[t]] = t + 1;
}
EXPORT(transpose_mark)

// transpose_sum: grad [attributes][W] += Σ value·v over the positions that have the attribute, in a fixed order.
//   attribute [S], lo [S+1] int64    segments of the transposed inputs: entries lo[s] to lo[s+1]−1 have that attribute
//   position [·] int, value [·] float or null   the entries, by position
//   part [S] int    −1: the attribute has only this segment; else the row of parts [·][W] for this segment's sum, see transpose_join
// One warp per segment and 32 columns, BLOCK_Y of them; each group of lanes (4, 8, 16 or 32, at least W or 32) takes every n-th entry.
// Bound: reads 12 bytes per entry, and W·4 per entry in the batch, of a v that is mostly in L2.
#define AHEAD 4 /* rows that a lane reads at once */

template <int GROUP>
DEVICE float sum_segment(int64_t at, int64_t end, const int* position, const float* value, const int* place, const float* v, int W, int column) {
	float sum = 0;
	for (; at < end; at += 32) {
		bool in = at + LANE < end;
		int row = in ? place[position[at + LANE]] : 0;
		float x = in && value ? value[at + LANE] : 1.f;
		if (!ballot(row > 0)) continue;
		int n = end - at < 32 ? (int)(end - at) : 32;
		for (int first = 0; first < n; first += AHEAD * 32 / GROUP)
#pragma unroll
			for (int k = 0; k < AHEAD * 32 / GROUP; k += 32 / GROUP) {
				int from = first + k + LANE / GROUP, r = shuffle(row, from);
				float y = value ? shuffle(x, from) : 1.f;
				sum += r > 0 && column < W ? y * v[(int64_t)(r - 1) * W + column] : 0.f;
			}
	}
	for (int m = GROUP; m < 32; m *= 2) sum += shuffle_xor(sum, m);
	return sum;
}

KERNEL(transpose_sum)(const int* RESTRICT attribute, const int64_t* RESTRICT lo, const int* RESTRICT position, const float* RESTRICT value,
	const int* RESTRICT part, const int* RESTRICT place, const float* RESTRICT v, float* RESTRICT grad, float* RESTRICT parts, int S, int W,
	int group) {
	int s = BLOCK * (THREADS / 32) + WARP, column = BLOCK_Y * 32 + LANE % group;
	if (s >= S) return;
	int64_t at = lo[s], end = lo[s + 1];
	float sum = group == 4 ? sum_segment<4>(at, end, position, value, place, v, W, column)
		: group == 8       ? sum_segment<8>(at, end, position, value, place, v, W, column)
		: group == 16      ? sum_segment<16>(at, end, position, value, place, v, W, column)
						   : sum_segment<32>(at, end, position, value, place, v, W, column);
	if (LANE >= group || column >= W) return;
	if (part[s] >= 0) parts[(int64_t)part[s] * W + column] = sum;
	else if (sum != 0.f) grad[(int64_t)attribute[s] * W + column] += sum;
}
EXPORT(transpose_sum)

// transpose_join: completes attributes with several segments: grad += the sum of parts first[k] to first[k+1]−1, in a fixed order.
//   attribute [K], first [K+1] int
// One block per attribute and 32 columns, BLOCK_Y of them; shared memory: one float per thread.
KERNEL(transpose_join)(const int* RESTRICT attribute, const int* RESTRICT first, const float* RESTRICT parts, float* RESTRICT grad, int W) {
	SHARED(float, shared);
	int column = BLOCK_Y * 32 + LANE, warps = THREADS / 32;
	float sum = 0;
#pragma unroll 4
	for (int k = first[BLOCK] + WARP; k < first[BLOCK + 1]; k += warps)
		if (column < W) sum += parts[(int64_t)k * W + column];
	shared[THREAD] = sum;
	BARRIER();
	if (WARP > 0 || column >= W) return;
	for (int w = 1; w < warps; w++) sum += shared[w * 32 + LANE];
	if (sum != 0.f) grad[(int64_t)attribute[BLOCK] * W + column] += sum;
}
EXPORT(transpose_join)

// sum_rows: parts [n][W] = Σ x over each ROWS_SUMMED rows of x [N][W]; sum_parts: to [W] += Σ parts. Both in a fixed order.
// One block per part and 32 columns, or per 32 columns; shared memory: one double per thread. Bound: reads x once.
#define ROWS_SUMMED 256

KERNEL(sum_rows)(const float* RESTRICT x, double* RESTRICT parts, int N, int W) {
	SHARED(double, shared);
	int column = BLOCK_Y * 32 + LANE, warps = THREADS / 32, end = min(N, (BLOCK + 1) * ROWS_SUMMED);
	double sum = 0;
#pragma unroll 4
	for (int t = BLOCK * ROWS_SUMMED + WARP; t < end; t += warps)
		if (column < W) sum += x[(int64_t)t * W + column];
	shared[THREAD] = sum;
	BARRIER();
	if (WARP > 0 || column >= W) return;
	for (int w = 1; w < warps; w++) sum += shared[w * 32 + LANE];
	parts[(int64_t)BLOCK * W + column] = sum;
}
EXPORT(sum_rows)

KERNEL(sum_parts)(const double* RESTRICT parts, float* RESTRICT to, int n, int W) {
	SHARED(double, shared);
	int column = BLOCK * 32 + LANE, warps = THREADS / 32;
	double sum = 0;
#pragma unroll 4
	for (int t = WARP; t < n; t += warps)
		if (column < W) sum += parts[(int64_t)t * W + column];
	shared[THREAD] = sum;
	BARRIER();
	if (WARP > 0 || column >= W) return;
	for (int w = 1; w < warps; w++) sum += shared[w * 32 + LANE];
	to[column] += (float)sum;
}
EXPORT(sum_parts)

// add: to [n] += x [n].
KERNEL(add)(const float* RESTRICT x, float* RESTRICT to, int n) {
	int k = BLOCK * THREADS + THREAD;
	if (k < n) to[k] += x[k];
}
EXPORT(add)

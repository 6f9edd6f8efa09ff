// Pairs of positions of the same chain. A chain of n positions has n·n pairs: row d·n + h is dependent d with head h, and row d·n + d is
// dependent d with the root.
//   chain [rows] int, offsets [B+1] int, pairs [B+1] int   the batch; chain −1 in padding   (pairs: first pair of each chain)
//   dependents, heads [P] int                              the positions of each pair; head −1 for the root, both −1 in padding
//   distances [P] int                                      15·d + the class of h − d, −1 in padding
//   x [rows×K·E] float, z [rows×E] float, root [E] float   out[(d,h), k] = Σ_e x[d, k·E+e]·z[h, e], root in place of z[h] if h = d
//   g [P×K] float                                          cotangent of out
// One thread for each of n entries, which adds its terms in order; bilinear_root has one block per entry. Padding rows are zero.
// Bound: P·K·E products each, rows·K·E for bilinear_root. Reference: nets/graph/bilinear.go, nets/graph/pairs.go; checked by cuda/cudanets/pairs_test.go.
#include "rows.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

// distance_class is graph.DistanceClass.
DEVICE int distance_class(int distance) {
	int far = max(distance, -distance);
	int side = far <= 3 ? far : far <= 5 ? 4 : far <= 8 ? 5 : far <= 14 ? 6 : 7;
	return distance < 0 ? side + 7 : side;
}

const int classes = 15;

KERNEL(pair_rows)(int* heads, int* distances, const int* offsets, const int* pairs, int B, uint32_t n, int* dependents) {
	ENTRY_OR_RETURN(i, n);
	int d = -1, h = -1;
	if ((int)i < pairs[B]) {
		int b = 0;
		for (int beyond = B; beyond - b > 1;) { // pairs[b] ≤ i < pairs[beyond]
			int middle = b + (beyond - b) / 2;
			if (pairs[middle] <= (int)i) b = middle;
			else beyond = middle;
		}
		int length = offsets[b + 1] - offsets[b], k = (int)i - pairs[b];
		d = offsets[b] + k / length;
		h = offsets[b] + k % length;
	}
	dependents[i] = d;
	heads[i] = h == d ? -1 : h;
	distances[i] = d < 0 ? -1 : classes * d + distance_class(h - d);
}
EXPORT(pair_rows)

KERNEL(bilinear)(const float* RESTRICT x, const float* RESTRICT z, const float* RESTRICT root, const int* RESTRICT dependents,
	const int* RESTRICT heads, int K, int E, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t pair = i / K;
	int d = dependents[pair], h = heads[pair];
	float sum = 0;
	if (d >= 0) {
		const float* from = x + ((int64_t)d * K + (i - pair * K)) * E;
		const float* with = h < 0 ? root : z + (int64_t)h * E;
		for (int e = 0; e < E; e++) sum = fma(from[e], with[e], sum);
	}
	out[i] = accumulate ? out[i] + sum : sum;
}
EXPORT(bilinear)

// out [rows×K·E]: gradient of x.
KERNEL(bilinear_dependents)(const float* RESTRICT g, const float* RESTRICT z, const float* RESTRICT root, const int* RESTRICT chain,
	const int* RESTRICT offsets, const int* RESTRICT pairs, int K, int E, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t d = i / (K * E), k = i / E - d * K, e = i % E;
	float sum = 0;
	if (int b = chain[d]; b >= 0) {
		int first = offsets[b], length = offsets[b + 1] - first, own = (int)d - first;
		const float* from = g + ((int64_t)pairs[b] + (int64_t)own * length) * K + k;
		for (int h = 0; h < length; h++) sum = fma(from[(int64_t)h * K], h == own ? root[e] : z[(int64_t)(first + h) * E + e], sum);
	}
	out[i] = accumulate ? out[i] + sum : sum;
}
EXPORT(bilinear_dependents)

// out [rows×E]: gradient of z.
KERNEL(bilinear_heads)(const float* RESTRICT g, const float* RESTRICT x, const int* RESTRICT chain, const int* RESTRICT offsets,
	const int* RESTRICT pairs, int K, int E, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t h = i / E, e = i - h * E;
	float sum = 0;
	if (int b = chain[h]; b >= 0) {
		int first = offsets[b], length = offsets[b + 1] - first, own = (int)h - first;
		for (int d = 0; d < length; d++) {
			if (d == own) continue;
			const float* from = g + ((int64_t)pairs[b] + (int64_t)d * length + own) * K;
			const float* with = x + (int64_t)(first + d) * K * E + e;
			for (int k = 0; k < K; k++) sum = fma(from[k], with[(int64_t)k * E], sum);
		}
	}
	out[i] = accumulate ? out[i] + sum : sum;
}
EXPORT(bilinear_heads)

// out [E]: gradient of root. One block per entry; shared: one double per warp.
KERNEL(bilinear_root)(const float* RESTRICT g, const float* RESTRICT x, const int* RESTRICT chain, const int* RESTRICT offsets,
	const int* RESTRICT pairs, int rows, int K, int E, int accumulate, float* out) {
	SHARED(double, shared);
	int e = BLOCK;
	double sum = 0;
	for (int64_t i = THREAD; i < (int64_t)rows * K; i += THREADS) {
		int d = (int)(i / K), k = (int)(i - (int64_t)d * K), b = chain[d];
		if (b < 0) continue;
		int length = offsets[b + 1] - offsets[b], own = d - offsets[b];
		sum += (double)g[((int64_t)pairs[b] + (int64_t)own * length + own) * K + k] * (double)x[i * E + e];
	}
	sum = block_sum(sum, shared);
	if (THREAD == 0) out[e] = accumulate ? out[e] + (float)sum : (float)sum;
}
EXPORT(bilinear_root)

// out [rows×cols]: sum over the pairs g [P×cols] in which each row is the dependent, or a head other than the root.
KERNEL(scatter_pairs)(const float* g, const int* chain, const int* offsets, const int* pairs, int as_head, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	float sum = accumulate ? out[i] : 0.f;
	if (int b = chain[t]; b >= 0) {
		int first = offsets[b], length = offsets[b + 1] - first, own = (int)t - first;
		for (int s = 0; s < length; s++) {
			if (as_head && s == own) continue;
			int64_t pair = pairs[b] + (as_head ? (int64_t)s * length + own : (int64_t)own * length + s);
			sum += g[pair * cols + c];
		}
	}
	out[i] = sum;
}
EXPORT(scatter_pairs)

// out [rows·15×cols]: sum over the pairs g [P×cols] in which each row is the dependent, by distance class.
KERNEL(scatter_distances)(const float* g, const int* chain, const int* offsets, const int* pairs, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t row = i / cols, c = i - row * cols, d = row / classes;
	int of = (int)(row - d * classes);
	float sum = accumulate ? out[i] : 0.f;
	if (int b = chain[d]; b >= 0) {
		int first = offsets[b], length = offsets[b + 1] - first, own = (int)d - first;
		const float* from = g + ((int64_t)pairs[b] + (int64_t)own * length) * cols + c;
		for (int h = 0; h < length; h++)
			if (distance_class(h - own) == of) sum += from[(int64_t)h * cols];
	}
	out[i] = sum;
}
EXPORT(scatter_distances)

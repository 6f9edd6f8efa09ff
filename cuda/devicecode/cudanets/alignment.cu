// Pairs of a source and a target item. A chain has n source items, then m target items, and n·m pairs: row i·m + j is source i with target j.
//   chain [rows] int, offsets [B+1] int   the batch; chain −1 in padding
//   sources [B+1] int, pairs [B+1] int    first source item and first pair of each chain, in the order of the batch
//   x [rows×K·E] float, z [rows×E] float  score k of a pair is Σ_e x[source, k·E+e]·z[target, e]; kernel bilinear computes it
//   g [P×K] float                         cotangent of the scores
// One thread for each of n entries, which adds its terms in order. Padding rows are zero, or −1.
// Bound: P·K·E products each for align_sources and align_targets; the others read and write every entry once. Reference: nets/graph/align.go;
// checked by cuda/cudanets/alignment_test.go.
#include "device.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

// owner returns the chain b with first[b] ≤ i < first[b+1], or −1 from first[B] on.
DEVICE int owner(const int* first, int B, int i) {
	if (i >= first[B]) return -1;
	int b = 0;
	for (int beyond = B; beyond - b > 1;) {
		int middle = b + (beyond - b) / 2;
		if (first[middle] <= i) b = middle;
		else beyond = middle;
	}
	return b;
}

// source, target [P] int: the positions of each pair.
KERNEL(align_rows)(int* target, const int* offsets, const int* sources, const int* pairs, int B, uint32_t n, int* source) {
	ENTRY_OR_RETURN(i, n);
	int b = owner(pairs, B, (int)i), s = -1, t = -1;
	if (b >= 0) {
		int first = offsets[b], split = sources[b + 1] - sources[b], m = offsets[b + 1] - first - split, k = (int)i - pairs[b];
		s = first + k / m;
		t = first + split + k % m;
	}
	source[i] = s;
	target[i] = t;
}
EXPORT(align_rows)

// sides [rows] int: 2·chain for source items, 2·chain + 1 for target items. out [rows] int: the position of each source item.
KERNEL(split_rows)(int* sides, const int* chain, const int* offsets, const int* sources, int B, uint32_t n, int* out) {
	ENTRY_OR_RETURN(i, n);
	int c = chain[i], b = owner(sources, B, (int)i);
	sides[i] = c < 0 ? -1 : 2 * c + ((int)i - offsets[c] >= sources[c + 1] - sources[c] ? 1 : 0);
	out[i] = b < 0 ? -1 : offsets[b] + (int)i - sources[b];
}
EXPORT(split_rows)

// out [P] int: the row of the data of each pair. table [examples+1] int: first row of each example; examples [B] int.
KERNEL(pair_sources)(const int* examples, const int* pairs, const int* table, int B, uint32_t n, int* out) {
	ENTRY_OR_RETURN(i, n);
	int b = owner(pairs, B, (int)i);
	out[i] = b < 0 ? -1 : table[examples[b]] + (int)i - pairs[b];
}
EXPORT(pair_sources)

// out [rows×cols]: the rows of source items g, back at their positions.
KERNEL(scatter_sources)(const float* g, const int* chain, const int* offsets, const int* sources, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	float sum = accumulate ? out[i] : 0.f;
	if (int b = chain[t]; b >= 0) {
		int own = (int)t - offsets[b], row = sources[b] + own;
		if (row < sources[b + 1]) sum += g[(int64_t)row * cols + c];
	}
	out[i] = sum;
}
EXPORT(scatter_sources)

// out [rows×K·E]: gradient of x.
KERNEL(align_sources)(const float* RESTRICT g, const float* RESTRICT z, const int* RESTRICT chain, const int* RESTRICT offsets, const int* RESTRICT sources,
	const int* RESTRICT pairs, int K, int E, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t s = i / (K * E), k = i / E - s * K, e = i % E;
	float sum = 0;
	if (int b = chain[s]; b >= 0) {
		int first = offsets[b], own = (int)s - first, split = sources[b + 1] - sources[b], m = offsets[b + 1] - first - split;
		if (own < split) {
			const float* from = g + ((int64_t)pairs[b] + (int64_t)own * m) * K + k;
			const float* with = z + (int64_t)(first + split) * E + e;
			for (int j = 0; j < m; j++) sum = fma(from[(int64_t)j * K], with[(int64_t)j * E], sum);
		}
	}
	out[i] = accumulate ? out[i] + sum : sum;
}
EXPORT(align_sources)

// out [rows×E]: gradient of z.
KERNEL(align_targets)(const float* RESTRICT g, const float* RESTRICT x, const int* RESTRICT chain, const int* RESTRICT offsets, const int* RESTRICT sources,
	const int* RESTRICT pairs, int K, int E, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / E, e = i - t * E;
	float sum = 0;
	if (int b = chain[t]; b >= 0) {
		int first = offsets[b], split = sources[b + 1] - sources[b], m = offsets[b + 1] - first - split, own = (int)t - first - split;
		if (own >= 0)
			for (int s = 0; s < split; s++) {
				const float* from = g + ((int64_t)pairs[b] + (int64_t)s * m + own) * K;
				const float* with = x + (int64_t)(first + s) * K * E + e;
				for (int k = 0; k < K; k++) sum = fma(from[k], with[(int64_t)k * E], sum);
			}
	}
	out[i] = accumulate ? out[i] + sum : sum;
}
EXPORT(align_targets)

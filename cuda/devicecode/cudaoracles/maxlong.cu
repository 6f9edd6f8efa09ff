// maxlong: best path of a few very long chains with Y ≤ 32, in parallel along time. All chunks of `step` positions of a chain are
// processed at once. A chunk's transfer from label r before it to label j at its end, M(r, j), is the recurrence started with δ = (0 at r, −∞
// else): Y independent runs. M gives δ between chunks, one chunk after the other. Then all chunks run again at once, with back-pointers. The
// label with which each pointer chain starts gives the labels between chunks, from last to first.
//   chains as in chain.cuh; at most C = `chunks` chunks per chain; chunk k starts at position k·step
//   transfer  [B][C][Y][Y] float, shift [B][C][Y] double   scratch: M(r, ·) = transfer + shift; chunk 0 has a single row, δ; the last chunk has none
//   border    [B][C][Y] float    scratch: δ at a chunk's last position, up to a constant
//   pointers  [N][Y] uint16      scratch: previous label on the best prefix
//   origin    [B][C][Y] int      scratch: label before the chunk to which the pointers lead, by label at its end
//   ends      [B][C] int         scratch: the path's labels at ends of chunks; −1 if no output is allowed
//   sums      [2][B][C] double   scratch: scores of the path and of the gold labels, by chunk
//   path [N] int, value [B] double, golds [B] double or null   out, as in viterbi
// max_transfer: one warp per chunk and r. max_borders: one warp per chain. max_chunks: one warp per chunk. max_ends: one warp per chain.
// max_walk: one warp per chunk. max_values: one warp per chain.
//
// All labels follow one set of back-pointers, so the path is consistent, as the serial one is. δ between chunks adds the same numbers in
// another order. If that rounds differently, another of two paths with nearly equal scores may be chosen than in viterbi. If sums are
// exact, as those of integers are, ties are broken as in viterbi.
//
// Bound: N·Y³ additions and maxima, 43 pairs per cycle and multiprocessor (1e6 positions with 16 labels: 4 G pairs, 0.4 ms, and about as much for
// the surrounding instructions), and about 4·√T dependent steps: at T=1e6 and step=1000 two runs of 1000 steps at 0.1 to 0.2 µs, two of 1000
// chunks and a walk at 0.5 µs, 2 ms.
// Reference: oracles/chain/viterbi.go; checked by the contract suite, emulated and on the device.
#include "chunk.cuh"
#include "maxplus.cuh"

template <int R, int G, bool EACH>
DEVICE void transfers(const Chains& all, int chunks, int step, float* transfer, double* shift, float* shared) {
	typedef Team<R, G, 32> T;
	shared += WARP * T::SHARED_FLOATS;
	const int b = BLOCK_Y, k = BLOCK, r = BLOCK_Z * (THREADS / 32) + WARP, j = LANE / G;
	Chain c = chain_of(all, b);
	Chunk chunk = chunk_of(c, b, k, chunks, step);
	if (r >= c.Y || chunk.last || chunk.lo == chunk.hi || (k == 0 && r > 0)) return;
	prepare<R, G, 32>(c, shared, LANE);
	Kept kept = {0, 0, 0, 0.0};
	float v = j == r ? 0.f : NEVER;
	if (k == 0) v = j < c.Y ? node_at(c, 0, j) : NEVER;
	v = steps<R, G, 32, EACH, NOTHING>(c, max(chunk.lo, 1), chunk.hi, v, shared, LANE, kept);
	int64_t row = (int64_t)chunk.slot * c.Y + r;
	if (LANE % G == 0 && j < c.Y) transfer[row * c.Y + j] = v;
	if (LANE == 0) shift[row] = kept.shift;
}

#define TRANSFERS(name, R, G, EACH) \
	BOUNDED_KERNEL(name, 256)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, float* transfer, double* shift) { \
		SHARED(float, shared); \
		transfers<R, G, EACH>(CHAINS, chunks, step, transfer, shift, shared); \
	}

TRANSFERS(max_transfer_8, 2, 4, false)
EXPORT(max_transfer_8)
TRANSFERS(max_transfer_16, 8, 2, false)
EXPORT(max_transfer_16)
TRANSFERS(max_transfer_32, 32, 1, false)
EXPORT(max_transfer_32)
TRANSFERS(max_transfer_each_8, 2, 4, true)
EXPORT(max_transfer_each_8)
TRANSFERS(max_transfer_each_16, 8, 2, true)
EXPORT(max_transfer_each_16)
TRANSFERS(max_transfer_each_32, 32, 1, true)
EXPORT(max_transfer_each_32)

KERNEL(max_borders)
(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const float* RESTRICT transfer, const double* RESTRICT shift, float* border) {
	const int b = BLOCK, Y = labels;
	Chain c = chain_of(CHAINS, b);
	const bool mine = LANE < Y;
	float δ = NEVER, x[32];
	for (int k = 0; k < chunks; k++) {
		Chunk chunk = chunk_of(c, b, k, chunks, step);
		if (chunk.last) break;
		int64_t row = (int64_t)chunk.slot * Y;
		if (k == 0) {
			δ = mine ? transfer[row * Y + LANE] : NEVER;
		} else {
#pragma unroll
			for (int r = 0; r < 32; r++) x[r] = mine && r < Y ? transfer[(row + r) * Y + LANE] : NEVER;
			double from = mine ? (double)δ + shift[row + LANE] : (double)NEVER, m = from;
			for (int i = 16; i > 0; i >>= 1) m = max(m, shuffle_xor(m, i));
			float rest = m == (double)NEVER ? NEVER : (float)(from - m);
			δ = NEVER;
#pragma unroll
			for (int r = 0; r < 32; r++) δ = larger(δ, shuffle(rest, r) + x[r]);
		}
		float m = warp_max(δ);
		if (m != NEVER) δ -= m;
		if (mine) border[row + LANE] = δ;
	}
}
EXPORT(max_borders)

template <int R, int G, bool EACH>
DEVICE void chunks_again(const Chains& all, int chunks, int step, const float* border, uint16* pointers, int32_t* origin, int32_t* ends,
	float* shared) {
	typedef Team<R, G, 32> T;
	shared += WARP * T::SHARED_FLOATS;
	const int b = BLOCK_Y, k = BLOCK * (THREADS / 32) + WARP, j = LANE / G;
	if (k >= chunks) return;
	Chain c = chain_of(all, b);
	Chunk chunk = chunk_of(c, b, k, chunks, step);
	if (chunk.lo == chunk.hi) return;
	prepare<R, G, 32>(c, shared, LANE);
	Kept kept = {0, pointers, 0, 0.0};
	float v = NEVER;
	if (j < c.Y) v = k == 0 ? node_at(c, 0, j) : border[(int64_t)(chunk.slot - 1) * c.Y + j];
	v = steps<R, G, 32, EACH, ORIGINS>(c, max(chunk.lo, 1), chunk.hi, v, shared, LANE, kept);
	if (LANE % G == 0 && j < c.Y) origin[(int64_t)chunk.slot * c.Y + j] = kept.origin;
	if (!chunk.last) return;
	float best = v;
	int label = warp_first(best, j < c.Y ? j : 0x7ffffffe);
	if (LANE == 0) ends[chunk.slot] = best == NEVER ? -1 : label;
}

#define CHUNKS(name, R, G, EACH) \
	BOUNDED_KERNEL(name, 128)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const float* RESTRICT border, uint16* pointers, \
		int32_t* origin, int32_t* ends) { \
		SHARED(float, shared); \
		chunks_again<R, G, EACH>(CHAINS, chunks, step, border, pointers, origin, ends, shared); \
	}

CHUNKS(max_chunks_8, 2, 4, false)
EXPORT(max_chunks_8)
CHUNKS(max_chunks_16, 8, 2, false)
EXPORT(max_chunks_16)
CHUNKS(max_chunks_32, 32, 1, false)
EXPORT(max_chunks_32)
CHUNKS(max_chunks_each_8, 2, 4, true)
EXPORT(max_chunks_each_8)
CHUNKS(max_chunks_each_16, 8, 2, true)
EXPORT(max_chunks_each_16)
CHUNKS(max_chunks_each_32, 32, 1, true)
EXPORT(max_chunks_each_32)

// Origins are prefetched four chunks ahead of the walk that follows them.
KERNEL(max_ends)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const int32_t* RESTRICT origin, int32_t* ends) {
	const int b = BLOCK, Y = labels;
	Chain c = chain_of(CHAINS, b);
	if (c.length == 0) return;
	const int last = (c.length - 1) / step;
	const int64_t base = (int64_t)b * chunks;
	int l = ends[base + last], ahead[4];
#pragma unroll
	for (int i = 0; i < 4; i++) ahead[i] = last - i > 0 && LANE < Y ? origin[(base + last - i) * Y + LANE] : 0;
	for (int k = last; k > 0; k--) {
		if (l >= 0) l = shuffle(ahead[0], l);
#pragma unroll
		for (int i = 0; i < 3; i++) ahead[i] = ahead[i + 1];
		ahead[3] = k > 4 && LANE < Y ? origin[(base + k - 4) * Y + LANE] : 0;
		if (LANE == 0) ends[base + k - 1] = l;
	}
}
EXPORT(max_ends)

KERNEL(max_walk)
(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const uint16* RESTRICT pointers, const int32_t* RESTRICT ends, int32_t* path, double* sums) {
	const int b = BLOCK_Y, k = BLOCK * (THREADS / 32) + WARP;
	if (k >= chunks) return;
	Chain c = chain_of(CHAINS, b);
	Chunk chunk = chunk_of(c, b, k, chunks, step);
	if (chunk.lo == chunk.hi) return;
	const int end = ends[chunk.slot], from = k > 0 ? ends[chunk.slot - 1] : -1;
	int l = max(end, 0), held = 0;
	for (int t = chunk.hi - 1; t >= chunk.lo; t--) {
		if (t % 32 == LANE) held = l;
		if (t % 32 == 0 || t == chunk.lo) {
			int at = t / 32 * 32 + LANE;
			if (at >= t && at < chunk.hi) path[c.first + at] = held;
		}
		if (t > chunk.lo && end >= 0) l = pointers[(int64_t)(c.first + t) * c.Y + l];
	}
	WARP_BARRIER(); // other lanes wrote the path
	double s = warp_sum(chunk_score(c, chunk, path + c.first, true)), g = warp_chunk_gold(c, chunk);
	if (LANE != 0) return;
	if (k > 0 && end >= 0) s += (double)edges_into(c, chunk.lo)[from * c.Y + l];
	sums[chunk.slot] = end >= 0 ? s : (double)NEVER;
	sums[chunk.slot + (int64_t)chunks * BLOCKS_Y] = g;
}
EXPORT(max_walk)

KERNEL(max_values)
(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const double* RESTRICT sums, double* value, double* golds) {
	const int b = BLOCK;
	Chain c = chain_of(CHAINS, b);
	double s = warp_total(c, sums + (int64_t)b * chunks, step), g = warp_total(c, sums + (int64_t)(BLOCKS + b) * chunks, step);
	if (LANE == 0) {
		value[b] = s;
		if (golds) golds[b] = g;
	}
}
EXPORT(max_values)

// explongsums: edge marginals of a few very long chains from the output of explong.cu, and scores of their gold labels, by chunks.
//   chains, C, step, wide_from, prefix, suffix and mass as in explong.cu
//   parts [B][C][Y][Y] float   scratch: expected count of each transition, by chunk
//   golds [B][C] double        scratch: scores of the gold labels, by chunk
//   pairs [B][Y][Y] float, or, with PER_POSITION, [N][Y][Y]; score [B] double   out, as in wide_pairs and wide_sums
// exp_pairs: one block per chunk. exp_pair_sums: one block per chain. exp_golds: one warp per chunk. exp_scores: one warp per chain. Sums over
// chunks are in float64, in an order that depends only on their number. exp_padding: rows that belong to no chain.
// Bound: N·Y² products, as many bytes read as prefix and suffix have, B·C·Y²·4 (or N·Y²·4) written.
// Reference: oracles/chain/logdomain.go; checked by the contract suite, emulated and on the device.
#include "chunk.cuh"
#include "gibbs.cuh"

// exp_pairs: parts or, with edges per position, pairs. A thread handles up to four entries of a matrix.
BOUNDED_KERNEL(exp_pairs, 256)
(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double mu, const Wide* RESTRICT wide_from, const Wide* RESTRICT prefix, const Wide* RESTRICT suffix,
	const Wide* RESTRICT mass, float* RESTRICT parts, float* RESTRICT pairs) {
	const int b = BLOCK_Y, Y = labels, cells = Y * Y;
	const double log2_rate = LOG2_E / mu;
	Chain c = chain_of(CHAINS, b);
	Chunk chunk = chunk_of(c, b, BLOCK, chunks, step);
	if (chunk.lo == chunk.hi) return;
	for (int cell = THREAD; cell < cells; cell += THREADS) {
		const int i = cell / Y, j = cell % Y;
		float sum = 0.f;
		if (c.per_position && chunk.lo == 0) pairs[(int64_t)c.first * cells + cell] = 0.f;
		for (int t = max(chunk.lo, 1); t < chunk.hi; t++) {
			int64_t at = c.first + t;
			Wide a = prefix[(at - 1) * Y + i], g = suffix[at * Y + j], total = mass[at - 1];
			Wide e = c.per_position ? wide_gibbs(edge[at * cells + cell], log2_rate) : wide_from[cell];
			float p = 0.f;
			if (total.m != 0.f && a.m != 0.f && e.m != 0.f && g.m != 0.f)
				p = a.m * e.m * g.m / total.m * power(min(a.e + e.e + g.e - total.e, 127));
			if (c.per_position) pairs[at * cells + cell] = p;
			else sum += p;
		}
		if (!c.per_position) parts[(int64_t)chunk.slot * cells + cell] = sum;
	}
}
EXPORT(exp_pairs)

// exp_pair_sums: pairs from parts; one thread per entry.
KERNEL(exp_pair_sums)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const float* RESTRICT parts, float* RESTRICT pairs) {
	const int b = BLOCK, cells = labels * labels;
	const int count = (chain_of(CHAINS, b).length + step - 1) / step;
	for (int cell = THREAD; cell < cells; cell += THREADS) {
		double sum = 0.0;
#pragma unroll 4
		for (int k = 0; k < count; k++) sum += (double)parts[((int64_t)b * chunks + k) * cells + cell];
		pairs[(int64_t)b * cells + cell] = (float)sum;
	}
}
EXPORT(exp_pair_sums)

// exp_golds: golds; one warp per chunk. exp_scores: score from golds; one warp per chain.
KERNEL(exp_golds)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double* golds) {
	const int b = BLOCK_Y;
	Chain c = chain_of(CHAINS, b);
	Chunk chunk = chunk_of(c, b, BLOCK, chunks, step);
	if (chunk.lo == chunk.hi) return;
	double s = warp_chunk_gold(c, chunk);
	if (LANE == 0) golds[chunk.slot] = s;
}
EXPORT(exp_golds)

KERNEL(exp_scores)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, const double* RESTRICT golds, double* score) {
	double s = warp_total(chain_of(CHAINS, BLOCK), golds + (int64_t)BLOCK * chunks, step);
	if (LANE == 0) score[BLOCK] = s;
}
EXPORT(exp_scores)

// exp_padding: zeroes the rows of a matrix [rows][width] that belong to no chain.
KERNEL(exp_padding)(const int32_t* RESTRICT offsets, int32_t chains, int32_t rows, int32_t width, float* matrix) {
	for (int64_t i = (int64_t)offsets[chains] * width + BLOCK * THREADS + THREAD; i < (int64_t)rows * width; i += BLOCKS * THREADS) matrix[i] = 0.f;
}
EXPORT(exp_padding)

// v = c(u − r): the cotangent to pull back, from a batch's answers u and its references r, with its sums for the objective.
//   u [N][W] float                      marginals, with a row per position: of nodes (W = Y) or, with PER_POSITION, of edges (W = Y×Y)
//   r [·][W] float, index [N] int       reference of each row: row index[t] of r, or row t if index is null; r null: the gold output
//   node or edge θ [N][W] float         potentials without the loss
//   chain, gold [N], offsets [B+1] int, weight [B], cost [Y] float    the batch, c, the cost of a wrong label (null: 1)
//   v [N][W] float                      out; 0 in padding and for transitions into chains' first positions
//   sums [3][blocks] double             out: Σ c⟨u−r, θ+ℓ⟩, Σ c⟨u−r, ℓ⟩, Σ c⟨u, θ+ℓ⟩ over the block's rows; 0·∞ counts as 0
//   moved [B] int                       out: 1 if u ≠ r, else unchanged; may be null
// One block per 2048 entries or so. Bound: reads u, r, θ and writes v once, 16·N·W bytes.
//
// difference_shared and difference_total do the same for edges that all chains share: v [Y][Y] is the sum over chains. difference_shared
// sums groups of 16 chains, and difference_total adds the groups in order. Bound: reads u and r once, 8·B·Y² bytes.
// Reference: train/engine/engine.go (difference); checked by cuda/accelerator/objective_test.go.
#include "chain.cuh"
#include "rows.cuh"

KERNEL(difference)(const float* RESTRICT u, const float* RESTRICT r, const int* RESTRICT index, const float* RESTRICT potentials,
	const int* RESTRICT chain, const int* RESTRICT gold, const int* RESTRICT offsets, const float* RESTRICT weight, const float* RESTRICT cost,
	float* RESTRICT v, double* RESTRICT sums, int* moved, int N, int W, int Y, int rows, int flags) {
	SHARED(double, shared);
	double linear = 0, loss = 0, self = 0;
	FOR_ROWS(N, W, rows) {
		int b = chain[t];
		if (b < 0 || ((flags & PER_POSITION) && offsets[b] == t)) {
			v[i] = 0.f;
			continue;
		}
		float from, ℓ = 0.f;
		int g = gold[t];
		if (r)
			from = r[(int64_t)(index ? index[t] : t) * W + y];
		else if (flags & PER_POSITION)
			from = g >= 0 && gold[t - 1] >= 0 && y == gold[t - 1] * Y + g ? 1.f : 0.f;
		else
			from = y == g ? 1.f : 0.f;
		if ((flags & WITH_LOSS) && g >= 0 && y != g) {
			ℓ = cost ? cost[g] : 1.f;
			if (flags & BY_LENGTH) ℓ = ℓ / (float)(offsets[b + 1] - offsets[b]);
		}
		float to = u[i], d = to - from, c = weight[b], θ = potentials[i];
		v[i] = c * d;
		if (to != 0.f) self += (double)c * (double)to * ((double)θ + (double)ℓ);
		if (d != 0.f) {
			linear += (double)c * (double)d * ((double)θ + (double)ℓ);
			loss += (double)c * (double)d * (double)ℓ;
			if (moved) moved[b] = 1;
		}
	}
	linear = block_sum(linear, shared);
	loss = block_sum(loss, shared);
	self = block_sum(self, shared);
	if (THREAD == 0) {
		sums[BLOCK] = linear;
		sums[BLOCKS + BLOCK] = loss;
		sums[2 * BLOCKS + BLOCK] = self;
	}
}
EXPORT(difference)

#define GROUP 16 /* chains per block of difference_shared */

// u [B][Y²], r [·][Y²] with row examples[b], or row b with own, or null: the gold output; v_sums, u_sums [groups][Y²] double
// out: Σ c(u−r) and Σ cu over the group. Block (x, y) handles THREADS transitions of group x; shared memory [GROUP][THREADS] int.
KERNEL(difference_shared)(const float* RESTRICT u, const float* RESTRICT r, const int* RESTRICT examples, const int* RESTRICT gold,
	const int* RESTRICT offsets, const float* RESTRICT weight, double* RESTRICT v_sums, double* RESTRICT u_sums, int* moved, int B, int Y, int own) {
	SHARED(int, counts);
	int first = BLOCK * GROUP, chains = min(GROUP, B - first), first_step = BLOCK_Y * THREADS, e = first_step + THREAD;
	if (!r) count_gold_steps(counts, offsets + first, gold, chains, Y, first_step, THREADS);
	if (e >= Y * Y) return;
	double v = 0, us = 0;
	for (int k = 0; k < chains; k++) {
		int b = first + k, i = examples[b];
		if (i < 0) continue;
		float from = r ? r[(int64_t)(own ? b : i) * Y * Y + e] : (float)counts[k * THREADS + THREAD];
		float to = u[(int64_t)b * Y * Y + e], d = to - from;
		double c = weight[b];
		v += c * (double)d;
		us += c * (double)to;
		if (moved && d != 0.f) moved[b] = 1;
	}
	v_sums[(int64_t)BLOCK * Y * Y + e] = v;
	u_sums[(int64_t)BLOCK * Y * Y + e] = us;
}
EXPORT(difference_shared)

// v_sums, u_sums [groups][E] double, θ [E] float   in
// v [E] float, sums [2][blocks] double             out: the sum over groups, its ⟨·, θ⟩, and ⟨Σ u_sums, θ⟩
// A block handles 32 entries; each of its warps sums every n-th group, n being the number of warps.
KERNEL(difference_total)(const double* RESTRICT v_sums, const double* RESTRICT u_sums, const float* RESTRICT potentials, float* RESTRICT v,
	double* RESTRICT sums, int groups, int E) {
	SHARED(double, shared); // [2][warps][32]
	int e = BLOCK * 32 + LANE, warps = THREADS / 32;
	double a = 0, b = 0;
	if (e < E) {
#pragma unroll 4
		for (int g = WARP; g < groups; g += warps) {
			a += v_sums[(int64_t)g * E + e];
			b += u_sums[(int64_t)g * E + e];
		}
	}
	shared[WARP * 32 + LANE] = a;
	shared[(warps + WARP) * 32 + LANE] = b;
	BARRIER();
	if (WARP != 0) return;
	for (int w = 1; w < warps; w++) {
		a += shared[w * 32 + LANE];
		b += shared[(warps + w) * 32 + LANE];
	}
	double linear = 0, self = 0;
	if (e < E) {
		double θ = potentials[e];
		v[e] = (float)a;
		if (a != 0) linear = a * θ;
		if (b != 0) self = b * θ;
	}
	linear = warp_sum(linear);
	self = warp_sum(self);
	if (LANE == 0) {
		sums[BLOCK] = linear;
		sums[BLOCKS + BLOCK] = self;
	}
}
EXPORT(difference_total)

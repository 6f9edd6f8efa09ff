// The memory that a method keeps per example, a point r of the marginal polytope: r [·][W] float with one row per position (nodes, W = Y;
// per-position edges, W = Y×Y) or per example (shared edges, W = Y×Y).
#include "rows.cuh"

// remember moves rows of a memory towards answers: r ← (1−γ)r + γu; γ is by[0], or step if by is null.
//   u [N][W] float, index [N] int    answers, and the row of r for each, −1: none
//   chain [N], offsets [B+1] int     for per-position edges, whose rows are left alone where chains start; else null
// One block per 2048 entries or so. Bound: reads u and r, writes r once, 12·N·W bytes. Reference: train/engine/memory.go; checked by
// cuda/accelerator/objective_test.go.
KERNEL(remember)(const float* RESTRICT u, const int* RESTRICT index, const int* RESTRICT chain, const int* RESTRICT offsets, float* RESTRICT r,
	const float* RESTRICT by, float step, int N, int W, int rows) {
	float γ = by ? by[0] : step;
	FOR_ROWS(N, W, rows) {
		int to = index[t];
		if (to < 0 || (chain && offsets[chain[t]] == t)) continue;
		int64_t at = (int64_t)to * W + y;
		r[at] = γ == 1.f ? u[i] : γ * u[i] + (1.f - γ) * r[at];
	}
}
EXPORT(remember)

// recall copies the other way: row i of u [N][W] becomes row index[i] of r, or zeros if that is −1.
// Bound: 8·N·W bytes.
KERNEL(recall)(float* RESTRICT u, const int* RESTRICT index, const float* RESTRICT r, int N, int W, int rows) {
	FOR_ROWS(N, W, rows) {
		int from = index[t];
		u[i] = from < 0 ? 0.f : r[(int64_t)from * W + y];
	}
}
EXPORT(recall)

// to_gold moves all examples' rows towards the gold outputs: r ← γr + (1−γ)1_y; r is not read if γ = 0.
//   node [ΣT][Y] float; edge [n][Y²], or [ΣT][Y²] with per_position; either may be null
//   offsets [n+1], gold [ΣT] int    the data set
// One block per example; shared memory for THREADS numbers. Bound: reads and writes r once.
// Reference: train/engine/memory.go; checked by cuda/accelerator/objective_test.go.
KERNEL(to_gold)(float* RESTRICT node, float* RESTRICT edge, const int* RESTRICT offsets, const int* RESTRICT gold, float γ, int Y, int per_position) {
	SHARED(int, counts);
	int from = offsets[BLOCK], length = offsets[BLOCK + 1] - from, E = Y * Y;
	const int* labels = gold + from;
	for (int64_t k = THREAD; k < (int64_t)length * Y; k += THREADS) {
		float* x = node + (int64_t)from * Y + k;
		*x = (γ == 0.f ? 0.f : γ * *x) + (labels[k / Y] == k % Y ? 1.f - γ : 0.f);
	}
	if (per_position) {
		for (int64_t k = THREAD; k < (int64_t)length * E; k += THREADS) {
			int t = (int)(k / E), e = (int)(k % E);
			float* x = edge + (int64_t)from * E + k;
			bool taken = t > 0 && labels[t] >= 0 && labels[t - 1] >= 0 && e == labels[t - 1] * Y + labels[t];
			*x = (γ == 0.f ? 0.f : γ * *x) + (taken ? 1.f - γ : 0.f);
		}
		return;
	}
	for (int first_step = 0; first_step < E; first_step += THREADS) {
		count_gold_steps(counts, offsets + BLOCK, gold, 1, Y, first_step, THREADS);
		int e = first_step + THREAD;
		if (e < E) {
			float* x = edge + (int64_t)BLOCK * E + e;
			*x = (γ == 0.f ? 0.f : γ * *x) + (1.f - γ) * (float)counts[THREAD];
		}
		BARRIER();
	}
}
EXPORT(to_gold)

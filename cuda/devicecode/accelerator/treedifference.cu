// What a loss of dependency trees needs beside an oracle. R relations; P pairs of words, a capacity.
//
// tree_difference: v = c(u − r), the cotangent to pull back, from a batch's answers u and its references r, with its sums for the objective.
//   u_arc [P], u_label [P][R] float        marginals
//   r_arc [·], r_label [·][R] float, index [P] int   references: row index[pair], or the same row if index is null; r null: the gold trees
//   arc [P], label [P][R] float            potentials without the loss
//   weight [B] float                       c
//   v_arc, v_label                         out; 0 in padding
//   sums [3][blocks] double                out: Σ c⟨u−r, θ+ℓ⟩, Σ c⟨u−r, ℓ⟩, Σ c⟨u, θ+ℓ⟩ over the block's pairs; 0·∞ counts as 0
//   moved [B] int                          out: 1 if u ≠ r, else unchanged; may be null
// A warp per pair; rows pairs per block, which depends on R only, so that sums have the same bits for all capacities.
// Bound: reads u, r, θ and writes v once, 16·P·(R+1) bytes.
// Reference: train/engine/engine.go (difference), structured/trees/hamming.go; checked by cuda/accelerator/trees_test.go.
#include "pairs.cuh"
#include "rows.cuh"

struct Sums {
	double linear, loss, self;
};

// entry returns v for one entry and adds to the sums.
DEVICE float entry(float to, float from, float θ, float ℓ, float c, Sums& sums, bool& differs) {
	float d = to - from;
	if (to != 0.f) sums.self += (double)c * (double)to * ((double)θ + (double)ℓ);
	if (d != 0.f) {
		sums.linear += (double)c * (double)d * ((double)θ + (double)ℓ);
		sums.loss += (double)c * (double)d * (double)ℓ;
		differs = true;
	}
	return c * d;
}

KERNEL(tree_difference)(const float* RESTRICT u_arc, const float* RESTRICT u_label, const float* RESTRICT r_arc, const float* RESTRICT r_label,
	const int* RESTRICT index, const float* RESTRICT arc, const float* RESTRICT label, const int* RESTRICT offsets, const int* RESTRICT pairs,
	const int* RESTRICT source, const int* RESTRICT gold_head, const int* RESTRICT gold_relation, const float* RESTRICT weight, float* RESTRICT v_arc,
	float* RESTRICT v_label, double* RESTRICT sums, int* moved, int B, int P, int R, int rows, int flags) {
	SHARED(double, shared);
	Sums own{0, 0, 0};
	for (int k = WARP; k < rows; k += THREADS / 32) {
		int pair = BLOCK * rows + k;
		if (pair >= P) break;
		float* to = v_label + (int64_t)pair * R;
		if (pair >= pairs[B]) {
			for (int r = LANE; r < R; r += 32) to[r] = 0.f;
			if (LANE == 0) v_arc[pair] = 0.f;
			continue;
		}
		Pair x = pair_at(offsets, pairs, source, gold_head, gold_relation, B, pair);
		int64_t at = r_arc && index ? index[pair] : pair;
		bool gold = x.h == x.gold_head, differs = false;
		float c = weight[x.b];
		for (int r = LANE; r < R; r += 32) {
			int64_t i = (int64_t)pair * R + r;
			float from = r_arc ? r_label[at * R + r] : gold && r == x.gold_relation ? 1.f : 0.f;
			to[r] = entry(u_label[i], from, label[i], relation_cost(x, flags, r), c, own, differs);
		}
		if (LANE == 0) v_arc[pair] = entry(u_arc[pair], r_arc ? r_arc[at] : gold ? 1.f : 0.f, arc[pair], head_cost(x, flags), c, own, differs);
		if (differs && moved) moved[x.b] = 1;
	}
	double linear = block_sum(own.linear, shared), loss = block_sum(own.loss, shared), self = block_sum(own.self, shared);
	if (THREAD == 0) {
		sums[BLOCK] = linear;
		sums[BLOCKS + BLOCK] = loss;
		sums[2 * BLOCKS + BLOCK] = self;
	}
}
EXPORT(tree_difference)

// tree_to_gold moves the memory of all P pairs of the data towards the gold trees: r ← γr + (1−γ)1_y; r is not read if γ = 0.
//   r_arc [P], r_label [P][R] float     offsets, pairs [n+1] int    of the data
// A warp per pair. Bound: reads and writes r once. Reference: train/engine/memory.go; checked by cuda/accelerator/trees_test.go.
KERNEL(tree_to_gold)(float* RESTRICT r_arc, float* RESTRICT r_label, const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, float γ, int n, int P, int R) {
	int pair = BLOCK * (THREADS / 32) + WARP;
	if (pair >= P) return;
	Pair x = pair_at(offsets, pairs, (const int*)0, gold_head, gold_relation, n, pair);
	bool gold = x.h == x.gold_head;
	float* row = r_label + (int64_t)pair * R;
	for (int r = LANE; r < R; r += 32) row[r] = (γ == 0.f ? 0.f : γ * row[r]) + (gold && r == x.gold_relation ? 1.f - γ : 0.f);
	if (LANE == 0) r_arc[pair] = (γ == 0.f ? 0.f : γ * r_arc[pair]) + (gold ? 1.f - γ : 0.f);
}
EXPORT(tree_to_gold)

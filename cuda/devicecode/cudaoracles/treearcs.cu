// The relations of arcs, which sums over trees see as part of the arc's score. R relations; P pairs of words, a capacity.
//   arc [P] float, label [P][R] float    potentials of a pair as an arc, and of its relations
// Reference: oracles/tree/oracle.go, structured/trees/hamming.go; checked by cuda/cudaoracles/trees_test.go.
#include "trees.cuh"

// tree_relations: the score of every pair as an arc with its relations,
//   score [P] double   out: arc + μ log Σ_r exp(label_r/μ)
//   top, share [P] float   out: max label, and Σ_r exp((label_r − top)/μ)
//   bad [1] int        out: the least example with a potential that is NaN or +∞, if it is below bad; examples [B] int: of the batch
// One warp per pair. Bound: reads label, 4·P·R bytes.
KERNEL(tree_relations)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT source, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, const int* RESTRICT examples, const float* RESTRICT arc, const float* RESTRICT label, int B, int P, int R, double mu,
	int flags, double* RESTRICT score, float* RESTRICT top, float* RESTRICT share, int* bad) {
	int pair = BLOCK * (THREADS / 32) + WARP;
	if (pair >= P || pair >= pairs[B]) return;
	Pair x = pair_at(offsets, pairs, source, gold_head, gold_relation, B, pair);
	const float* row = label + (int64_t)pair * R;
	float own = arc[pair] + head_cost(x, flags), most = NEVER;
	bool finite = own < INFINITE;
	for (int r = LANE; r < R; r += 32) {
		float v = row[r] + relation_cost(x, flags, r);
		if (v < INFINITE) most = max(most, v);
		else finite = false;
	}
	finite = ballot(!finite) == 0;
	if (!finite && bad && LANE == 0) atomic_min(bad, examples[x.b]);
	if (!finite) own = NEVER; // lanes would part at NaN
	float all = warp_max(most);
	double sum = 0;
	if (all != NEVER) {
		Rate rate = rate_of(mu);
		for (int r = LANE; r < R; r += 32) sum += (double)gibbs(row[r] + relation_cost(x, flags, r), all, rate);
		sum = warp_sum(sum);
	}
	if (LANE == 0) {
		score[pair] = all == NEVER || own == NEVER ? IMPOSSIBLE : (double)own + (double)all + (R == 1 ? 0.0 : mu * logarithm(sum));
		top[pair] = all;
		share[pair] = (float)sum;
	}
}
EXPORT(tree_relations)

// tree_labels: the marginals of the relations, [P][R] float, from those of the arcs, u_arc [P] float, which it zeroes in padding. The other arrays are those of
// tree_relations. One warp per pair. Bound: reads label and writes its marginals, 8·P·R bytes.
KERNEL(tree_labels)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT source, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, const float* RESTRICT label, int B, int P, int R, double mu, int flags, const float* RESTRICT top,
	const float* RESTRICT share, float* RESTRICT u_arc, float* RESTRICT u_label) {
	int pair = BLOCK * (THREADS / 32) + WARP;
	if (pair >= P) return;
	const float* row = label + (int64_t)pair * R;
	float* to = u_label + (int64_t)pair * R;
	bool padding = pair >= pairs[B];
	float p = padding ? 0.f : u_arc[pair];
	if (padding && LANE == 0) u_arc[pair] = 0.f;
	if (p == 0.f) { // also where no relation is allowed
		for (int r = LANE; r < R; r += 32) to[r] = 0.f;
		return;
	}
	Pair x = pair_at(offsets, pairs, source, gold_head, gold_relation, B, pair);
	float all = top[pair], scale = p / share[pair];
	Rate rate = rate_of(mu);
	for (int r = LANE; r < R; r += 32) to[r] = R == 1 ? p : scale * gibbs(row[r] + relation_cost(x, flags, r), all, rate);
}
EXPORT(tree_labels)

// tree_gold: the score ⟨θ, 1_gold⟩ of the gold tree of each sentence, gold [B] double, without the loss. One warp per sentence. Bound: latency.
KERNEL(tree_gold)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT source, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, const float* RESTRICT arc, const float* RESTRICT label, int B, int R, double* RESTRICT gold) {
	int b = BLOCK * (THREADS / 32) + WARP;
	if (b >= B) return;
	Sentence s = sentence_at(offsets, pairs, b);
	double sum = 0;
	for (int d = LANE; d < s.n; d += 32) {
		int from = source[s.first + d], h = gold_head[from], r = gold_relation[from];
		if (h < 0 || r < 0) continue;
		int64_t pair = s.pair + (int64_t)d * s.n + h;
		sum += (double)arc[pair] + (double)label[pair * R + r];
	}
	sum = warp_sum(sum);
	if (LANE == 0) gold[b] = sum;
}
EXPORT(tree_gold)

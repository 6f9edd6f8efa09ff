// The relations of arcs, which sums over trees see as part of the arc's score. R relations; P pairs of words, a capacity.
//   arc [P] float, label [P][R] float    potentials of a pair as an arc, and of its relations
// Reference: oracles/tree/oracle.go, structured/trees/hamming.go; checked by cuda/cudaoracles/trees_test.go.
#include "trees.cuh"

// Scored is a pair's score as an arc, and the largest of its relations' scores, both with the loss. Both are −∞ if some score is NaN or +∞, which marks the
// example as bad.
struct Scored {
	float own, top;
};

// score_pair returns what all lanes of the calling warp need of a pair. row [R]: its relations' potentials.
DEVICE Scored score_pair(const Pair& x, float arc, const float* row, int R, int flags, const int* examples, int* bad) {
	float own = arc + head_cost(x, flags), most = NEVER;
	bool finite = own < INFINITE;
	for (int r = LANE; r < R; r += 32) {
		float v = row[r] + relation_cost(x, flags, r);
		if (v < INFINITE) most = max(most, v);
		else finite = false;
	}
	most = warp_max(most);
	finite = ballot(!finite) == 0 && own + most < INFINITE;
	if (!finite && bad && LANE == 0) atomic_min(bad, examples[x.b]);
	return finite ? Scored{own, most} : Scored{NEVER, NEVER}; // lanes would part at NaN
}

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
	Scored scored = score_pair(x, arc[pair], row, R, flags, examples, bad);
	float own = scored.own, all = scored.top;
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

// tree_scores: the score of every pair as an arc with its best relation, score [P] float: out. The other arrays are those of tree_relations.
// One warp per pair. Bound: reads label, 4·P·R bytes.
KERNEL(tree_scores)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT source, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, const int* RESTRICT examples, const float* RESTRICT arc, const float* RESTRICT label, int B, int P, int R, int flags,
	float* RESTRICT score, int* bad) {
	int pair = BLOCK * (THREADS / 32) + WARP;
	if (pair >= P || pair >= pairs[B]) return;
	Pair x = pair_at(offsets, pairs, source, gold_head, gold_relation, B, pair);
	Scored scored = score_pair(x, arc[pair], label + (int64_t)pair * R, R, flags, examples, bad);
	if (LANE == 0) score[pair] = scored.own + scored.top;
}
EXPORT(tree_scores)

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

// tree_answers: the relations and the value of the best trees, whose heads [N] int are columns of the words' rows of pairs, −1: no tree.
//   relation [N] int   out: of every word the first relation with the largest score, −1 without a tree
//   value [B] double   out: the tree's score with the loss, added up in the words' order, as on the CPU; −∞ without a tree
// One block per sentence, a warp per word. Bound: latency.
KERNEL(tree_answers)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT source, const int* RESTRICT gold_head,
	const int* RESTRICT gold_relation, const float* RESTRICT arc, const float* RESTRICT label, int R, int flags, const int* RESTRICT head,
	int* RESTRICT relation, double* RESTRICT value) {
	SHARED(double, terms); // of THREADS words
	Sentence s = sentence_at(offsets, pairs, BLOCK);
	double sum = 0;
	for (int from = 0; from < s.n; from += THREADS) {
		int count = min(THREADS, s.n - from);
		for (int k = WARP; k < count; k += THREADS / 32) {
			int d = from + k, word = s.first + d, h = head[word];
			int at = source ? source[word] : word;
			Pair x{BLOCK, d, h, gold_head ? gold_head[at] : -1, gold_head ? gold_relation[at] : -1};
			int64_t pair = s.pair + (int64_t)d * s.n + max(h, 0);
			const float* row = label + pair * R;
			float most = NEVER;
			int best = 0;
			for (int r = LANE; r < R; r += 32) {
				float v = row[r] + relation_cost(x, flags, r);
				if (v > most) {
					most = v;
					best = r;
				}
			}
			first_largest(most, best);
			if (LANE == 0) {
				relation[word] = h < 0 ? -1 : best;
				terms[k] = h < 0 ? IMPOSSIBLE : (double)(arc[pair] + head_cost(x, flags)) + (double)most;
			}
		}
		BARRIER();
		if (THREAD == 0) {
			for (int k = 0; k < count; k++) sum += terms[k];
		}
		BARRIER();
	}
	if (THREAD == 0) value[BLOCK] = sum;
}
EXPORT(tree_answers)

// tree_indicators: u_arc [P], u_label [P][R] float = 1 for the arcs of trees and their relations, which are as tree_answers leaves them; else 0, also in padding.
// One warp per pair. Bound: writes 4·P·R bytes.
KERNEL(tree_indicators)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT head, const int* RESTRICT relation, int B, int P, int R,
	float* RESTRICT u_arc, float* RESTRICT u_label) {
	int pair = BLOCK * (THREADS / 32) + WARP;
	if (pair >= P) return;
	int taken = -1; // its relation, if the pair is an arc
	if (pair < pairs[B]) {
		Pair x = pair_at(offsets, pairs, (const int*)0, (const int*)0, (const int*)0, B, pair);
		int word = offsets[x.b] + x.d;
		if (head[word] == x.h) taken = relation[word];
	}
	for (int r = LANE; r < R; r += 32) u_label[(int64_t)pair * R + r] = r == taken ? 1.f : 0.f;
	if (LANE == 0) u_arc[pair] = taken >= 0 ? 1.f : 0.f;
}
EXPORT(tree_indicators)

// prefix_scores: δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ_t(i,j)), the best score of a prefix that ends there, of the chains of a ragged batch,
// less what is subtracted every 64 positions to keep numbers small: to the bits of the CPU's.
//   chains' parameters as in chain.cuh
//   scores [N][Y] float   out
// One block per chain, a thread per label, up to 1024; matrices are read through L2.
// Bound: N·Y² additions and maxima, as many reads of transitions from L2 (from memory, per position).
//
// best_outputs: the K best outputs of every chain by lazy enumeration over those scores (recursive enumeration, Jiménez and Marzal 1999).
//   scores  [N][Y] float  as above
//   mu      > 0: stop where the outputs so far, but for the last, are all that an ℓ₂ smoothing by μ gives weight (Prop. 4); 0: never
//   count   [B] int       out: how many there are, ≤ K
//   score   [B][K] double out: descending; float64 sums over the labels in the order of positions, the bits of the CPU's
//   path    [K][N] int    out: labels; output k's of a chain that has fewer are not written
//   gold    [B] double    out: ⟨θ,1_gold⟩; may be null
//   cells, lasts [N+B][K] int, entries [N+B][2K] Entry, counts, way [N+B] int, first_path [N] int   scratch, 40·K + 12 bytes a position
// One warp per chain. Cell (t, l) lists prefixes that end with label l at position t, best first; one more after the last position lists outputs.
// Only cells on outputs found have lists: an output adds at most one cell and one entry to each position, so the scratch is bounded. An output's
// next best needs, in each cell on its way, the better of what the label used last offers next and the best offer of the other labels: a scan of
// Y numbers by the lanes, which find again what the labels in the list have offered, so that cells hold no offers. A walk back to the first cell
// that has what is asked for, then forth.
// Ties are the CPU's: of labels that offer the same the smaller, but the label used last before others.
// Bound: latency. T dependent steps back and as many forth an output, some 2·10³ cycles each where a cell is new; chains run side by side.
//
// Reference: oracles/chain/lattice.go, topk.go; checked by the contract suite, emulated and on the device.
#include "lattice.cuh"

BOUNDED_KERNEL(prefix_scores, 1024)(CHAINS_PARAMETERS, float* RESTRICT scores) {
	SHARED(float, shared);
	const int Y = labels, y = THREAD, W = THREADS;
	float* part = shared + 2 * W;
	const Chain c = chain_of(CHAINS, BLOCK);
	const bool owns = y < Y;
	for (int t = 0; t < c.length; t++) {
		const float* before = shared + (t + 1) % 2 * W;
		float best = t == 0 ? 0.f : NEVER, x = owns ? node_at(c, t, y) : NEVER;
		if (t > 0 && owns) {
			const float* into = edges_into(c, t) + y;
#pragma unroll 4
			for (int i = 0; i < Y; i++) best = max(best, before[i] + into[(int64_t)i * Y]);
		}
		if (owns) x += best;
		if (t > 0 && t % REBASE == 0) {
			float m = warp_max(x);
			if (LANE == 0) part[WARP] = m;
			BARRIER();
			m = part[0];
			for (int w = 1; w < W / 32; w++) m = max(m, part[w]);
			if (m != NEVER) x -= m;
		}
		shared[t % 2 * W + y] = x;
		if (owns) scores[(int64_t)(c.first + t) * Y + y] = x;
		BARRIER();
	}
}
EXPORT(prefix_scores)

// score_in_order is ⟨θ+ℓ,1_y⟩ summed as the host does. terms [64] are shared by the warp.
DEVICE double score_in_order(const Chain& c, const int32_t* labels, double* terms) {
	double s = 0.0;
#pragma unroll 1
	for (int from = 0; from < c.length; from += 32) {
		int t = from + LANE;
		double n = 0.0, e = 0.0;
		if (t < c.length) {
			n = (double)node_at(c, t, labels[t]);
			if (t > 0) e = (double)edges_into(c, t)[(int64_t)labels[t - 1] * c.Y + labels[t]];
		}
		WARP_BARRIER();
		terms[2 * LANE] = n;
		terms[2 * LANE + 1] = e;
		WARP_BARRIER();
#pragma unroll 1
		for (int k = 0; k < 2 * min(32, c.length - from); k++) s += terms[k];
	}
	return s;
}

// 512 threads are more than it is launched with: the bound keeps it to 128 registers.
BOUNDED_KERNEL(best_outputs, 512)(CHAINS_PARAMETERS, int32_t chains, int32_t rows, const float* RESTRICT scores, int32_t K, double mu, int32_t* count,
	double* score, int32_t* path, double* golds, int32_t* cells, int32_t* lasts, Entry* entries, int32_t* counts, int32_t* way, int32_t* first_path) {
	SHARED(double, shared);
	const int b = BLOCK * (THREADS / 32) + WARP;
	if (b >= chains) return;
	double* terms = shared + 64 * WARP;
	Lattice g;
	g.c = chain_of(CHAINS, b);
	warp_gold_score(g.c, b, golds);
	const int T = g.c.length;
	score += (int64_t)b * K;
	if (T == 0) {
		if (LANE == 0) {
			count[b] = 1;
			score[0] = 0.0;
		}
		return;
	}
	const int64_t at = g.c.first + b;
	g.scores = scores + (int64_t)g.c.first * labels;
	g.best = first_path + g.c.first;
	g.cells = cells + at * K;
	g.lasts = lasts + at * K;
	g.entries = entries + at * 2 * K;
	g.counts = counts + at;
	g.way = way + at;
	g.K = K;
	path += g.c.first;

	Offer end = before(g, T, -1);
	if (end.score == NEVER) {
		if (LANE == 0) count[b] = 0;
		return;
	}
	for (int t = T - 1, l = end.label; t >= 0; t--) {
		if (LANE == 0) first_path[g.c.first + t] = path[t] = l;
		if (t > 0) l = before(g, t, l).label;
	}
#pragma unroll 1
	for (int t = LANE; t <= T; t += 32) g.counts[t] = 0;
	WARP_BARRIER();
	double s = score_in_order(g.c, path, terms);
	if (LANE == 0) score[0] = s;
	int n = 1;
	if (K > 1) {
		cell_of(g, T, -1);
		while (n < K && advance(g)) {
			int32_t* found = path + (int64_t)n * rows;
			read_path(g, found);
			s = score_in_order(g.c, found, terms);
			// Scores of prefixes are float32: outputs that nearly tie may come in the wrong order.
			int m = n;
			for (; m > 0 && s > score[m - 1]; m--) {
				double worse = score[m - 1];
				int32_t *x = path + (int64_t)m * rows, *y = x - rows;
#pragma unroll 1
				for (int t = LANE; t < T; t += 32) {
					int32_t l = x[t];
					x[t] = y[t];
					y[t] = l;
				}
				WARP_BARRIER();
				if (LANE == 0) score[m] = worse;
				WARP_BARRIER();
			}
			WARP_BARRIER();
			if (LANE == 0) score[m] = s;
			WARP_BARRIER();
			n++;
			if (mu > 0.0) {
				double sum = 0.0, least = score[n - 1];
#pragma unroll 1
				for (int k = 0; k < n - 1; k++) sum += score[k] - least;
				if (mu <= sum) break;
			}
		}
	}
	if (LANE == 0) count[b] = n;
}
EXPORT(best_outputs)

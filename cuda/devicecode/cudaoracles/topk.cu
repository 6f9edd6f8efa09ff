// prefix_scores: δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ_t(i,j)), the best score of a prefix that ends there, for the chains of a ragged batch.
// Every 64 positions a shift keeps the numbers small. The bits equal the CPU's.
//   chains' parameters as in chain.cuh
//   scores [N][Y] float   out
// One block per chain, one thread per label, up to 1024; matrices are read through L2.
// Bound: N·Y² additions and maxima, and as many reads of transitions from L2 (per-position edges: from memory).
//
// best_outputs: the K best outputs of every chain by lazy enumeration over those scores (recursive enumeration, Jiménez and Marzal 1999).
//   scores  [N][Y] float  as above
//   mu      > 0: stop once all outputs but the last are those to which ℓ₂ smoothing with μ gives weight (Prop. 4); 0: never
//   count   [B] int       out: number of outputs, ≤ K
//   score   [B][K] double out: descending; float64 sums over the labels in the order of positions, with the CPU's bits
//   path    [K][N] int    out: labels; not written for output k of a chain that has fewer outputs
//   gold    [B] double    out: ⟨θ,1_gold⟩; may be null
//   cells, lasts [N+B][K] int16, entries [N+B][2K] Entry, counts, way [N+B] int, first_path [N] int   scratch, 28·K + 12 bytes per position
//   room                  > 0: positions, and one more, for which each warp has the scratch but first_path in shared memory; 0: in those arrays
//   transposed            1: shared memory holds the transitions by target, [Y][Y|1]
// Shared memory: 64 doubles per warp, the transitions, and the warps' entries, counts, ways, cells and lasts.
// One warp per chain. Cell (t, l) lists prefixes that end with label l at position t, best first; a further cell after the last position lists
// outputs. Only cells on outputs found so far have lists. An output adds at most one cell and one entry per position, which bounds the scratch
// memory. To extend a cell on an output's path, take the better of the next offer of the label used last and the best offer of the other
// labels. The lanes scan Y numbers for that and recompute what listed labels have offered, so cells store no offers. The walk goes back to
// the first cell that already has the entry, then forward.
// Ties are broken as on the CPU: the smaller label wins, but the label used last wins over the others.
// Bound: latency. T dependent steps backward and as many forward per output, each a few dozen dependent reads of shared memory and one of scores
// from L2; chains run in parallel.
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

// score_in_order returns ⟨θ+ℓ,1_y⟩ summed in the host's order. terms [64] is shared memory of the warp.
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

// Launches use fewer than 512 threads; the bound limits the kernel to 128 registers.
BOUNDED_KERNEL(best_outputs, 512)(CHAINS_PARAMETERS, int32_t chains, int32_t rows, const float* RESTRICT scores, int32_t K, double mu, int32_t* count,
	double* score, int32_t* path, double* golds, int16* cells, int16* lasts, Entry* entries, int32_t* counts, int32_t* way, int32_t* first_path, int32_t room,
	int32_t transposed) {
	SHARED(double, shared);
	const int Y = labels, stride = Y | 1;
	float* into = (float*)(shared + 64 * (THREADS / 32));
	if (transposed) {
		for (int i = THREAD; i < Y * Y; i += THREADS) into[i % Y * stride + i / Y] = edge[i];
		BARRIER();
	}
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
	g.K = K;
	g.scores = scores + (int64_t)g.c.first * Y;
	g.best = first_path + g.c.first;
	g.edge = transposed ? into : g.c.edge;
	g.step = g.c.per_position ? Y * Y : 0;
	g.from = transposed ? 1 : Y;
	g.to = transposed ? stride : 1;
	if (room > 0) {
		Entry* own = (Entry*)(into + (transposed ? Y * stride : 0)) + 2 * K * room * WARP; // all warps' entries, then all counts, and so on
		int32_t* numbers = (int32_t*)(own + 2 * K * room * (THREADS / 32 - WARP)) + 2 * room * WARP;
		int16* small = (int16*)(numbers + 2 * room * (THREADS / 32 - WARP)) + 2 * K * room * WARP;
		g.entries = own;
		g.counts = numbers;
		g.way = numbers + room;
		g.cells = small;
		g.lasts = small + K * room;
	} else {
		const int64_t at = g.c.first + b;
		g.entries = entries + at * 2 * K;
		g.counts = counts + at;
		g.way = way + at;
		g.cells = cells + at * K;
		g.lasts = lasts + at * K;
	}
	path += g.c.first;

	Offer end = before(g, T, -1);
	if (end.score == NEVER) {
		if (LANE == 0) count[b] = 0;
		return;
	}
	float ahead[4]; // δ of the lane's label at t−1, t−2, ..., for Y ≤ 32
#pragma unroll
	for (int k = 0; k < 4; k++) {
		int t = T - 2 - k;
		ahead[k] = t >= 0 && LANE < Y ? g.scores[(int64_t)t * Y + LANE] : NEVER;
	}
	for (int t = T - 1, l = end.label; t >= 0; t--) {
		if (LANE == 0) first_path[g.c.first + t] = path[t] = l;
		if (t == 0) break;
		if (Y > 32) {
			l = before(g, t, l).label;
			continue;
		}
		Offer best = {NEVER, 0x7fffffff};
		if (LANE < Y) {
			float s = ahead[0] + edge_of(g, t, LANE, l);
			if (s > NEVER) best = Offer{s, LANE};
		}
#pragma unroll
		for (int k = 0; k < 3; k++) ahead[k] = ahead[k + 1];
		ahead[3] = t >= 5 && LANE < Y ? g.scores[(int64_t)(t - 5) * Y + LANE] : NEVER;
		l = settled(best).label;
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
			// Prefix scores are float32, so outputs that nearly tie may be out of order.
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

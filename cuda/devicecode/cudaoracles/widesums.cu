// wide_sums, wide_sums_per_position: log-partition functions and node marginals of the chains of a ragged batch, for potentials of any range
// and up to 1024 labels. They handle chains that forward_backward declines or has too many labels for, and per-position edges.
//   chains' parameters as in chain.cuh
//   wide_from, wide_to [Y][Y] Wide   e^(edge/μ) of shared edges and its transpose, from edge_powers
//   declined [B] int      1: process this chain; null: process all. Mostly none is, so a grid of fewer blocks than chains looks through them
//   value    [B] double   out: μ log Σ_y e^(⟨θ+ℓ,1_y⟩/μ), −∞ if no output is allowed
//   marginal [N][Y] float out: node marginals; null: values only
//   prefix, suffix [N][Y] Wide, mass [N] Wide   out, with marginals: α, g and ζ below, for wide_pairs. ζ is 0 if no output is allowed
//   score    [B] double   out: ⟨θ,1_gold⟩; may be null
//   lead: 1 if no forward_backward ran before: this kernel then writes the padding of marginal and the scores
// With n_t = e^(θ_t/μ) and E_t = e^(θ_t(·,·)/μ), and all numbers Wide, m·2^e with a float32 m and an integer e each:
//   α_t = n_t ∘ E_tᵀα_{t−1} / 2^c_t so that the largest e is 0,  value = μ (ln 2 Σ_t c_t + log Σ_j α_T(j)),
//   β_t = E_{t+1} g_{t+1},  ζ_t = Σ_j α_t(j) β_t(j),  g_t = n_t ∘ β_t / 2^e(ζ_t),  marginals α_t ∘ β_t / ζ_t.
// Nothing underflows, and large potentials cost no digits (unlike in sums of logarithms), while exponentials of shared edges are computed
// once. Compared with the single multiply-add of forward_backward, a product costs an additional integer sum, maximum and scaling.
//
// A block processes one chain at a time, one thread per label. Matrices are read through L2, coalesced except in the backward pass over per-position edges.
// Bound: N·Y² of those products twice; matrices of N·Y²·8 bytes (shared, from L1 and L2) or N·Y²·4 (per position) two or three times.
// Reference: oracles/chain/logdomain.go; checked by the contract suite, emulated and on the device.
//
// wide_pairs: the edge marginals, from the output of wide_sums.
//   pairs [B][Y][Y] float   out: expected count of each transition; or, with PER_POSITION, [N][Y][Y]: marginals α_{t−1}(i) E_t(i,j) g_t(j) / ζ_{t−1},
//                           0 where a chain starts and beyond the last chain
// Grid (·, tiles): a block of 256 threads processes one chain at a time, for a tile of 32×32 transitions, held in registers over all positions.
// Bound: writes B·Y²·4 or N·Y²·4 bytes; N·Y² products.
#include "gibbs.cuh"

// block_max returns the maximum over all threads, in all threads. part [32].
DEVICE int block_max(int x, int* part) {
	for (int m = 16; m > 0; m >>= 1) x = max(x, shuffle_xor(x, m));
	BARRIER();
	if (LANE == 0) part[WARP] = x;
	BARRIER();
	x = part[0];
#pragma unroll 2
	for (int w = 1; w < THREADS / 32; w++) x = max(x, part[w]);
	return x;
}

// block_sum returns the sum over all threads, in all threads. part [32].
DEVICE float block_sum(float x, float* part) {
	x = warp_sum(x);
	BARRIER();
	if (LANE == 0) part[WARP] = x;
	BARRIER();
	x = part[0];
#pragma unroll 2
	for (int w = 1; w < THREADS / 32; w++) x += part[w];
	return x;
}

#define RUN 32 /* terms that are added one after another before their sum joins those of other runs: a single sum would err by a unit per term */

// row_times is Σ_i x_i·matrix[i·stride].
DEVICE Wide row_times(const Wide* x, const Wide* matrix, int64_t stride, int n) {
	int most = 2 * NOTHING;
#pragma unroll 2
	for (int i = 0; i < n; i++) most = max(most, x[i].e + matrix[i * stride].e);
	float sum = 0.f;
#pragma unroll 1
	for (int from = 0; from < n; from += RUN) {
		const int to = min(n, from + RUN);
		float part = 0.f;
#pragma unroll 2
		for (int i = from; i < to; i++) {
			Wide y = matrix[i * stride];
			part = fma(x[i].m * y.m, power(x[i].e + y.e - most), part);
		}
		sum += part;
	}
	return trimmed(Wide{sum, most});
}

// row_times, for a matrix of potentials.
DEVICE Wide row_times(const Wide* x, const float* matrix, int64_t stride, int n, double log2_rate) {
	int most = 2 * NOTHING;
#pragma unroll 1
	for (int i = 0; i < n; i++) most = max(most, x[i].e + wide_gibbs(matrix[i * stride], log2_rate).e);
	float sum = 0.f;
	for (int from = 0; from < n; from += RUN) {
		const int to = min(n, from + RUN);
		float part = 0.f;
#pragma unroll 1
		for (int i = from; i < to; i++) {
			Wide y = wide_gibbs(matrix[i * stride], log2_rate);
			part = fma(x[i].m * y.m, power(x[i].e + y.e - most), part);
		}
		sum += part;
	}
	return trimmed(Wide{sum, most});
}

// wide_sums_of processes chain b of all n.
template <bool PER_STEP> DEVICE void wide_sums_of(const Chains& chains, int b, int n, int rows, double mu, const Wide* wide_from, const Wide* wide_to,
	double* value, float* marginal, Wide* prefix, Wide* suffix, Wide* mass, double* score, int lead, char* shared) {
	Wide* x = (Wide*)shared; // [Y] α or g of the previous position; a chain's first block_max lets all threads finish with the chain before
	int* part = (int*)(x + chains.Y);
	const int Y = chains.Y, y = THREAD;
	const Chain c = chain_of(chains, b);
	const double log2_rate = LOG2_E / mu;
	const bool owns = y < Y;
	const Wide zero = Wide{0.f, NOTHING}, one = Wide{1.f, 0};

	if (lead) {
		if (WARP == 0) warp_gold_score(c, b, score);
		if (marginal)
#pragma unroll 1
			for (int64_t row = chains.offsets[n] + b; row < rows; row += n)
				if (owns) marginal[row * Y + y] = 0.f;
	}
	if (c.length == 0) {
		if (y == 0) value[b] = 0.0;
		return;
	}
	const int64_t first = (int64_t)c.first * Y + y;
	int64_t shift = 0;
	Wide a = zero;
	int most = 0;
	for (int t = 0; t < c.length; t++) {
		if (owns) {
			Wide s = one;
			if (t > 0) s = PER_STEP ? row_times(x, edges_into(c, t) + y, Y, Y, log2_rate) : row_times(x, wide_from + y, Y, Y);
			a = trimmed(times(s, wide_gibbs(node_at(c, t, y), log2_rate)));
		}
		most = block_max(a.e, part); // no thread reads x any more
		if (most < NOTHING / 2) break; // all of α is 0
		shift += most;
		if (a.m != 0.f) a.e = max(a.e - most, FAINTEST);
		if (owns) {
			x[y] = a;
			if (marginal) prefix[first + (int64_t)t * Y] = a;
		}
		BARRIER();
	}
	const bool allowed = most >= NOTHING / 2;
	float sum = block_sum(allowed ? a.m * power(a.e) : 0.f, (float*)part);
	if (y == 0) value[b] = allowed ? mu * (LN_2 * (double)shift + logarithm((double)sum)) : (double)NEVER;
	if (!marginal) return;
	if (!allowed) {
#pragma unroll 1
		for (int t = 0; t < c.length; t++) {
			if (owns) marginal[first + (int64_t)t * Y] = 0.f;
			if (y == 0) mass[c.first + t] = zero;
		}
		return;
	}

	for (int t = c.length - 1; t >= 0; t--) {
		Wide beta = one, p = zero;
		if (owns) {
			a = prefix[first + (int64_t)t * Y];
			if (t + 1 < c.length)
				beta = PER_STEP ? row_times(x, edges_into(c, t + 1) + (int64_t)y * Y, 1, Y, log2_rate) : row_times(x, wide_to + y, Y, Y);
			p = times(a, beta);
		}
		most = block_max(p.e, part);
		float q = p.m * power(p.e - most);
		float total = block_sum(q, (float*)part);
		Wide g = zero;
		if (owns) {
			marginal[first + (int64_t)t * Y] = q / total;
			if (a.m != 0.f) g = trimmed(times(beta, wide_gibbs(node_at(c, t, y), log2_rate))); // otherwise no path leads here, and β may be anything
			if (g.m != 0.f) g.e = max(g.e - most, FAINTEST);
			x[y] = g;
			suffix[first + (int64_t)t * Y] = g;
			if (y == 0) mass[c.first + t] = Wide{total, most};
		}
		BARRIER();
	}
}

#define WIDE_SUMS(name, PER_STEP) \
	BOUNDED_KERNEL(name, 1024)(CHAINS_PARAMETERS, int32_t rows, double mu, const Wide* RESTRICT wide_from, const Wide* RESTRICT wide_to, \
		const int32_t* RESTRICT declined, double* RESTRICT value, float* RESTRICT marginal, Wide* prefix, Wide* RESTRICT suffix, \
		Wide* RESTRICT mass, double* RESTRICT score, int32_t lead, int32_t chains) { \
		SHARED(char, shared); \
		for (int b = BLOCK; b < chains; b += BLOCKS) \
			if (!declined || declined[b]) wide_sums_of<PER_STEP>(CHAINS, b, chains, rows, mu, wide_from, wide_to, value, marginal, prefix, suffix, mass, score, lead, shared); \
	} \
	EXPORT(name)

WIDE_SUMS(wide_sums, false)
WIDE_SUMS(wide_sums_per_position, true)

// chains_to_do returns the chains that a block must process among the 32 chains first, first + BLOCKS, first + 2·BLOCKS, ..., as bits. All lanes
// of a warp call it, and all warps of a block get the same.
DEVICE uint32_t chains_to_do(const int32_t* declined, int first, int chains) {
	const int b = first + LANE * BLOCKS; // below 2³¹: a batch has less than that of positions
	return ballot(b < chains && (!declined || declined[b]));
}

// wide_pairs_of computes a tile of the transitions of chain b of all n.
DEVICE void wide_pairs_of(const Chains& chains, int b, int n, int rows, double mu, const Wide* wide_from, const Wide* prefix, const Wide* suffix,
	const Wide* mass, float* pairs) {
	const int Y = chains.Y, tiles = (Y + 31) / 32;
	const int to = 32 * (BLOCK_Y % tiles) + LANE, from = 32 * (BLOCK_Y / tiles) + WARP;
	const Chain c = chain_of(chains, b);
	const double log2_rate = LOG2_E / mu;
	const int64_t matrix = (int64_t)Y * Y;
	if (to >= Y) return;
	if (c.per_position) { // no transition leads into a chain's start or into padding
		for (int64_t t = chains.offsets[n] + b; t < rows; t += n)
			for (int i = from; i < min(Y, from - WARP + 32); i += 8) pairs[t * matrix + i * Y + to] = 0.f;
		if (c.length > 0)
			for (int i = from; i < min(Y, from - WARP + 32); i += 8) pairs[c.first * matrix + i * Y + to] = 0.f;
	}
	Wide kept[4];
	float sum[4];
#pragma unroll
	for (int r = 0; r < 4; r++) {
		sum[r] = 0.f;
		if (!c.per_position && from + 8 * r < Y) kept[r] = wide_from[(from + 8 * r) * Y + to];
	}
	for (int t = 1; t < c.length; t++) {
		const Wide total = mass[c.first + t - 1], g = suffix[(int64_t)(c.first + t) * Y + to];
		const float inverse = 1.f / total.m;
#pragma unroll
		for (int r = 0; r < 4; r++) {
			int i = from + 8 * r;
			if (i >= Y) break;
			Wide e = c.per_position ? wide_gibbs(edges_into(c, t)[(int64_t)i * Y + to], log2_rate) : kept[r];
			Wide a = prefix[(int64_t)(c.first + t - 1) * Y + i];
			float p = 0.f;
			if (total.m != 0.f && a.m != 0.f && e.m != 0.f && g.m != 0.f) p = a.m * e.m * g.m * inverse * power(min(a.e + e.e + g.e - total.e, 127));
			if (c.per_position) pairs[(c.first + t) * matrix + i * Y + to] = p;
			else sum[r] += p;
		}
	}
	if (c.per_position) return;
#pragma unroll
	for (int r = 0; r < 4; r++)
		if (from + 8 * r < Y) pairs[b * matrix + (from + 8 * r) * Y + to] = sum[r];
}

BOUNDED_KERNEL(wide_pairs, 256)(CHAINS_PARAMETERS, int32_t rows, double mu, const Wide* RESTRICT wide_from, const int32_t* RESTRICT declined,
	const Wide* RESTRICT prefix, const Wide* RESTRICT suffix, const Wide* RESTRICT mass, float* RESTRICT pairs, int32_t chains) {
	for (int first = BLOCK; first < chains; first += 32 * BLOCKS)
		for (uint32_t left = chains_to_do(declined, first, chains); left; left &= left - 1)
			wide_pairs_of(CHAINS, first + __builtin_ctz(left) * BLOCKS, chains, rows, mu, wide_from, prefix, suffix, mass, pairs);
}
EXPORT(wide_pairs)

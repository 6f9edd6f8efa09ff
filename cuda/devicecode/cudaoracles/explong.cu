// explong: log-partition functions and marginals of a few very long chains with Y ≤ 32, in parallel along time. All chunks of `step`
// positions of a chain are processed at once. A chunk's transfer M(r, j), the sum over its labelings from label r before it to label j at its
// end, is the forward recurrence started with α = (1 at r, 0 else): Y independent runs. M gives α and β between chunks, one chunk
// after the other. Then all chunks run forward and backward at once.
//   chains as in chain.cuh; at most C = `chunks` chunks per chain; chunk k starts at position k·step
//   wide_from, wide_to [Y][Y] Wide   e^(edge/μ) of shared edges and its transpose, as edge_powers has them
//   transfer [B][C][Y][Y] Wide, shift [B][C][Y] int64   scratch: M(r, ·) = transfer·2^shift; chunk 0 has a single row, α
//   before, after [B][C][Y] Wide   scratch: α and β at a chunk's last position, up to a factor
//   prefix, suffix [N][Y] Wide, mass [N] Wide   scratch: α, g and ζ as in widesums.cu; ζ_t is computed from α_t and E_{t+1} g_{t+1}, also if
//                                    another chunk starts at t+1
//   value [B] double, marginal [N][Y] float or null   out, as in wide_sums
// All numbers are Wide, m·2^e with separate exponents (gibbs.cuh), so nothing underflows for any μ.
// exp_transfer: one warp per chunk and r. exp_borders: one warp per chain. exp_chunks: one warp per chunk. explongsums.cu sums over
// chunks.
//
// Bound: N·Y³ Wide products of about nine instructions each (1e6 positions with 16 labels: 4 G products, 1.3 ms; twice that with the
// surrounding instructions), and about 6·√T dependent steps: at T=1e6 three runs of 1000 steps of 0.3 to 0.5 µs, two of 1000 chunks of about 1 µs.
// Reference: oracles/chain/logdomain.go; checked by the contract suite, emulated and on the device.
#include "chunk.cuh"
#include "widewarp.cuh"

#define NO_SHIFT (-(1ll << 60)) /* marks a row of a transfer that is all 0 */

// forward runs the recurrence over positions from to to−1. a is α of the thread's label, before and after. Its largest exponent is kept at
// 0; what scaling divides out is added to shift. α goes to prefix, unless that is null.
template <int R, int G, bool EACH>
DEVICE void forward(Warp<R, G, EACH>& w, const Chain& c, int from, int to, const Wide* wide_from, Wide& a, int64_t& shift, Wide* prefix) {
	if (from >= to) return;
	share(w, c, wide_from);
	look<R, G, EACH, false>(w, c, from);
	Feed feed = {};
#pragma unroll
	for (int k = 1 - FEED; k <= 0; k++) fetch(feed, c, from + k, to, w.j);
	for (int t = from; t < to; t++) {
		put(w, a);
		take(w);
		look<R, G, EACH, false>(w, c, min(t + 1, to - 1));
		float node = first_of(feed, w.costs, w.j);
		fetch(feed, c, t + 1, to, w.j);
		a = trimmed(times(multiply(w), wide_gibbs(node, w.log2_rate)));
		int most = warp_most(a.e);
		if (most > NOTHING / 2) shift += most; // otherwise all of α is 0
		a = scaled(a, most);
		if (prefix && w.g == 0 && w.j < c.Y) prefix[(int64_t)(c.first + t) * c.Y + w.j] = a;
	}
}

// start returns α at a chain's first position, scaled as by forward.
template <int R, int G, bool EACH> DEVICE Wide start(const Warp<R, G, EACH>& w, const Chain& c, int64_t& shift) {
	Wide a = w.j < c.Y ? trimmed(wide_gibbs(node_at(c, 0, w.j), w.log2_rate)) : Wide{0.f, NOTHING};
	int most = warp_most(a.e);
	if (most > NOTHING / 2) shift += most;
	return scaled(a, most);
}

template <int R, int G, bool EACH>
DEVICE void transfers(const Chains& all, int chunks, int step, double mu, const Wide* wide_from, Wide* transfer, int64_t* shifts, char* shared) {
	const int b = BLOCK_Y, k = BLOCK, r = BLOCK_Z * (THREADS / 32) + WARP;
	Chain c = chain_of(all, b);
	Chunk chunk = chunk_of(c, b, k, chunks, step);
	if (r >= c.Y || chunk.lo == chunk.hi || (k == 0 && r > 0)) return;
	Warp<R, G, EACH> w;
	begin(w, c, shared, mu);
	int64_t shift = 0;
	Wide a = w.j == r ? Wide{1.f, 0} : Wide{0.f, NOTHING};
	if (k == 0) a = start(w, c, shift);
	forward(w, c, max(chunk.lo, 1), chunk.hi, wide_from, a, shift, (Wide*)0);
	int64_t row = (int64_t)chunk.slot * c.Y + r;
	if (w.g == 0 && w.j < c.Y) transfer[row * c.Y + w.j] = a;
	bool leads = ballot(a.m != 0.f) != 0;
	if (LANE == 0) shifts[row] = leads ? shift : NO_SHIFT;
}

#define TRANSFERS(name, R, G, EACH) \
	BOUNDED_KERNEL(name, 256)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double mu, const Wide* RESTRICT wide_from, Wide* transfer, int64_t* shift) { \
		SHARED(char, shared); \
		transfers<R, G, EACH>(CHAINS, chunks, step, mu, wide_from, transfer, shift, shared); \
	} \
	EXPORT(name)

TRANSFERS(exp_transfer_8, 2, 4, false)
TRANSFERS(exp_transfer_16, 8, 2, false)
TRANSFERS(exp_transfer_32, 32, 1, false)
TRANSFERS(exp_transfer_each_8, 2, 4, true)
TRANSFERS(exp_transfer_each_16, 8, 2, true)
TRANSFERS(exp_transfer_each_32, 32, 1, true)

DEVICE int64_t warp_max(int64_t x) {
	for (int m = 16; m > 0; m >>= 1) {
		int64_t y = (int64_t)as_bits(shuffle_xor(as_double((uint64_t)x), m));
		x = x > y ? x : y;
	}
	return x;
}

// settle scales the lanes' x·2^shift so that the largest exponent is 0, and returns the exponent that it took out, 0 if all are 0.
DEVICE int64_t settle(Wide& x, int64_t shift) {
	int64_t e = x.m == 0.f || shift == NO_SHIFT ? NO_SHIFT : x.e + shift, most = warp_max(e);
	if (e == NO_SHIFT) x = Wide{0.f, NOTHING};
	else x.e = (int)(e - most > FAINTEST ? e - most : (int64_t)FAINTEST);
	return most == NO_SHIFT ? 0 : most;
}

KERNEL(exp_borders)
(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double mu, const Wide* RESTRICT transfer, const int64_t* RESTRICT shift, Wide* before,
	Wide* after, double* value) {
	const int b = BLOCK, Y = labels;
	Chain c = chain_of(CHAINS, b);
	if (c.length == 0) {
		if (LANE == 0) value[b] = 0.0;
		return;
	}
	const bool mine = LANE < Y;
	const int last = (c.length - 1) / step;
	Wide a = none(), row[32];
	int64_t total = 0;
	for (int k = 0; k <= last; k++) {
		int64_t at = ((int64_t)b * chunks + k) * Y;
		if (k == 0) {
			if (mine) a = transfer[at * Y + LANE];
			total = shift[at] == NO_SHIFT ? 0 : shift[at];
		} else {
#pragma unroll
			for (int r = 0; r < 32; r++) row[r] = mine && r < Y ? transfer[(at + r) * Y + LANE] : none();
			total += settle(a, mine ? shift[at + LANE] : NO_SHIFT);
			int most = 2 * NOTHING;
			float sum = 0.f;
#pragma unroll
			for (int r = 0; r < 32; r++) most = max(most, shuffle(a.e, r) + row[r].e);
#pragma unroll
			for (int r = 0; r < 32; r++) {
				Wide x = shuffle_wide(a, r);
				sum = fma(x.m * row[r].m, power(x.e + row[r].e - most), sum);
			}
			a = trimmed(Wide{sum, most});
			total += settle(a, 0);
		}
		if (mine) before[at + LANE] = a;
	}
	double sum = warp_sum((double)(a.m * power(a.e)));
	if (LANE == 0) value[b] = sum > 0.0 ? mu * (LN_2 * (double)total + logarithm(sum)) : (double)NEVER;
	if (!after) return;
	Wide h = mine ? Wide{1.f, 0} : none();
	for (int k = last; k >= 0; k--) {
		int64_t at = ((int64_t)b * chunks + k) * Y;
		if (mine) after[at + LANE] = h;
		if (k == 0) break;
		int most = 2 * NOTHING;
		float sum = 0.f;
#pragma unroll
		for (int j = 0; j < 32; j++) row[j] = mine && j < Y ? transfer[(at + LANE) * Y + j] : none();
#pragma unroll
		for (int j = 0; j < 32; j++) most = max(most, shuffle(h.e, j) + row[j].e);
#pragma unroll
		for (int j = 0; j < 32; j++) {
			Wide x = shuffle_wide(h, j);
			sum = fma(x.m * row[j].m, power(x.e + row[j].e - most), sum);
		}
		h = trimmed(Wide{sum, most});
		settle(h, mine ? shift[at + LANE] : NO_SHIFT);
	}
}
EXPORT(exp_borders)

template <int R, int G, bool EACH>
DEVICE void chunks_again(const Chains& all, int chunks, int step, double mu, const Wide* wide_from, const Wide* wide_to, const Wide* before,
	const Wide* after, Wide* prefix, Wide* suffix, Wide* mass, float* marginal, char* shared) {
	const int b = BLOCK_Y, k = BLOCK * (THREADS / 32) + WARP, Y = all.Y;
	if (k >= chunks) return;
	Chain c = chain_of(all, b);
	Chunk chunk = chunk_of(c, b, k, chunks, step);
	if (chunk.lo == chunk.hi) return;
	Warp<R, G, EACH> w;
	begin(w, c, shared, mu);
	const bool owns = w.j < Y, writes = owns && w.g == 0;
	int64_t border = (int64_t)chunk.slot * Y + w.j, shift = 0;
	Wide entered = k > 0 && owns ? before[border - Y] : none(), a = entered;
	if (k == 0) {
		a = start(w, c, shift);
		if (writes) prefix[(int64_t)c.first * Y + w.j] = a;
	}
	forward(w, c, max(chunk.lo, 1), chunk.hi, wide_from, a, shift, prefix);
	int64_t at = (int64_t)(c.first + chunk.hi - 1) * Y + w.j; // of position t
	if (!chunk.last) { // the α with which the next chunk starts
		a = owns ? before[border] : none();
		if (writes) prefix[at] = a;
	}

	share(w, c, wide_to);
	Wide beta = owns ? after[border] : none();
	float node = owns ? all.node[at] : 0.f;
	int gold = c.with_loss && c.gold ? c.gold[chunk.hi - 1] : -1;
	if (chunk.hi - 1 > 0) look<R, G, EACH, true>(w, c, chunk.hi - 1);
	for (int t = chunk.hi - 1;; t--, at -= Y) {
		// a is α_t and beta is β_t; at t = lo−1 they give ζ only.
		Wide p = times(a, beta);
		int most = warp_most(p.e);
		bool allowed = most > NOTHING / 2;
		float q = allowed && p.m != 0.f ? p.m * power(p.e - most) : 0.f, total = warp_sum(w.g == 0 ? q : 0.f);
		if (LANE == 0 && (t < chunk.hi - 1 || chunk.last)) mass[c.first + t] = allowed ? Wide{total, most} : none();
		if (t < chunk.lo) break;
		if (marginal && writes) marginal[at] = allowed ? q / total : 0.f;
		Wide g = none();
		if (owns && a.m != 0.f && allowed) // otherwise no path leads here, and β may be anything
			g = scaled(trimmed(times(beta, wide_gibbs(augmented(node, Loss{gold, gold >= 0 ? w.costs[gold] : 0.f}, w.j), w.log2_rate))), most);
		if (writes) suffix[at] = g;
		if (t == 0) break;
		put(w, g);
		take(w);
		a = t > chunk.lo ? (writes ? prefix[at - Y] : none()) : entered;
		if (G > 1 && t > chunk.lo) a = shuffle_wide(a, LANE / G * G);
		if (t > chunk.lo) {
			node = owns ? all.node[at - Y] : 0.f;
			gold = c.with_loss && c.gold ? c.gold[t - 1] : -1;
			look<R, G, EACH, true>(w, c, max(t - 1, 1));
		}
		beta = multiply(w);
	}
}

#define TWICE_128 128, 2 /* threads per block, and least blocks per multiprocessor */

#define CHUNKS(name, R, G, EACH) \
	BOUNDED_KERNEL(name, TWICE_128)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double mu, const Wide* RESTRICT wide_from, const Wide* RESTRICT wide_to, \
		const Wide* RESTRICT before, const Wide* RESTRICT after, Wide* prefix, Wide* suffix, Wide* mass, float* marginal) { \
		SHARED(char, shared); \
		chunks_again<R, G, EACH>(CHAINS, chunks, step, mu, wide_from, wide_to, before, after, prefix, suffix, mass, marginal, shared); \
	} \
	EXPORT(name)

CHUNKS(exp_chunks_8, 2, 4, false)
CHUNKS(exp_chunks_16, 8, 2, false)
CHUNKS(exp_chunks_32, 32, 1, false)
CHUNKS(exp_chunks_each_8, 2, 4, true)
CHUNKS(exp_chunks_each_16, 8, 2, true)
CHUNKS(exp_chunks_each_32, 32, 1, true)

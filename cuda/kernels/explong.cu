// explong: log-partition functions and marginals of few very long chains, parallel in time, Y ≤ 32. Chunks of `step` positions of a chain are
// worked on at once. A chunk's transfer M(r, j), the sum over its labelings from label r before it to label j at its end, is the forward
// recurrence started from α = (1 at r, 0 else): Y independent runs. From M come α and β between chunks, one chunk after the other; from
// those every chunk again, all at once, forward and back.
//   chains of chain.cuh; C = `chunks` a chain at most, the k-th from position k·step
//   wide_from, wide_to [Y][Y] Wide   e^(edge/μ) of shared edges and its transpose, as edge_powers has them
//   transfer [B][C][Y][Y] Wide, shift [B][C][Y] int64   scratch: M(r, ·) = transfer·2^shift; chunk 0 has one row, α itself
//   before, after [B][C][Y] Wide   scratch: α and β at a chunk's last position, each but for a factor
//   prefix, suffix [N][Y] Wide, mass [N] Wide   scratch: α, g and ζ as in widesums.cu; ζ is that of α_t and E_{t+1} g_{t+1}, also where
//                                    another chunk begins at t+1
//   golds    [B][C] double           scratch: scores of the gold labels, by chunk
//   parts    [B][C][Y][Y] float      scratch: expected number of each transition, by chunk
//   value [B] double, marginal [N][Y] float or null, pairs [B][Y][Y] or [N][Y][Y] float or null, score [B] double or null   out, as wide_sums'
// Numbers are m·2^e with exponents of their own (gibbs.cuh), so that nothing underflows, whatever μ.
// exp_transfer: a warp for each chunk and r. exp_borders: a warp a chain. exp_chunks: a warp a chunk. exp_pairs: a block a chunk.
// exp_pair_sums, exp_scores: sums over chunks in order, the former in float64.
//
// Bound: N·Y³ products of such numbers, about nine instructions each (1e6 positions of 16 labels: 4 G products, 1.3 ms, twice that with what there
// is around them), and about 6·√T dependent steps: at T=1e6 three runs of 1000 steps of 0.3 to 0.5 µs, two of 1000 chunks of about 1 µs.
// Reference: oracles/logdomain.go; checked by the contract suite, emulated and on the device.
#include "chunk.cuh"
#include "feed.cuh"
#include "gibbs.cuh"
#include "warp.cuh"

#define NO_SHIFT (-(1ll << 60)) /* of a transfer's row that leads nowhere */

DEVICE Wide shuffle_wide(Wide x, int lane) { return Wide{shuffle(x.m, lane), shuffle(x.e, lane)}; }

DEVICE Wide none() { return Wide{0.f, NOTHING}; }

// scaled is x/2^most, for the largest exponent of all that x is compared with.
DEVICE Wide scaled(Wide x, int most) { return x.m == 0.f ? none() : Wide{x.m, max(x.e - most, FAINTEST)}; }

// product is Σ_k x_k matrix_k over the labels of all G threads that share one: the same in all of them.
template <int R, int G> DEVICE Wide product(const Wide* x, const Wide (&matrix)[R]) {
	int most = 2 * NOTHING;
#pragma unroll
	for (int k = 0; k < R; k++) most = max(most, x[k].e + matrix[k].e);
#pragma unroll
	for (int m = 1; m < G; m <<= 1) most = max(most, shuffle_xor(most, m));
	float sum = 0.f;
#pragma unroll
	for (int k = 0; k < R; k++) sum = fma(x[k].m * matrix[k].m, power(x[k].e + matrix[k].e - most), sum);
#pragma unroll
	for (int m = 1; m < G; m <<= 1) sum += shuffle_xor(sum, m);
	return trimmed(Wide{sum, most});
}

// Warp is what a warp of the kernels below has: its thread (j, g) multiplies with labels g·R to g·R+R−1, as in maxplus.cuh.
template <int R, int G, bool EACH> struct Warp {
	static const int W = R * G;
	static const int SHARED_BYTES = 20 * W;
	Wide matrix[R];
	float ahead[EACH ? R : 1]; // the next step's
	Wide* x;                   // [2][W] shared
	float* costs;              // [W] shared
	int j, g, side;
	double log2_rate;
};

template <int R, int G, bool EACH> DEVICE void begin(Warp<R, G, EACH>& w, const Chain& c, char* shared, double mu) {
	w.x = (Wide*)(shared + WARP * w.SHARED_BYTES);
	w.costs = (float*)(w.x + 2 * w.W);
	w.j = LANE / G, w.g = LANE % G, w.side = 0;
	w.log2_rate = LOG2_E / mu;
	if (c.with_loss)
		for (int y = LANE; y < c.Y; y += 32) w.costs[y] = loss_for(c, y).cost;
	WARP_BARRIER();
}

// look loads potentials of the step into t: those into label j, or, backward, those out of it.
template <int R, int G, bool EACH, bool BACKWARD> DEVICE void look(Warp<R, G, EACH>& w, const Chain& c, int t) {
	if (!EACH) return;
	const float* edge = edges_into(c, t);
#pragma unroll
	for (int k = 0; k < R; k++) {
		int i = w.g * R + k;
		w.ahead[EACH ? k : 0] = i < c.Y && w.j < c.Y ? edge[BACKWARD ? w.j * c.Y + i : i * c.Y + w.j] : NEVER;
	}
}

// share takes up the matrix of shared edges: e^(edge/μ), or, backward, its transpose.
template <int R, int G, bool EACH> DEVICE void share(Warp<R, G, EACH>& w, const Chain& c, const Wide* matrix) {
	if (EACH) return;
#pragma unroll
	for (int k = 0; k < R; k++) {
		int i = w.g * R + k;
		w.matrix[k] = i < c.Y && w.j < c.Y ? matrix[i * c.Y + w.j] : Wide{0.f, NOTHING};
	}
}

// take makes what look loaded the matrix.
template <int R, int G, bool EACH> DEVICE void take(Warp<R, G, EACH>& w) {
	if (!EACH) return;
#pragma unroll
	for (int k = 0; k < R; k++) w.matrix[k] = wide_gibbs(w.ahead[EACH ? k : 0], w.log2_rate);
}

// put makes x the row that product reads. A barrier is in it.
template <int R, int G, bool EACH> DEVICE void put(Warp<R, G, EACH>& w, Wide x) {
	w.side ^= 1;
	if (w.g == 0) w.x[w.side * w.W + w.j] = x;
	WARP_BARRIER();
}

template <int R, int G, bool EACH> DEVICE Wide multiply(Warp<R, G, EACH>& w) {
	return product<R, G>(w.x + w.side * w.W + w.g * R, w.matrix);
}

// forward runs the recurrence over positions from to to−1. a is α of the thread's label before, and is what it is after; its largest exponent
// is 0, what it was divided by is added to shift. α goes to prefix, unless that is null.
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
		if (most > NOTHING / 2) shift += most; // else nothing leads here
		a = scaled(a, most);
		if (prefix && w.g == 0 && w.j < c.Y) prefix[(int64_t)(c.first + t) * c.Y + w.j] = a;
	}
}

// start is α at a chain's first position, as forward leaves it.
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

// settle divides the lanes' x·2^shift so that the largest exponent is 0, and returns what was taken off, 0 if all are 0.
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
	if (!chunk.last) { // the α that the next chunk starts from
		a = owns ? before[border] : none();
		if (writes) prefix[at] = a;
	}

	share(w, c, wide_to);
	Wide beta = owns ? after[border] : none();
	float node = owns ? all.node[at] : 0.f;
	int gold = c.with_loss && c.gold ? c.gold[chunk.hi - 1] : -1;
	if (chunk.hi - 1 > 0) look<R, G, EACH, true>(w, c, chunk.hi - 1);
	for (int t = chunk.hi - 1;; t--, at -= Y) {
		// a is α_t, beta is β_t; at t = lo−1 they only give ζ.
		Wide p = times(a, beta);
		int most = warp_most(p.e);
		bool allowed = most > NOTHING / 2;
		float q = allowed && p.m != 0.f ? p.m * power(p.e - most) : 0.f, total = warp_sum(w.g == 0 ? q : 0.f);
		if (LANE == 0 && (t < chunk.hi - 1 || chunk.last)) mass[c.first + t] = allowed ? Wide{total, most} : none();
		if (t < chunk.lo) break;
		if (marginal && writes) marginal[at] = allowed ? q / total : 0.f;
		Wide g = none();
		if (owns && a.m != 0.f && allowed) // else no path leads here: β may be anything
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

#define CHUNKS(name, R, G, EACH) \
	BOUNDED_KERNEL(name, 128)(CHAINS_PARAMETERS, int32_t chunks, int32_t step, double mu, const Wide* RESTRICT wide_from, const Wide* RESTRICT wide_to, \
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

// exp_pairs: parts, or, with edges per position, pairs themselves. Up to four cells of a matrix a thread.
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

// exp_pair_sums: pairs from parts; a thread a cell.
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

// exp_golds: golds; a warp a chunk. exp_scores: score from golds; a warp a chain.
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

// exp_padding: zeros in the rows of a matrix [rows][width] that belong to no chain.
KERNEL(exp_padding)(const int32_t* RESTRICT offsets, int32_t chains, int32_t rows, int32_t width, float* matrix) {
	for (int64_t i = (int64_t)offsets[chains] * width + BLOCK * THREADS + THREAD; i < (int64_t)rows * width; i += BLOCKS * THREADS) matrix[i] = 0.f;
}
EXPORT(exp_padding)

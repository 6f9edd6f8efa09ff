// forward_large_1, _4 and backward_large_1, _4: like forward_backward_… (forwardbackward.cu), for up to 1024 labels, in two kernels.
//   chains' parameters as in chain.cuh, without PER_POSITION; powers_from, powers_to, bounds as there
//   value, marginal, declined, score  out, as there
//   scale [N] Scale         between the kernels (scaled.cuh)
//   prefix, suffix [N][Y] Wide, mass [N] Wide   out, with marginals: α, g and ζ, from which wide_pairs computes the edge marginals
// One block per 1 or 4 chains, one thread per label. Matrices are read in each step, coalesced, through L2, and through L1 up to about 200 labels; what
// is read serves all chains of the block. A chain's sums have the same order in both kernels, and so the same bits.
// Range: as in forwardbackward.cu.
// Bound: reads of matrices, T·Y²·4 bytes per block and direction: a multiprocessor gets 64 bytes per cycle from L2, 128 from L1.
// Reference: oracles/chain/scaledsums.go; checked by the contract suite, emulated and on the device.
#include "scaled.cuh"

// column_dots is to[k·W] = Σ_i x_k(i)·matrix[i·Y] for C vectors x [C][W], which are 0 from Y to the next multiple of 4. It adds up runs of 128 terms, in
// four sums of 32, as the CPU does: a single sum over many labels would err by a unit per term.
template <int C> DEVICE void column_dots(const float* x, int W, const float* matrix, int Y, float* to) {
#pragma unroll
	for (int k = 0; k < C; k++) to[k * W] = 0.f;
	for (int from = 0; from < Y; from += 128) {
		const int end = min(Y, from + 128);
		float sum[C];
#pragma unroll
		for (int half = 0; half < 2; half++) { // two of the four sums at a time, which takes fewer registers
			float s[C][2];
#pragma unroll
			for (int k = 0; k < C; k++) s[k][0] = s[k][1] = 0.f;
#pragma unroll C == 1 ? 4 : 2
			for (int i = from + 2 * half; i + 4 - 2 * half <= end; i += 4) {
				const float m0 = matrix[i * Y], m1 = matrix[i * Y + Y];
#pragma unroll
				for (int k = 0; k < C; k++) {
					const float2 v = *(const float2*)(x + k * W + i);
					s[k][0] = fma(v.x, m0, s[k][0]);
					s[k][1] = fma(v.y, m1, s[k][1]);
				}
			}
			for (int i = end & ~3; half == 0 && i < end; i++)
#pragma unroll
				for (int k = 0; k < C; k++) s[k][0] = fma(x[k * W + i], matrix[i * Y], s[k][0]);
#pragma unroll
			for (int k = 0; k < C; k++) sum[k] = half == 0 ? s[k][0] + s[k][1] : sum[k] + (s[k][0] + s[k][1]);
		}
#pragma unroll
		for (int k = 0; k < C; k++) to[k * W] += sum[k];
	}
}

// sum_of adds the warps' partial sums.
DEVICE float sum_of(const float* x) {
	float s = x[0];
	for (int w = 1; w < THREADS / 32; w++) s += x[w];
	return s;
}

DEVICE float most_of(const float* x) {
	float m = x[0];
	for (int w = 1; w < THREADS / 32; w++) m = max(m, x[w]);
	return m;
}

// Block is the shared memory of a block, and its chains.
template <int C> struct Block {
	float* vector; // [2][C][W] α before rescaling, or g
	float4* own; // [C][W] of a label: θ_t, its smallest α, the range of its positions, 1 if something is forbidden; or β and p before rescaling
	float *sums, *tops; // [2][C][32] of the warps
	float* scales; // [C][32] a warp's copy of 1/c_t, or of the sum of p
	int* start; // [C+1] offsets of the chains
};

template <int C> DEVICE Block<C> block_of(const Chains& all, int chains, float* shared) {
	Block<C> m;
	m.vector = shared;
	m.own = (float4*)(m.vector + 2 * C * THREADS);
	m.sums = (float*)(m.own + C * THREADS);
	m.tops = m.sums + 2 * C * 32;
	m.scales = m.tops + 2 * C * 32;
	m.start = (int*)(m.scales + C * 32);
	if (THREAD <= C) m.start[THREAD] = all.offsets[min(BLOCK * C + THREAD, chains)];
	for (int k = 0; k < 2 * C; k++) m.vector[k * THREADS + THREAD] = 0.f; // column_dots reads all chains'
	BARRIER();
	return m;
}

// FOR_BLOCK runs the following statement for each of the block's chains k that is in a set, given as bits, and reaches position t. What a thread keeps
// for each chain is in shared memory, because registers are few: only column_dots handles the chains at the same time.
#define FOR_BLOCK(set, t) _Pragma("unroll 1") for (int k = 0; k < C; k++) if (((set) >> k & 1) && (t) < start[k + 1] - start[k])

// forward computes α of the block's chains into prefix (marginal null: not), and their values. declined says which chains float32 cannot hold.
template <int C> DEVICE void forward(const Chains& all, int chains, int rows, double mu, const float* powers_from, const float* bounds, double* value,
	float* marginal, Scale* scale, Wide* prefix, int32_t* declined, double* score, float* shared) {
	const Block<C> m = block_of<C>(all, chains, shared);
	const int Y = all.Y, y = THREAD, W = THREADS, block = BLOCK * C;
	float *vector = m.vector, *sums = m.sums, *tops = m.tops, *scales = m.scales;
	float4* own = m.own;
	const int* start = m.start;
	const bool owns = y < Y;
	const Rate rate = rate_of(mu);

	uint32_t alive = 0; // chains whose α is not 0, as bits: the same in all threads
	int longest = 0;
#pragma unroll 1
	for (int k = 0; k < C; k++) {
		if (block + k >= chains) break;
		const Chain c = chain_from(all, start[k], start[k + 1] - start[k]);
		if (!begin(all, c, block + k, chains, rows, value, marginal, declined, score)) continue;
		alive |= 1u << k;
		longest = max(longest, c.length);
		const float first = owns ? node_at(c, 0, y) : NEVER, largest = warp_max(first);
		own[k * W + y] = float4{first, INFINITE, 0.f, bounds[2]};
		if (LANE == 0) tops[k * 32 + WARP] = largest;
	}
	if (!alive) return;
	BARRIER();
	for (int t = 0; t < longest; t++) {
		const int now = t & 1, next = now ^ 1;
		if (t > 0 && owns) column_dots<C>(vector + next * C * W, W, powers_from + y, Y, vector + now * C * W + y);
		FOR_BLOCK(alive, t) {
			const Chain c = chain_from(all, start[k], start[k + 1] - start[k]);
			float* mine = vector + (now * C + k) * W + y;
			float top = most_of(tops + (now * C + k) * 32);
			if (top == NEVER) top = 0.f;
			const float following = owns && t + 1 < c.length ? node_at(c, t + 1, y) : NEVER;
			float raw = 0.f;
			float4 of = own[k * W + y];
			if (owns) {
				raw = gibbs(of.x, top, rate);
				if (t > 0) raw *= *mine * scales[k * 32 + WARP];
				if (of.x == NEVER) of.w = 1.f;
				else of.z = max(of.z, top - of.x);
			}
			if (y == 0) scale[start[k] + t] = Scale{0.f, top, 0.f, 0.f};
			of.x = following;
			own[k * W + y] = of;
			*mine = raw;
			const float sum = warp_sum(raw), largest = warp_max(following);
			if (LANE == 0) {
				sums[(now * C + k) * 32 + WARP] = sum;
				tops[(next * C + k) * 32 + WARP] = largest;
			}
		}
		BARRIER();
		FOR_BLOCK(alive, t) {
			const float sum = sum_of(sums + (now * C + k) * 32);
			if (!(sum > 0.f)) {
				alive &= ~(1u << k);
				continue;
			}
			const float raw = vector[(now * C + k) * W + y], inverse = 1.f / sum, a = raw * inverse;
			if (LANE == 0) scales[k * 32 + WARP] = inverse;
			if (raw > 0.f) own[k * W + y].y = min(own[k * W + y].y, min(a, raw));
			if (owns && marginal) prefix[(int64_t)(start[k] + t) * Y + y] = Wide{a, a > 0.f ? 0 : NOTHING};
			if (y == 0) scale[start[k] + t].sum = sum;
		}
		WARP_BARRIER(); // scales
	}
	FOR_BLOCK(~0u, 0) {
		const float low = -warp_max(-own[k * W + y].y), wide = warp_max(own[k * W + y].z), never = warp_max(own[k * W + y].w);
		BARRIER();
		if (LANE == 0) {
			vector[WARP] = -low;
			vector[32 + WARP] = wide;
			sums[WARP] = never;
		}
		BARRIER();
		const float spans = (float)(((double)most_of(vector + 32) + (double)bounds[1]) / mu);
		const bool fits = (alive >> k & 1) && spans <= WIDEST && (most_of(sums) == 0.f || -most_of(vector) >= exponential(spans - WIDEST));
		if (y == 0) declined[block + k] = !fits;
		if (!fits || WARP > 0) continue;
		double logs = 0.0, peaks = 0.0;
#pragma unroll 1
		for (int t = LANE; t < start[k + 1] - start[k]; t += 32) {
			const Scale of = scale[start[k] + t];
			logs += logarithm((double)of.sum);
			peaks += (double)of.top;
		}
		logs = warp_sum(logs);
		peaks = warp_sum(peaks);
		if (LANE == 0) value[block + k] = mu * logs + peaks + (double)(start[k + 1] - start[k] - 1) * (double)bounds[0];
	}
}

// backward computes the marginals of the block's chains that are not declined, and what wide_pairs needs, after forward.
template <int C> DEVICE void backward(const Chains& all, int chains, double mu, const float* powers_to, const float* bounds, float* marginal,
	const Scale* scale, const Wide* prefix, Wide* suffix, Wide* mass, const int32_t* declined, float* shared) {
	const Block<C> m = block_of<C>(all, chains, shared);
	const int Y = all.Y, y = THREAD, W = THREADS, block = BLOCK * C;
	float *vector = m.vector, *sums = m.sums, *scales = m.scales;
	float4* own = m.own;
	const int* start = m.start;
	const bool owns = y < Y;
	const Rate rate = rate_of(mu);
	uint32_t holds = 0; // chains whose range float32 can hold, as bits: the same in all threads
	int longest = 0;
#pragma unroll 1
	for (int k = 0; k < C; k++) {
		if (block + k >= chains || start[k] == start[k + 1] || declined[block + k]) continue;
		holds |= 1u << k;
		longest = max(longest, start[k + 1] - start[k]);
	}
	if (!holds) return;
	const Wide unit = wide_gibbs(bounds[0], LOG2_E / mu); // wide_pairs uses absolute edges, not relative to the largest
	for (int k = 0; k < C; k++) own[k * W + y].x = 1.f;
	for (int t = longest - 1;; t--) {
		const int now = t & 1;
		FOR_BLOCK(holds, t) {
			const Chain c = chain_from(all, start[k], start[k + 1] - start[k]);
			float here = 0.f, g = 0.f;
			if (owns) {
				here = prefix[(int64_t)(start[k] + t) * Y + y].m;
				const Scale of = scale[start[k] + t];
				if (here > 0.f) g = gibbs(node_at(c, t, y), of.top, rate) * own[k * W + y].x / of.sum; // otherwise β may be anything
			}
			const float mine = here > 0.f ? here * own[k * W + y].x : 0.f, sum = warp_sum(mine);
			own[k * W + y].y = mine;
			vector[(now * C + k) * W + y] = g;
			if (LANE == 0) sums[(now * C + k) * 32 + WARP] = sum;
		}
		BARRIER();
		FOR_BLOCK(holds, t) {
			const float sum = sum_of(sums + (now * C + k) * 32), g = vector[(now * C + k) * W + y];
			if (LANE == 0) scales[k * 32 + WARP] = sum;
			if (owns) {
				marginal[(int64_t)(start[k] + t) * Y + y] = own[k * W + y].y / sum;
				suffix[(int64_t)(start[k] + t) * Y + y] = Wide{g, g > 0.f ? 0 : NOTHING};
			}
			if (t > 0 && y == 0) mass[start[k] + t - 1] = Wide{sum * unit.m, unit.e};
		}
		if (t == 0) break;
		WARP_BARRIER(); // scales
		float* dots = vector + (now ^ 1) * C * W + y; // of the step before, which no thread reads any more
		if (owns) column_dots<C>(vector + now * C * W, W, powers_to + y, Y, dots);
		FOR_BLOCK(holds, t) if (owns) own[k * W + y].x = dots[k * W] / scales[k * 32 + WARP];
	}
}

#define LARGE(C) \
	BOUNDED_KERNEL(forward_large_##C, 1024)(CHAINS_PARAMETERS, int32_t chains, int32_t rows, double mu, const float* RESTRICT powers_from, \
		const float* RESTRICT bounds, double* value, float* marginal, Scale* scale, Wide* prefix, int32_t* declined, double* score) { \
		SHARED(float, shared); \
		forward<C>(CHAINS, chains, rows, mu, powers_from, bounds, value, marginal, scale, prefix, declined, score, shared); \
	} \
	EXPORT(forward_large_##C) \
	BOUNDED_KERNEL(backward_large_##C, 1024)(CHAINS_PARAMETERS, int32_t chains, double mu, const float* RESTRICT powers_to, \
		const float* RESTRICT bounds, float* marginal, const Scale* scale, const Wide* prefix, Wide* suffix, Wide* mass, \
		const int32_t* RESTRICT declined) { \
		SHARED(float, shared); \
		backward<C>(CHAINS, chains, mu, powers_to, bounds, marginal, scale, prefix, suffix, mass, declined, shared); \
	} \
	EXPORT(backward_large_##C)

LARGE(1)
LARGE(4)

// forward_backward_large: like forward_backward_… (forwardbackward.cu), for up to 1024 labels.
//   chains' parameters as in chain.cuh, without PER_POSITION; powers_from, powers_to, bounds as there
//   value, marginal, declined, score  out, as there
//   scale [N] Scale         scratch (scaled.cuh)
//   prefix, suffix [N][Y] Wide, mass [N] Wide   out, with marginals: α, g and ζ, from which wide_pairs computes the edge marginals
// One block per chain, one thread per label. Matrices are read in each step, coalesced, through L2, and through L1 up to about 200 labels.
// Range: as in forwardbackward.cu.
// Bound: reads of matrices, T·Y²·4 bytes per chain and direction: a multiprocessor gets 64 bytes per cycle from L2, 128 from L1.
// Reference: oracles/chain/scaledsums.go; checked by the contract suite, emulated and on the device.
#include "scaled.cuh"

// column_dot is Σ_i x_i·matrix[i·Y]; x is 0 from Y to the next multiple of 4. It adds up runs of 128 terms, in four sums of 32, as the CPU does: a
// single sum over many labels would err by a unit per term.
DEVICE float column_dot(const float* x, const float* matrix, int Y) {
	float sum = 0.f;
	for (int from = 0; from < Y; from += 128) {
		const int to = min(Y, from + 128);
		float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll 2
		for (int i = from; i + 4 <= to; i += 4) {
			float4 v = *(const float4*)(x + i);
			const float* m = matrix + (int64_t)i * Y;
			s0 = fma(v.x, m[0], s0);
			s1 = fma(v.y, m[Y], s1);
			s2 = fma(v.z, m[2 * Y], s2);
			s3 = fma(v.w, m[3 * Y], s3);
		}
		for (int i = to & ~3; i < to; i++) s0 = fma(x[i], matrix[(int64_t)i * Y], s0);
		sum += (s0 + s1) + (s2 + s3);
	}
	return sum;
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

BOUNDED_KERNEL(forward_backward_large, 1024)(CHAINS_PARAMETERS, int32_t rows, double mu, const float* RESTRICT powers_from,
	const float* RESTRICT powers_to, const float* RESTRICT bounds, double* value, float* marginal, Scale* scale, Wide* prefix, Wide* suffix,
	Wide* mass, int32_t* declined, double* score) {
	SHARED(double, tally); // of thread 0: Π c_t since its last logarithm, the sum of those logarithms, Σ max θ_t. There are no registers left for them
	const int b = BLOCK, Y = labels, y = THREAD, W = THREADS;
	float *vector = (float*)(tally + 4), *sums = vector + 2 * W, *tops = sums + 64; // [2][W], [2][32], [2][32]
	const Chain c = chain_of(CHAINS, b);
	if (!begin(CHAINS, c, rows, value, marginal, declined, score)) return;
	const bool owns = y < Y;
	const Rate rate = rate_of(mu);
	const int64_t first = (int64_t)c.first * Y + y;
	scale += c.first;

	float x = owns ? node_at(c, 0, y) : NEVER;
	float largest = warp_max(x);
	if (LANE == 0) tops[WARP] = largest;
	BARRIER();
	float inverse = 1.f, least = INFINITE, width = 0.f, forbidden = bounds[2];
	if (y == 0) {
		tally[0] = 1.0;
		tally[1] = tally[2] = 0.0;
	}
	bool dead = false;
	for (int t = 0; t < c.length; t++) {
		const int now = t & 1, next = now ^ 1;
		float top = most_of(tops + now * 32);
		if (top == NEVER) top = 0.f;
		const float following = owns && t + 1 < c.length ? node_at(c, t + 1, y) : NEVER;
		float raw = 0.f;
		if (owns) {
			raw = gibbs(x, top, rate);
			if (t > 0) raw *= column_dot(vector + next * W, powers_from + y, Y) * inverse;
			if (x == NEVER) forbidden = 1.f;
			else width = max(width, top - x);
		}
		x = following;
		vector[now * W + y] = raw;
		float sum = warp_sum(raw);
		largest = warp_max(following);
		if (LANE == 0) {
			sums[now * 32 + WARP] = sum;
			tops[next * 32 + WARP] = largest;
		}
		BARRIER();
		sum = sum_of(sums + now * 32);
		if (!(sum > 0.f)) {
			dead = true;
			break;
		}
		inverse = 1.f / sum;
		const float a = raw * inverse;
		if (a > 0.f) least = min(least, a);
		if (owns && marginal) prefix[first + (int64_t)t * Y] = Wide{a, a > 0.f ? 0 : NOTHING};
		if (y == 0) {
			scale[t] = Scale{sum, top, 0.f, 0.f};
			tally[2] += (double)top;
			double product = tally[0] * (double)sum;
			if (product < 1e-100 || product > 1e100) {
				tally[1] += logarithm(product);
				product = 1.0;
			}
			tally[0] = product;
		}
	}
	least = -warp_max(-least);
	width = warp_max(width);
	forbidden = warp_max(forbidden);
	BARRIER();
	if (LANE == 0) {
		vector[WARP] = -least;
		vector[32 + WARP] = width;
		sums[WARP] = forbidden;
	}
	BARRIER();
	least = -most_of(vector);
	width = most_of(vector + 32);
	forbidden = most_of(sums);
	const float spans = (float)(((double)width + (double)bounds[1]) / mu);
	const bool holds = !dead && spans <= WIDEST && (forbidden == 0.f || least >= exponential(spans - WIDEST));
	if (y == 0) {
		declined[b] = !holds;
		if (holds) value[b] = mu * (tally[1] + logarithm(tally[0])) + tally[2] + (double)(c.length - 1) * (double)bounds[0];
	}
	if (!holds || !marginal) return;
	BARRIER();

	const Wide unit = wide_gibbs(bounds[0], LOG2_E / mu); // wide_pairs uses absolute edges, not relative to the largest
	float beta = 1.f;
	for (int t = c.length - 1;; t--) {
		const int now = t & 1;
		float here = 0.f, g = 0.f;
		if (owns) {
			here = prefix[first + (int64_t)t * Y].m;
			if (here > 0.f) g = gibbs(node_at(c, t, y), scale[t].top, rate) * beta / scale[t].sum; // otherwise β may be anything
		}
		const float p = here > 0.f ? here * beta : 0.f;
		vector[now * W + y] = g;
		float sum = warp_sum(p);
		if (LANE == 0) sums[now * 32 + WARP] = sum;
		BARRIER();
		sum = sum_of(sums + now * 32);
		if (owns) {
			marginal[first + (int64_t)t * Y] = p / sum;
			suffix[first + (int64_t)t * Y] = Wide{g, g > 0.f ? 0 : NOTHING};
		}
		if (t == 0) break;
		if (y == 0) mass[c.first + t - 1] = Wide{sum * unit.m, unit.e};
		if (owns) beta = column_dot(vector + now * W, powers_to + y, Y) / sum;
	}
}
EXPORT(forward_backward_large)

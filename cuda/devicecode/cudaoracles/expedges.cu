// edge_bounds: the range of shared edge potentials.
//   edge   [Y][Y] float
//   bounds [3]    float   out: the maximum, its distance to the smallest finite potential, and 1 if some are −∞, else 0
// One block. Bound: reads Y²·4 bytes.
//
// edge_powers: e^(edge/μ) of shared edge potentials, and the transpose.
//   from, to [Y][Y] float   out: e^((edge − largest)/μ), row "from", and the transpose
//   wide_from, wide_to [Y][Y] Wide   out: e^(edge/μ), likewise
// One thread per entry. Bound: writes Y²·24 bytes, which is little compared with forward-backward's reads.
//
// Reference: oracles/chain/scaledsums.go; checked through forward-backward, which reads all of the output.
#include "gibbs.cuh"

KERNEL(edge_bounds)(const float* RESTRICT edge, int32_t labels, float* RESTRICT bounds) {
	SHARED(float, part); // [3][32]
	float hi = NEVER, lo = INFINITE, forbidden = 0.f;
	for (int64_t k = THREAD; k < (int64_t)labels * labels; k += THREADS) {
		float x = edge[k];
		if (x == NEVER) {
			forbidden = 1.f;
		} else {
			hi = max(hi, x);
			lo = min(lo, x);
		}
	}
	hi = warp_max(hi);
	lo = -warp_max(-lo);
	forbidden = warp_max(forbidden);
	if (LANE == 0) {
		part[WARP] = hi;
		part[32 + WARP] = lo;
		part[64 + WARP] = forbidden;
	}
	BARRIER();
	if (THREAD > 0) return;
	for (int w = 1; w < THREADS / 32; w++) {
		hi = max(hi, part[w]);
		lo = min(lo, part[32 + w]);
		forbidden = max(forbidden, part[64 + w]);
	}
	bool none = hi == NEVER;
	bounds[0] = none ? 0.f : hi;
	bounds[1] = none ? 0.f : hi - lo;
	bounds[2] = forbidden;
}
EXPORT(edge_bounds)

KERNEL(edge_powers)(const float* RESTRICT edge, int32_t labels, double mu, const float* RESTRICT bounds, float* RESTRICT from,
	float* RESTRICT to, Wide* RESTRICT wide_from, Wide* RESTRICT wide_to) {
	Rate rate = rate_of(mu);
	int64_t n = (int64_t)labels * labels;
	for (int64_t k = (int64_t)BLOCK * THREADS + THREAD; k < n; k += (int64_t)BLOCKS * THREADS) {
		int64_t transposed = k % labels * labels + k / labels;
		float x = edge[k];
		from[k] = to[transposed] = gibbs(x, bounds[0], rate);
		wide_from[k] = wide_to[transposed] = wide_gibbs(x, LOG2_E / mu);
	}
}
EXPORT(edge_powers)

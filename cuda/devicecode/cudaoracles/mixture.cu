// mixture: the smoothed max over the best outputs of each chain, and its gradient u = Σ_k q_k 1_{y_k}.
//   offsets [B+1] int, labels Y, flags: PER_POSITION, as in chain.cuh
//   count   [B] int         number of outputs, ≤ K; null: the outputs with finite scores
//   score   [B][K] double   their scores, descending
//   path    [K][N] int      their labels
//   mu      of the smoothing: q is the projection of z/μ on the simplex. z are all scores if there are fewer than K outputs, else all but the
//           last, which only serves the test of exactness (Pillutla et al. 2019, Prop. 4)
//   value   [B] double      out: Σ_k q_k z_k − (μ/2)(‖q‖² − 1); −∞ if there is no output
//   best    [B] double      out: z_1
//   exact   [B] int         out: 1 if no further output would get weight
//   marginal [N][Y] float   out: 0 beyond the last chain
//   pairs   [B][Y][Y] or, with PER_POSITION, [N][Y][Y] float  out
// Any output may be null.
// One block per chain. A row of marginal is gathered from the labels at its position. One warp adds transitions, 32 positions at a time: of
// the lanes with equal transitions, the first adds for all. So there are no atomics, and the order is always the same.
// Bound: writes N·Y·4 and B·Y²·4 (or N·Y²·4) bytes.
// Reference: oracles/simplex.go, smoothing.go; checked by the contract suite, emulated and on the device.
//
// ones: sets every entry of an array to 1.
#include "chain.cuh"

// project writes the projection of z/μ on the simplex to q, the number of nonzero q to support, and returns the smoothed max, as oracles/simplex.go does.
DEVICE double project(const double* z, int n, double mu, float* q, int& support) {
	double above = 0.0; // Σ_{i≤support} (z_1 − z_i)
	for (support = 1; support < n; support++) {
		double drop = z[0] - z[support];
		if ((double)support * drop - above >= mu) break;
		above += drop;
	}
	double mean = -above / (double)support, linear = 0.0, square = 0.0;
	for (int k = 0; k < support; k++) {
		double d = z[k] - z[0], w = max(0.0, (d - mean) / mu + 1.0 / (double)support);
		linear += w * d;
		square += w * w;
		q[k] = (float)w;
	}
	return z[0] + linear - mu / 2.0 * (square - 1.0);
}

BOUNDED_KERNEL(mixture, 256)(const int32_t* RESTRICT offsets, int32_t labels, int32_t flags, int32_t rows, int32_t K, double mu,
	const int32_t* RESTRICT count, const double* RESTRICT score, const int32_t* RESTRICT path, double* RESTRICT value, double* RESTRICT best,
	int32_t* RESTRICT exact, float* RESTRICT marginal, float* RESTRICT pairs) {
	SHARED(float, q); // [K], then the number of nonzero entries
	int* weighted = (int*)(q + K);
	const int b = BLOCK, Y = labels, first = offsets[b], length = offsets[b + 1] - first, warps = THREADS / 32;
	const int64_t matrix = (int64_t)Y * Y;
	const bool per_position = flags & PER_POSITION;
	if (THREAD == 0) {
		const double* z = score + (int64_t)b * K;
		int n = count ? count[b] : z[0] == (double)NEVER ? 0 : 1, support = 0;
		bool covered = true;
		if (count && n == K) {
			n--;
			double sum = 0.0;
			for (int k = 0; k < n; k++) sum += z[k] - z[n];
			covered = mu <= sum;
		}
		double v = n == 0 ? (double)NEVER : project(z, n, mu, q, support);
		if (value) value[b] = v;
		if (best) best[b] = n == 0 ? (double)NEVER : z[0];
		if (exact) exact[b] = covered;
		*weighted = support;
	}
	BARRIER();
	const int support = *weighted;
	if (marginal) {
		for (int t = WARP; t < length; t += warps)
			for (int y = LANE; y < Y; y += 32) {
				float p = 0.f;
				for (int k = 0; k < support; k++)
					if (path[(int64_t)k * rows + first + t] == y) p += q[k];
				marginal[(int64_t)(first + t) * Y + y] = p;
			}
		for (int64_t row = offsets[BLOCKS] + b; row < rows; row += BLOCKS)
			for (int y = THREAD; y < Y; y += THREADS) marginal[row * Y + y] = 0.f;
	}
	if (!pairs) return;
	if (per_position) {
		for (int64_t row = offsets[BLOCKS] + b; row < rows; row += BLOCKS)
			for (int64_t k = THREAD; k < matrix; k += THREADS) pairs[row * matrix + k] = 0.f;
		pairs += first * matrix;
		for (int64_t k = THREAD; k < length * matrix; k += THREADS) pairs[k] = 0.f;
		BARRIER();
		for (int t = 1 + THREAD; t < length; t += THREADS)
			for (int k = 0; k < support; k++) {
				const int32_t* y = path + (int64_t)k * rows + first + t;
				pairs[t * matrix + y[-1] * Y + y[0]] += q[k];
			}
		return;
	}
	pairs += b * matrix;
	for (int64_t k = THREAD; k < matrix; k += THREADS) pairs[k] = 0.f;
	BARRIER();
	if (WARP > 0) return;
	for (int k = 0; k < support; k++) {
		for (int from = 1; from < length; from += 32) {
			int t = from + LANE, step = -1; // −1 differs from all transitions in some bit
			if (t < length) {
				const int32_t* y = path + (int64_t)k * rows + first + t;
				step = y[-1] * Y + y[0];
			}
			uint32_t same = 0xffffffffu;
			for (int bit = 1; bit <= Y * Y; bit <<= 1) {
				uint32_t set = ballot(step & bit);
				same &= step & bit ? set : ~set;
			}
			if (step >= 0 && __builtin_ctz(same) == LANE) pairs[step] += q[k] * (float)__builtin_popcount(same);
			WARP_BARRIER();
		}
	}
}
EXPORT(mixture)

KERNEL(ones)(int32_t* x, int32_t n) {
	for (int i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) x[i] = 1;
}
EXPORT(ones)

// projective_sums: sums over projective trees with one root arc, and the probabilities of arcs.
//   offsets, pairs, score [P] double, value [B] double, u_arc [P] float   as for tree_sums
//   declined [B] int   out, of projective_sums: whether float64 cannot hold a sentence; projective_sums_in_logs then computes it on logarithms
//   scratch            double: 5 per pair and 5 per word, for sentences that room [doubles] of shared memory cannot hold
// One block per sentence; a warp computes a span, and all spans of one width are computed at once (Eisner 1996's recurrence over (+, ×); Paskin 2001).
// Bound: n³/2 multiply-adds in float64 (2n³ with marginals), n dependent steps each way.
// Reference: oracles/tree/projectiveexp.go, chart.go, outside.go; checked by cuda/cudaoracles/trees_test.go.
#include "chart.cuh"

// damping and leastTotal of oracles/tree/projectiveexp.go.
#define LOG_DAMPING -1.9095425048844386 /* log 4/27 */
#define LEAST_TOTAL 1e-280

// SumChart adds derivatives of the total: by complete, and by spans without their arc. joined is symmetric; its diagonal holds the largest scores of dependents.
template <class R> struct SumChart : Chart<R> {
	double *outer, *joined;
};

// outside computes the derivatives from wide spans to narrow ones, and the marginals of arcs between words.
template <class R> DEVICE void outside(const SumChart<R>& c, double total, float* u) {
	int n = c.n, step = c.stride;
	for (int w = n - 1; w > 0; w--) {
		for (int i = WARP; i < n - w; i += THREADS / 32) {
			int j = i + w;
			const double *complete_i = c.complete + (int64_t)i * step, *complete_j = c.complete + (int64_t)j * step;
			double *outer_i = c.outer + (int64_t)i * step, *outer_j = c.outer + (int64_t)j * step;
			double *joined_i = c.joined + (int64_t)i * step, *joined_j = c.joined + (int64_t)j * step;
			// Complete spans are parts of joined spans, of wider complete spans, and of the whole.
			double right = R::plus(dot<R>(joined_i + j + 1, 1, c.complete + (int64_t)(j + 1) * step + j + 1, step, n - 1 - j),
				dot<R>(c.outer + j, step, c.arc + i, step, i));
			double left = R::plus(dot<R>(joined_j, 1, c.complete + i - 1, step, i),
				dot<R>(outer_j + step + i, step, c.arc + (int64_t)(j + 1) * step + j, step, n - 1 - j));
			if (j == n - 1) right = R::add(right, c.score[(int64_t)i * step + i], complete_i[0]);
			if (i == 0) left = R::add(left, c.score[(int64_t)j * step + j], complete_j[n - 1]);
			if (LANE == 0) {
				outer_i[j] = right;
				outer_j[i] = left;
			}
			WARP_BARRIER();
			// Arcs are parts of complete spans, also of the same width.
			double from_i = dot<R>(outer_i + j, 1, complete_j + j, 1, n - j), from_j = dot<R>(outer_j, 1, complete_i, 1, i + 1);
			if (LANE == 0) {
				joined_i[j] = joined_j[i] = R::add(R::times(from_i, c.score[(int64_t)i * step + j]), from_j, c.score[(int64_t)j * step + i]);
				u[(int64_t)j * n + i] = (float)R::share(R::times(from_i, c.arc[(int64_t)i * step + j]), total);
				u[(int64_t)i * n + j] = (float)R::share(R::times(from_j, c.arc[(int64_t)j * step + i]), total);
			}
		}
		BARRIER();
	}
}

// run computes a sentence, and returns in all threads whether it is right.
template <class R> DEVICE bool run(const SumChart<R>& c, const double* score, double mu, float* u, double* value, double* shared) {
	int n = c.n, step = c.stride, warps = THREADS / 32;
	BARRIER();
	for (int d = WARP; d < n; d += warps) {
		const double* row = score + (int64_t)d * n;
		double top = R::logs ? 0 : largest_of(row, n);
		for (int h = LANE; h < n; h += 32) {
			double x = R::logs ? row[h] / mu : top == IMPOSSIBLE ? 0.0 : exponential((row[h] - top) / mu + LOG_DAMPING);
			c.score[(int64_t)h * step + d] = x;
		}
		if (LANE == 0) {
			c.complete[(int64_t)d * step + d] = R::one();
			c.joined[(int64_t)d * step + d] = top; // no span
		}
	}
	BARRIER();
	inside<R>(c);
	if (WARP == 0) {
		double sum = R::zero(), base = 0;
		for (int r = LANE; r < n; r += 32) {
			double* row = c.complete + (int64_t)r * step;
			sum = R::add(sum, R::times(row[0], row[n - 1]), c.score[(int64_t)r * step + r]);
			base += c.joined[(int64_t)r * step + r];
		}
		sum = sum_over<R>(sum);
		base = warp_sum(base);
		if (LANE == 0) {
			bool right = R::logs ? sum > IMPOSSIBLE : sum >= LEAST_TOTAL;
			*value = !right ? IMPOSSIBLE : R::logs ? mu * sum : base + mu * (R::log(sum) - (double)n * LOG_DAMPING);
			shared[0] = sum;
			shared[1] = right;
		}
	}
	BARRIER();
	double total = shared[0];
	bool right = shared[1] != 0;
	if (!u || !right) return right;
	outside<R>(c, total, u);
	for (int d = THREAD; d < n; d += THREADS) {
		double* row = c.complete + (int64_t)d * step;
		u[(int64_t)d * n + d] = (float)R::share(R::times(R::times(row[0], row[n - 1]), c.score[(int64_t)d * step + d]), total);
	}
	return true;
}

template <class R> DEVICE void sums(const int* offsets, const int* pairs, const double* score, double mu, double* value, float* u_arc, int* declined, double* scratch,
	int room, double* shared) {
	Sentence s = sentence_at(offsets, pairs, BLOCK);
	int n = s.n, step = n | 1;
	if (R::logs && !declined[BLOCK]) return;
	if (n == 0) {
		if (THREAD == 0) {
			value[BLOCK] = 0;
			declined[BLOCK] = 0;
		}
		return;
	}
	int64_t table = (int64_t)n * step;
	double* at = 5 * table + 2 <= room ? shared + 2 : scratch + 5 * (s.pair + s.first);
	SumChart<R> c{{n, step, at, at + table, at + 2 * table}, at + 3 * table, at + 4 * table};
	float* u = u_arc ? u_arc + s.pair : u_arc;
	bool right = run<R>(c, score + s.pair, mu, u, value + BLOCK, shared);
	if (!R::logs) {
		if (THREAD == 0) declined[BLOCK] = !right;
	} else if (u && !right) { // there is no tree
		for (int k = THREAD; k < n * n; k += THREADS) u[k] = 0.f;
	}
}

BOUNDED_KERNEL(projective_sums, 192)(SUMS_PARAMETERS) {
	SHARED(double, shared);
	sums<Weights>(offsets, pairs, score, mu, value, u_arc, declined, scratch, room, shared);
}
EXPORT(projective_sums)

BOUNDED_KERNEL(projective_sums_in_logs, 192)(SUMS_PARAMETERS) {
	SHARED(double, shared);
	sums<Logs>(offsets, pairs, score, mu, value, u_arc, declined, scratch, room, shared);
}
EXPORT(projective_sums_in_logs)

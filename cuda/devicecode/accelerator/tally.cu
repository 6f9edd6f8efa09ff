// tally: adds a batch's contribution to the objective's running sums. Block q owns sum q; sums in order: primal, smoothed, linear, loss,
// entropy, exact, moved (defined in train/engine/engine.go).
//   value, most, gold [B] double, exact [B] int   the oracle's answers: smoothed max, max, gold score, exactness; null if not computed
//   examples [B] int, weight [B] float            the batch
//   nodes [3][n], edges [3 or 2][m] double        sums from difference, of node and edge parts; null and 0: none
//   moved [B] int                                 from difference; null: all chains have moved. Zeroed afterwards
//   sums [7] double                               in and out
// SMOOTH: the primal value is the smoothed one, and entropy is computed. SHARED_EDGES: edges holds only linear and self.
// Each block adds in a fixed order. Bound: latency. Reference: train/engine/engine.go (query, difference); checked by cuda/accelerator/objective_test.go.
#include "rows.cuh"

#define SMOOTH 1
#define SHARED_EDGES 2

DEVICE double part(const double* x, int n) {
	double s = 0;
	for (int k = THREAD; k < n; k += THREADS) s += x[k];
	return s;
}

// loss_at returns f_i, as engine.LossAt does: an oracle picks paths in float32 and can lose the gold one, and f_i is never negative. NaN remains.
DEVICE double loss_at(double h, double gold) { return (h < gold ? gold : h) - gold; }

KERNEL(tally)(const double* RESTRICT value, const double* RESTRICT most, const double* RESTRICT gold, const int* RESTRICT exact,
	const int* RESTRICT examples, const float* RESTRICT weight, const double* RESTRICT nodes, const double* RESTRICT edges, int* RESTRICT moved,
	double* RESTRICT sums, int B, int n, int m, int flags) {
	SHARED(double, shared);
	int q = BLOCK;
	bool smooth = flags & SMOOTH, differs = n > 0;
	double s = 0;
	for (int b = THREAD; b < B; b += THREADS) {
		if (examples[b] < 0) continue;
		double c = weight[b];
		if (q == 6 && differs) {
			s += moved && !moved[b] ? 0 : 1;
			if (moved) moved[b] = 0;
		}
		if (!value) continue;
		if (q == 0 && (smooth || most)) s += c * loss_at(smooth ? value[b] : most[b], gold[b]);
		if (q == 1) s += c * loss_at(value[b], gold[b]);
		if (q == 4 && smooth && differs) s += c * value[b];
		if (q == 5) s += exact && exact[b] ? 1 : 0;
	}
	if (q == 2) s += part(nodes, n) + part(edges, m);
	if (q == 3) s += part(nodes + n, n);
	if (q == 4 && smooth && value) s -= part(nodes + 2 * n, n) + part(edges + (flags & SHARED_EDGES ? m : 2 * m), m);
	s = block_sum(s, shared);
	if (THREAD == 0) sums[q] += s;
}
EXPORT(tally)

// softmax: exp(x) normalised along the middle axis of x [outer×size×inner] or, with log, x − log Σ exp(x). softmax_pull: Jᵀg at its
// result y, which is y∘(g − ⟨y,g⟩) or, with log, g − exp(y)·Σg. Sums are in double.
// One warp for each of rows = outer·inner rows of the middle axis. Bound: reads and writes every entry once (rows of up to a few thousand
// entries stay in the cache between passes). Reference: nets/graph/normalise.go; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

DEVICE int64_t row_start(int row, int size, int inner) { return (int64_t)(row / inner) * size * inner + row % inner; }

KERNEL(softmax)(const float* x, int rows, int size, int inner, int log, float* out) {
	int row = BLOCK * (THREADS / 32) + WARP;
	if (row >= rows) return; // whole warps
	int64_t start = row_start(row, size, inner);
	float top = NEVER;
	for (int j = LANE; j < size; j += 32) top = max(top, x[start + (int64_t)j * inner]);
	top = warp_max(top);
	double sum = 0.;
	for (int j = LANE; j < size; j += 32) sum += exponential(x[start + (int64_t)j * inner] - top);
	sum = warp_sum(sum);
	float total = (float)sum, shift = top + logarithm(total);
	for (int j = LANE; j < size; j += 32) {
		int64_t at = start + (int64_t)j * inner;
		out[at] = log ? x[at] - shift : exponential(x[at] - top) / total;
	}
}
EXPORT(softmax)

KERNEL(softmax_pull)(const float* y, const float* g, int rows, int size, int inner, int log, float* out) {
	int row = BLOCK * (THREADS / 32) + WARP;
	if (row >= rows) return;
	int64_t start = row_start(row, size, inner);
	double sum = 0.;
	for (int j = LANE; j < size; j += 32) {
		int64_t at = start + (int64_t)j * inner;
		sum += log ? (double)g[at] : (double)y[at] * (double)g[at];
	}
	float total = (float)warp_sum(sum);
	for (int j = LANE; j < size; j += 32) {
		int64_t at = start + (int64_t)j * inner;
		out[at] = log ? g[at] - exponential(y[at]) * total : y[at] * (g[at] - total);
	}
}
EXPORT(softmax_pull)

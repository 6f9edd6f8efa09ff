// normalise: each of rows rows of x [rows×cols] shifted and scaled to mean 0 and variance 1, (x − μ)/√(σ² + 1e-5). normalise_pull: its
// pullback at x, which is symmetric: (g − mean(g) − x̂·mean(g⊙x̂))/√(σ² + 1e-5). Sums are in double.
// One warp per row. Bound: reads and writes every entry once (a row stays in the cache between passes). Reference: nets/graph/normalise.go;
// checked by cuda/cudanets/recurrences_test.go.
#include "device.cuh"

// moments returns the mean of a row, in all lanes, and sets scale to 1/√(σ² + 1e-5).
DEVICE float moments(const float* x, int cols, float& scale) {
	double sum = 0., squares = 0.;
	for (int j = LANE; j < cols; j += 32) sum += (double)x[j];
	float mean = (float)(warp_sum(sum) / cols);
	for (int j = LANE; j < cols; j += 32) {
		double d = (double)(x[j] - mean);
		squares = fma(d, d, squares);
	}
	scale = (float)(1. / square_root(warp_sum(squares) / cols + 1e-5));
	return mean;
}

KERNEL(normalise)(const float* x, int rows, int cols, float* out) {
	int row = BLOCK * (THREADS / 32) + WARP;
	if (row >= rows) return; // whole warps
	x += (int64_t)row * cols, out += (int64_t)row * cols;
	float scale, mean = moments(x, cols, scale);
	for (int j = LANE; j < cols; j += 32) out[j] = (x[j] - mean) * scale;
}
EXPORT(normalise)

KERNEL(normalise_pull)(const float* x, const float* g, int rows, int cols, float* out) {
	int row = BLOCK * (THREADS / 32) + WARP;
	if (row >= rows) return;
	x += (int64_t)row * cols, g += (int64_t)row * cols, out += (int64_t)row * cols;
	float scale, mean = moments(x, cols, scale);
	double sum = 0., along = 0.;
	for (int j = LANE; j < cols; j += 32) {
		sum += (double)g[j];
		along = fma((double)(x[j] - mean), (double)g[j], along);
	}
	float middle = (float)(warp_sum(sum) / cols), c = (float)(warp_sum(along) / cols * scale * scale);
	for (int j = LANE; j < cols; j += 32) out[j] = scale * (g[j] - middle - (x[j] - mean) * c);
}
EXPORT(normalise_pull)

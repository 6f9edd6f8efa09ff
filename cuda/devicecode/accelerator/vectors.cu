// Vectors of n weights on an optimiser's path, each thread handling a few entries: products, walk, ascend, observe and add_parts.
#include "parts.cuh"

// products: ‖D‖² and ⟨D, w − from⟩ in float64, in parts.
//   d, w, from [n] float               in; w null: the second product is 0; from null: ⟨D, w⟩
//   parts [2][blocks] double           out: the sum of each block, to be added in order
// The grid must depend on n only, so that the sums have the same bits in every run.
// Bound: reads 8·n bytes. Reference: structured/sys/vec (Norm2, Dot64); checked by cuda/accelerator/vectors_test.go.
KERNEL(products)(const float* RESTRICT d, const float* RESTRICT w, const float* RESTRICT from, double* RESTRICT parts, int64_t n) {
	SHARED(double, shared);
	double norm = 0, dot = 0;
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		double x = d[i];
		norm = fma(x, x, norm);
		if (w) dot = fma(x, from ? (double)w[i] - (double)from[i] : (double)w[i], dot);
	}
	put_parts(norm, dot, parts, shared);
}
EXPORT(products)

// walk: one step along a path, and its contribution to the mean of the iterates, in one sweep over the weights:
//   w ← ρw + q·b + c·D,   b ← b + β·D,   mean ← (1−share)·mean + share·w.
//   w, b, d, mean [n] float   in and out, d only in; b null: q = β = 0; d null: c = β = 0; mean null: share = 0
//   by [1] double or null     factor for c
// Bound: reads and writes w, reads D, and if used reads b and reads and writes the mean: 12 to 24 bytes per entry.
// Reference: train/engine/affinepath.go; checked by cuda/accelerator/vectors_test.go.
KERNEL(walk)(float* RESTRICT w, float* RESTRICT b, const float* RESTRICT d, float* RESTRICT mean, const double* RESTRICT by, float ρ, float q,
	double c, float β, float share, int64_t n) {
	float step = (float)(by ? c * by[0] : c);
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float x = ρ * w[i], D = d ? d[i] : 0.f;
		if (b) {
			float drift = b[i];
			x = fma(q, drift, x);
			if (β != 0.f) b[i] = fma(β, D, drift);
		}
		x = fma(step, D, x);
		w[i] = x;
		if (share == 1.f)
			mean[i] = x;
		else if (share != 0.f)
			mean[i] = fma(share, x, (1.f - share) * mean[i]);
	}
}
EXPORT(walk)

// ascend: the line search of block-coordinate Frank-Wolfe, from the sums of its step, and the update of the dual's value.
//   parts [2][blocks] double   ‖D‖² and ⟨D, w⟩, in parts
//   sums [3] double            the third is Σ c⟨u − ū, θ + ℓ⟩, n times the block gap g
//   dual [3] double            in and out: linear part b of the dual, b of the mean iterate, the dual's value
//   by [1] double              out: −γ/λn, the factor of D; γ [1] float out
// with γ = clip(g/‖D/λn‖²λ, 0, 1). One block. Bound: latency. Reference: train/methods/bcfw.go; checked by cuda/accelerator/vectors_test.go.
KERNEL(ascend)(const double* RESTRICT parts, int blocks, const double* RESTRICT sums, double* RESTRICT dual, double* RESTRICT by, float* RESTRICT gamma,
	double λ, double n, double share) {
	SHARED(double, shared);
	double2 of = add_up(parts, blocks, shared);
	if (THREAD != 0) return;
	double linear = sums[2], gap = linear / n, norm = of.x / (λ * n * n), γ = 0;
	if (gap > 0 && norm > 0) γ = (double)(float)min(gap / norm, 1.0);
	dual[0] += γ / n * (linear - of.y);
	dual[2] += γ * gap - γ * γ / 2 * norm;
	dual[1] += share * (dual[0] - dual[1]);
	by[0] = -γ / (λ * n);
	gamma[0] = (float)γ;
}
EXPORT(ascend)

// observe: how the gradient changes along the path, from one step: observed += (‖D‖²/size², ⟨D, w − w_0⟩/size).
//   parts [2][blocks] double   ‖D‖² and ⟨D, w − w_0⟩, in parts
//   sums [7] double            the last two count exact answers and answers that moved; unless all are exact and some moved, nothing is added
//   observed [2] double        in and out
// One block. Bound: latency. Reference: train/engine/affinepath.go; checked by cuda/accelerator/vectors_test.go.
KERNEL(observe)(const double* RESTRICT parts, int blocks, const double* RESTRICT sums, double* RESTRICT observed, double size) {
	SHARED(double, shared);
	double2 of = add_up(parts, blocks, shared);
	if (THREAD != 0 || sums[5] != size || sums[6] == 0) return;
	observed[0] += of.x / (size * size);
	observed[1] += of.y / size;
}
EXPORT(observe)

// add_parts: D of a batch from D of its parts, which are added in their order. Of count parts rank r has count·r/ranks to count·(r+1)/ranks−1.
//   parts [slots][ranks][n] float   part l of each rank in slot l; where a rank has fewer, anything
//   sum [n] float                   out
// Bound: reads 4·n·count bytes. Reference: train/engine/deviceparts.go; checked by cuda/accelerator/gather_test.go.
KERNEL(add_parts)(const float* RESTRICT parts, float* RESTRICT sum, int count, int ranks, int64_t n) {
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float x = 0.f;
		int k = 0;
		for (int r = 0; r < ranks; r++) {
			int end = (int)((int64_t)count * (r + 1) / ranks);
			for (int l = 0; k < end; k++, l++) {
				float part = parts[((int64_t)l * ranks + r) * n + i];
				x = k == 0 ? part : x + part;
			}
		}
		sum[i] = x;
	}
}
EXPORT(add_parts)

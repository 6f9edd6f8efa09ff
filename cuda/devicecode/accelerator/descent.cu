// Steps of a descent whose weights have step lengths of their own, from a mean v of their squared gradients: a weight's scale is
// h = √(v/(1−β^c)) + 10⁻⁸ after c steps, and that of a proximal step √(hH). Reference: train/engine/scaleddescent.go and structured/sys/vec/adaptive.go, which define the steps; checked by
// cuda/accelerator/descent_test.go.
//
// Every sweep is over all n weights. In prox_step, the weights of a row that the batch does not read only shrink.
// Parameters that the kernels share:
//   w, v, m [n] float          in and out: the iterate, the means of g² and of g (or the momentum z)
//   d [n] float                the gradient D of the batch; the mean gradient is g = scale·D, with scale [1] double
//   numbers [8] double         of the step; see the enumeration
//   common [2] float           V, the mean of the mean square of g over the weights that batches read, and H = √(V/(1−β^c)) + 10⁻⁸
//   tables [T][4] int64        row tables: first weight, first weight behind it, columns, number of its first row
//   marks [rows] int           by row: the last step that read the row
//   squares, means [S] float   1/(1−β^c) for c = 0, 1, …, S−1; from S on it is 1
#include "functions.cuh"
#include "parts.cuh"

enum { SHARE, ETA, LAMBDA, BETA, BOUND, STEPS, ROWS, READS }; // 1/|B|; η; λ; β₁ or μ; largest ‖g‖; steps taken, with this one; rows and weights read

// reads tells whether the batch of step now reads weight i.
DEVICE bool reads(int64_t i, const int64_t* tables, int T, const int* marks, int now) {
	for (int k = 0; k < T; k++) {
		const int64_t* table = tables + 4 * k;
		if (i >= table[0] && i < table[1]) return marks[table[3] + (i - table[0]) / table[2]] == now;
	}
	return true;
}

// unbiased returns what a mean that started at zero must be multiplied with after c steps.
DEVICE float unbiased(const float* by, int S, int c) { return c < S ? by[c] : 1.f; }

DEVICE float scale_of(float v, float unbias) { return square_root(v * unbias) + 1e-8f; }

// tempered_of returns √(hH).
DEVICE float tempered_of(float v, float unbias, float common) { return square_root(scale_of(v, unbias) * common); }

// mean_of returns βx + (1−β)y.
DEVICE float mean_of(float β, float x, float y) { return β * x + (1.f - β) * y; }

// mark_rows: records that the batch reads rows [numbers[ROWS]] int, without repetitions. Bound: latency.
KERNEL(mark_rows)(const int* RESTRICT rows, const double* RESTRICT numbers, int* RESTRICT marks) {
	int n = (int)numbers[ROWS], now = (int)numbers[STEPS];
	for (int k = BLOCK * THREADS + THREAD; k < n; k += BLOCKS * THREADS) marks[rows[k]] = now;
}
EXPORT(mark_rows)

// clip: sets scale such that ‖g‖ is at most numbers[BOUND]. parts [2][blocks] double are those of products. One block. Bound: latency.
KERNEL(clip)(const double* RESTRICT parts, int blocks, const double* RESTRICT numbers, double* RESTRICT scale) {
	SHARED(double, shared);
	double2 of = add_up(parts, blocks, shared);
	if (THREAD != 0) return;
	double by = numbers[SHARE], norm = by * square_root(of.x);
	scale[0] = norm > numbers[BOUND] ? by * (numbers[BOUND] / norm) : by;
}
EXPORT(clip)

// observe_common: V ← βV + (1−β)‖g‖²/reads, and H. parts [2][blocks] double are those of products. One block. Bound: latency.
KERNEL(observe_common)(const double* RESTRICT parts, int blocks, const double* RESTRICT numbers, const double* RESTRICT scale,
	const float* RESTRICT squares, int S, double β, float* RESTRICT common) {
	SHARED(double, shared);
	double2 of = add_up(parts, blocks, shared);
	if (THREAD != 0) return;
	double square = scale[0] * scale[0] * of.x / max(numbers[READS], 1.);
	common[0] = (float)(β * common[0] + (1 - β) * square);
	common[1] = scale_of(common[0], unbiased(squares, S, (int)numbers[STEPS]));
}
EXPORT(observe_common)

// observe_squares: v ← βv + (1−β)g²; and with the step lengths q = 1/(√(hH) + ηλ), 0 where v is 0, the products
// parts [2][blocks] double: ⟨g, qw⟩ and ⟨g, qg⟩. The grid must depend on n only. Bound: reads w, D and v, writes v: 16 bytes per entry.
KERNEL(observe_squares)(const float* RESTRICT w, const float* RESTRICT d, float* RESTRICT v, const double* RESTRICT numbers,
	const double* RESTRICT scale, const float* RESTRICT squares, int S, const float* RESTRICT common, float β, double* RESTRICT parts, int64_t n) {
	SHARED(double, shared);
	float by = (float)scale[0], shift = (float)(numbers[ETA] * numbers[LAMBDA]), unbias = unbiased(squares, S, (int)numbers[STEPS]);
	double gqw = 0, gqg = 0;
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float g = by * d[i], x = mean_of(β, v[i], g * g);
		v[i] = x;
		if (g == 0.f || x == 0.f) continue;
		double q = 1.f / (tempered_of(x, unbias, common[1]) + shift);
		gqw = fma((double)(g * w[i]), q, gqw);
		gqg = fma((double)(g * g), q, gqg);
	}
	put_parts(gqw, gqg, parts, shared);
}
EXPORT(observe_squares)

// prox_dual: the dual variable γ [1] double of the model of a batch with the hinge, from the parts of observe_squares and the loss of the
// batch:
//   γ = (f − ηλ⟨g, qw⟩) / (η⟨g, qg⟩), cut off at 0 and 1; 0 if g is 0.   sums [2] double: the second is |B|·f
// One block. Bound: latency.
KERNEL(prox_dual)(const double* RESTRICT parts, int blocks, const double* RESTRICT sums, const double* RESTRICT numbers, double* RESTRICT gamma) {
	SHARED(double, shared);
	double2 of = add_up(parts, blocks, shared);
	if (THREAD != 0) return;
	double η = numbers[ETA], γ = 0;
	if (of.y != 0) {
		γ = (numbers[SHARE] * sums[1] - η * numbers[LAMBDA] * of.x) / (η * of.y);
		γ = γ < 0 ? 0 : γ > 1 ? 1 : γ; // NaN remains
	}
	gamma[0] = γ;
}
EXPORT(prox_dual)

#define HALVINGS 30 /* as in train/engine/proxstep.go */

// prox_mix: γ [1] double for the other losses: the zero in [0, 1] of
//   slope(γ) = (1/|B|) Σ c_i (1−p_i)(f_i + log((1−γ+γp_i)/γ)) − ηλ⟨g, qw⟩ − γη⟨g, qg⟩,   p_i = exp(−f_i),
// which falls from ∞, or 1 if there is none; 0 if g is 0. At γ = 1 the sum is 0.
//   value, gold [B] double       f_i is their difference; gold may be null, and then f_i is value
//   examples [B] int, weight [B] float   of the batch: −1 beyond its last example, and c_i
//   wrong [B] double             scratch: 1−p_i
// One block of up to 1024 threads, which adds in a fixed order. Bound: latency of 30 sums; every example costs a logarithm in each.
BOUNDED_KERNEL(prox_mix, 1024)(const double* RESTRICT parts, int blocks, const double* RESTRICT value, const double* RESTRICT gold,
	const int* RESTRICT examples, const float* RESTRICT weight, int B, const double* RESTRICT numbers, double* wrong, double* RESTRICT gamma) {
	SHARED(double, shared);
	for (int i = THREAD; i < B; i += THREADS) { // a thread reads only what it writes
		double f = examples[i] < 0 ? 0. : gold ? value[i] - gold[i] : value[i];
		wrong[i] = 1 - exponential(f > 0 ? -min(f, 700.) : 0.); // rounding can leave f < 0
	}
	double2 of = add_up(parts, blocks, shared); // for thread 0, as are a and b
	double a = numbers[ETA] * numbers[LAMBDA] * of.x, b = numbers[ETA] * of.y;
	double lo = 0, hi = 1;
	for (int k = 0; k < HALVINGS; k++) {
		double γ = (lo + hi) / 2, inverse = 1 / γ, sum = 0;
		for (int i = THREAD; i < B; i += THREADS) {
			if (examples[i] < 0) continue;
			double f = gold ? value[i] - gold[i] : value[i];
			sum += weight[i] * wrong[i] * (f + logarithm((1 - γ * wrong[i]) * inverse));
		}
		sum = total(sum, shared);
		if (THREAD == 0) shared[0] = numbers[SHARE] * sum - a - γ * b;
		BARRIER();
		if (shared[0] > 0) lo = γ;
		else hi = γ;
	}
	if (THREAD == 0) gamma[0] = of.y == 0 ? 0 : a + b <= 0 ? 1 : a + b > 0 ? (lo + hi) / 2 : a + b; // NaN remains
}
EXPORT(prox_mix)

// prox_step: w ← w − ηq(γg + λw) where the batch reads the weight, elsewhere w ← w·exp(−ηλ/√(hH)); where v is 0, w stays.
// Bound: reads w, D and v, writes w: 16 bytes per entry.
KERNEL(prox_step)(float* RESTRICT w, const float* RESTRICT d, const float* RESTRICT v, const double* RESTRICT numbers,
	const double* RESTRICT scale, const double* RESTRICT gamma, const int64_t* RESTRICT tables, int T, const int* RESTRICT marks,
	const float* RESTRICT squares, int S, const float* RESTRICT common, int64_t n) {
	float by = (float)scale[0], along = (float)(numbers[ETA] * gamma[0]), shift = (float)(numbers[ETA] * numbers[LAMBDA]);
	int now = (int)numbers[STEPS];
	float unbias = unbiased(squares, S, now);
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float x = w[i];
		if (v[i] == 0.f) continue;
		float h = tempered_of(v[i], unbias, common[1]);
		if (reads(i, tables, T, marks, now))
			w[i] = x - 1.f / (h + shift) * (along * (by * d[i]) + shift * x);
		else
			w[i] = x * exponential(-shift / h);
	}
}
EXPORT(prox_step)

// adam_step: v ← βv + (1−β)g², m ← β₁m + (1−β₁)g, w ← (1−ηλ)w − ηm/((1−β₁^c)h).
// Bound: reads w, D, v and m, writes w, v and m: 28 bytes per entry.
KERNEL(adam_step)(float* RESTRICT w, const float* RESTRICT d, float* RESTRICT v, float* RESTRICT m, const double* RESTRICT numbers,
	const double* RESTRICT scale, const float* RESTRICT squares, int S, const float* RESTRICT means, int M, float β, int64_t n) {
	int now = (int)numbers[STEPS];
	float by = (float)scale[0], β1 = (float)numbers[BETA], keep = (float)(1 - numbers[ETA] * numbers[LAMBDA]);
	float unbias = unbiased(squares, S, now), along = (float)numbers[ETA] * unbiased(means, M, now);
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float g = by * d[i], x = mean_of(β, v[i], g * g), z = mean_of(β1, m[i], g);
		v[i] = x;
		m[i] = z;
		float step = x == 0.f ? 0.f : along * (1.f / scale_of(x, unbias));
		w[i] = keep * w[i] - step * z;
	}
}
EXPORT(adam_step)

// momentum_step: z ← μz + g + λw, w ← w − ηz, or with nesterov w ← w − η(g + λw + μz). Bound: reads w, D and z, writes w and z: 20 bytes
// per entry.
KERNEL(momentum_step)(float* RESTRICT w, const float* RESTRICT d, float* RESTRICT m, const double* RESTRICT numbers,
	const double* RESTRICT scale, int nesterov, int64_t n) {
	double η = numbers[ETA], λ = numbers[LAMBDA], μ = numbers[BETA];
	float by = (float)scale[0];
	for (int64_t i = (int64_t)BLOCK * THREADS + THREAD; i < n; i += (int64_t)BLOCKS * THREADS) {
		float x = w[i], g = by * d[i] + (float)λ * x, z = (float)μ * m[i] + g;
		m[i] = z;
		w[i] = nesterov ? x - (float)η * g - (float)(η * μ) * z : x - (float)η * z;
	}
}
EXPORT(momentum_step)

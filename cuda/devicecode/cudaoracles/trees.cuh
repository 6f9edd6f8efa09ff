// Shared by kernels over the trees of sentences: semirings.
#pragma once

#include "gibbs.cuh"
#include "pairs.cuh"

// exponential of a float64 ≤ 700, to 1e-15 relative; 0 below −700.
DEVICE double exponential(double x) {
	if (x < -700.0) return 0.0;
	double n = (x * LOG2_E + 6755399441055744.0) - 6755399441055744.0; // the nearest integer
	double r = fma(n, -6.93147180369123816490e-1, x), p = 1.0 / 6227020800.0; // ln 2 in two parts; n times the first is exact
	r = fma(n, -1.90821492927058770002e-10, r);
	p = fma(p, r, 1.0 / 479001600.0);
	p = fma(p, r, 1.0 / 39916800.0);
	p = fma(p, r, 1.0 / 3628800.0);
	p = fma(p, r, 1.0 / 362880.0);
	p = fma(p, r, 1.0 / 40320.0);
	p = fma(p, r, 1.0 / 5040.0);
	p = fma(p, r, 1.0 / 720.0);
	p = fma(p, r, 1.0 / 120.0);
	p = fma(p, r, 1.0 / 24.0);
	p = fma(p, r, 1.0 / 6.0);
	p = fma(p, r, 0.5);
	p = fma(p, r, 1.0);
	p = fma(p, r, 1.0);
	return p * as_double((uint64_t)((int64_t)n + 1023) << 52);
}

#define IMPOSSIBLE ((double)NEVER) /* the logarithm of 0 */

// Weights and Logs are the semiring (+, ×) on numbers ≥ 0 and on their logarithms. add returns s + x·y. sum adds up over a warp's lanes, for all of them.
struct Weights {
	typedef double number;
	static constexpr bool logs = false;
	DEVICE double zero() { return 0.0; }
	DEVICE double one() { return 1.0; }
	DEVICE double plus(double x, double y) { return x + y; }
	DEVICE double times(double x, double y) { return x * y; }
	DEVICE double over(double x, double y) { return x / y; }
	DEVICE double add(double s, double x, double y) { return fma(x, y, s); }
	DEVICE double log(double x) { return logarithm(x); }
	DEVICE double share(double x, double all) { return x / all; }
};

// log_plus returns log(eˣ + eʸ). It is a call, because its body in a dozen places takes more registers than there are.
#ifndef EMULATED
__attribute__((device))
#endif
static __attribute__((noinline)) double log_plus(double x, double y) {
	double most = max(x, y), least = min(x, y);
	return least == IMPOSSIBLE ? most : most + logarithm(1.0 + exponential(least - most));
}

struct Logs {
	typedef double number;
	static constexpr bool logs = true;
	DEVICE double zero() { return IMPOSSIBLE; }
	DEVICE double one() { return 0.0; }
	DEVICE double plus(double x, double y) { return log_plus(x, y); }
	DEVICE double times(double x, double y) { return x + y; }
	DEVICE double over(double x, double y) { return x - y; }
	DEVICE double add(double s, double x, double y) { return plus(s, x + y); }
	DEVICE double log(double x) { return x; }
	DEVICE double share(double x, double all) { return exponential(min(0.0, x - all)); }
};

// Best is the semiring (max, +), in float32 as on the CPU, so that both find the same tree where several score nearly the same.
struct Best {
	typedef float number;
	DEVICE float zero() { return NEVER; }
	DEVICE float one() { return 0.f; }
	DEVICE float plus(float x, float y) { return max(x, y); }
	DEVICE float times(float x, float y) { return x + y; }
	DEVICE float add(float s, float x, float y) { return max(s, x + y); }
};

template <class R> DEVICE typename R::number sum_over(typename R::number x) {
	for (int m = 16; m > 0; m >>= 1) x = R::plus(x, shuffle_xor(x, m));
	return x;
}

// dot returns Σ_{s<terms} x[s·dx]·y[s·dy], for all lanes of the calling warp.
template <class R> DEVICE typename R::number dot(const typename R::number* x, int dx, const typename R::number* y, int dy, int terms) {
	typename R::number sum = R::zero();
	for (int s = LANE; s < terms; s += 32) sum = R::add(sum, x[(int64_t)s * dx], y[(int64_t)s * dy]);
	return sum_over<R>(sum);
}

// largest_of returns the largest of row [n], for all lanes of the calling warp.
DEVICE double largest_of(const double* row, int n) {
	double most = IMPOSSIBLE;
	for (int h = LANE; h < n; h += 32) most = max(most, row[h]);
	for (int m = 16; m > 0; m >>= 1) most = max(most, shuffle_xor(most, m));
	return most;
}

// first_largest finds the largest x of a warp's lanes, and the least index that has it, for all lanes. A lane without one has x = −∞.
template <class F> DEVICE void first_largest(F& x, int& index) {
	for (int m = 16; m > 0; m >>= 1) {
		F other = shuffle_xor(x, m);
		int at = shuffle_xor(index, m);
		if (other > x || (other == x && at < index)) {
			x = other;
			index = at;
		}
	}
}

// Parameters of the kernels that find the best trees: head [N] int is a column of the word's row of pairs (its own: the root), −1 without an allowed tree.
#define BEST_PARAMETERS \
	const int *RESTRICT offsets, const int *RESTRICT pairs, const float *RESTRICT score, int *RESTRICT head, double *RESTRICT scratch, int room

// Parameters of the kernels that sum over trees.
#define SUMS_PARAMETERS \
	const int *RESTRICT offsets, const int *RESTRICT pairs, const double *RESTRICT score, double mu, double *RESTRICT value, float *RESTRICT u_arc, \
		int *RESTRICT declined, double *RESTRICT scratch, int room

// Shared by kernels that sum over outputs: exponentials of potentials over the temperature μ, as float32 relative to a larger one, or
// as Wide numbers of any size, each with its own exponent.
#pragma once

#include "chain.cuh"

// Rate is 1/μ as a sum of two floats, so that products with it are accurate enough for an exponential.
struct Rate {
	float hi, lo;
};

DEVICE Rate rate_of(double mu) {
	double rate = 1.0 / mu;
	float hi = (float)rate;
	return Rate{hi, (float)(rate - (double)hi)};
}

// gibbs is e^((x − top)/μ) for x ≤ top, 0 for −∞. It compensates the rounding errors of the difference and the product.
DEVICE float gibbs(float x, float top, Rate rate) {
	if (x == NEVER) return 0.f;
	float d = x - top, b = d - x, lost = (x - (d - b)) + (-top - b);
	float p = d * rate.hi;
	if (!(p > -88.f)) return p != p ? p : 0.f;
	float e = exponential(p);
	return fma(e, fma(d, rate.hi, -p) + fma(d, rate.lo, lost * rate.hi), e);
}

// logarithm of a normal float64 > 0 (NaN stays NaN), to 1e-15 relative or absolute: ln(2^k m) = k ln 2 + 2 artanh(s), s = (m−1)/(m+1), √½ ≤ m < √2.
DEVICE double logarithm(double x) {
	if (x != x) return x;
	uint64_t b = as_bits(x);
	int k = (int)(b >> 52) - 1023;
	double m = as_double((b & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
	if (m > 1.4142135623730951) {
		m *= 0.5;
		k++;
	}
	double s = (m - 1.0) / (m + 1.0), q = s * s, p = 1.0 / 21.0;
	p = fma(p, q, 1.0 / 19.0);
	p = fma(p, q, 1.0 / 17.0);
	p = fma(p, q, 1.0 / 15.0);
	p = fma(p, q, 1.0 / 13.0);
	p = fma(p, q, 1.0 / 11.0);
	p = fma(p, q, 1.0 / 9.0);
	p = fma(p, q, 1.0 / 7.0);
	p = fma(p, q, 1.0 / 5.0);
	p = fma(p, q, 1.0 / 3.0);
	return fma((double)k, 0.6931471805599453, fma(p * q, s + s, s + s));
}

// Wide is m·2^e: a number ≥ 0 that neither overflows nor underflows. Zero has m = 0 and e = NOTHING.
struct __attribute__((aligned(8))) Wide {
	float m;
	int e;
};

// Exponents of potentials, θ/(μ ln 2), are clamped to ±FARTHEST (potentials of 4·10⁷ μ); exponents relative to the largest term of a sum are
// clamped to FAINTEST. So NOTHING is below any sum of finite exponents, and no sum overflows an int.
#define NOTHING (-(1 << 29))
#define FAINTEST (-(1 << 27))
#define FARTHEST 67108864.0
#define LOG2_E 1.4426950408889634
#define LN_2 0.6931471805599453

// wide_gibbs is e^(x/μ), for log2_rate = log₂e/μ.
DEVICE Wide wide_gibbs(float x, double log2_rate) {
	if (x == NEVER) return Wide{0.f, NOTHING};
	double p = (double)x * log2_rate;
	if (p != p) return Wide{x, 0};
	p = max(-FARTHEST, min(FARTHEST, p));
	double n = (p + 6755399441055744.0) - 6755399441055744.0; // round to the nearest integer
	return Wide{exponential((float)(p - n) * 0.693147181f), (int)n};
}

// power is 2^d for d ≤ 127, and 0 if that is below the normal float32 range.
DEVICE float power(int d) { return d < -126 ? 0.f : as_float((uint32_t)(d + 127) << 23); }

// trimmed normalises x to 1 ≤ m < 2; m must be normal or 0 (NaN stays NaN).
DEVICE Wide trimmed(Wide x) {
	if (x.m == 0.f) return Wide{0.f, NOTHING};
	if (x.m != x.m) return x;
	int k = (int)(as_bits(x.m) >> 23) - 127;
	return Wide{as_float(as_bits(x.m) - ((uint32_t)k << 23)), x.e + k};
}

DEVICE Wide times(Wide x, Wide y) { return x.m == 0.f || y.m == 0.f ? Wide{0.f, NOTHING} : Wide{x.m * y.m, x.e + y.e}; }

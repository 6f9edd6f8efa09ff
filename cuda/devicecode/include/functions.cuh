// The elementwise functions of networks: the same as in nets/graph/functions.go and nets/kernels/activate.go, within a few ulp. Functions that
// the CPU computes in float64, and whose error float32 would amplify, are computed in double here, too.
#pragma once
#include "device.cuh"

#define NOT_A_NUMBER as_float(0x7fc00000u)

DEVICE float positive_part(float x) { return x < 0.f ? 0.f : x; }
DEVICE float negative_part(float x) { return x > 0.f ? 0.f : x; }
DEVICE float sign_of(float x) { return x > 0.f ? 1.f : x < 0.f ? -1.f : 0.f; }
DEVICE float magnitude(float x) { return as_float(as_bits(x) & 0x7fffffffu); }

DEVICE float rectify(float x) { return x > 0.f || x != x ? x : 0.f; } // never −0, because the slope compares bits
DEVICE float elu(float x) { return positive_part(x) + (exponential(negative_part(x)) - 1.f); }
DEVICE float tanh_of(float x) { return 1.f - 2.f / (exponential(x + x) + 1.f); }
DEVICE float sigmoid(float x) { return 1.f / (1.f + exponential(-x)); }

DEVICE float silu(float x) { return x / (1.f + exponential(-x)); }
DEVICE float silu_slope(float x) {
	float s = sigmoid(x);
	return s * (1.f + x * (1.f - s));
}

// The tanh form of GELU is x/(1 + e^−2u) with 2u = 2√(2/π)·(x + 0.044715·x³); beyond ±12, e^−2u is 0 or ∞.
#define GELU_FIRST 1.5957691216057308f
#define GELU_THIRD 0.07135481627260026f
DEVICE float gelu_range(float x) { return x > 12.f ? 12.f : x < -12.f ? -12.f : x; }
DEVICE float gelu_exponential(float v) { return exponential((-GELU_THIRD * (v * v) - GELU_FIRST) * v); }
DEVICE float gelu(float x) { return x / (1.f + gelu_exponential(gelu_range(x))); }
DEVICE float gelu_slope(float x) {
	float v = gelu_range(x), s = 1.f / (1.f + gelu_exponential(v));
	return s + s * (1.f - s) * (v * (3.f * GELU_THIRD * (v * v) + GELU_FIRST));
}

// log(1+x); the factor x/((1+x)−1) corrects the rounding of 1+x (Kahan).
DEVICE float log_1p(float x) {
	float u = 1.f + x;
	if (u == 1.f || x == INFINITE) return x;
	return logarithm(u) * (x / (u - 1.f));
}

// e^x − 1, by its Taylor polynomial near 0.
DEVICE float exp_m1(float x) {
	if (x < -0.35f || x > 0.35f || x != x) return exponential(x) - 1.f;
	float p = 2.48015873e-5f;
	p = fma(p, x, 1.98412698e-4f);
	p = fma(p, x, 1.38888889e-3f);
	p = fma(p, x, 8.33333333e-3f);
	p = fma(p, x, 4.16666667e-2f);
	p = fma(p, x, 1.66666667e-1f);
	p = fma(p, x, 0.5f);
	return fma(p * x, x, x);
}

DEVICE float softplus(float x) { return positive_part(x) + log_1p(exponential(-magnitude(x))); }

// sin(x + quarters·π/2). The argument is reduced in double with 106 bits of π/2. Beyond 10^15, where consecutive floats are many
// periods apart, the angle is taken as 0.
DEVICE float sine(float at, int quarters) {
	if (at != at || magnitude(at) == INFINITE) return NOT_A_NUMBER;
	double x = magnitude(at) > 1e15f ? 0. : (double)at;
	double n = x * 0.63661977236758134308;
	n = (n + 6755399441055744.) - 6755399441055744.;
	double r = fma(n, -1.57079632679489655800, x);
	r = fma(n, -6.12323399573676603587e-17, r);
	int q = (int)((int64_t)n & 3) + quarters;
	double s = r * r, p;
	if (q & 1) { // cos r
		p = 2.08767569878680989792e-9;
		p = fma(p, s, -2.75573192239858906526e-7);
		p = fma(p, s, 2.48015873015873015873e-5);
		p = fma(p, s, -1.38888888888888888889e-3);
		p = fma(p, s, 4.16666666666666666667e-2);
		p = fma(p, s, -0.5);
		p = fma(p, s, 1.);
	} else {
		p = 1.60590438368216145994e-10;
		p = fma(p, s, -2.50521083854417187751e-8);
		p = fma(p, s, 2.75573192239858906526e-6);
		p = fma(p, s, -1.98412698412698412698e-4);
		p = fma(p, s, 8.33333333333333333333e-3);
		p = fma(p, s, -1.66666666666666666667e-1);
		p = fma(p * s, r, r);
	}
	return (float)(q & 2 ? -p : p);
}

// log x in double, within 1e-13, for x > 0 that is normal and finite: like logarithm, ln(2^e m) = e ln 2 + 2 artanh(s), s = (m−1)/(m+1).
DEVICE double logarithm(double x) {
	uint64_t b = as_bits(x);
	int e = (int)(b >> 52) - 1023;
	double m = as_double((b & 0xfffffffffffffull) | 0x3ff0000000000000ull);
	if (m > 1.41421356237309504880) { m *= 0.5; e++; }
	double s = (m - 1.) / (m + 1.), q = s * s, p = 6.66666666666666666667e-2;
	p = fma(p, q, 7.69230769230769230769e-2);
	p = fma(p, q, 9.09090909090909090909e-2);
	p = fma(p, q, 1.11111111111111111111e-1);
	p = fma(p, q, 1.42857142857142857143e-1);
	p = fma(p, q, 0.2);
	p = fma(p, q, 3.33333333333333333333e-1);
	p = fma(p * q, s + s, s + s);
	return fma((double)e, 6.93147180559945309417e-1, p);
}

// e^x in double, with a relative error within 1e-11, for |x| ≤ 700.
DEVICE double exponential(double x) {
	double n = x * 1.44269504088896340736;
	n = (n + 6755399441055744.) - 6755399441055744.;
	double r = fma(n, -6.93147180559945309417e-1, x), p = 2.75573192239858906526e-6;
	p = fma(p, r, 2.48015873015873015873e-5);
	p = fma(p, r, 1.98412698412698412698e-4);
	p = fma(p, r, 1.38888888888888888889e-3);
	p = fma(p, r, 8.33333333333333333333e-3);
	p = fma(p, r, 4.16666666666666666667e-2);
	p = fma(p, r, 1.66666666666666666667e-1);
	p = fma(p, r, 0.5);
	p = fma(p, r, 1.);
	p = fma(p, r, 1.);
	return p * as_double((uint64_t)((int)n + 1023) << 52);
}

// x^y for x > 0 and finite: e^(y ln x) in double, where x is normal even if it is a subnormal float.
DEVICE float positive_power(float x, float y) {
	double t = (double)y * logarithm((double)x);
	if (t > 89.) return INFINITE;
	if (t < -104.) return 0.f;
	return (float)exponential(t);
}

// x^y with C's rules for the special cases.
DEVICE float power(float x, float y) {
	if (y == 0.f || x == 1.f) return 1.f;
	if (x != x || y != y) return NOT_A_NUMBER;
	float a = magnitude(x), b = magnitude(y);
	bool whole = b >= 8388608.f || (b + 8388608.f) - 8388608.f == b;
	bool odd = whole && b < 16777216.f && ((int)b & 1);
	float z;
	if (b == INFINITE) z = a == 1.f ? 1.f : (a > 1.f) == (y > 0.f) ? INFINITE : 0.f;
	else if (a == 0.f || a == INFINITE) z = (a == 0.f) == (y > 0.f) ? 0.f : INFINITE;
	else if (x < 0.f && !whole) return NOT_A_NUMBER;
	else z = positive_power(a, y);
	return odd && as_bits(x) >> 31 ? -z : z;
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014).
DEVICE uint64_t mix(uint64_t z) {
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

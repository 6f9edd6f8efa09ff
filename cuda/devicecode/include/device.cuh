// The vocabulary of all kernels. clang compiles the same source to PTX (without CUDA headers); for the emulator it is C++, where
// emulator/shim.h comes first and defines these names.
//
// Rules that device and emulator rely on:
//   - A kernel is KERNEL(name)(parameters) { ... }, followed by EXPORT(name). Parameters are pointers and 4- or 8-byte scalars.
//   - All shared memory is dynamic: one SHARED(type, name) per kernel, divided by hand. Its initial content is undefined.
//   - No float atomics; integer atomics only if their order does not affect results. Two runs give the same bits.
//   - Multiply-adds are fused only where fma() is written.
//   - Every thread of a block reaches every BARRIER(), every lane of a warp every WARP_BARRIER(), shuffle and vote.
#pragma once

#ifndef EMULATED

typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
typedef unsigned char uint8_t;

#define DEVICE static __attribute__((device)) inline __attribute__((always_inline))
#define CONSTANT static const __attribute__((device))
#define KERNEL(name) extern "C" __attribute__((global)) void name
#define BOUNDED_KERNEL(name, threads) extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void name
#define EXPORT(name)
#define SHARED(type, name) extern __attribute__((shared)) __attribute__((aligned(16))) char dynamic_shared[]; type* const name = (type*)dynamic_shared
#define RESTRICT __restrict__

#define THREAD ((int)__nvvm_read_ptx_sreg_tid_x())
#define THREADS ((int)__nvvm_read_ptx_sreg_ntid_x())
#define BLOCK ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define BLOCK_Y ((int)__nvvm_read_ptx_sreg_ctaid_y())
#define BLOCK_Z ((int)__nvvm_read_ptx_sreg_ctaid_z())
#define BLOCKS ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define BLOCKS_Y ((int)__nvvm_read_ptx_sreg_nctaid_y())

#define BARRIER() __syncthreads()
#define WARP_BARRIER() __nvvm_bar_warp_sync(0xffffffffu)

DEVICE float shuffle(float x, int lane) { return __nvvm_shfl_sync_idx_f32(0xffffffffu, x, lane, 31); }
DEVICE float shuffle_xor(float x, int mask) { return __nvvm_shfl_sync_bfly_f32(0xffffffffu, x, mask, 31); }
DEVICE int shuffle(int x, int lane) { return __nvvm_shfl_sync_idx_i32(0xffffffffu, x, lane, 31); }
DEVICE int shuffle_xor(int x, int mask) { return __nvvm_shfl_sync_bfly_i32(0xffffffffu, x, mask, 31); }
DEVICE uint32_t ballot(bool x) { return __nvvm_vote_ballot_sync(0xffffffffu, x); }

DEVICE float as_float(uint32_t x) { return __builtin_bit_cast(float, x); }
DEVICE uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
DEVICE double as_double(uint64_t x) { return __builtin_bit_cast(double, x); }
DEVICE uint64_t as_bits(double x) { return __builtin_bit_cast(uint64_t, x); }
DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE float square_root(float x) { return __nvvm_sqrt_rn_f(x); }
DEVICE double square_root(double x) { return __nvvm_sqrt_rn_d(x); }

// Atomic operations return the old value.
DEVICE int atomic_min(int* at, int x) { return __nvvm_atom_min_gen_i(at, x); }
DEVICE int atomic_add(int* at, int x) { return __nvvm_atom_add_gen_i(at, x); }
DEVICE int64_t atomic_add(int64_t* at, int64_t x) { return __nvvm_atom_add_gen_ll(at, x); }

#endif

#define INFINITE as_float(0x7f800000u)
#define NEVER as_float(0xff800000u) /* −∞: a forbidden label or transition */
#define LANE (THREAD & 31)
#define WARP (THREAD >> 5)

struct float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };

DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE float min(float a, float b) { return a < b ? a : b; }
DEVICE float max(float a, float b) { return a > b ? a : b; }
DEVICE double max(double a, double b) { return a > b ? a : b; }
DEVICE double min(double a, double b) { return a < b ? a : b; }
DEVICE double shuffle(double x, int lane) {
	uint64_t b = as_bits(x);
	uint32_t lo = (uint32_t)shuffle((int)(uint32_t)b, lane), hi = (uint32_t)shuffle((int)(uint32_t)(b >> 32), lane);
	return as_double((uint64_t)hi << 32 | lo);
}
DEVICE double shuffle_xor(double x, int mask) {
	uint64_t b = as_bits(x);
	uint32_t lo = (uint32_t)shuffle_xor((int)(uint32_t)b, mask), hi = (uint32_t)shuffle_xor((int)(uint32_t)(b >> 32), mask);
	return as_double((uint64_t)hi << 32 | lo);
}

// Sums and maxima over a warp give the same bits in all lanes and in every run.
DEVICE float warp_sum(float x) {
	for (int m = 16; m > 0; m >>= 1) x += shuffle_xor(x, m);
	return x;
}
DEVICE double warp_sum(double x) {
	for (int m = 16; m > 0; m >>= 1) x += shuffle_xor(x, m);
	return x;
}
DEVICE float warp_max(float x) {
	for (int m = 16; m > 0; m >>= 1) x = max(x, shuffle_xor(x, m));
	return x;
}
DEVICE int warp_sum(int x) {
	for (int m = 16; m > 0; m >>= 1) x += shuffle_xor(x, m);
	return x;
}

// exponential returns e^x: 0 for −∞ and where the result is below the normal float32 range, ∞ above it. The error is within 1.5 ulp, and
// the bits are the same on device and emulator: e^x = 2^n e^r, |r| ≤ ln 2 / 2, with a Taylor polynomial for e^r.
DEVICE float exponential(float x) {
	if (!(x > -87.33654f)) return x != x ? x : 0.f;
	if (x > 88.72283f) return INFINITE;
	float n = x * 1.44269504f;
	n = (n + 12582912.f) - 12582912.f;
	float r = fma(n, -0.693145752f, x);
	r = fma(n, -1.42860677e-6f, r);
	float p = 1.98412698e-4f;
	p = fma(p, r, 1.38888889e-3f);
	p = fma(p, r, 8.33333333e-3f);
	p = fma(p, r, 4.16666667e-2f);
	p = fma(p, r, 1.66666667e-1f);
	p = fma(p, r, 0.5f);
	p = fma(p, r, 1.f);
	p = fma(p, r, 1.f);
	int e = (int)n;
	int half = e >> 1; // scale in two steps, because 2^128 is not a float32
	return p * as_float((uint32_t)(half + 127) << 23) * as_float((uint32_t)(e - half + 127) << 23);
}

// logarithm returns ln x for x > 0, −∞ for 0 and NaN below. The error is within 2 ulp, or 1e-7 near 1; same bits on device and emulator.
// ln(2^e m) = e ln 2 + 2 artanh(s), s = (m−1)/(m+1), √½ ≤ m < √2.
DEVICE float logarithm(float x) {
	if (x == 0.f) return NEVER;
	if (!(x > 0.f)) return as_float(0x7fc00000u);
	if (x == INFINITE) return x;
	int e = 0;
	if (x < 1.17549435e-38f) { x *= 8388608.f; e = -23; }
	uint32_t b = as_bits(x);
	int k = (int)(b - 0x3f3504f3u) >> 23;
	float m = as_float(b - ((uint32_t)k << 23));
	e += k;
	float s = (m - 1.f) / (m + 1.f), q = s * s;
	float p = 0.11111111f;
	p = fma(p, q, 0.14285714f);
	p = fma(p, q, 0.2f);
	p = fma(p, q, 0.33333333f);
	p = fma(p * q, s + s, s + s);
	return fma((float)e, 0.693147181f, p);
}

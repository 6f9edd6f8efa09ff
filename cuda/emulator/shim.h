// Defines the vocabulary of ../kernels/include/device.cuh for a CPU. The compiler includes this file before every kernel's source, which makes the
// kernel C++; fibers.cpp runs the threads of a block. No system header is included, so that a kernel sees the same names as on a device.
#pragma once

#define EMULATED 1

#include "place.h"

typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
typedef unsigned char uint8_t;

#ifndef STAMP
#define STAMP ""
#endif

#define DEVICE static inline __attribute__((always_inline))
#define CONSTANT static const
#define KERNEL(name) static void name
#define BOUNDED_KERNEL(name, threads) static void name
#define EXPORT(name)                                                                                                     \
	typedef emulated::Entry<decltype(&name), &name> entry_of_##name;                                                     \
	static emulated::Kernel kernel_##name(#name, STAMP, entry_of_##name::run, entry_of_##name::parameters, entry_of_##name::parameter);
#define SHARED(type, name) type* const name = (type*)emulated::here.shared
#define RESTRICT __restrict__

#define THREAD ((int)emulated::here.thread)
#define THREADS ((int)emulated::here.threads)
#define BLOCK ((int)emulated::here.block)
#define BLOCK_Y ((int)emulated::here.block_y)
#define BLOCK_Z ((int)emulated::here.block_z)
#define BLOCKS ((int)emulated::here.blocks)
#define BLOCKS_Y ((int)emulated::here.blocks_y)

#define BARRIER() emulated::wait(emulated::site(emulated::block_barrier, __LINE__, __FILE__))
#define WARP_BARRIER() emulated::wait(emulated::site(emulated::warp_barrier, __LINE__, __FILE__))

DEVICE float as_float(uint32_t x) { return __builtin_bit_cast(float, x); }
DEVICE uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
DEVICE double as_double(uint64_t x) { return __builtin_bit_cast(double, x); }
DEVICE uint64_t as_bits(double x) { return __builtin_bit_cast(uint64_t, x); }

// The caller's line and file, as default arguments.
#define SITE_PARAMETERS uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()
DEVICE uint32_t shuffled(uint32_t x, int lane, uint32_t line, const char* file) {
	return emulated::exchange(x, lane, emulated::site(emulated::shuffling, line, file));
}
DEVICE float shuffle(float x, int lane, SITE_PARAMETERS) { return as_float(shuffled(as_bits(x), lane, line, file)); }
DEVICE float shuffle_xor(float x, int mask, SITE_PARAMETERS) { return as_float(shuffled(as_bits(x), THREAD ^ mask, line, file)); }
DEVICE int shuffle(int x, int lane, SITE_PARAMETERS) { return (int)shuffled((uint32_t)x, lane, line, file); }
DEVICE int shuffle_xor(int x, int mask, SITE_PARAMETERS) { return (int)shuffled((uint32_t)x, THREAD ^ mask, line, file); }
DEVICE uint32_t ballot(bool x, SITE_PARAMETERS) { return emulated::vote(x, emulated::site(emulated::voting, line, file)); }
#undef SITE_PARAMETERS

DEVICE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE float square_root(float x) { return __builtin_sqrtf(x); }
DEVICE double square_root(double x) { return __builtin_sqrt(x); }

DEVICE int atomic_min(int* at, int x) {
	int old = __atomic_load_n(at, __ATOMIC_RELAXED);
	while (x < old && !__atomic_compare_exchange_n(at, &old, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
	return old;
}
DEVICE int atomic_add(int* at, int x) { return __atomic_fetch_add(at, x, __ATOMIC_RELAXED); }
DEVICE int64_t atomic_add(int64_t* at, int64_t x) { return __atomic_fetch_add(at, x, __ATOMIC_RELAXED); }

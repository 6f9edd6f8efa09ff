// Maxima for which the device has instructions: of two floats, and of the integers of a warp.
#pragma once

#include "device.cuh"

// larger returns the other number if one is NaN, and 0 for 0 and −0.
#ifndef EMULATED
DEVICE float larger(float a, float b) { return __nvvm_fmax_f(a, b); } // max.f32, one instruction
DEVICE int warp_least(int x) { return __nvvm_redux_sync_min(x, 0xffffffffu); }
DEVICE int warp_most(int x) { return __nvvm_redux_sync_max(x, 0xffffffffu); }
#else
DEVICE float larger(float a, float b) {
	if (a == b) return as_float(as_bits(a) & as_bits(b)); // 0 and −0 differ in bits
	return a > b || b != b ? a : b;
}
DEVICE int warp_least(int x) {
	for (int m = 16; m > 0; m >>= 1) x = min(x, shuffle_xor(x, m));
	return x;
}
DEVICE int warp_most(int x) {
	for (int m = 16; m > 0; m >>= 1) x = max(x, shuffle_xor(x, m));
	return x;
}
#endif

// warp_first returns, in all lanes, the least i among the lanes with the largest x, and sets x to that maximum; x must not be NaN. Warp-wide
// maxima exist for integers only. The bits of float32 sort as integers once those of negative numbers are inverted; −0 becomes 0 first.
DEVICE int warp_first(float& x, int i) {
	int bits = (int)as_bits(x + 0.f), order = bits >= 0 ? bits : bits ^ 0x7fffffff;
	int most = warp_most(order);
	x = as_float((uint32_t)(most >= 0 ? most : most ^ 0x7fffffff));
	return warp_least(order == most ? i : 0x7fffffff);
}

// Maxima that the device has instructions for: of two numbers, and of a warp's integers.
#pragma once

#include "device.cuh"

#ifndef EMULATED
DEVICE float larger(float a, float b) { return __nvvm_fmax_f(a, b); } // one instruction
DEVICE int warp_least(int x) { return __nvvm_redux_sync_min(x, 0xffffffffu); }
DEVICE int warp_most(int x) { return __nvvm_redux_sync_max(x, 0xffffffffu); }
#else
DEVICE float larger(float a, float b) { return a > b ? a : b; }
DEVICE int warp_least(int x) {
	for (int m = 16; m > 0; m >>= 1) x = min(x, shuffle_xor(x, m));
	return x;
}
DEVICE int warp_most(int x) {
	for (int m = 16; m > 0; m >>= 1) x = max(x, shuffle_xor(x, m));
	return x;
}
#endif

// warp_first returns the least of the lanes' i whose x, no NaN, is the largest; all lanes get it, and the largest. There are instructions for
// what a warp has of integers, whose order is that of float32 once negative ones are turned around; −0 is made 0 before.
DEVICE int warp_first(float& x, int i) {
	int bits = (int)as_bits(x + 0.f), order = bits >= 0 ? bits : bits ^ 0x7fffffff;
	int most = warp_most(order);
	x = as_float((uint32_t)(most >= 0 ? most : most ^ 0x7fffffff));
	return warp_least(order == most ? i : 0x7fffffff);
}

// Pairs of sums in float64 over vectors: every block writes its part, parts [2][blocks], and one block adds them in order. So two runs give
// the same bits.
#pragma once
#include "device.cuh"

struct double2 { double x, y; };

// total sums x over the threads of a block, always in the same order, for thread 0; shared holds one double per warp.
DEVICE double total(double x, double* shared) {
	x = warp_sum(x);
	BARRIER();
	if (LANE == 0) shared[WARP] = x;
	BARRIER();
	if (THREAD == 0)
		for (int w = 1; w < THREADS / 32; w++) x += shared[w];
	return x;
}

// put_parts writes the block's parts; all threads call it with their own sums.
DEVICE void put_parts(double x, double y, double* parts, double* shared) {
	x = total(x, shared);
	y = total(y, shared);
	if (THREAD == 0) {
		parts[BLOCK] = x;
		parts[BLOCKS + BLOCK] = y;
	}
}

// add_up returns the sums of the parts, for thread 0.
DEVICE double2 add_up(const double* parts, int blocks, double* shared) {
	double x = 0, y = 0;
	for (int k = THREAD; k < blocks; k += THREADS) {
		x += parts[k];
		y += parts[blocks + k];
	}
	x = total(x, shared);
	y = total(y, shared);
	return double2{x, y};
}

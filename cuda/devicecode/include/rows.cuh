// Shared by kernels over the rows of a batch: arrays [N][W] with one row per position (Y labels, or Y×Y transitions) or per chain (Y×Y
// transitions). A block processes as many rows as make about 2048 entries. That depends on W only, so that sums over blocks have the
// same bits for all capacities of the batch.
#pragma once

#include "device.cuh"

// FOR_ROWS runs the following statement for each entry of the block's rows: row t, column y, index i of the array.
#define FOR_ROWS(N, W, rows) \
	for (int first = BLOCK * (rows), last = min(first + (rows), N), k = THREAD; k < (last - first) * (W); k += THREADS) \
		if (int t = first + (int)((unsigned)k / (unsigned)(W)), y = (int)((unsigned)k % (unsigned)(W)); true) \
			if (int64_t i = (int64_t)first * (W) + k; true)

// block_sum adds up x over the threads of a block, always in the same order. Only thread 0 gets the sum; shared holds one double
// per warp.
DEVICE double block_sum(double x, double* shared) {
	x = warp_sum(x);
	BARRIER();
	if (LANE == 0) shared[WARP] = x;
	BARRIER();
	if (THREAD == 0)
		for (int w = 1; w < THREADS / 32; w++) x += shared[w];
	return x;
}

// count_gold_steps counts how often the gold outputs of a group of chains take each transition from first_step to
// first_step+steps−1. All threads of a block call it together; counts [chains][steps] is shared memory.
DEVICE void count_gold_steps(int* counts, const int* RESTRICT offsets, const int* RESTRICT gold, int chains, int Y, int first_step, int steps) {
	for (int k = THREAD; k < chains * steps; k += THREADS) counts[k] = 0;
	BARRIER();
	int b = 0, first = offsets[0];
	for (int t = first + THREAD; t < offsets[chains]; t += THREADS) {
		while (t >= offsets[b + 1]) first = offsets[++b];
		if (t == first || gold[t] < 0 || gold[t - 1] < 0) continue;
		int at = gold[t - 1] * Y + gold[t] - first_step;
		if (at >= 0 && at < steps) atomic_add(counts + b * steps + at, 1);
	}
	BARRIER();
}

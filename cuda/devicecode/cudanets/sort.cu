// sort: a stable radix sort of n numbers in [0, 256^passes), with their original indices; each pass sorts by 8 bits, lowest first.
//   keys [n] int, order [n] int   in and out; a null order is 0, 1, …
//   counts [stretches×256] int   count of each digit in each stretch of the input; after sort_scan, where those numbers go
// sort_count and sort_move: one warp per stretch (a multiple of 32 numbers), 256 shared integers; lanes with equal digits find each other by
// ballots, so no order depends on an atomic. sort_scan: one block of 256, one thread per digit.
// Bound: a pass reads the numbers twice and writes them once. Reference: slices.SortStableFunc; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

// peers returns the mask of lanes with the same digit.
DEVICE uint32_t peers(int digit) {
	uint32_t same = 0xffffffffu;
	for (int b = 0; b < 8; b++) {
		uint32_t set = ballot(digit >> b & 1);
		same &= digit >> b & 1 ? set : ~set;
	}
	return same;
}

DEVICE int digit_of(const int* keys, int i, int hi, int shift) { return i < hi ? keys[i] >> shift & 255 : 255; }

KERNEL(sort_count)(const int* keys, int n, int shift, int stretch, int* counts) {
	SHARED(int, count);
	int lo = BLOCK * stretch, hi = min(n, lo + stretch);
	for (int d = LANE; d < 256; d += 32) count[d] = 0;
	WARP_BARRIER();
	for (int i = lo + LANE; i - LANE < hi; i += 32) {
		int d = digit_of(keys, i, hi, shift);
		uint32_t valid = ballot(i < hi), same = peers(d) & valid;
		if (i < hi && (same & ((1u << LANE) - 1)) == 0) count[d] += __builtin_popcount(same);
		WARP_BARRIER();
	}
	for (int d = LANE; d < 256; d += 32) counts[BLOCK * 256 + d] = count[d];
}
EXPORT(sort_count)

KERNEL(sort_scan)(int* counts, int stretches) {
	SHARED(int, before);
	int d = THREAD, total = 0;
	for (int k = 0; k < stretches; k++) total += counts[k * 256 + d];
	before[d] = total;
	BARRIER();
	for (int step = 1; step < 256; step <<= 1) { // inclusive sums over digits
		int x = d >= step ? before[d - step] : 0;
		BARRIER();
		before[d] += x;
		BARRIER();
	}
	int at = before[d] - total;
	for (int k = 0; k < stretches; k++) {
		int count = counts[k * 256 + d];
		counts[k * 256 + d] = at;
		at += count;
	}
}
EXPORT(sort_scan)

KERNEL(sort_move)(const int* keys, const int* order, int n, int shift, int stretch, const int* counts, int* sorted, int* moved) {
	SHARED(int, at);
	int lo = BLOCK * stretch, hi = min(n, lo + stretch);
	for (int d = LANE; d < 256; d += 32) at[d] = counts[BLOCK * 256 + d];
	WARP_BARRIER();
	for (int i = lo + LANE; i - LANE < hi; i += 32) {
		int d = digit_of(keys, i, hi, shift);
		uint32_t valid = ballot(i < hi), same = peers(d) & valid;
		int before = __builtin_popcount(same & ((1u << LANE) - 1)), to = at[d] + before;
		WARP_BARRIER();
		if (i < hi) {
			sorted[to] = keys[i];
			moved[to] = order ? order[i] : i;
			if (before == 0) at[d] += __builtin_popcount(same);
		}
		WARP_BARRIER();
	}
}
EXPORT(sort_move)

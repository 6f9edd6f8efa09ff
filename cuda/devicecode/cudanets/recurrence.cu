// Linear recurrences over the rows of each chain, channel by channel: h_t = a_t⊙h_{t−1} + b_t, with h = 0 before a chain's first row.
//   a, b [rows×cols] float, h [rows×cols] float   rows of padding become 0
//   chain [rows] int, offsets [B+1] int           the batch; chain −1 in padding, which follows all chains
//   forward int                                   columns from this one on run from the last row: h_t = a_t⊙h_{t+1} + b_t
//   adjoint int                                   the transposed map instead: columns run the other way, and a factor belongs to the
//                                                 step out of its row, h_t = a_{t−1}⊙h_{t−1} + b_t in the order in which they run
// recurrence: one thread per chain and column, for short chains. Long chains run in parallel over time: blocks of `step` rows, one thread
// per block and column. recurrence_blocks finds the map of each block, h ↦ factor·h + value, and recurrence_rest joins the maps of the
// blocks before its own that the same chain spans, and runs its rows. The order of the additions depends on the rows only.
// Bound: reads a and b once (blocks: twice), writes h once. Reference: nets/graph/recurrence.go; checked by cuda/cudanets/recurrences_test.go.
#include "rows.cuh"

// Walk is the order in which a thread visits the rows of its column.
struct Walk {
	int rows, cols, c;
	bool down; // from the last row to the first
	bool late; // factors belong to the step out of a row
};

DEVICE Walk walk_of(int c, int rows, int cols, int forward, int adjoint) {
	return Walk{rows, cols, c, (c < forward) == (adjoint != 0), adjoint != 0};
}
DEVICE int row_of(const Walk& w, int place) { return w.down ? w.rows - 1 - place : place; }
DEVICE int64_t entry(const Walk& w, int t) { return (int64_t)t * w.cols + w.c; }
DEVICE int before(const Walk& w, int t) { return w.down ? t + 1 : t - 1; }
DEVICE float factor_of(const Walk& w, const float* a, int t) { return a[entry(w, w.late ? before(w, t) : t)]; }

// starts reports whether a chain starts at row t of a walk. In padding, every row does.
DEVICE bool starts(const Walk& w, const int* chain, int t) {
	int s = before(w, t);
	return s < 0 || s >= w.rows || chain[t] < 0 || chain[s] != chain[t];
}

// One thread for each of (chains + 1)·cols columns; the last ones clear the padding.
KERNEL(recurrence)(const float* RESTRICT a, const float* RESTRICT b, const int* RESTRICT offsets, int chains, int rows,
	int cols, int forward, int adjoint, uint32_t n, float* h) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	int k = i / cols;
	Walk w = walk_of(i - k * cols, rows, cols, forward, adjoint);
	int lo = offsets[k], length = (k < chains ? offsets[k + 1] : rows) - lo;
	float state = 0.f;
	for (int j = 0; j < length; j++) {
		int t = w.down ? lo + length - 1 - j : lo + j;
		if (k == chains) state = 0.f;
		else if (j == 0) state = b[entry(w, t)];
		else state = fma(factor_of(w, a, t), state, b[entry(w, t)]);
		h[entry(w, t)] = state;
	}
}
EXPORT(recurrence)

// factors, values [blocks×cols]: the map of each block. One thread for each of them.
KERNEL(recurrence_blocks)(const float* RESTRICT a, const float* RESTRICT b, const int* RESTRICT chain, int rows, int cols,
	int step, int forward, int adjoint, float* factors, uint32_t n, float* values) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	int k = i / cols;
	Walk w = walk_of(i - k * cols, rows, cols, forward, adjoint);
	float product = 1.f, state = 0.f;
	for (int place = k * step, end = min(rows, place + step); place < end; place++) {
		int t = row_of(w, place);
		if (chain[t] < 0) continue; // nothing reads the map of padding
		float factor = starts(w, chain, t) ? 0.f : factor_of(w, a, t);
		product *= factor;
		state = factor == 0.f ? b[entry(w, t)] : fma(factor, state, b[entry(w, t)]);
	}
	factors[i] = product;
	values[i] = state;
}
EXPORT(recurrence_blocks)

KERNEL(recurrence_rest)(const float* RESTRICT a, const float* RESTRICT b, const int* RESTRICT chain, const int* offsets,
	int rows, int cols, int step, int forward, int adjoint, const float* factors, const float* values, uint32_t n, float* h) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	int k = i / cols;
	Walk w = walk_of(i - k * cols, rows, cols, forward, adjoint);
	int place = k * step, end = min(rows, place + step), t = row_of(w, place);
	float state = 0.f;
	if (!starts(w, chain, t)) { // the chain starts in an earlier block
		int first = w.down ? rows - offsets[chain[t] + 1] : offsets[chain[t]];
		for (int j = first / step; j < k; j++) state = fma(factors[(int64_t)j * cols + w.c], state, values[(int64_t)j * cols + w.c]);
	}
	for (; place < end; place++) {
		t = row_of(w, place);
		if (chain[t] < 0) state = 0.f;
		else if (starts(w, chain, t)) state = b[entry(w, t)];
		else state = fma(factor_of(w, a, t), state, b[entry(w, t)]);
		h[entry(w, t)] = state;
	}
}
EXPORT(recurrence_rest)

// out [rows×cols]: x times the row of h before it, 0 where a chain starts and in padding. One thread for each of n entries.
KERNEL(times_previous)(const float* x, const float* h, const int* chain, int rows, int cols, int forward, int accumulate,
	uint32_t n, float* out) {
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD;
	if (i >= n) return;
	int t = i / cols;
	Walk w = walk_of(i - t * cols, rows, cols, forward, 0);
	float product = starts(w, chain, t) ? 0.f : x[i] * h[entry(w, before(w, t))];
	out[i] = accumulate ? out[i] + product : product;
}
EXPORT(times_previous)

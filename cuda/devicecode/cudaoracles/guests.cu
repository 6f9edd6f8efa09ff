// What answers about a caller's potentials need beside the oracles: chain.cuh and pairs.cuh say what offsets and pairs are.
// A part with one row that all examples share has no offsets. One block per example everywhere; bound: latency, but for the
// reads of find_invalid.
// Reference: oracles/guard.go, cmd/libdsp/foreign/questions.go; checked by cmd/libdsp/foreign/device_test.go.
//
// find_invalid: looks for potentials that are none: NaN, +∞, or beyond ±most.
//   x       [rows][width] float   of which example b has rows offsets[b] to offsets[b+1]−1; the first skipped ones have no
//                                 effect
//   invalid [B+1] int             1 for an example with such a number, and in place B if the shared row has one; else it
//                                 stays
// Shared memory for an int per warp. A shared row takes one block.
#include "device.cuh"

#define NO_NUMBER as_float(0x7fc00000u)

KERNEL(find_invalid)(const float* RESTRICT x, const int* RESTRICT offsets, int width, int skipped, int B, float most,
	int* RESTRICT invalid) {
	SHARED(int, found);
	int64_t from = offsets ? (int64_t)(offsets[BLOCK] + skipped) * width : 0;
	int64_t to = offsets ? (int64_t)offsets[BLOCK + 1] * width : width;
	bool bad = false;
	for (int64_t i = from + THREAD; i < to; i += THREADS) {
		float v = x[i];
		bad = bad || !(v <= most && (v >= -most || v == NEVER));
	}
	uint32_t any = ballot(bad);
	if (LANE == 0) found[WARP] = any != 0;
	BARRIER();
	if (THREAD > 0) return;
	for (int w = 0; w < THREADS / 32; w++) {
		if (found[w]) invalid[offsets ? BLOCK : B] = 1;
	}
}
EXPORT(find_invalid)

// refuse: NaN in place of the answers about examples with invalid potentials.
//   value [B] double; null: none
//   u     [rows][width] float   marginals, or [B][width] of a shared row; null: none
KERNEL(refuse)(const int* RESTRICT invalid, const int* RESTRICT offsets, int width, int B, double* RESTRICT value,
	float* RESTRICT u) {
	int b = BLOCK;
	if (!invalid[b] && !invalid[B]) return;
	if (value && THREAD == 0) value[b] = (double)NO_NUMBER;
	if (!u) return;
	int64_t from = (offsets ? (int64_t)offsets[b] : b) * width;
	int64_t to = (offsets ? (int64_t)offsets[b + 1] : b + 1) * width;
	for (int64_t i = from + THREAD; i < to; i += THREADS) u[i] = NO_NUMBER;
}
EXPORT(refuse)

// chain_loss: makes −log p(gold), never below 0, and its gradient of log Σ exp and its marginals. Gold labels that potentials
// forbid have the loss +∞ and a gradient of NaN.
//   score [B] double   of the gold labels [N], none of which is missing
//   value [B] double   in: log Σ exp; out: the loss
//   node  [N][Y], edge [B][Y][Y] or, with per_position, [N][Y][Y] float   in: marginals; out: the gradient
// Each thread subtracts the transitions from labels of its own, so that no two meet.
KERNEL(chain_loss)(const int* RESTRICT offsets, const int* RESTRICT gold, const double* RESTRICT score,
	double* RESTRICT value, float* RESTRICT node, float* RESTRICT edge, int Y, int per_position) {
	int b = BLOCK, from = offsets[b], n = offsets[b + 1] - from;
	int64_t E = (int64_t)Y * Y;
	bool forbidden = score[b] == (double)NEVER;
	if (THREAD == 0) value[b] = forbidden ? (double)INFINITE : max(0., value[b] - score[b]);
	float* pairs = edge + (per_position ? from : b) * E;
	if (forbidden) {
		for (int64_t i = THREAD; i < (int64_t)n * Y; i += THREADS) node[(int64_t)from * Y + i] = NO_NUMBER;
		for (int64_t i = THREAD; i < (per_position ? n : 1) * E; i += THREADS) pairs[i] = NO_NUMBER;
		return;
	}
	for (int t = THREAD; t < n; t += THREADS) node[(int64_t)(from + t) * Y + gold[from + t]] -= 1.f;
	for (int t = 1; t < n; t++) {
		int before = gold[from + t - 1];
		if (before % THREADS == THREAD) pairs[(per_position ? t : 0) * E + (int64_t)before * Y + gold[from + t]] -= 1.f;
	}
}
EXPORT(chain_loss)

// tree_loss: the same for trees: head [N] int is the column of each word's head in its row of pairs, relation [N] its
// relation.
KERNEL(tree_loss)(const int* RESTRICT offsets, const int* RESTRICT pairs, const int* RESTRICT head,
	const int* RESTRICT relation, const double* RESTRICT score, double* RESTRICT value, float* RESTRICT arc,
	float* RESTRICT label, int R) {
	int b = BLOCK, from = offsets[b], n = offsets[b + 1] - from, first = pairs[b];
	bool forbidden = score[b] == (double)NEVER;
	if (THREAD == 0) value[b] = forbidden ? (double)INFINITE : max(0., value[b] - score[b]);
	if (forbidden) {
		for (int i = THREAD; i < n * n; i += THREADS) arc[first + i] = NO_NUMBER;
		for (int64_t i = THREAD; i < (int64_t)n * n * R; i += THREADS) label[(int64_t)first * R + i] = NO_NUMBER;
		return;
	}
	for (int d = THREAD; d < n; d += THREADS) {
		int64_t pair = first + (int64_t)d * n + head[from + d];
		arc[pair] -= 1.f;
		label[pair * R + relation[from + d]] -= 1.f;
	}
}
EXPORT(tree_loss)

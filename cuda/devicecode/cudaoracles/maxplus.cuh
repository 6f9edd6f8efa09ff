// The max-plus recurrence δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ_t(i, j)) on chains with at most 128 labels; each chain has a team of
// threads. Results equal the CPU's, bit for bit: sums have the same order, and every 64 positions δ is shifted so that its largest entry
// is 0 (oracles/chain/viterbi.go).
//
// A team handles W = R·G labels, Y ≤ W: its thread (j, g) holds in registers the R transitions from labels g·R to g·R+R−1 to label j, and
// computes their maximum. The G threads of a label are neighbours and combine their maxima by shuffles. The row δ_{t−1} is in shared
// memory; a thread reads four entries at once, the same as its neighbours do.
// So a step costs R additions and R maxima per thread, and a dependent path of a barrier, R/4 loads and R/4 + log₂ G maxima: about
// 0.1 µs at R = 32.
#pragma once

#include "feed.cuh"
#include "warp.cuh"

typedef unsigned short uint16;

#define REBASE 64 /* positions, as on the CPU */

template <int R, int G, int TEAM> struct Team {
	static const int W = R * G;
	static const int GAP = G > 1 && R >= 32 ? 4 : 0; // between groups of a row in shared memory, to avoid bank conflicts
	static const int ROW = W + GAP * G;
	static const int SHARED_FLOATS = 2 * ROW + W; // two rows for δ_{t−1} and δ_t, and the costs
	static_assert(TEAM == W * G, "a team has a thread for each label and group");
};

template <int TEAM> DEVICE void team_barrier() {
	if (TEAM == 32) WARP_BARRIER();
	else BARRIER();
}

// load_edges loads a thread's transitions into label j, starting at row; −∞ beyond Y.
template <int R> DEVICE void load_edges(float (&e)[R], const float* edge, int Y, int row, int j) {
#pragma unroll
	for (int k = 0; k < R; k++) e[k] = row + k < Y && j < Y ? edge[(row + k) * Y + j] : NEVER;
}

// best_of returns max_k (δ_k + e_k) and, with ARGUMENT, writes the first maximiser k to from.
template <int R, bool ARGUMENT> DEVICE float best_of(const float* δ, const float (&e)[R], int& from) {
	if (ARGUMENT) {
		float best = NEVER;
		from = 0;
#pragma unroll
		for (int k = 0; k < R; k++) {
			float v = δ[k] + e[k];
			if (v > best) best = v, from = k;
		}
		return best;
	}
	if (R < 4) {
		float best = δ[0] + e[0];
#pragma unroll
		for (int k = 1; k < R; k++) best = larger(best, δ[k] + e[k]);
		return best;
	}
	const float4* four = (const float4*)δ;
	float4 first = four[0], best = {first.x + e[0], first.y + e[1], first.z + e[2], first.w + e[3]};
#pragma unroll
	for (int k = 1; k < R / 4; k++) {
		float4 d = four[k];
		best.x = larger(best.x, d.x + e[4 * k]);
		best.y = larger(best.y, d.y + e[4 * k + 1]);
		best.z = larger(best.z, d.z + e[4 * k + 2]);
		best.w = larger(best.w, d.w + e[4 * k + 3]);
	}
	return larger(larger(best.x, best.y), larger(best.z, best.w));
}

// What steps stores in addition to the last row.
enum Keep {
	NOTHING,
	SCORES,   // δ
	POINTERS, // previous label on the best prefix of each label
	ORIGINS,  // pointers, and the label before the first step on the best prefix of each label
};

// Kept says where to store it, for the positions of the batch.
struct Kept {
	float* δ;         // [N][Y]
	uint16* pointers; // [N][Y]
	int origin;       // of the thread's label
	double shift;     // total subtracted from δ
};

// prepare loads a team's costs into shared memory. A barrier must follow.
template <int R, int G, int TEAM> DEVICE void prepare(const Chain& c, float* shared, int thread) {
	float* costs = shared + 2 * Team<R, G, TEAM>::ROW;
	if (c.with_loss)
		for (int y = thread; y < c.Y; y += TEAM) costs[y] = loss_for(c, y).cost;
}

// steps runs the recurrence over positions from to to−1 of a chain. v is δ of the thread's label at the previous position, in all threads
// of the label, −∞ beyond Y; steps returns δ at the last position. All threads of the team call it, after prepare.
template <int R, int G, int TEAM, bool EACH, Keep KEEP>
DEVICE float steps(const Chain& c, int from, int to, float v, float* shared, int thread, Kept& kept) {
	typedef Team<R, G, TEAM> T;
	const int j = thread / G, g = thread % G, at = j / R * (R + T::GAP) + j % R;
	float* costs = shared + 2 * T::ROW;
	if (g == 0) shared[at] = v;
	if (KEEP == ORIGINS) kept.origin = j;
	team_barrier<TEAM>();
	if (from >= to) return v;
	float e[R], ahead[EACH ? R : 1];
	load_edges<R>(e, edges_into(c, from), c.Y, g * R, j);
	Feed feed = {};
#pragma unroll
	for (int k = 1 - FEED; k <= 0; k++) fetch(feed, c, from + k, to, j);
	int side = 0;
	int64_t where = (int64_t)(c.first + from) * c.Y + j;
	for (int t = from; t < to; t++, side ^= 1) {
		if (EACH) load_edges<R>((float(&)[R])ahead, edges_into(c, min(t + 1, to - 1)), c.Y, g * R, j);
		float x = first_of(feed, costs, j);
		fetch(feed, c, t + 1, to, j);
		int label = 0;
		v = best_of<R, (KEEP >= POINTERS)>(shared + side * T::ROW + g * (R + T::GAP), e, label);
		label += g * R;
#pragma unroll
		for (int m = 1; m < G; m <<= 1) {
			float other = shuffle_xor(v, m);
			if (KEEP >= POINTERS) {
				int its = shuffle_xor(label, m);
				if (other > v || (other == v && its < label)) label = its;
			}
			v = larger(v, other);
		}
		v += x;
		float* next = shared + (side ^ 1) * T::ROW;
		if (g == 0) next[at] = v;
		if (t % REBASE == 0) {
			team_barrier<TEAM>();
			float m = NEVER;
			for (int y = 0; y < T::W; y++) m = larger(m, next[y / R * (R + T::GAP) + y % R]);
			team_barrier<TEAM>();
			if (m != NEVER) {
				v -= m;
				kept.shift += (double)m;
				if (g == 0) next[at] = v;
			}
		}
		if (KEEP != NOTHING && g == 0 && j < c.Y) {
			if (KEEP == SCORES) kept.δ[where] = v;
			else kept.pointers[where] = (uint16)label;
		}
		where += c.Y;
		if (KEEP == ORIGINS) kept.origin = shuffle(kept.origin, label * G); // a team with ORIGINS is one warp
		if (EACH) {
#pragma unroll
			for (int k = 0; k < R; k++) e[k] = ahead[EACH ? k : 0];
		}
		team_barrier<TEAM>();
	}
	return v;
}

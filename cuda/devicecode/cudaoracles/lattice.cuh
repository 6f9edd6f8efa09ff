// The lattice of prefixes for lazy enumeration of a chain's best outputs, processed by one warp: oracles/chain/lattice.go. See topk.cu.
#pragma once

#include "chain.cuh"
#include "warp.cuh"

typedef short int16;

#define REBASE 64 /* positions between rescalings, as on the CPU */

// Entry is one prefix of a cell.
struct Entry {
	float score;
	int16 label;  // at the previous position
	int16 prefix; // entry that this one extends, in the cell of label; −1: the cell's best, not computed yet
	int16 next;   // next best entry of the same cell; −1: none, or not computed yet
	int16 unused;
};

// Lattice belongs to one chain and one warp. Position t holds the cells of labels at position t of the chain, 1 ≤ t < T; position T holds
// the cell of complete outputs. Lane 0 writes, and a barrier precedes the other lanes' reads. A cell's best entry has the cell's index.
struct Lattice {
	Chain c;
	const float* scores; // [T][Y]
	const float* edge;   // the transition from label i to label l into position t is at t·step + i·from + l·to
	int step, from, to;
	const int32_t* best; // [T] the best output
	int16 *cells, *lasts;   // [T+1][K] labels, and last entries; ~last if there are no more
	Entry* entries;         // [T+1][2K] best entry of each cell, then the later ones
	int32_t *counts, *way;  // [T+1] cells and later entries (in the upper 16 bits); cell on the way back
	int K;
};

// Offer is a score and the label that offers it.
struct Offer {
	float score;
	int label;
};

// best_lane returns the largest of the lanes' offers, which are not NaN, with the smallest label among equals.
DEVICE Offer best_lane(Offer o) {
	o.label = warp_first(o.score, o.label);
	return o;
}

// edge_of returns the score of the transition from label i to label l into position t.
DEVICE float edge_of(const Lattice& g, int t, int i, int l) { return g.edge[(int64_t)t * g.step + i * g.from + l * g.to]; }

// from_before returns the score that label i's best prefix offers to label l at t; l < 0: to the complete output.
DEVICE float from_before(const Lattice& g, int t, int i, int l) {
	float s = g.scores[(int64_t)(t - 1) * g.c.Y + i];
	return l < 0 ? s : s + edge_of(g, t, i, l);
}

// settled returns the best of the lanes' offers; if all are −∞, the label is 0.
DEVICE Offer settled(Offer o) {
	o = best_lane(o);
	if (o.score == NEVER) o.label = 0;
	return o;
}

// before returns the label before label l at t on the best prefix that ends there; l < 0: the last label of the best output.
DEVICE Offer before(const Lattice& g, int t, int l) {
	Offer best = {NEVER, 0x7fffffff};
#pragma unroll 1
	for (int i = LANE; i < g.c.Y; i += 32) {
		float s = from_before(g, t, i, l);
		if (s > best.score) best = Offer{s, i};
	}
	return settled(best);
}

// shift_at returns what rescaling subtracted from the scores of position t: the unscaled score of a label whose score is now 0.
DEVICE float shift_at(const Lattice& g, int t) {
	if (t % REBASE > 0) return 0.f;
	int zero = 0x7fffffff;
	for (int i = g.c.Y - 1 - LANE; i >= 0; i -= 32)
		if (g.scores[(int64_t)t * g.c.Y + i] == 0.f) zero = i;
	for (int d = 16; d > 0; d >>= 1) zero = min(zero, shuffle_xor(zero, d));
	if (zero >= g.c.Y) return 0.f; // some potential is NaN
	return before(g, t, zero).score + node_at(g.c, t, zero);
}

// cell_of returns the cell of label l at t, 1 ≤ t < T, and creates it if needed; l < 0: the cell of outputs, at T.
DEVICE int cell_of(const Lattice& g, int t, int l) {
	int16* labels = g.cells + (int64_t)t * g.K;
	const int n = g.counts[t] & 0xffff;
	for (int k = 0; k < n; k += 32) {
		uint32_t found = ballot(k + LANE < n && labels[k + LANE] == l);
		if (found) return k + __builtin_ctz(found);
	}
	Offer best = before(g, t, l);
	WARP_BARRIER();
	if (LANE == 0) {
		labels[n] = (int16)l;
		g.lasts[(int64_t)t * g.K + n] = (int16)n;
		g.entries[(int64_t)t * 2 * g.K + n] = Entry{l < 0 ? best.score : g.scores[(int64_t)t * g.c.Y + l], (int16)best.label, -1, -1, 0};
		g.counts[t]++;
	}
	WARP_BARRIER();
	return n;
}

// extend computes the next entry of a cell at position t, or marks that there are no more.
DEVICE void extend(const Lattice& g, int t, int cell) {
	const int K = g.K, last = g.lasts[(int64_t)t * K + cell], l = g.cells[(int64_t)t * K + cell], Y = g.c.Y;
	if (last < 0) return;
	Entry* here = g.entries + (int64_t)t * 2 * K;
	const Entry* there = here - 2 * K;
	const float own = l < 0 ? 0.f : node_at(g.c, t, l); // read early: nothing below waits for it
	Offer same = {NEVER, here[last].label}, other = {NEVER, 0x7fffffff};
	int same_prefix = -1, other_prefix = -1;
#pragma unroll 1
	for (int i = LANE; i < Y; i += 32) {
		float s = from_before(g, t, i, l); // what the label offers first
		int used = -1;
		bool is_used = false;
#pragma unroll 1
		for (int e = cell; e >= 0; e = here[e].next)
			if (here[e].label == i) used = here[e].prefix, is_used = true;
		int prefix = -1;
		if (is_used) {
			s = NEVER;
			if (t > 1) prefix = there[used].next;
			if (prefix >= 0) s = l < 0 ? there[prefix].score : there[prefix].score + edge_of(g, t, i, l);
		}
		if (i == same.label) same.score = s, same_prefix = prefix;
		else if (s > other.score) other = Offer{s, i}, other_prefix = prefix;
	}
	const int home = same.label % 32;
	same.score = shuffle(same.score, home);
	same_prefix = shuffle(same_prefix, home);
	other = best_lane(other);
	other_prefix = shuffle(other_prefix, other.label % 32);
	Offer next = same;
	int prefix = same_prefix;
	if (other.score > same.score) next = other, prefix = other_prefix;
	float s = next.score;
	if (l >= 0 && s != NEVER) {
		s += own;
		s -= shift_at(g, t);
	}
	WARP_BARRIER();
	if (LANE == 0) {
		if (next.score == NEVER) {
			g.lasts[(int64_t)t * K + cell] = (int16)~last;
		} else {
			int added = K + (g.counts[t] >> 16);
			g.counts[t] += 1 << 16;
			here[added] = Entry{s, (int16)next.label, (int16)prefix, -1, 0};
			here[last].next = (int16)added;
			g.lasts[(int64_t)t * K + cell] = (int16)added;
		}
	}
	WARP_BARRIER();
}

// advance computes the next best output, and reports whether there is one.
DEVICE bool advance(const Lattice& g) {
	const int K = g.K, end = g.c.length;
	int t = end, cell = 0;
	for (;; t--) {
		WARP_BARRIER();
		if (LANE == 0) g.way[t] = cell;
		WARP_BARRIER();
		if (t == 1) break;
		const int last = g.lasts[(int64_t)t * K + cell];
		if (last < 0) break;
		Entry* e = g.entries + (int64_t)t * 2 * K + last;
		const int label = e->label, prefix = e->prefix, into = cell_of(g, t - 1, label), used = prefix < 0 ? into : prefix;
		WARP_BARRIER();
		if (LANE == 0) e->prefix = (int16)used;
		WARP_BARRIER();
		if ((e - last - 2 * K)[used].next >= 0 || g.lasts[(int64_t)(t - 1) * K + into] < 0) break;
		cell = into;
	}
	for (; t <= end; t++) extend(g, t, g.way[t]);
	return g.lasts[(int64_t)end * K] >= 0;
}

// read_path writes the output found last to labels.
DEVICE void read_path(const Lattice& g, int32_t* labels) {
	const int K = g.K, T = g.c.length;
	const Entry* e = g.entries + (int64_t)T * 2 * K + g.lasts[(int64_t)T * K];
	int l = e->label, prefix = e->prefix, t = T - 1;
	for (;; t--) {
		if (LANE == 0) labels[t] = l;
		if (t == 0) break;
		if (prefix >= 0) {
			e = g.entries + (int64_t)t * 2 * K + prefix;
			l = e->label;
			prefix = e->prefix;
		} else if (l == g.best[t]) {
#pragma unroll 1
			for (int s = LANE; s < t; s += 32) labels[s] = g.best[s];
			break;
		} else {
			l = before(g, t, l).label;
		}
	}
	WARP_BARRIER();
}

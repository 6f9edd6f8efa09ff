// Chunks of long chains, for kernels that process chunks in parallel: a chain has at most `chunks`; chunk k starts at position k·step.
#pragma once

#include "chain.cuh"

// Chunk is one chunk of a chain: positions lo to hi−1, empty if the chain has fewer chunks.
struct Chunk {
	int lo, hi;
	int slot; // index in scratch memory
	bool last;
};

DEVICE Chunk chunk_of(const Chain& c, int b, int k, int chunks, int step) {
	int lo = min(c.length, k * step), hi = min(c.length, lo + step);
	return Chunk{lo, hi, b * chunks + k, hi == c.length};
}

// chunk_score returns a lane's part of the score of a chunk: its labels, and all transitions but the one into its first position.
DEVICE double chunk_score(const Chain& c, const Chunk& chunk, const int32_t* y, bool with_loss) {
	double s = 0.0;
	for (int t = chunk.lo + LANE; t < chunk.hi; t += 32) {
		if (y[t] < 0) continue;
		s += (double)(with_loss ? node_at(c, t, y[t]) : c.node[(int64_t)t * c.Y + y[t]]);
		if (t > chunk.lo && y[t - 1] >= 0) s += (double)edges_into(c, t)[y[t - 1] * c.Y + y[t]];
	}
	return s;
}

// warp_chunk_gold returns the score of a chunk's gold labels and of the transition into the chunk, in all lanes.
DEVICE double warp_chunk_gold(const Chain& c, const Chunk& chunk) {
	if (!c.gold) return 0.0;
	double s = warp_sum(chunk_score(c, chunk, c.gold, false));
	int t = chunk.lo;
	if (t > 0 && c.gold[t] >= 0 && c.gold[t - 1] >= 0) s += (double)edges_into(c, t)[c.gold[t - 1] * c.Y + c.gold[t]];
	return s;
}

// warp_total sums parts over the chunks of a chain, in all lanes, in an order that depends only on their number.
DEVICE double warp_total(const Chain& c, const double* parts, int step) {
	double s = 0.0;
	for (int k = LANE; k < (c.length + step - 1) / step; k += 32) s += parts[k];
	return warp_sum(s);
}

// Chunks of long chains, which kernels parallel in time work on at once: `chunks` a chain at most, the k-th from position k·step.
#pragma once

#include "chain.cuh"

// Chunk is one of a chain's chunks: positions lo to hi−1 of the chain, none where the chain has fewer chunks.
struct Chunk {
	int lo, hi;
	int slot; // its place in scratch
	bool last;
};

DEVICE Chunk chunk_of(const Chain& c, int b, int k, int chunks, int step) {
	int lo = min(c.length, k * step), hi = min(c.length, lo + step);
	return Chunk{lo, hi, b * chunks + k, hi == c.length};
}

// chunk_score is a lane's share of the score of labels at a chunk's positions and of the steps into them but the first, as score_part.
DEVICE double chunk_score(const Chain& c, const Chunk& chunk, const int32_t* y, bool with_loss) {
	double s = 0.0;
	for (int t = chunk.lo + LANE; t < chunk.hi; t += 32) {
		if (y[t] < 0) continue;
		s += (double)(with_loss ? node_at(c, t, y[t]) : c.node[(int64_t)t * c.Y + y[t]]);
		if (t > chunk.lo && y[t - 1] >= 0) s += (double)edges_into(c, t)[y[t - 1] * c.Y + y[t]];
	}
	return s;
}

// warp_chunk_gold is the score of the gold labels of a chunk and the step into it, in all lanes.
DEVICE double warp_chunk_gold(const Chain& c, const Chunk& chunk) {
	if (!c.gold) return 0.0;
	double s = warp_sum(chunk_score(c, chunk, c.gold, false));
	int t = chunk.lo;
	if (t > 0 && c.gold[t] >= 0 && c.gold[t - 1] >= 0) s += (double)edges_into(c, t)[c.gold[t - 1] * c.Y + c.gold[t]];
	return s;
}

// warp_total adds up what the chunks of chain b have, in all lanes: in an order that only depends on their number.
DEVICE double warp_total(const Chain& c, const double* parts, int step) {
	double s = 0.0;
	for (int k = LANE; k < (c.length + step - 1) / step; k += 32) s += parts[k];
	return warp_sum(s);
}

// Node potentials of a chain, loaded a few positions ahead of the recurrence that consumes them.
#pragma once

#include "chain.cuh"

// Feed holds the prefetched node potentials of one label at the next positions, without the loss, and the gold label of the first
// position. Gold labels need no prefetch: a cache line holds those of 32 positions.
#define FEED 4
struct Feed {
	float node[FEED];
	int gold;
};

// fetch shifts the feed to start at position t and loads one more position.
DEVICE void fetch(Feed& f, const Chain& c, int t, int to, int j) {
	int last = t + FEED - 1;
#pragma unroll
	for (int k = 1; k < FEED; k++) f.node[k - 1] = f.node[k];
	f.node[FEED - 1] = last < to && j < c.Y ? c.node[(int64_t)last * c.Y + j] : 0.f;
	f.gold = t >= 0 && t < to && c.with_loss && c.gold ? c.gold[t] : -1;
}

// first_of returns the augmented node potential of the first position in the feed.
DEVICE float first_of(const Feed& f, const float* costs, int j) {
	return augmented(f.node[0], Loss{f.gold, f.gold >= 0 ? costs[f.gold] : 0.f}, j);
}

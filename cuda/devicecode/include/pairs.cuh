// Shared by kernels over the sentences of a ragged batch that are parsed as dependency trees (structured/trees).
//   offsets [B+1] int     sentence b owns words offsets[b] to offsets[b+1]−1, possibly none
//   pairs   [B+1] int     its first pair of words; n words have n·n pairs, and row d·n + h is dependent d with head h, d·n + d with the root
//   source  [N] int       position in the data of each word of the batch, −1 in padding; null: the batch is the data
//   gold_head, gold_relation [ΣT] int   of every word of the data: the column of its head in row d (d itself: the root) and its relation; −1: none. Or null
#pragma once

#include "device.cuh"

#define WITH_TREE_LOSS 1 /* every head and every relation that is not the gold one has 1 more */

// Sentence is one sentence: words count from 0 to n−1 in it, and its pairs begin at pair.
struct Sentence {
	int first, n;
	int64_t pair;
};

DEVICE Sentence sentence_at(const int* offsets, const int* pairs, int b) { return Sentence{offsets[b], offsets[b + 1] - offsets[b], pairs[b]}; }

// sentence_of finds the sentence of a pair, by bisection.
DEVICE int sentence_of(const int* pairs, int B, int pair) {
	int b = 0;
	for (int beyond = B; beyond - b > 1;) { // pairs[b] ≤ pair < pairs[beyond]
		int middle = b + (beyond - b) / 2;
		if (pairs[middle] <= pair) b = middle;
		else beyond = middle;
	}
	return b;
}

// Pair is a pair of words: its sentence, its words, and what is the gold head and relation of its dependent; −1: none.
struct Pair {
	int b, d, h, gold_head, gold_relation;
};

DEVICE Pair pair_at(const int* offsets, const int* pairs, const int* source, const int* gold_head, const int* gold_relation, int B, int pair) {
	Pair x;
	x.b = sentence_of(pairs, B, pair);
	Sentence s = sentence_at(offsets, pairs, x.b);
	int k = (int)(pair - s.pair);
	x.d = k / s.n;
	x.h = k - x.d * s.n;
	int at = source ? source[s.first + x.d] : s.first + x.d;
	x.gold_head = gold_head ? gold_head[at] : -1;
	x.gold_relation = gold_head ? gold_relation[at] : -1;
	return x;
}

// head_cost and relation_cost are what the loss adds to a pair as an arc, and to its relation r.
DEVICE float head_cost(const Pair& x, int flags) { return (flags & WITH_TREE_LOSS) && x.gold_head >= 0 && x.h != x.gold_head ? 1.f : 0.f; }
DEVICE float relation_cost(const Pair& x, int flags, int r) {
	return (flags & WITH_TREE_LOSS) && x.gold_relation >= 0 && r != x.gold_relation ? 1.f : 0.f;
}

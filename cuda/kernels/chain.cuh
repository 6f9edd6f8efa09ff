// What kernels over the chains of a ragged batch are written with: their potentials θ, a task loss fused into the loads, and
// scores of labelings.
//   offsets [B+1] int     chain b owns positions offsets[b] to offsets[b+1]−1, possibly none
//   node    [N][Y] float
//   edge    [Y][Y] float  row "from", shared by all chains; or, with PER_POSITION, [N][Y][Y], the step into each position (what it
//                         holds where a chain starts is not read)
//   gold    [N] int       gold labels, −1: none; may be null
//   cost    [Y] float     what a wrong label costs, by gold label; null: 1
// The loss adds cost(gold_t) to node potentials of all labels but gold_t, divided by the chain's length with BY_LENGTH. It is
// added where WITH_LOSS is set, and where a position has a gold label.
#pragma once

#include "device.cuh"

#define PER_POSITION 1
#define BY_LENGTH 2
#define WITH_LOSS 4

// The first parameters of a kernel over chains, and their bundle in its body.
#define CHAINS_PARAMETERS \
	const int32_t *RESTRICT offsets, const float *RESTRICT node, const float *RESTRICT edge, const int32_t *RESTRICT gold, \
		const float *RESTRICT cost, int32_t labels, int32_t flags
#define CHAINS (Chains{offsets, node, edge, gold, cost, labels, flags})

struct Chains {
	const int32_t* offsets;
	const float* node;
	const float* edge;
	const int32_t* gold;
	const float* cost;
	int Y, flags;
};

// Chain is one chain: t counts from 0 to length−1 within it.
struct Chain {
	int first, length; // its first position in the batch
	const float* node; // [length][Y]
	const float* edge; // [Y][Y], or [length][Y][Y]
	const int32_t* gold; // [length], or null
	const float* cost;
	int Y;
	bool per_position, by_length, with_loss;
};

// chain_from is the chain at those positions.
DEVICE Chain chain_from(const Chains& c, int first, int length) {
	bool per_position = c.flags & PER_POSITION;
	return Chain{first, length, c.node + (int64_t)first * c.Y,
		per_position ? c.edge + (int64_t)first * c.Y * c.Y : c.edge, c.gold ? c.gold + first : c.gold, c.cost,
		c.Y, per_position, (c.flags & BY_LENGTH) != 0, (c.flags & WITH_LOSS) != 0};
}

// chain_of is chain b.
DEVICE Chain chain_of(const Chains& c, int b) { return chain_from(c, c.offsets[b], c.offsets[b + 1] - c.offsets[b]); }

// Loss is that of one position: what labels other than gold have added to their potential.
struct Loss {
	int gold; // −1: none
	float cost;
};

// loss_for is the loss of a position with that gold label.
DEVICE Loss loss_for(const Chain& c, int gold) {
	if (gold < 0) return Loss{-1, 0.f};
	float cost = c.cost ? c.cost[gold] : 1.f;
	return Loss{gold, c.by_length ? cost / (float)c.length : cost};
}

// loss_at is the loss of position t.
DEVICE Loss loss_at(const Chain& c, int t) { return loss_for(c, c.with_loss && c.gold ? c.gold[t] : -1); }

// augmented is label y's node potential with the loss.
DEVICE float augmented(float node, Loss l, int y) { return y == l.gold ? node : node + l.cost; }

// node_at is the augmented node potential of label y at t.
DEVICE float node_at(const Chain& c, int t, int y) { return augmented(c.node[(int64_t)t * c.Y + y], loss_at(c, t), y); }

// edges_into is the [Y][Y] potentials of the step into t.
DEVICE const float* edges_into(const Chain& c, int t) { return c.per_position ? c.edge + (int64_t)t * c.Y * c.Y : c.edge; }

// score_part is a lane's part of the score ⟨θ + ℓ, 1_y⟩ of a labeling in float64, augmented where asked: the sum over a warp's
// lanes is the score. A label −1 counts nothing, nor do the steps to and from it.
DEVICE double score_part(const Chain& c, const int32_t* labels, bool with_loss) {
	double s = 0.0;
	for (int t = LANE; t < c.length; t += 32) {
		int y = labels[t];
		if (y < 0) continue;
		s += (double)(with_loss ? node_at(c, t, y) : c.node[(int64_t)t * c.Y + y]);
		if (t > 0 && labels[t - 1] >= 0) s += (double)edges_into(c, t)[labels[t - 1] * c.Y + y];
	}
	return s;
}

// warp_score is the score of a labeling, in all lanes of the warp that calls it.
DEVICE double warp_score(const Chain& c, const int32_t* labels, bool with_loss) {
	return warp_sum(score_part(c, labels, with_loss));
}

// warp_gold_score writes ⟨θ, 1_gold⟩, without the loss, to scores[b] unless that is null. All lanes of a warp call it.
DEVICE void warp_gold_score(const Chain& c, int b, double* scores) {
	if (!scores) return;
	double s = c.gold ? warp_score(c, c.gold, false) : 0.0;
	if (LANE == 0) scores[b] = s;
}

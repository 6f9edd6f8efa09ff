// Shared by kernels over the chains of a ragged batch: their potentials θ, a task loss fused into the loads, and scores of
// labelings.
//   offsets [B+1] int     chain b owns positions offsets[b] to offsets[b+1]−1, possibly none
//   node    [N][Y] float
//   edge    [Y][Y] float  row "from", shared by all chains; or, with PER_POSITION, [N][Y][Y], the transition into each position
//                         (ignored where a chain starts)
//   gold    [N] int       gold labels, −1: none; may be null
//   cost    [Y] float     cost of a wrong label, by gold label; null: 1
// With WITH_LOSS, the loss adds cost(gold_t) to the node potentials of all labels but gold_t at positions that have a gold label;
// BY_LENGTH divides it by the chain's length.
#pragma once

#include "device.cuh"

#define PER_POSITION 1
#define BY_LENGTH 2
#define WITH_LOSS 4

// The first parameters of a kernel over chains, and the struct that bundles them in its body.
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

// Chain is one chain: t counts from 0 to length−1 in it.
struct Chain {
	int first, length; // its first position in the batch
	const float* node; // [length][Y]
	const float* edge; // [Y][Y], or [length][Y][Y]
	const int32_t* gold; // [length], or null
	const float* cost;
	int Y;
	bool per_position, by_length, with_loss;
};

// chain_from returns the chain at positions first to first+length−1.
DEVICE Chain chain_from(const Chains& c, int first, int length) {
	bool per_position = c.flags & PER_POSITION;
	return Chain{first, length, c.node + (int64_t)first * c.Y,
		per_position ? c.edge + (int64_t)first * c.Y * c.Y : c.edge, c.gold ? c.gold + first : c.gold, c.cost,
		c.Y, per_position, (c.flags & BY_LENGTH) != 0, (c.flags & WITH_LOSS) != 0};
}

// chain_of returns chain b.
DEVICE Chain chain_of(const Chains& c, int b) { return chain_from(c, c.offsets[b], c.offsets[b + 1] - c.offsets[b]); }

// Loss is the loss of one position: what is added to the potential of every label but gold.
struct Loss {
	int gold; // −1: none
	float cost;
};

// loss_for returns the loss of a position with the given gold label.
DEVICE Loss loss_for(const Chain& c, int gold) {
	if (gold < 0) return Loss{-1, 0.f};
	float cost = c.cost ? c.cost[gold] : 1.f;
	return Loss{gold, c.by_length ? cost / (float)c.length : cost};
}

// loss_at returns the loss of position t.
DEVICE Loss loss_at(const Chain& c, int t) { return loss_for(c, c.with_loss && c.gold ? c.gold[t] : -1); }

// augmented adds the loss to label y's node potential.
DEVICE float augmented(float node, Loss l, int y) { return y == l.gold ? node : node + l.cost; }

// node_at returns the augmented node potential of label y at t.
DEVICE float node_at(const Chain& c, int t, int y) { return augmented(c.node[(int64_t)t * c.Y + y], loss_at(c, t), y); }

// edges_into returns the [Y][Y] potentials of the transition into t.
DEVICE const float* edges_into(const Chain& c, int t) { return c.per_position ? c.edge + (int64_t)t * c.Y * c.Y : c.edge; }

// score_part returns a lane's part of the score ⟨θ + ℓ, 1_y⟩ of a labeling in float64, with ℓ only if with_loss; the sum over a
// warp's lanes is the score. Label −1 contributes nothing, nor do the transitions from and to it.
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

// warp_score returns the score of a labeling, in all lanes of the calling warp.
DEVICE double warp_score(const Chain& c, const int32_t* labels, bool with_loss) {
	return warp_sum(score_part(c, labels, with_loss));
}

// warp_gold_score writes ⟨θ, 1_gold⟩, without the loss, to scores[b] unless that is null. All lanes of a warp call it.
DEVICE void warp_gold_score(const Chain& c, int b, double* scores) {
	if (!scores) return;
	double s = c.gold ? warp_score(c, c.gold, false) : 0.0;
	if (LANE == 0) scores[b] = s;
}

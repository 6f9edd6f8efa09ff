// One step of forward-backward on Wide numbers, for up to 32 labels, by one warp.
#pragma once

#include "feed.cuh"
#include "gibbs.cuh"
#include "warp.cuh"

DEVICE Wide shuffle_wide(Wide x, int lane) { return Wide{shuffle(x.m, lane), shuffle(x.e, lane)}; }

DEVICE Wide none() { return Wide{0.f, NOTHING}; }

// scaled is x/2^most, where most is the largest exponent among the numbers to add.
DEVICE Wide scaled(Wide x, int most) { return x.m == 0.f ? none() : Wide{x.m, max(x.e - most, FAINTEST)}; }

// product is Σ_k x_k matrix_k over the labels of all G threads of a label; all of them get it.
template <int R, int G> DEVICE Wide product(const Wide* x, const Wide (&matrix)[R]) {
	int most = 2 * NOTHING;
#pragma unroll
	for (int k = 0; k < R; k++) most = max(most, x[k].e + matrix[k].e);
#pragma unroll
	for (int m = 1; m < G; m <<= 1) most = max(most, shuffle_xor(most, m));
	float sum = 0.f;
#pragma unroll
	for (int k = 0; k < R; k++) sum = fma(x[k].m * matrix[k].m, power(x[k].e + matrix[k].e - most), sum);
#pragma unroll
	for (int m = 1; m < G; m <<= 1) sum += shuffle_xor(sum, m);
	return trimmed(Wide{sum, most});
}

// Warp is the state of a warp: its thread (j, g) multiplies with labels g·R to g·R+R−1, as in maxplus.cuh.
template <int R, int G, bool EACH> struct Warp {
	static const int W = R * G;
	static const int SHARED_BYTES = 20 * W;
	Wide matrix[R];
	float ahead[EACH ? R : 1]; // edges of the next step
	Wide* x;                   // [2][W] shared
	float* costs;              // [W] shared
	int j, g, side;
	double log2_rate;
};

template <int R, int G, bool EACH> DEVICE void begin(Warp<R, G, EACH>& w, const Chain& c, char* shared, double mu) {
	w.x = (Wide*)(shared + WARP * w.SHARED_BYTES);
	w.costs = (float*)(w.x + 2 * w.W);
	w.j = LANE / G, w.g = LANE % G, w.side = 0;
	w.log2_rate = LOG2_E / mu;
	if (c.with_loss)
		for (int y = LANE; y < c.Y; y += 32) w.costs[y] = loss_for(c, y).cost;
	WARP_BARRIER();
}

// look loads the potentials of the transition into t: those into label j or, with BACKWARD, those out of it.
template <int R, int G, bool EACH, bool BACKWARD> DEVICE void look(Warp<R, G, EACH>& w, const Chain& c, int t) {
	if (!EACH) return;
	const float* edge = edges_into(c, t);
#pragma unroll
	for (int k = 0; k < R; k++) {
		int i = w.g * R + k;
		w.ahead[EACH ? k : 0] = i < c.Y && w.j < c.Y ? edge[BACKWARD ? w.j * c.Y + i : i * c.Y + w.j] : NEVER;
	}
}

// share loads the matrix of shared edges: e^(edge/μ), or its transpose for the backward pass.
template <int R, int G, bool EACH> DEVICE void share(Warp<R, G, EACH>& w, const Chain& c, const Wide* matrix) {
	if (EACH) return;
#pragma unroll
	for (int k = 0; k < R; k++) {
		int i = w.g * R + k;
		w.matrix[k] = i < c.Y && w.j < c.Y ? matrix[i * c.Y + w.j] : Wide{0.f, NOTHING};
	}
}

// take converts what look loaded into the matrix.
template <int R, int G, bool EACH> DEVICE void take(Warp<R, G, EACH>& w) {
	if (!EACH) return;
#pragma unroll
	for (int k = 0; k < R; k++) w.matrix[k] = wide_gibbs(w.ahead[EACH ? k : 0], w.log2_rate);
}

// put makes x the row that product reads. It contains a barrier.
template <int R, int G, bool EACH> DEVICE void put(Warp<R, G, EACH>& w, Wide x) {
	w.side ^= 1;
	if (w.g == 0) w.x[w.side * w.W + w.j] = x;
	WARP_BARRIER();
}

template <int R, int G, bool EACH> DEVICE Wide multiply(Warp<R, G, EACH>& w) {
	return product<R, G>(w.x + w.side * w.W + w.g * R, w.matrix);
}

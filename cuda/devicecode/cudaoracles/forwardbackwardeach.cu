// forward_backward_each_32, _64, _96, _128: like forward_backward_… (forwardbackward.cu), with edges per position.
//   chains' parameters as in chain.cuh, with PER_POSITION
//   value, marginal, declined, score  out, as there
//   pairs [N][Y][Y] float   out: marginals of edges, 0 where a chain starts and beyond the last chain; may be null
//   scale [N] Scale         scratch (scaled.cuh)
// With E_t = e^((θ_t(·,·) − steep_t)/μ). A matrix is read one step ahead, once in each direction, by rows both times. A thread of warp (S, O)
// holds the transitions from labels S to one label, so products with g are sums over lanes: 31 shuffles for 32 of them.
//
// Range: as in forwardbackward.cu, with R from the widest position's nodes and the widest position's edges.
// Bound: reads N·Y²·4 bytes twice and writes them once; two exponentials each. At B=4096, T=64, Y=32 that is 3.2 GB, 750 µs.
// Reference: oracles/chain/scaledsums.go; checked by the contract suite, emulated and on the device.
#include "scaled.cuh"

// fold adds, of 2·HALF numbers, those of the other half of the lanes to the HALF that stay in this lane.
template <int HALF> DEVICE void fold(float* x) {
	const bool upper = LANE & HALF;
#pragma unroll
	for (int r = 0; r < HALF; r++) {
		float low = x[r], high = x[r + HALF];
		x[r] = (upper ? high : low) + shuffle_xor(upper ? low : high, HALF);
	}
}

// row_sums sums each of 32 numbers over all lanes: lane i gets sum i. It overwrites x.
DEVICE float row_sums(float* x) {
	fold<16>(x);
	fold<8>(x);
	fold<4>(x);
	fold<2>(x);
	fold<1>(x);
	return x[0];
}

template <int Q>
DEVICE void backward_each(const Chain& c, const Role<Q>& m, double mu, float* marginal, float* pairs, const Scale* scale) {
	const int W = Role<Q>::W, out = m.out;
	const Rate rate = rate_of(mu);
	float* alpha = marginal + out;
	float e[32], coming[32];
	int t = c.length - 1;
	if (t > 0) load32(coming, edges_into(c, t), m.from, out, c.Y, NEVER);
	float beta = 1.f, here = m.owns ? alpha[(int64_t)t * c.Y] : 0.f;
	for (;; t--) {
		const int now = t & 1;
		float before = t > 0 && m.owns ? alpha[(int64_t)(t - 1) * c.Y] : 0.f, mass = 0.f;
		if (m.first_row) {
			float g = 0.f;
			if (here > 0.f) { // otherwise no path leads here, and β may be anything
				mass = here * beta;
				g = gibbs(node_at(c, t, out), scale[t].top, rate) * beta / scale[t].sum;
			}
			m.vector[now * W + out] = g;
			m.alphas[now * W + out] = before;
		}
		float sum = warp_sum(mass);
		if (m.first_row && LANE == 0) m.sums[now * Q + m.out_warp] = sum;
		if (t > 0) {
			const float steep = scale[t].steep;
#pragma unroll
			for (int r = 0; r < 32; r++) e[r] = gibbs(coming[r], steep, rate);
		}
		meet<Q>();
		const float inverse = 1.f / total<Q>(m.sums + now * Q, 1);
		if (m.owns) alpha[(int64_t)t * c.Y] = mass * inverse;
		if (t == 0) return;
		if (t > 1) load32(coming, edges_into(c, t - 1), m.from, out, c.Y, NEVER);
		const float g = m.vector[now * W + out] * inverse;
		const float* a = m.alphas + now * W + m.from;
		float* to = pairs ? pairs + (int64_t)t * c.Y * c.Y + m.from * c.Y + out : pairs;
#pragma unroll
		for (int r = 0; r < 32; r++) {
			e[r] *= g;
			if (to && m.from + r < c.Y && out < c.Y) *to = a[r] * e[r];
			if (to) to += c.Y;
		}
		beta = row_sums(e);
		if (Q > 1) {
			m.part[m.out_warp * W + m.from + LANE] = beta;
			meet<Q>();
			if (m.first_row) beta = total<Q>(m.part + out, W);
		}
		here = before;
	}
}

template <int Q> DEVICE void forward_backward_each(const Chains& chains, int rows, double mu, double* value, float* marginal, float* pairs,
	Scale* scale, int32_t* declined, double* score, float* shared) {
	const int b = BLOCK, Y = chains.Y;
	const int64_t matrix = (int64_t)Y * Y;
	const Chain c = chain_of(chains, b);
	if (pairs) { // no transition leads into padding or a chain's start
		for (int64_t row = chains.offsets[BLOCKS] + b; row < rows; row += BLOCKS)
			for (int k = THREAD; k < matrix; k += THREADS) pairs[row * matrix + k] = 0.f;
		pairs += c.first * matrix;
		if (c.length > 0)
			for (int k = THREAD; k < matrix; k += THREADS) pairs[k] = 0.f;
	}
	if (!begin(chains, c, b, BLOCKS, rows, value, marginal, declined, score)) return;
	const Role<Q> m = role_of<Q>(Y, shared);
	scale += c.first;
	if (marginal) marginal += (int64_t)c.first * Y;
	const bool holds = forward<Q, true>(c, m, mu, 0, 0, marginal, scale, value + b);
	if (THREAD == 0) declined[b] = !holds;
	if (holds && marginal) backward_each<Q>(c, m, mu, marginal, pairs, scale);
}

#define FORWARD_BACKWARD_EACH(name, Q) \
	BOUNDED_KERNEL(name, 32 * Q * Q)(CHAINS_PARAMETERS, int32_t rows, double mu, double* value, float* marginal, float* pairs, Scale* scale, \
		int32_t* declined, double* score) { \
		SHARED(float, shared); \
		forward_backward_each<Q>(CHAINS, rows, mu, value, marginal, pairs, scale, declined, score, shared); \
	} \
	EXPORT(name)

FORWARD_BACKWARD_EACH(forward_backward_each_32, 1)
FORWARD_BACKWARD_EACH(forward_backward_each_64, 2)
FORWARD_BACKWARD_EACH(forward_backward_each_96, 3)
FORWARD_BACKWARD_EACH(forward_backward_each_128, 4)

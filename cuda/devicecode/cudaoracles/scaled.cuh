// Forward-backward on float32 probabilities that are rescaled at each position (Rabiner 1989, section V.A), with one block per chain. This
// header is common to shared and per-position edges.
//
// Q×Q warps handle Y ≤ W = 32Q labels: warp (S, O) holds the transitions from block S of 32 labels to block O in registers, 32 per thread. The
// threads of warps (0, O) own label 32O + LANE: its potentials, α and β. The vector that all threads read is in shared memory. It is rescaled
// one step late, so that nothing waits for its sum. A step has one barrier, or two if Q > 1. Sums use no atomics.
#pragma once

#include "gibbs.cuh"

#define WIDEST 75.f /* limit of R, see forwardbackward.cu: e^−R and one step from it are normal float32 numbers, at least e^−87.3 */

// Role describes a thread's role in its block, and the block's shared memory.
template <int Q> struct Role {
	static const int W = 32 * Q;
	int out_warp, out, from; // O, 32O + LANE and 32S
	bool first_row, owns;    // in a warp (0, O); and out < Y
	float *vector;           // [2][W] alternately α before rescaling, and g
	float *sums, *tops;      // [2][Q] sums and maxima over each warp's labels
	float *steeps;           // [2][Q×Q] largest transition of each warp
	float *part;             // [Q][W] contribution of each row of warps to a product
	float *alphas;           // [2][W]
	float *tile;             // [Q×Q][32][33]
};

template <int Q> DEVICE Role<Q> role_of(int labels, float* shared) {
	Role<Q> m;
	const int W = Role<Q>::W;
	m.out_warp = WARP % Q;
	m.out = 32 * m.out_warp + LANE;
	m.from = WARP / Q * 32;
	m.first_row = m.from == 0;
	m.owns = m.first_row && m.out < labels;
	m.vector = shared;
	m.part = m.vector + 2 * W;
	m.alphas = m.part + Q * W;
	m.sums = m.alphas + 2 * W;
	m.tops = m.sums + 2 * Q;
	m.steeps = m.tops + 2 * Q;
	m.tile = m.steeps + 2 * Q * Q;
	return m;
}

// meet is a barrier for the block.
template <int Q> DEVICE void meet() {
	if (Q == 1) WARP_BARRIER();
	else BARRIER();
}

// total adds Q numbers.
template <int Q> DEVICE float total(const float* x, int stride) {
	float s = x[0];
#pragma unroll
	for (int q = 1; q < Q; q++) s += x[q * stride];
	return s;
}

// most returns the largest of N numbers, or 0 if all are −∞.
template <int N> DEVICE float most(const float* x) {
	float m = x[0];
#pragma unroll
	for (int q = 1; q < N; q++) m = max(m, x[q]);
	return m == NEVER ? 0.f : m;
}

// load32 loads a warp's part of a matrix: m_r = matrix[from + r][out], and outside beyond the Y rows and columns.
DEVICE void load32(float* m, const float* matrix, int from, int out, int labels, float outside) {
	asm volatile("" : "+r"(from)); // keeps the compiler from holding addresses in 32 registers
#pragma unroll
	for (int r = 0; r < 32; r++) m[r] = from + r < labels && out < labels ? matrix[(from + r) * labels + out] : outside;
}

// dot32 is Σ_r x_r m_r over 32 numbers.
DEVICE float dot32(const float* x, const float* m) {
	float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
	for (int r = 0; r < 8; r++) {
		float4 v = ((const float4*)x)[r];
		s0 = fma(v.x, m[4 * r], s0);
		s1 = fma(v.y, m[4 * r + 1], s1);
		s2 = fma(v.z, m[4 * r + 2], s2);
		s3 = fma(v.w, m[4 * r + 3], s3);
	}
	return (s0 + s1) + (s2 + s3);
}

// largest32 is the largest entry of a warp's part of a matrix.
DEVICE float largest32(const float* m) {
	float x = m[0];
#pragma unroll
	for (int r = 1; r < 32; r++) x = max(x, m[r]);
	return warp_max(x);
}

// Scale is what a forward pass stores per position: c_t, max_j θ_t(j) and, with edges per position, the largest edge.
struct __attribute__((aligned(16))) Scale {
	float sum, top, steep, unused;
};

// forward computes α into alpha [T][Y] (null: only the value) and the value. It returns, in all threads, whether the range of float32
// suffices for the chain, which must not be empty. matrix is e^((edge − bounds[0])/μ) of shared edges.
template <int Q, bool EACH>
DEVICE bool forward(const Chain& c, const Role<Q>& m, double mu, const float* matrix, const float* bounds, float* alpha, Scale* scale, double* value) {
	const int W = Role<Q>::W, out = m.out;
	const Rate rate = rate_of(mu);
	const float* node = c.node + out;
	const bool has_loss = c.with_loss && c.gold;
	float e[32], coming[EACH ? 32 : 1]; // E; edges of the next position
	if (!EACH) load32(e, matrix, m.from, out, c.Y, 0.f);
	else if (c.length > 1) load32((float*)coming, edges_into(c, 1), m.from, out, c.Y, NEVER);
	// Node potentials are read two steps ahead; their maximum is computed one step ahead.
	float x = m.owns ? augmented(node[0], loss_at(c, 0), out) : NEVER;
	float later = m.owns && c.length > 1 ? node[c.Y] : NEVER;
	int later_gold = has_loss && c.length > 1 ? c.gold[1] : -1;
	float largest = warp_max(x);
	if (m.first_row && LANE == 0) m.tops[m.out_warp] = largest;
	meet<Q>();
	float inverse = 1.f, least = INFINITE, width = 0.f, depth = 0.f, forbidden = 0.f;
	double product = 1.0, log = 0.0, peaks = 0.0; // in thread 0: Π c_t since the last update of log; Σ of the largest potentials
	bool dead = false;
	for (int t = 0; t < c.length; t++) {
		const int now = t & 1, next = now ^ 1;
		const float top = most<Q>(m.tops + now * Q);
		float s = 1.f, steep = EACH ? 0.f : bounds[0];
		if (t > 0) {
			if (EACH) {
				steep = most<Q * Q>(m.steeps + now * Q * Q);
#pragma unroll
				for (int r = 0; r < 32; r++) {
					float w = coming[EACH ? r : 0];
					if (w != NEVER) depth = max(depth, steep - w);
					else if (m.from + r < c.Y && out < c.Y) forbidden = 1.f;
					e[r] = gibbs(w, steep, rate);
				}
			}
			s = dot32(m.vector + next * W + m.from, e);
			if (Q > 1) {
				m.part[m.from * Q + out] = s;
				meet<Q>();
				if (m.first_row) s = total<Q>(m.part + out, W);
			}
			s *= inverse;
		}
		if (EACH && t + 1 < c.length) {
			load32((float*)coming, edges_into(c, t + 1), m.from, out, c.Y, NEVER);
		}
		float raw = 0.f, following = NEVER;
		if (m.owns) {
			raw = gibbs(x, top, rate) * s;
			if (x == NEVER) forbidden = 1.f;
			else width = max(width, top - x);
			if (t + 1 < c.length) following = augmented(later, loss_for(c, later_gold), out);
			if (t + 2 < c.length) {
				later = node[(int64_t)(t + 2) * c.Y];
				if (has_loss) later_gold = c.gold[t + 2];
			}
		}
		x = following;
		if (m.first_row) m.vector[now * W + out] = raw;
		float sum = warp_sum(raw);
		largest = warp_max(following);
		if (m.first_row && LANE == 0) {
			m.sums[now * Q + m.out_warp] = sum;
			m.tops[next * Q + m.out_warp] = largest;
		}
		if (EACH && t + 1 < c.length) {
			largest = largest32((const float*)coming);
			if (LANE == 0) m.steeps[next * Q * Q + WARP] = largest;
		}
		meet<Q>();
		sum = total<Q>(m.sums + now * Q, 1);
		if (!(sum > 0.f)) {
			dead = true; // all threads see the same sum
			break;
		}
		inverse = 1.f / sum;
		const float a = raw * inverse;
		if (raw > 0.f) least = min(least, min(a, raw)); // a step multiplies raw numbers
		if (m.owns && alpha) alpha[(int64_t)t * c.Y + out] = a;
		if (THREAD == 0) {
			scale[t] = Scale{sum, top, steep, 0.f};
			peaks += (double)top;
			if (t > 0) peaks += (double)steep;
			product *= (double)sum;
			if (product < 1e-100 || product > 1e100) {
				log += logarithm(product);
				product = 1.0;
			}
		}
	}
	// Does the range of float32 suffice? The vectors are free to hold the warps' answers.
	least = -warp_max(-least);
	width = warp_max(width);
	depth = warp_max(depth);
	forbidden = warp_max(forbidden);
	meet<Q>();
	if (LANE == 0) {
		m.vector[WARP] = least;
		m.vector[Q * Q + WARP] = width;
		m.vector[2 * Q * Q + WARP] = depth;
		m.vector[3 * Q * Q + WARP] = forbidden;
	}
	meet<Q>();
#pragma unroll
	for (int q = 0; q < Q * Q; q++) {
		least = min(least, m.vector[q]);
		width = max(width, m.vector[Q * Q + q]);
		depth = max(depth, m.vector[2 * Q * Q + q]);
		forbidden = max(forbidden, m.vector[3 * Q * Q + q]);
	}
	meet<Q>();
	if (!EACH) {
		depth = bounds[1];
		forbidden = max(forbidden, bounds[2]);
	}
	const float spans = (float)(((double)width + (double)depth) / mu);
	const bool holds = !dead && spans <= WIDEST && (forbidden == 0.f || least >= exponential(spans - WIDEST));
	if (THREAD == 0 && holds) *value = mu * (log + logarithm(product)) + peaks;
	return holds;
}

// begin writes what does not depend on the chain's potentials: the gold score of chain b of all n, its share of marginal's padding, and the answer
// for an empty chain. It reports whether there is more to do.
DEVICE bool begin(const Chains& chains, const Chain& c, int b, int n, int rows, double* value, float* marginal, int32_t* declined, double* score) {
	const int Y = chains.Y;
	if (WARP == 0) warp_gold_score(c, b, score);
	if (marginal)
		for (int64_t row = chains.offsets[n] + b; row < rows; row += n)
			for (int y = THREAD; y < Y; y += THREADS) marginal[row * Y + y] = 0.f;
	if (c.length > 0) return true;
	if (THREAD == 0) {
		value[b] = 0.0;
		declined[b] = 0;
	}
	return false;
}

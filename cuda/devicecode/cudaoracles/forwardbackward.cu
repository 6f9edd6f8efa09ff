// forward_backward_32, _64, _96, _128: log-partition functions and marginals of the chains of a ragged batch with shared edges, for up
// to that many labels, with float32 probabilities.
//   chains' parameters as in chain.cuh, without PER_POSITION
//   powers_from, powers_to [Y][Y] float  E = e^((edge − largest)/μ) and its transpose; bounds [3]: from edge_bounds
//   value    [B] double     out: μ log Σ_y e^(⟨θ+ℓ,1_y⟩/μ)
//   marginal [N][Y] float   out: node marginals, 0 beyond the last chain; null: values only
//   pairs    [B][Y][Y] float  out: expected count of each transition; may be null
//   scale    [N] Scale      scratch (scaled.cuh)
//   declined [B] int        out: 1 if float32 may not hold the probabilities; wide_sums then handles the chain
//   score    [B] double     out: ⟨θ,1_gold⟩; may be null
// With n_t = e^((θ_t − max θ_t)/μ):
//   α_t = n_t ∘ Eᵀα_{t−1} / c_t,  Σ_j α_t(j) = 1,  value = μ Σ_t log c_t + Σ_t max θ_t + (T−1)·largest edge,
//   β_t = E g_{t+1},  ζ_t = Σ_j α_t(j) β_t(j),  g_t = n_t ∘ β_t / (c_t ζ_t),
//   marginals α_t ∘ β_t / ζ_t of a node, α_{t−1}(i) E(i,j) g_t(j) of an edge.
// α is kept in the rows of marginal between the two passes. Matrices are read once per chain. Transitions between labels S and O are
// accumulated in 32 more registers per thread of warp (O, S) (scaled.cuh).
//
// Range: let R be the range of a position's node potentials plus the range of the edges, over μ. If nothing is forbidden, no α is less than
// e^−R/Y. If something is forbidden, α can become arbitrarily small, so the kernel checks it: if no α is less than e^(R−75), nor α c, the next
// step does not underflow. The bounds are those of the CPU, but for the widest position instead of the whole chain.
// Bound: reads and writes N·Y·4 bytes twice (the second time mostly in L2), writes B·Y²·4; N·Y² fused multiply-adds three times; T dependent
// steps of about 300 cycles each way. At B=4096, T=64, Y=32: 800 M multiply-adds take 30 µs including their loads, the bytes 30 µs.
// Reference: oracles/chain/scaledsums.go; checked by the contract suite, emulated and on the device.
#include "scaled.cuh"

// backward runs after forward. matrix is the transpose of E.
template <int Q>
DEVICE void backward(const Chain& c, const Role<Q>& m, double mu, const float* matrix, float* marginal, float* pairs, const Scale* scale) {
	const int W = Role<Q>::W, out = m.out;
	const bool inside = out < c.Y, has_loss = c.with_loss && c.gold;
	const Rate rate = rate_of(mu);
	float* alpha = marginal + out;
	const float* node = c.node + out;
	float e[32], count[32]; // E(out, from + r), and Σ_t α_{t−1}(out) g_t(from + r)
	load32(e, matrix, m.from, out, c.Y, 0.f);
#pragma unroll
	for (int r = 0; r < 32; r++) count[r] = 0.f;
	int t = c.length - 1;
	float beta = 1.f, here = inside ? alpha[t * c.Y] : 0.f;
	// Inputs of a step are read one step ahead.
	float x = m.owns ? node[t * c.Y] : 0.f;
	Scale of = scale[t];
	int gold = has_loss ? c.gold[t] : -1;
	for (;; t--) {
		const int now = t & 1;
		float before = t > 0 && inside ? alpha[(t - 1) * c.Y] : 0.f, mass = 0.f;
		if (m.first_row) {
			float g = 0.f;
			if (here > 0.f) { // otherwise no path leads here, and β may be anything
				mass = here * beta;
				g = gibbs(augmented(x, loss_for(c, gold), out), of.top, rate) * beta / of.sum;
			}
			m.vector[now * W + out] = g;
			if (t > 0) {
				if (m.owns) x = node[(t - 1) * c.Y];
				of = scale[t - 1];
				if (has_loss) gold = c.gold[t - 1];
			}
		}
		float sum = warp_sum(mass);
		if (m.first_row && LANE == 0) m.sums[now * Q + m.out_warp] = sum;
		meet<Q>();
		const float inverse = 1.f / total<Q>(m.sums + now * Q, 1), a = before * inverse;
		if (m.owns) alpha[t * c.Y] = mass * inverse;
		if (t == 0) break;
		const float4* g = (const float4*)(m.vector + now * W + m.from);
		float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
		for (int r = 0; r < 8; r++) {
			float4 v = g[r];
			s0 = fma(v.x, e[4 * r], s0);
			s1 = fma(v.y, e[4 * r + 1], s1);
			s2 = fma(v.z, e[4 * r + 2], s2);
			s3 = fma(v.w, e[4 * r + 3], s3);
			count[4 * r] = fma(a, v.x, count[4 * r]);
			count[4 * r + 1] = fma(a, v.y, count[4 * r + 1]);
			count[4 * r + 2] = fma(a, v.z, count[4 * r + 2]);
			count[4 * r + 3] = fma(a, v.w, count[4 * r + 3]);
		}
		beta = (s0 + s1) + (s2 + s3);
		if (Q > 1) {
			m.part[m.from * Q + out] = beta;
			meet<Q>();
			if (m.first_row) beta = total<Q>(m.part + out, W);
		}
		beta *= inverse;
		here = before;
	}
	if (!pairs) return;
	float* tile = m.tile + WARP * 32 * 33;
#pragma unroll
	for (int r = 0; r < 32; r++) tile[LANE * 33 + r] = count[r] * e[r];
	WARP_BARRIER();
	const int to = m.from + LANE;
	for (int r = 0; r < 32; r++) {
		int i = 32 * m.out_warp + r;
		if (i < c.Y && to < c.Y) pairs[i * c.Y + to] = tile[r * 33 + LANE];
	}
}

template <int Q> DEVICE void forward_backward(const Chains& chains, int rows, double mu, const float* powers_from, const float* powers_to,
	const float* bounds, double* value, float* marginal, float* pairs, Scale* scale, int32_t* declined, double* score, float* shared) {
	const int b = BLOCK, Y = chains.Y;
	const Chain c = chain_of(chains, b);
	if (pairs) pairs += (int64_t)b * Y * Y;
	if (!begin(chains, c, b, BLOCKS, rows, value, marginal, declined, score)) {
		if (pairs)
			for (int k = THREAD; k < Y * Y; k += THREADS) pairs[k] = 0.f;
		return;
	}
	const Role<Q> m = role_of<Q>(Y, shared);
	scale += c.first;
	if (marginal) marginal += (int64_t)c.first * Y;
	const bool holds = forward<Q, false>(c, m, mu, powers_from, bounds, marginal, scale, value + b);
	if (THREAD == 0) declined[b] = !holds;
	if (holds && marginal) backward<Q>(c, m, mu, powers_to, marginal, pairs, scale);
}

#define FORWARD_BACKWARD(name, Q) \
	BOUNDED_KERNEL(name, 32 * Q * Q)(CHAINS_PARAMETERS, int32_t rows, double mu, const float* RESTRICT powers_from, \
		const float* RESTRICT powers_to, const float* RESTRICT bounds, double* value, float* marginal, float* pairs, Scale* scale, int32_t* declined, \
		double* score) { \
		SHARED(float, shared); \
		forward_backward<Q>(CHAINS, rows, mu, powers_from, powers_to, bounds, value, marginal, pairs, scale, declined, score, shared); \
	} \
	EXPORT(name)

FORWARD_BACKWARD(forward_backward_32, 1)
FORWARD_BACKWARD(forward_backward_64, 2)
FORWARD_BACKWARD(forward_backward_96, 3)
FORWARD_BACKWARD(forward_backward_128, 4)

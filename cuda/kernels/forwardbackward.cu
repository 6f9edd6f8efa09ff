// forward_backward_32, _64, _96, _128: log-partition functions and marginals of the chains of a ragged batch with shared edges, for
// up to that many labels, on probabilities in float32 that are scaled at each position (Rabiner 1989, section V.A).
//   chains' parameters as in chain.cuh, without PER_POSITION
//   powers_from, powers_to [Y][Y] float  E = e^((edge − largest)/μ) and its transpose; bounds [3]: as edge_bounds has them
//   value    [B] double     out: μ log Σ_y e^(⟨θ+ℓ,1_y⟩/μ)
//   marginal [N][Y] float   out: node marginals, 0 beyond the last chain; null: values only
//   pairs    [B][Y][Y] float  out: expected number of each transition; may be null
//   scale, top [N] float    scratch: Σ_j of what α_t is before it is scaled, and max_j θ_t(j)
//   declined [B] int        out: 1 where float32 might not hold the probabilities: then the chain is left to wide_sums
//   score    [B] double     out: ⟨θ,1_gold⟩; may be null
// With n_t = e^((θ_t − max θ_t)/μ):
//   α_t = n_t ∘ Eᵀα_{t−1} / c_t,  Σ_j α_t(j) = 1,  value = μ Σ_t log c_t + Σ_t max θ_t + (T−1)·largest edge,
//   β_t = E g_{t+1},  ζ_t = Σ_j α_t(j) β_t(j),  g_t = n_t ∘ β_t / (c_t ζ_t),
//   marginals α_t ∘ β_t / ζ_t of a node, α_{t−1}(i) E(i,j) g_t(j) of an edge.
// α is scaled one step late, so that nothing waits for its sum; it rests in the rows of marginal between the two passes.
//
// One block a chain, Q×Q warps for Y ≤ 32Q. Warp (S, O) holds E of 32 labels S on 32 labels O in registers, 32 a thread, and adds up the
// transitions between them in another 32: matrices are read once a chain, sums have no atomics, a step waits for one barrier (two if Q > 1).
// When it is safe: let R be what the potentials of a position and those of edges span together, over μ. If all is allowed, no α is less
// than e^−R/Y. Where some is forbidden, α can become small without bound, so that it is looked at: if none is less than e^(R−75), the next
// step loses none. The bounds are those of the CPU.
// Bound: reads and writes N·Y·4 bytes twice (the second time mostly in L2), writes B·Y²·4; N·Y² fused multiply-adds three times.
// Reference: oracles/scaledsums.go; checked by the contract suite, emulated and on the device.
#include "gibbs.cuh"

#define WIDEST 75.f /* of R: e^−R and a step from it are normal numbers in float32, least e^−87.3 */

// dot32 is Σ_r x_r m_r of 32 numbers.
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

// load32 reads a warp's part of a matrix, 0 beyond its Y rows and columns: m_r = matrix[32S + r][out].
DEVICE void load32(float* m, const float* matrix, int from, int out, int labels) {
	asm volatile("" : "+r"(from)); // so that addresses are not kept in 32 registers for the next time
#pragma unroll
	for (int r = 0; r < 32; r++) m[r] = from + r < labels && out < labels ? matrix[(from + r) * labels + out] : 0.f;
}

// meet waits for all threads of Q×Q warps.
template <int Q> DEVICE void meet() {
	if (Q == 1) WARP_BARRIER();
	else BARRIER();
}

// total adds what the Q warps of a row have left.
template <int Q> DEVICE float total(const float* x, int stride) {
	float s = x[0];
#pragma unroll
	for (int q = 1; q < Q; q++) s += x[q * stride];
	return s;
}

template <int Q> DEVICE void forward_backward(const Chains& chains, int rows, double mu, const float* powers_from, const float* powers_to,
	const float* bounds, double* value, float* marginal, float* pairs, float* scale, float* top, int32_t* declined, double* score, float* shared) {
	const int W = 32 * Q, b = BLOCK, Y = chains.Y, out_warp = WARP % Q, in_warp = WARP / Q, out = 32 * out_warp + LANE, from = 32 * in_warp;
	float* vector = shared;               // [2][W] α before it is scaled, then g, by turns
	float* sums = vector + 2 * W;         // [2][Q] over each warp's labels
	float* tops = sums + 2 * Q;           // [2][Q]
	float* part = tops + 2 * Q;           // [Q][W] what each row of warps adds to a product
	float* tile = part + (Q > 1 ? Q * W : 0); // [Q×Q][32][33]
	const bool first_row = in_warp == 0, owns = first_row && out < Y; // this thread keeps label out
	const Chain c = chain_of(chains, b);
	const Rate rate = rate_of(mu);

	if (WARP == 0) warp_gold_score(c, b, score);
	if (marginal) {
		int used = chains.offsets[BLOCKS];
		for (int64_t row = used + b; row < rows; row += BLOCKS)
			for (int y = THREAD; y < Y; y += THREADS) marginal[row * Y + y] = 0.f;
	}
	if (c.length == 0) {
		if (THREAD == 0) {
			value[b] = 0.0;
			declined[b] = 0;
		}
		if (pairs)
			for (int k = THREAD; k < Y * Y; k += THREADS) pairs[(int64_t)b * Y * Y + k] = 0.f;
		return;
	}
	const float *node = c.node + out;
	const bool has_loss = c.with_loss && c.gold;
	float* alpha = marginal ? marginal + (int64_t)c.first * Y + out : marginal;
	scale += c.first;
	top += c.first;

	float m[32];
	load32(m, powers_from, from, out, Y);
	// Potentials are read two steps ahead, and their largest is found one step ahead.
	float x = owns ? augmented(node[0], loss_at(c, 0), out) : NEVER;
	float later = owns && c.length > 1 ? node[Y] : NEVER;
	int later_gold = has_loss && c.length > 1 ? c.gold[1] : -1;
	float largest = warp_max(x);
	if (first_row && LANE == 0) tops[out_warp] = largest;
	meet<Q>();
	float inverse = 1.f, least = INFINITE, width = 0.f, forbidden = 0.f;
	double product = 1.0, log = 0.0, peaks = 0.0; // thread 0: Π c_t since log was last added to, Σ max θ_t
	bool dead = false;
	for (int t = 0; t < c.length; t++) {
		int now = t & 1, next = now ^ 1;
		float peak = tops[now * Q];
#pragma unroll
		for (int q = 1; q < Q; q++) peak = max(peak, tops[now * Q + q]);
		if (peak == NEVER) peak = 0.f;
		float s = 1.f;
		if (t > 0) {
			s = dot32(vector + next * W + from, m);
			if (Q > 1) {
				part[in_warp * W + out] = s;
				meet<Q>();
				if (first_row) s = total<Q>(part + out, W);
			}
			s *= inverse;
		}
		float raw = 0.f, following = NEVER;
		if (owns) {
			raw = gibbs(x, peak, rate) * s;
			if (x == NEVER) forbidden = 1.f;
			else width = max(width, peak - x);
			if (t + 1 < c.length) following = augmented(later, loss_for(c, later_gold), out);
			if (t + 2 < c.length) {
				later = node[(int64_t)(t + 2) * Y];
				if (has_loss) later_gold = c.gold[t + 2];
			}
		}
		x = following;
		if (first_row) vector[now * W + out] = raw;
		float sum = warp_sum(raw);
		largest = warp_max(following);
		if (first_row && LANE == 0) {
			sums[now * Q + out_warp] = sum;
			tops[next * Q + out_warp] = largest;
		}
		meet<Q>();
		sum = total<Q>(sums + now * Q, 1);
		if (!(sum > 0.f)) {
			dead = true; // all threads see the same sum
			break;
		}
		inverse = 1.f / sum;
		float a = raw * inverse;
		if (a > 0.f) least = min(least, a);
		if (owns && alpha) alpha[(int64_t)t * Y] = a;
		if (THREAD == 0) {
			scale[t] = sum;
			top[t] = peak;
			peaks += (double)peak;
			product *= (double)sum;
			if (product < 1e-100 || product > 1e100) {
				log += logarithm(product);
				product = 1.0;
			}
		}
	}
	// Does float32 hold it?
	least = -warp_max(-least);
	width = warp_max(width);
	forbidden = warp_max(forbidden);
	meet<Q>();
	if (first_row && LANE == 0) {
		part = vector; // [3][Q]
		part[out_warp] = least;
		part[Q + out_warp] = width;
		part[2 * Q + out_warp] = forbidden;
	}
	meet<Q>();
	part = vector;
#pragma unroll
	for (int q = 0; q < Q; q++) {
		least = min(least, part[q]);
		width = max(width, part[Q + q]);
		forbidden = max(forbidden, part[2 * Q + q]);
	}
	float spans = (float)(((double)width + (double)bounds[1]) / mu);
	bool holds = !dead && spans <= WIDEST && (max(forbidden, bounds[2]) == 0.f || least >= exponential(spans - WIDEST));
	if (THREAD == 0) {
		declined[b] = holds ? 0 : 1;
		if (holds) value[b] = mu * (log + logarithm(product)) + peaks + (double)(c.length - 1) * (double)bounds[0];
	}
	if (!holds || !marginal) return;
	meet<Q>(); // part is vector

	part = tops + 2 * Q;
	load32(m, powers_to, from, out, Y);
	float count[32]; // Σ_t α_{t−1}(out) g_t(from + r)
#pragma unroll
	for (int r = 0; r < 32; r++) count[r] = 0.f;
	const bool inside = out < Y;
	int t = c.length - 1;
	float beta = 1.f, here = inside ? alpha[(int64_t)t * Y] : 0.f;
	for (;; t--) {
		int now = t & 1;
		float before = t > 0 && inside ? alpha[(int64_t)(t - 1) * Y] : 0.f, mass = 0.f;
		if (first_row) {
			float g = 0.f;
			if (here > 0.f) { // where no path leads, β may be anything
				mass = here * beta;
				g = gibbs(node_at(c, t, out), top[t], rate) * beta / scale[t];
			}
			vector[now * W + out] = g;
		}
		float sum = warp_sum(mass);
		if (first_row && LANE == 0) sums[now * Q + out_warp] = sum;
		meet<Q>();
		inverse = 1.f / total<Q>(sums + now * Q, 1);
		if (owns) alpha[(int64_t)t * Y] = mass * inverse;
		if (t == 0) break;
		const float a = before * inverse;
		const float4* g = (const float4*)(vector + now * W + from);
		float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll
		for (int r = 0; r < 8; r++) {
			float4 v = g[r];
			s0 = fma(v.x, m[4 * r], s0);
			s1 = fma(v.y, m[4 * r + 1], s1);
			s2 = fma(v.z, m[4 * r + 2], s2);
			s3 = fma(v.w, m[4 * r + 3], s3);
			count[4 * r] = fma(a, v.x, count[4 * r]);
			count[4 * r + 1] = fma(a, v.y, count[4 * r + 1]);
			count[4 * r + 2] = fma(a, v.z, count[4 * r + 2]);
			count[4 * r + 3] = fma(a, v.w, count[4 * r + 3]);
		}
		beta = (s0 + s1) + (s2 + s3);
		if (Q > 1) {
			part[in_warp * W + out] = beta;
			meet<Q>();
			if (first_row) beta = total<Q>(part + out, W);
		}
		beta *= inverse;
		here = before;
	}
	if (!pairs) return;
	pairs += (int64_t)b * Y * Y;
	tile += WARP * 32 * 33;
#pragma unroll
	for (int r = 0; r < 32; r++) tile[LANE * 33 + r] = count[r] * m[r];
	WARP_BARRIER();
	int to = from + LANE;
	for (int r = 0; r < 32; r++) {
		int i = 32 * out_warp + r;
		if (i < Y && to < Y) pairs[i * Y + to] = tile[r * 33 + LANE];
	}
}

#define FORWARD_BACKWARD(name, Q) \
	BOUNDED_KERNEL(name, 32 * Q * Q)(CHAINS_PARAMETERS, int32_t rows, double mu, const float* RESTRICT powers_from, \
		const float* RESTRICT powers_to, const float* RESTRICT bounds, double* value, float* marginal, float* pairs, float* scale, \
		float* top, int32_t* declined, double* score) { \
		SHARED(float, shared); \
		forward_backward<Q>(CHAINS, rows, mu, powers_from, powers_to, bounds, value, marginal, pairs, scale, top, declined, score, shared); \
	} \
	EXPORT(name)

FORWARD_BACKWARD(forward_backward_32, 1)
FORWARD_BACKWARD(forward_backward_64, 2)
FORWARD_BACKWARD(forward_backward_96, 3)
FORWARD_BACKWARD(forward_backward_128, 4)

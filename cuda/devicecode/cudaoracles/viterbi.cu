// viterbi: best path of every chain of a ragged batch, in two kernels: δ forward, then backward along the path.
//   chains of chain.cuh, the loss fused into their loads
//   scores   [N][Y] float    scratch for shared edges: δ. Recomputing the argmax on the path only saves half of the forward pass that
//                            storing the arguments would cost, for N·Y·4 bytes written and read once
//   pointers [N][Y] uint16   scratch for per-position edges, which would otherwise be read twice
//   ends     [B]    int      scratch: last labels, −1 if no output is allowed
//   path     [N]    int      out; positions outside of all chains are not written
//   value    [B]    double   out: score of the path in float64; −∞ if no output is allowed (the path is then all 0), 0 for length 0
//   golds    [B]    double   out, or null: score of the gold labels
// Ties go to the smaller label, decided from the last position backward.
//
// viterbi_W, for Y ≤ W: one warp per chain up to 32 labels, four per block; one block per chain up to 128. Transitions in registers (maxplus.cuh).
// viterbi_each_W: per-position edges, read once and one step ahead; one warp per chain.
// viterbi_wide_C: one block of Y threads for C chains; each transition read through L2 serves C chains.
// viterbi_path: one warp per chain; lanes share the candidates for the previous label. viterbi_pointed_path follows pointers.
//
// Bound: reads N·Y·4 bytes (per-position edges: N·Y²·4), writes and reads as many bytes of scores; N·Y² additions and maxima, of which a
// multiprocessor of the H200 does 43 pairs per cycle; and T dependent steps of 0.1 to 0.2 µs each way. At B=4096, T=64, Y=32: 100 MB take 24 µs
// and 268 M pairs 28 µs, at the same time. More instructions are issued: on sm_90 a step is about 125 instructions per warp forward, where maxima
// count twice, and 60 backward, 60 µs in all.
// Reference: oracles/chain/viterbi.go, to the same bits; checked by the contract suite, emulated and on the device.
#include "maxplus.cuh"

// end_of returns the first label with the largest δ in the row, or −1 if all are −∞. All lanes of a warp call it.
DEVICE int end_of(const float* row, int Y, int group, int gap) {
	float best = NEVER;
	int label = 0x7fffffff;
	for (int y = LANE; y < Y; y += 32) {
		float v = row[y + y / group * gap];
		if (v > best) best = v, label = y;
	}
	label = warp_first(best, label);
	return best == NEVER ? -1 : label;
}

template <int R, int G, int TEAM, bool EACH>
DEVICE void forward(const Chains& all, int chains, float* scores, uint16* pointers, int32_t* ends, float* shared) {
	typedef Team<R, G, TEAM> T;
	int thread = TEAM == 32 ? LANE : THREAD, b = TEAM == 32 ? BLOCK * (THREADS / 32) + WARP : BLOCK;
	if (TEAM == 32) shared += WARP * T::SHARED_FLOATS;
	if (b >= chains) return;
	Chain c = chain_of(all, b);
	if (c.length == 0) return;
	prepare<R, G, TEAM>(c, shared, thread);
	int j = thread / G;
	float v = j < c.Y ? node_at(c, 0, j) : NEVER;
	if (!EACH && j < c.Y && thread % G == 0) scores[(int64_t)c.first * c.Y + j] = v;
	Kept kept = {scores, pointers, 0, 0.0};
	v = steps<R, G, TEAM, EACH, EACH ? POINTERS : SCORES>(c, 1, c.length, v, shared, thread, kept);
	if (thread >= 32) return;
	int end = end_of(shared + (c.length - 1) % 2 * T::ROW, c.Y, R, T::GAP);
	if (thread == 0) ends[b] = end;
}

#define FORWARD(name, R, G, TEAM, EACH, BLOCK_THREADS) \
	BOUNDED_KERNEL(name, BLOCK_THREADS)(CHAINS_PARAMETERS, int32_t chains, float* scores, uint16* pointers, int32_t* ends) { \
		SHARED(float, shared); \
		forward<R, G, TEAM, EACH>(CHAINS, chains, scores, pointers, ends, shared); \
	}

FORWARD(viterbi_8, 2, 4, 32, false, 128)
EXPORT(viterbi_8)
FORWARD(viterbi_16, 8, 2, 32, false, 128)
EXPORT(viterbi_16)
FORWARD(viterbi_32, 32, 1, 32, false, 128)
EXPORT(viterbi_32)
FORWARD(viterbi_64, 64, 1, 64, false, 64)
EXPORT(viterbi_64)
FORWARD(viterbi_128, 64, 2, 256, false, 256)
EXPORT(viterbi_128)
FORWARD(viterbi_each_8, 2, 4, 32, true, 128)
EXPORT(viterbi_each_8)
FORWARD(viterbi_each_16, 8, 2, 32, true, 128)
EXPORT(viterbi_each_16)
FORWARD(viterbi_each_32, 32, 1, 32, true, 128)
EXPORT(viterbi_each_32)

// wide runs the recurrence in a block of at least Y threads for C chains at once, which share the transitions that it reads.
template <int C, bool EACH>
DEVICE void wide(const Chains& all, int chains, float* scores, uint16* pointers, int32_t* ends, float* shared) {
	const int Y = all.Y, stride = (Y + 3) & ~3, j = min(THREAD, Y - 1);
	const bool mine = THREAD < Y;
	int first[C], length[C], longest = 0;
#pragma unroll
	for (int k = 0; k < C; k++) {
		int b = BLOCK * C + k;
		first[k] = all.offsets[min(b, chains)];
		length[k] = all.offsets[min(b + 1, chains)] - first[k];
		longest = max(longest, length[k]);
	}
	// rows [2][C][stride]; −∞ beyond Y
	for (int i = THREAD; i < 2 * C * stride; i += THREADS) shared[i] = NEVER;
	BARRIER();
#pragma unroll
	for (int k = 0; k < C; k++) {
		if (length[k] == 0 || !mine) continue;
		float v = node_at(chain_from(all, first[k], length[k]), 0, j);
		shared[k * stride + j] = v;
		if (!EACH) scores[(int64_t)first[k] * Y + j] = v;
	}
	BARRIER();
	for (int t = 1; t < longest; t++) {
		const float* prev = shared + (t - 1) % 2 * C * stride;
		float* next = shared + t % 2 * C * stride;
		float x[C], best[C];
		int from = 0;
#pragma unroll
		for (int k = 0; k < C; k++) {
			best[k] = NEVER;
			x[k] = t < length[k] ? node_at(chain_from(all, first[k], length[k]), t, j) : 0.f;
		}
		const float* edge = edges_into(chain_from(all, first[0], length[0]), t) + j;
#pragma unroll C == 1 ? 4 : 2
		for (int i = 0; i < Y; i += 4) {
			float e[4];
#pragma unroll
			for (int r = 0; r < 4; r++) e[r] = i + r < Y ? edge[(i + r) * Y] : NEVER;
#pragma unroll
			for (int k = 0; k < C; k++) {
				if (t >= length[k]) continue;
				float4 d = *(const float4*)(prev + k * stride + i);
				float v[4] = {d.x + e[0], d.y + e[1], d.z + e[2], d.w + e[3]};
				if (!EACH) best[k] = larger(best[k], larger(larger(v[0], v[1]), larger(v[2], v[3])));
				else
#pragma unroll
					for (int r = 0; r < 4; r++)
						if (v[r] > best[k]) best[k] = v[r], from = i + r;
			}
		}
#pragma unroll
		for (int k = 0; k < C; k++) {
			best[k] += x[k];
			if (mine && t < length[k]) next[k * stride + j] = best[k];
		}
		if (t % REBASE == 0) {
			BARRIER();
			float m[C];
#pragma unroll
			for (int k = 0; k < C; k++) {
				m[k] = NEVER;
				for (int y = 0; y < Y; y++) m[k] = larger(m[k], next[k * stride + y]);
			}
			BARRIER();
#pragma unroll
			for (int k = 0; k < C; k++) {
				if (m[k] != NEVER) best[k] -= m[k];
				if (mine && t < length[k]) next[k * stride + j] = best[k];
			}
		}
#pragma unroll
		for (int k = 0; k < C; k++) {
			if (!mine || t >= length[k]) continue;
			int64_t where = (int64_t)(first[k] + t) * Y + j;
			if (EACH) pointers[where] = (uint16)from;
			else scores[where] = best[k];
		}
		BARRIER();
	}
	if (THREAD >= 32) return;
#pragma unroll
	for (int k = 0; k < C; k++) {
		if (length[k] == 0) continue;
		int end = end_of(shared + ((length[k] - 1) % 2 * C + k) * stride, Y, 1, 0);
		if (THREAD == 0) ends[BLOCK * C + k] = end;
	}
}

#define WIDE(name, C, EACH) \
	BOUNDED_KERNEL(name, 1024)(CHAINS_PARAMETERS, int32_t chains, float* scores, uint16* pointers, int32_t* ends) { \
		SHARED(float, shared); \
		wide<C, EACH>(CHAINS, chains, scores, pointers, ends, shared); \
	}

WIDE(viterbi_wide_1, 1, false)
EXPORT(viterbi_wide_1)
WIDE(viterbi_wide_4, 4, false)
EXPORT(viterbi_wide_4)
WIDE(viterbi_each_wide, 1, true)
EXPORT(viterbi_each_wide)

// finish writes the value of the path, which is complete, and the gold score.
DEVICE void finish(const Chain& c, int b, bool allowed, int32_t* path, double* value, double* golds) {
	WARP_BARRIER(); // other lanes wrote the path
	double s = warp_score(c, path + c.first, true);
	if (LANE == 0) value[b] = allowed ? s : (double)NEVER;
	warp_gold_score(c, b, golds);
}

// write_labels writes the labels that the lanes hold, starting at position t.
DEVICE void write_labels(const Chain& c, int t, int label, int32_t* path) {
	if (t + LANE < c.length) path[c.first + t + LANE] = label;
}

BOUNDED_KERNEL(viterbi_path, 256)
(CHAINS_PARAMETERS, int32_t chains, const float* RESTRICT scores, const int32_t* RESTRICT ends, int32_t* path, double* value,
	double* golds, int32_t in_shared) {
	SHARED(float, into); // [Y][Y|1] transitions by target, if they fit
	const int Y = labels, stride = Y | 1;
	if (in_shared) {
		for (int i = THREAD; i < Y * Y; i += THREADS) into[i % Y * stride + i / Y] = edge[i];
		BARRIER();
	}
	int b = BLOCK * (THREADS / 32) + WARP;
	if (b >= chains) return;
	Chain c = chain_of(CHAINS, b);
	int end = c.length > 0 ? ends[b] : 0, l = max(end, 0), held = 0;
	const float* row = scores + (int64_t)c.first * Y;
	float ahead[4]; // δ of the lane's label at t−1, t−2, ..., for Y ≤ 32
#pragma unroll
	for (int k = 0; k < 4; k++) {
		int t = c.length - 2 - k;
		ahead[k] = t >= 0 && LANE < Y ? row[(int64_t)t * Y + LANE] : NEVER;
	}
	for (int t = c.length - 1; t >= 0; t--) {
		if (t % 32 == LANE) held = l;
		if (t % 32 == 0) write_labels(c, t, held, path);
		if (t == 0 || end < 0) continue;
		float best = NEVER;
		int label = 0x7fffffff;
		if (Y <= 32) {
			if (LANE < Y) best = ahead[0] + (in_shared ? into[l * stride + LANE] : edge[LANE * Y + l]), label = LANE;
#pragma unroll
			for (int k = 0; k < 3; k++) ahead[k] = ahead[k + 1];
			ahead[3] = t >= 5 && LANE < Y ? row[(int64_t)(t - 5) * Y + LANE] : NEVER;
		} else {
#pragma unroll 4
			for (int y = LANE; y < Y; y += 32) {
				float v = row[(int64_t)(t - 1) * Y + y] + (in_shared ? into[l * stride + y] : edge[y * Y + l]);
				if (v > best) best = v, label = y;
			}
		}
		l = min(warp_first(best, label), Y - 1); // NaN may leave none
	}
	finish(c, b, end >= 0, path, value, golds);
}
EXPORT(viterbi_path)

BOUNDED_KERNEL(viterbi_pointed_path, 256)
(CHAINS_PARAMETERS, int32_t chains, const uint16* RESTRICT pointers, const int32_t* RESTRICT ends, int32_t* path, double* value,
	double* golds) {
	int b = BLOCK * (THREADS / 32) + WARP;
	if (b >= chains) return;
	Chain c = chain_of(CHAINS, b);
	int end = c.length > 0 ? ends[b] : 0, l = max(end, 0), held = 0;
	for (int t = c.length - 1; t >= 0; t--) {
		if (t % 32 == LANE) held = l;
		if (t % 32 == 0) write_labels(c, t, held, path);
		if (t > 0 && end >= 0) l = pointers[(int64_t)(c.first + t) * c.Y + l];
	}
	finish(c, b, end >= 0, path, value, golds);
}
EXPORT(viterbi_pointed_path)

// Self-attention of each chain over its own rows, in H heads of E channels, and its pullback and push-forward.
//   x [rows×3·H·E] float   queries, keys and values; dx its tangent           chain [rows] int, −1 in padding; offsets [B+1] int
//   out [rows×H·E]         P·v with P = softmax(q·kᵀ/√E), for each chain and head; n = rows·H
//   g [rows×H·E]           cotangent of out                                   stats [n×3] float: maximum of the scores of a row of P,
//                          1/Σ exp(score − maximum), ⟨P, G⟩ with G = g·vᵀ
// One warp for each row and head; in attention_pull_keys the row is a key, otherwise a query. A lane computes the scores of every 32nd row
// of the chain, then holds every 32nd channel of the result. The softmax is computed in one pass, relative to the maximum so far
// (Milakov and Gimelshein 2018), and P is never stored. Padding rows are zero.
// Bound: about 4·E products per pair of positions and head; the rows of a chain come from the cache. Reference: nets/graph/attention.go; checked by
// cuda/cudanets/attention_test.go.
#include "device.cuh"

const int held = 4; // channels that a lane holds at a time; heads of more than 128 channels take several turns

// Item is the row and head of a warp.
struct Item {
	int row, first, last; // the chain has rows first to last-1; none in padding
	int64_t at;           // offset of the head in a row of H·E channels
	int width;            // H·E
};

DEVICE Item item_of(int i, const int* chain, const int* offsets, int H, int E) {
	int t = i / H, b = chain[t];
	return {t, b < 0 ? 0 : offsets[b], b < 0 ? 0 : offsets[b + 1], (int64_t)(i - t * H) * E, H * E};
}

// part returns a head of the queries (0), keys (1) or values (2) of row t.
DEVICE const float* part(const float* x, const Item& a, int t, int which) { return x + (int64_t)t * 3 * a.width + which * a.width + a.at; }

// product reads four channels at a time if E allows it: arrays are aligned to 16 bytes.
DEVICE float product(const float* x, const float* y, int E) {
	float sum = 0.f;
	int e = 0;
	if (E % 4 == 0)
		for (; e < E; e += 4) {
			float4 a = *(const float4*)(x + e), b = *(const float4*)(y + e);
			sum = fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
		}
	for (; e < E; e++) sum = fma(x[e], y[e], sum);
	return sum;
}

#define ITEM_OR_RETURN(n) \
	int i = BLOCK * (THREADS / 32) + WARP; \
	if (i >= (n)) return; /* whole warps */ \
	Item a = item_of(i, chain, offsets, H, E)

// FOR_HELD runs the following statement for each channel e that the lane holds; c counts them.
#define FOR_HELD _Pragma("unroll") for (int c = 0; c < held; c++) if (int e = from + 32 * c + LANE; e < E)

KERNEL(attention)(const float* RESTRICT x, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E, float scale, int n, float* RESTRICT out) {
	ITEM_OR_RETURN(n);
	float* to = out + (int64_t)a.row * a.width + a.at;
	for (int from = 0; from < E; from += 32 * held) {
		float top = NEVER, sum = 0.f, total[held] = {};
		for (int lo = a.first; lo < a.last; lo += 32) {
			int j = lo + LANE;
			float s = j < a.last ? scale * product(part(x, a, a.row, 0), part(x, a, j, 1), E) : NEVER;
			float above = max(top, warp_max(s)), fade = exponential(top - above), p = exponential(s - above);
			sum = fma(sum, fade, warp_sum(p));
			FOR_HELD total[c] *= fade;
			for (int k = 0, end = min(32, a.last - lo); k < end; k++) {
				float pk = shuffle(p, k);
				const float* v = part(x, a, lo + k, 2);
				FOR_HELD total[c] = fma(pk, v[e], total[c]);
			}
			top = above;
		}
		FOR_HELD to[e] = a.first < a.last ? total[c] / sum : 0.f;
	}
}
EXPORT(attention)

KERNEL(attention_push)(const float* RESTRICT x, const float* RESTRICT dx, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E, float scale, int n,
	float* RESTRICT out) {
	ITEM_OR_RETURN(n);
	float* to = out + (int64_t)a.row * a.width + a.at;
	for (int from = 0; from < E; from += 32 * held) {
		float top = NEVER, sum = 0.f, mean = 0.f; // mean: Σ p·ṡ
		float values[held] = {}, moved[held] = {}; // Σ p·v and Σ p·(v̇ + ṡ·v)
		for (int lo = a.first; lo < a.last; lo += 32) {
			int j = lo + LANE;
			float s = NEVER, ds = 0.f;
			if (j < a.last) {
				s = scale * product(part(x, a, a.row, 0), part(x, a, j, 1), E);
				ds = scale * (product(part(dx, a, a.row, 0), part(x, a, j, 1), E) + product(part(x, a, a.row, 0), part(dx, a, j, 1), E));
			}
			float above = max(top, warp_max(s)), fade = exponential(top - above), p = exponential(s - above);
			sum = fma(sum, fade, warp_sum(p));
			mean = fma(mean, fade, warp_sum(p * ds));
			FOR_HELD values[c] *= fade, moved[c] *= fade;
			for (int k = 0, end = min(32, a.last - lo); k < end; k++) {
				float pk = shuffle(p, k), dk = shuffle(ds, k);
				const float *v = part(x, a, lo + k, 2), *dv = part(dx, a, lo + k, 2);
				FOR_HELD {
					values[c] = fma(pk, v[e], values[c]);
					moved[c] = fma(pk, fma(dk, v[e], dv[e]), moved[c]);
				}
			}
			top = above;
		}
		FOR_HELD to[e] = a.first < a.last ? (moved[c] - mean / sum * values[c]) / sum : 0.f;
	}
}
EXPORT(attention_push)

// out [rows×3·H·E]: gradient of the queries, and stats for attention_pull_keys.
KERNEL(attention_pull_queries)(const float* RESTRICT x, const float* RESTRICT g, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E, float scale,
	int n, float* RESTRICT stats, float* RESTRICT out) {
	ITEM_OR_RETURN(n);
	const float* own = g + (int64_t)a.row * a.width + a.at;
	float* to = out + (int64_t)a.row * 3 * a.width + a.at;
	for (int from = 0; from < E; from += 32 * held) {
		float top = NEVER, sum = 0.f, mean = 0.f; // mean: Σ p·G
		float keys[held] = {}, moved[held] = {}; // Σ p·k and Σ p·G·k
		for (int lo = a.first; lo < a.last; lo += 32) {
			int j = lo + LANE;
			float s = NEVER, G = 0.f;
			if (j < a.last) {
				s = scale * product(part(x, a, a.row, 0), part(x, a, j, 1), E);
				G = product(own, part(x, a, j, 2), E);
			}
			float above = max(top, warp_max(s)), fade = exponential(top - above), p = exponential(s - above);
			sum = fma(sum, fade, warp_sum(p));
			mean = fma(mean, fade, warp_sum(p * G));
			FOR_HELD keys[c] *= fade, moved[c] *= fade;
			for (int k = 0, end = min(32, a.last - lo); k < end; k++) {
				float pk = shuffle(p, k), pg = shuffle(p * G, k);
				const float* key = part(x, a, lo + k, 1);
				FOR_HELD {
					keys[c] = fma(pk, key[e], keys[c]);
					moved[c] = fma(pg, key[e], moved[c]);
				}
			}
			top = above;
		}
		mean = a.first < a.last ? mean / sum : 0.f;
		FOR_HELD to[e] = a.first < a.last ? scale * (moved[c] - mean * keys[c]) / sum : 0.f;
		if (from == 0 && LANE == 0) {
			float* mine = stats + (int64_t)i * 3;
			mine[0] = top, mine[1] = 1.f / sum, mine[2] = mean;
		}
	}
}
EXPORT(attention_pull_queries)

// out [rows×3·H·E]: gradient of the keys and values.
KERNEL(attention_pull_keys)(const float* RESTRICT x, const float* RESTRICT g, const float* RESTRICT stats, const int* RESTRICT chain, const int* RESTRICT offsets,
	int H, int E, float scale, int n, float* RESTRICT out) {
	ITEM_OR_RETURN(n);
	int head = i - a.row * H;
	float* to = out + (int64_t)a.row * 3 * a.width + a.width + a.at;
	for (int from = 0; from < E; from += 32 * held) {
		float keys[held] = {}, values[held] = {};
		for (int lo = a.first; lo < a.last; lo += 32) {
			int t = lo + LANE;
			float p = 0.f, d = 0.f;
			if (t < a.last) {
				const float* of = stats + ((int64_t)t * H + head) * 3;
				p = exponential(scale * product(part(x, a, t, 0), part(x, a, a.row, 1), E) - of[0]) * of[1];
				d = scale * p * (product(g + (int64_t)t * a.width + a.at, part(x, a, a.row, 2), E) - of[2]);
			}
			for (int k = 0, end = min(32, a.last - lo); k < end; k++) {
				float pk = shuffle(p, k), dk = shuffle(d, k);
				const float *q = part(x, a, lo + k, 0), *from_out = g + (int64_t)(lo + k) * a.width + a.at;
				FOR_HELD {
					keys[c] = fma(dk, q[e], keys[c]);
					values[c] = fma(pk, from_out[e], values[c]);
				}
			}
		}
		FOR_HELD to[e] = keys[c], to[a.width + e] = values[c];
	}
}
EXPORT(attention_pull_keys)

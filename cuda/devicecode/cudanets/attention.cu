// Self-attention of each chain over its own rows, in H heads of E channels, and its pullback and push-forward.
//   x [rows×3·H·E] float   queries, keys and values; dx its tangent           chain [rows] int, −1 in padding; offsets [B+1] int
//   out [rows×H·E]         P·v with P = softmax(q·kᵀ/√E), for each chain and head; n = rows·H
//   g [rows×H·E]           cotangent of out                                   stats [n×3] float: maximum of the scores of a row of P,
//                          1/Σ exp(score − maximum), ⟨P, G⟩ with G = g·vᵀ
// A block of WARPS warps handles WARPS·SHARE rows of one head, BLOCK_Y: queries, in attention_pull_keys keys. A warp has SHARE rows. The other rows of
// their chain come in tiles of 32, which the block copies to shared memory (tiled = 1; otherwise a warp reads them from the arrays). A lane computes
// the scores of one row of the tile with the warp's rows, then holds every 32nd channel of the results. The softmax is computed in one pass, relative
// to the maximum so far (Milakov and Gimelshein 2018), and P is never stored. Padding rows are zero. A row's result has the same bits wherever
// its chain lies in the batch, tiled or not.
// Bound: about 4·E products per pair of positions and head, and the reads of shared memory: 3·E/2 + 32 of 128 bytes for 32 pairs.
// Reference: nets/graph/attention.go; checked by cuda/cudanets/attention_test.go.
#include "device.cuh"

#define WARPS 8
#define SHARE 2 /* more take too many registers */
const int held = 4; // channels that a lane holds at a time; heads of more than 128 channels take several turns

// Segment is the part of a block's rows that belongs to one chain: rows row to stop-1. The chain has rows first to last-1; none in padding.
struct Segment { int row, stop, first, last; };

DEVICE Segment segment_at(int row, int end, const int* chain, const int* offsets) {
	int b = chain[row];
	if (b < 0) return {row, row + 1, 0, 0};
	return {row, min(end, offsets[b + 1]), offsets[b], offsets[b + 1]};
}

// FOR_SEGMENTS runs the following statement for each segment of the block's rows, of which there are n in all. All threads run it together.
#define FOR_SEGMENTS(a, n) \
	_Pragma("unroll 1") for (int row = BLOCK * WARPS * SHARE, end = min(n, row + WARPS * SHARE); row < end;) \
		if (Segment a = segment_at(row, end, chain, offsets); row = a.stop, true)

// FOR_TILES runs the following statement for the tiles of a segment's chain, of rows lo to lo+size-1.
#define FOR_TILES(a) _Pragma("unroll 1") for (int lo = a.first, size; size = min(32, a.last - lo), size > 0; lo += 32)

// FOR_SHARE runs the following statement for each of the warp's rows, FOR_HELD for each channel e that the lane holds; c counts them.
#define FOR_SHARE _Pragma("unroll") for (int r = 0; r < SHARE; r++)
#define FOR_HELD _Pragma("unroll") for (int c = 0; c < held; c++) if (int e = from + 32 * c + LANE; e < E)

// own_row returns the warp's row r, and is_own whether it is in the segment; otherwise own_row returns another of the segment's.
DEVICE int own_row(const Segment& a, int r) { return max(a.row, min(a.stop - 1, (BLOCK * WARPS + WARP) * SHARE + r)); }
DEVICE bool is_own(const Segment& a, int r) { return own_row(a, r) == (BLOCK * WARPS + WARP) * SHARE + r; }

// Rows are rows of E numbers: of an array, or in shared memory.
struct Rows {
	const float* at;
	int64_t stride;
};

// pitch is the distance of rows in shared memory for which lanes that read 16 bytes or 4 of a row each do not meet in a bank.
DEVICE int pitch(int E) { return E % 4 != 0 ? E | 1 : E % 8 == 4 ? E : E + 4; }

// tile_of returns the size rows of an array from lo on, as a copy in shared memory if it is tiled. A barrier must follow.
DEVICE Rows tile_of(Rows array, int lo, int size, int E, int tiled, float* shared) {
	const float* from = array.at + lo * array.stride;
	if (!tiled) return {from, array.stride};
	const int S = pitch(E);
#pragma unroll 1
	for (int k = WARP; k < size; k += WARPS) {
		if (E % 4 == 0)
#pragma unroll 1
			for (int e = 4 * LANE; e < E; e += 128) *(float4*)(shared + k * S + e) = *(const float4*)(from + k * array.stride + e);
		else
#pragma unroll 1
			for (int e = LANE; e < E; e += 32) shared[k * S + e] = from[k * array.stride + e];
	}
	return {shared, S};
}

// row_of is row k of rows; lanes beyond the last of a tile get the last.
DEVICE const float* row_of(Rows x, int k) { return x.at + k * x.stride; }

// head_of returns a head of the queries (0), keys (1) or values (2) in x.
DEVICE Rows head_of(const float* x, int which, int H, int E) { return {x + ((int64_t)which * H + BLOCK_Y) * E, (int64_t)3 * H * E}; }

// products adds to to[r] the product of y with row[r]. It reads four channels at a time if E allows it: arrays are aligned to 16 bytes.
DEVICE void products(const float* const (&row)[SHARE], const float* y, int E, float (&to)[SHARE]) {
	FOR_SHARE to[r] = 0.f;
	int e = 0;
	if (E % 4 == 0)
#pragma unroll 1
		for (; e < E; e += 4) {
			float4 b = *(const float4*)(y + e);
			FOR_SHARE {
				float4 a = *(const float4*)(row[r] + e);
				to[r] = fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, to[r]))));
			}
		}
#pragma unroll 1
	for (; e < E; e++) FOR_SHARE to[r] = fma(row[r][e], y[e], to[r]);
}

// Weights is what the lanes of a warp know about their rows of a tile and the warp's rows, for all lanes: two numbers for each pair.
struct __attribute__((aligned(8))) Pair { float of[SHARE]; };
struct Weights { Pair one[32], two[32]; };

// share writes the lane's part, and makes the others' visible.
DEVICE void share(Weights* to, const float (&one)[SHARE], const float (&two)[SHARE]) {
	WARP_BARRIER(); // all lanes have read the last ones
	to->one[LANE] = Pair{{one[0], one[1]}};
	to->two[LANE] = Pair{{two[0], two[1]}};
	WARP_BARRIER();
}

// Peak is the softmax so far of each of the warp's rows: the largest score, and Σ exp(score − top) and Σ exp(score − top)·x.
struct Peak {
	float top[SHARE], sum[SHARE], mean[SHARE];
};

DEVICE void begin(Peak& m) { FOR_SHARE m.top[r] = NEVER, m.sum[r] = m.mean[r] = 0.f; }

// advance adds the scores s of a tile. It sets s to exp(score − top), and fade to the factor of what was summed before.
DEVICE void advance(Peak& m, float (&s)[SHARE], const float (&x)[SHARE], float (&fade)[SHARE]) {
	FOR_SHARE {
		float above = max(m.top[r], warp_max(s[r]));
		fade[r] = exponential(m.top[r] - above);
		s[r] = exponential(s[r] - above);
		m.sum[r] = fma(m.sum[r], fade[r], warp_sum(s[r]));
		m.mean[r] = fma(m.mean[r], fade[r], warp_sum(s[r] * x[r]));
		m.top[r] = above;
	}
}

// Launches use fewer than 512 threads; the bound limits the kernels to 128 registers.
BOUNDED_KERNEL(attention, 512)(const float* RESTRICT x, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E, float scale, int n, int tiled,
	float* RESTRICT out) {
	SHARED(Weights, weights);
	float* tiles = (float*)(weights + WARPS);
	const Rows queries = head_of(x, 0, H, E), keys = head_of(x, 1, H, E), values = head_of(x, 2, H, E), to = {out + (int64_t)BLOCK_Y * E, (int64_t)H * E};
#pragma unroll 1
	for (int from = 0; from < E; from += 32 * held)
		FOR_SEGMENTS(a, n) {
			const float* query[SHARE];
			float total[SHARE][held] = {}, s[SHARE], fade[SHARE];
			Peak m;
			begin(m);
			FOR_SHARE query[r] = row_of(queries, own_row(a, r));
			FOR_TILES(a) {
				BARRIER();
				Rows k = tile_of(keys, lo, size, E, tiled, tiles), v = tile_of(values, lo, size, E, tiled, tiles + 32 * pitch(E));
				BARRIER();
				products(query, row_of(k, min(LANE, size - 1)), E, s);
				FOR_SHARE s[r] = LANE < size ? scale * s[r] : NEVER;
				advance(m, s, s, fade);
				share(weights + WARP, s, s);
				FOR_SHARE FOR_HELD total[r][c] *= fade[r];
#pragma unroll 1
				for (int j = 0; j < size; j++) {
					const Pair p = weights[WARP].one[j];
					const float* row = row_of(v, j);
					FOR_HELD {
						float y = row[e];
						FOR_SHARE total[r][c] = fma(p.of[r], y, total[r][c]);
					}
				}
			}
			FOR_SHARE if (is_own(a, r)) FOR_HELD((float*)row_of(to, own_row(a, r)))[e] = a.first < a.last ? total[r][c] / m.sum[r] : 0.f;
		}
}
EXPORT(attention)

BOUNDED_KERNEL(attention_push, 512)(const float* RESTRICT x, const float* RESTRICT dx, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E,
	float scale, int n, int tiled, float* RESTRICT out) {
	SHARED(Weights, weights);
	float* tiles = (float*)(weights + WARPS);
	const int next = 32 * pitch(E);
	const Rows queries = head_of(x, 0, H, E), to = {out + (int64_t)BLOCK_Y * E, (int64_t)H * E};
#pragma unroll 1
	for (int from = 0; from < E; from += 32 * held)
		FOR_SEGMENTS(a, n) {
			const float *query[SHARE], *moving[SHARE];
			float values[SHARE][held] = {}, moved[SHARE][held] = {}; // Σ p·v and Σ p·(v̇ + ṡ·v)
			float s[SHARE], ds[SHARE], other[SHARE], fade[SHARE];
			Peak m; // mean: Σ p·ṡ
			begin(m);
			FOR_SHARE query[r] = row_of(queries, own_row(a, r)), moving[r] = row_of(head_of(dx, 0, H, E), own_row(a, r));
			FOR_TILES(a) {
				BARRIER();
				Rows k = tile_of(head_of(x, 1, H, E), lo, size, E, tiled, tiles), v = tile_of(head_of(x, 2, H, E), lo, size, E, tiled, tiles + next),
					 dk = tile_of(head_of(dx, 1, H, E), lo, size, E, tiled, tiles + 2 * next),
					 dv = tile_of(head_of(dx, 2, H, E), lo, size, E, tiled, tiles + 3 * next);
				BARRIER();
				const int mine = min(LANE, size - 1);
				products(query, row_of(k, mine), E, s);
				products(moving, row_of(k, mine), E, ds);
				products(query, row_of(dk, mine), E, other);
				FOR_SHARE {
					s[r] = LANE < size ? scale * s[r] : NEVER;
					ds[r] = LANE < size ? scale * (ds[r] + other[r]) : 0.f;
				}
				advance(m, s, ds, fade);
				share(weights + WARP, s, ds);
				FOR_SHARE FOR_HELD values[r][c] *= fade[r], moved[r][c] *= fade[r];
#pragma unroll 1
				for (int j = 0; j < size; j++) {
					const Pair p = weights[WARP].one[j], d = weights[WARP].two[j];
					const float *row = row_of(v, j), *drow = row_of(dv, j);
					FOR_HELD {
						float y = row[e], dy = drow[e];
						FOR_SHARE {
							values[r][c] = fma(p.of[r], y, values[r][c]);
							moved[r][c] = fma(p.of[r], fma(d.of[r], y, dy), moved[r][c]);
						}
					}
				}
			}
			FOR_SHARE if (is_own(a, r)) FOR_HELD
				((float*)row_of(to, own_row(a, r)))[e] = a.first < a.last ? (moved[r][c] - m.mean[r] / m.sum[r] * values[r][c]) / m.sum[r] : 0.f;
		}
}
EXPORT(attention_push)

// out [rows×3·H·E]: gradient of the queries, and stats for attention_pull_keys.
BOUNDED_KERNEL(attention_pull_queries, 512)(const float* RESTRICT x, const float* RESTRICT g, const int* RESTRICT chain, const int* RESTRICT offsets, int H, int E,
	float scale, int n, int tiled, float* RESTRICT stats, float* RESTRICT out) {
	SHARED(Weights, weights);
	float* tiles = (float*)(weights + WARPS);
	const Rows queries = head_of(x, 0, H, E), cotangents = {g + (int64_t)BLOCK_Y * E, (int64_t)H * E}, to = head_of(out, 0, H, E);
#pragma unroll 1
	for (int from = 0; from < E; from += 32 * held)
		FOR_SEGMENTS(a, n) {
			const float *query[SHARE], *own[SHARE];
			float keys[SHARE][held] = {}, moved[SHARE][held] = {}; // Σ p·k and Σ p·G·k
			float s[SHARE], G[SHARE], fade[SHARE];
			Peak m; // mean: Σ p·G
			begin(m);
			FOR_SHARE query[r] = row_of(queries, own_row(a, r)), own[r] = row_of(cotangents, own_row(a, r));
			FOR_TILES(a) {
				BARRIER();
				Rows k = tile_of(head_of(x, 1, H, E), lo, size, E, tiled, tiles),
					 v = tile_of(head_of(x, 2, H, E), lo, size, E, tiled, tiles + 32 * pitch(E));
				BARRIER();
				const int mine = min(LANE, size - 1);
				products(query, row_of(k, mine), E, s);
				products(own, row_of(v, mine), E, G);
				FOR_SHARE {
					s[r] = LANE < size ? scale * s[r] : NEVER;
					if (LANE >= size) G[r] = 0.f;
				}
				advance(m, s, G, fade);
				FOR_SHARE G[r] *= s[r];
				share(weights + WARP, s, G);
				FOR_SHARE FOR_HELD keys[r][c] *= fade[r], moved[r][c] *= fade[r];
#pragma unroll 1
				for (int j = 0; j < size; j++) {
					const Pair p = weights[WARP].one[j], pg = weights[WARP].two[j];
					const float* key = row_of(k, j);
					FOR_HELD {
						float y = key[e];
						FOR_SHARE {
							keys[r][c] = fma(p.of[r], y, keys[r][c]);
							moved[r][c] = fma(pg.of[r], y, moved[r][c]);
						}
					}
				}
			}
			FOR_SHARE {
				if (!is_own(a, r)) continue;
				float mean = a.first < a.last ? m.mean[r] / m.sum[r] : 0.f;
				FOR_HELD((float*)row_of(to, own_row(a, r)))[e] = a.first < a.last ? scale * (moved[r][c] - mean * keys[r][c]) / m.sum[r] : 0.f;
				if (from == 0 && LANE == 0) {
					float* mine = stats + ((int64_t)own_row(a, r) * H + BLOCK_Y) * 3;
					mine[0] = m.top[r], mine[1] = 1.f / m.sum[r], mine[2] = mean;
				}
			}
		}
}
EXPORT(attention_pull_queries)

// out [rows×3·H·E]: gradient of the keys and values.
BOUNDED_KERNEL(attention_pull_keys, 512)(const float* RESTRICT x, const float* RESTRICT g, const float* RESTRICT stats, const int* RESTRICT chain,
	const int* RESTRICT offsets, int H, int E, float scale, int n, int tiled, float* RESTRICT out) {
	SHARED(Weights, weights);
	float* tiles = (float*)(weights + WARPS);
	const Rows cotangents = {g + (int64_t)BLOCK_Y * E, (int64_t)H * E};
#pragma unroll 1
	for (int from = 0; from < E; from += 32 * held)
		FOR_SEGMENTS(a, n) {
			const float *key[SHARE], *value[SHARE];
			float keys[SHARE][held] = {}, values[SHARE][held] = {}, p[SHARE], d[SHARE];
			FOR_SHARE key[r] = row_of(head_of(x, 1, H, E), own_row(a, r)), value[r] = row_of(head_of(x, 2, H, E), own_row(a, r));
			FOR_TILES(a) {
				BARRIER();
				Rows q = tile_of(head_of(x, 0, H, E), lo, size, E, tiled, tiles), y = tile_of(cotangents, lo, size, E, tiled, tiles + 32 * pitch(E));
				BARRIER();
				const int mine = min(LANE, size - 1);
				const float* of = stats + ((int64_t)(lo + mine) * H + BLOCK_Y) * 3;
				products(key, row_of(q, mine), E, p);
				products(value, row_of(y, mine), E, d);
				FOR_SHARE {
					p[r] = LANE < size ? exponential(scale * p[r] - of[0]) * of[1] : 0.f;
					d[r] = LANE < size ? scale * p[r] * (d[r] - of[2]) : 0.f;
				}
				share(weights + WARP, p, d);
#pragma unroll 1
				for (int j = 0; j < size; j++) {
					const Pair pj = weights[WARP].one[j], dj = weights[WARP].two[j];
					const float *query = row_of(q, j), *out_of = row_of(y, j);
					FOR_HELD {
						float qe = query[e], ye = out_of[e];
						FOR_SHARE {
							keys[r][c] = fma(dj.of[r], qe, keys[r][c]);
							values[r][c] = fma(pj.of[r], ye, values[r][c]);
						}
					}
				}
			}
			FOR_SHARE {
				if (!is_own(a, r)) continue;
				float *to_key = (float*)row_of(head_of(out, 1, H, E), own_row(a, r)), *to_value = (float*)row_of(head_of(out, 2, H, E), own_row(a, r));
				FOR_HELD to_key[e] = keys[r][c], to_value[e] = values[r][c];
			}
		}
}
EXPORT(attention_pull_keys)

// Lists of entries by key. An entry is a row with a key and a value; rows are positions of a batch, and keys the attributes that they have,
// which are few of all attributes. Lists are built by counting, with integer atomics only, so the order within a list varies from run to
// run. Sums over lists are therefore computed exactly, as integers, and rounded once: they do not depend on that order.
//   count [keys] int                     how many entries have the key; zero before the first kernel and after the last
//   header [3] int                       number of keys that occur, of entries, and of long lists; zero before
//   touched, lo, length [slots] int      the keys that occur, with the start and length of their lists
//   begin [keys] int                     start of the list of a key that occurs
//   longest [slots] int                  slots of lists with more than LONG entries
//   row [entries] int, value [entries] float or null   the lists
// Kernels in order: inverse_count, inverse_begin, inverse_place, inverse_sum. Checked by cuda/cudanets/inverse_test.go.
#include "sparse.cuh"

// append gives each lane with asks set a slot of its own in a list with a counter. All lanes of the warp call it.
DEVICE int append(bool asks, int* counter) {
	uint32_t mask = ballot(asks);
	int base = 0;
	if (mask && LANE == 0) base = atomic_add(counter, __builtin_popcount(mask));
	return shuffle(base, 0) + __builtin_popcount(mask & ((1u << LANE) - 1));
}

// note counts a key (−1: none) and lists it the first time. All lanes of the warp call it.
DEVICE void note(int key, int* count, int* header, int* touched) {
	bool first = key >= 0 && atomic_add(count + key, 1) == 0;
	int slot = append(first, header);
	if (first) touched[slot] = key;
}

// place writes an entry to its key's list.
DEVICE void place(int key, int r, float x, int* count, const int* begin, int* row, float* value) {
	int at = begin[key] + atomic_add(count + key, -1) - 1;
	row[at] = r;
	if (value) value[at] = x;
}

// The entries of row t are those of position source[t] (−1: none) of sparse inputs (offsets, index, x or null); none if row t of
// v [N][W] is zero. live [N] int marks the other rows. One warp per row.
KERNEL(inverse_count)(const int* RESTRICT source, const int64_t* RESTRICT offsets, const int* RESTRICT index, const float* RESTRICT v,
	int* RESTRICT live, int* count, int* header, int* RESTRICT touched, int N, int W) {
	int t = BLOCK * (THREADS / 32) + WARP;
	if (t >= N) return;
	int p = source[t];
	bool any = warp_nonzero(v + (int64_t)t * W, p < 0 ? 0 : W);
	if (LANE == 0) live[t] = any;
	if (!any) return;
	for (int64_t at = offsets[p], end = offsets[p + 1]; at < end; at += 32)
		note(at + LANE < end ? index[at + LANE] : -1, count, header, touched);
}
EXPORT(inverse_count)

KERNEL(inverse_place)(const int* RESTRICT source, const int64_t* RESTRICT offsets, const int* RESTRICT index, const float* RESTRICT x,
	const int* RESTRICT live, int* count, const int* RESTRICT begin, int* RESTRICT row, float* RESTRICT value, int N) {
	int t = BLOCK * (THREADS / 32) + WARP;
	if (t >= N || !live[t]) return;
	int p = source[t];
	for (int64_t at = offsets[p] + LANE, end = offsets[p + 1]; at < end; at += 32)
		place(index[at], t, x ? x[at] : 1.f, count, begin, row, value);
}
EXPORT(inverse_place)

#define LONG 64

// One thread per slot, in a loop.
KERNEL(inverse_begin)(const int* RESTRICT count, int* header, const int* RESTRICT touched, int* RESTRICT lo, int* RESTRICT length,
	int* RESTRICT begin, int* RESTRICT longest) {
	int slots = header[0];
	for (int first = BLOCK * THREADS + WARP * 32; first < slots; first += BLOCKS * THREADS) {
		int slot = first + LANE;
		int key = slot < slots ? touched[slot] : -1;
		int n = key < 0 ? 0 : count[key], upto = n;
		for (int d = 1; d < 32; d *= 2) {
			int before = shuffle(upto, (LANE - d) & 31);
			if (LANE >= d) upto += before;
		}
		int base = 0;
		if (LANE == 31) base = atomic_add(header + 1, upto);
		base = shuffle(base, 31) + upto - n;
		int at = append(n > LONG, header + 2);
		if (key < 0) continue;
		lo[slot] = begin[key] = base;
		length[slot] = n;
		if (n > LONG) longest[at] = slot;
	}
}
EXPORT(inverse_begin)

// integer_scale returns the scale that converts numbers of magnitude at most `most` (bits of a float ≥ 0) to integers, so that n of them sum to less than 2^62.
DEVICE double integer_scale(uint32_t most, int n) {
	int exponent = (int)(most >> 23) - 127, room = 60;
	for (; n > 0; n >>= 1) room--;
	return as_double((uint64_t)(1023 + room - exponent) << 52);
}

#define NO_NUMBER 0x7f800000u /* the bits of ∞; those of a NaN, without sign, are larger */

DEVICE uint32_t magnitude(float x) { return as_bits(x) & 0x7fffffffu; }

// to [keys][W] += Σ x·from[r] over each key's list; from is [rows][W]. A group of lanes (4, 8, 16 or 32, at least W or 32) handles one list and
// 32 columns, BLOCK_Y of them; a block handles a long list. Shared memory: 8 bytes per thread.
// Bound: reads W·4 bytes per entry; lists of more than two entries are read twice, the second time mostly from the cache.
BOUNDED_KERNEL(inverse_sum, 512)(const int* RESTRICT header, const int* RESTRICT touched, const int* RESTRICT lo, const int* RESTRICT length,
	const int* RESTRICT longest, const int* RESTRICT row, const float* RESTRICT value, const float* RESTRICT from, float* RESTRICT to,
	int W, int group) {
	SHARED(int64_t, shared);
	int column = BLOCK_Y * 32 + THREAD % group, lane = THREAD / group, lanes = THREADS / group, slots = header[0];
	bool in = column < W;
	for (int k = BLOCK; k < header[2]; k += BLOCKS) { // the same for all threads of the block
		int slot = longest[k], n = length[slot];
		const int* r = row + lo[slot];
		const float* x = value ? value + lo[slot] : value;
		uint32_t most = 0;
#pragma unroll 4
		for (int j = lane; in && j < n; j += lanes) {
			uint32_t m = magnitude((x ? x[j] : 1.f) * from[(int64_t)r[j] * W + column]);
			most = m > most ? m : most;
		}
		shared[THREAD] = most;
		BARRIER();
		for (int l = 0; l < lanes; l++) {
			uint32_t m = (uint32_t)shared[l * group + THREAD % group];
			most = m > most ? m : most;
		}
		BARRIER();
		double scale = integer_scale(most, n);
		int64_t sum = 0;
#pragma unroll 4
		for (int j = lane; in && most < NO_NUMBER && j < n; j += lanes)
			sum += (int64_t)((double)((x ? x[j] : 1.f) * from[(int64_t)r[j] * W + column]) * scale);
		shared[THREAD] = sum;
		BARRIER();
		if (lane == 0 && in) {
			for (int l = 1; l < lanes; l++) sum += shared[l * group + THREAD];
			to[(int64_t)touched[slot] * W + column] += most < NO_NUMBER ? (float)((double)sum / scale) : as_float(0x7fc00000u);
		}
		BARRIER();
	}
	if (!in) return;
	for (int slot = BLOCK * lanes + lane; slot < slots; slot += BLOCKS * lanes) {
		int n = length[slot], at = lo[slot];
		if (n > LONG) continue;
		float* out = to + (int64_t)touched[slot] * W + column;
		float first = (value ? value[at] : 1.f) * from[(int64_t)row[at] * W + column];
		if (n == 1) {
			*out += first;
			continue;
		}
		float second = (value ? value[at + 1] : 1.f) * from[(int64_t)row[at + 1] * W + column];
		if (n == 2) {
			*out += first + second;
			continue;
		}
		uint32_t most = magnitude(first) > magnitude(second) ? magnitude(first) : magnitude(second);
#pragma unroll 4
		for (int j = 2; j < n; j++) {
			uint32_t m = magnitude((value ? value[at + j] : 1.f) * from[(int64_t)row[at + j] * W + column]);
			most = m > most ? m : most;
		}
		if (most >= NO_NUMBER) {
			*out = as_float(0x7fc00000u);
			continue;
		}
		double scale = integer_scale(most, n);
		int64_t sum = (int64_t)((double)first * scale) + (int64_t)((double)second * scale);
#pragma unroll 4
		for (int j = 2; j < n; j++)
			sum += (int64_t)((double)((value ? value[at + j] : 1.f) * from[(int64_t)row[at + j] * W + column]) * scale);
		*out += (float)((double)sum / scale);
	}
}
EXPORT(inverse_sum)

// Parts of the tiled matrix products: copies from global to shared memory that overlap with arithmetic, the tiles of a factor, and
// one tensor core operation.
#pragma once
#include "device.cuh"

#ifdef EMULATED
#define METHOD inline
#else
#define METHOD __attribute__((device, always_inline))
#endif

// Copies holds a thread's pending copies to shared memory. copy<BYTES> copies 4 or 16 bytes (both addresses aligned to that); it reads
// the first `valid` bytes and fills the rest with 0. After wait(), the thread sees its own copies; after a barrier, those of others. The
// emulator copies in wait(), so that a missing wait() shows.
struct Copies {
#ifdef EMULATED
	struct { char* to; const char* from; int bytes, valid; } asked[64];
	int n = 0;
	template <int BYTES, int OFFSET> void copy(float* to, const float* from, int valid) {
		asked[n++] = {(char*)(to + OFFSET), (const char*)from, BYTES, valid};
	}
	void wait() {
		for (int i = 0; i < n; i++)
			for (int b = 0; b < asked[i].bytes; b++) asked[i].to[b] = b < asked[i].valid ? asked[i].from[b] : 0;
		n = 0;
	}
#else
	template <int BYTES, int OFFSET> METHOD void copy(float* to, const float* from, int valid) {
		const uint32_t at = (uint32_t)(uint64_t)(__attribute__((address_space(3))) float*)to;
		if (BYTES == 16)
			asm volatile("cp.async.cg.shared.global [%0+%3], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(valid), "n"(OFFSET * 4) : "memory");
		else
			asm volatile("cp.async.ca.shared.global [%0+%3], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(valid), "n"(OFFSET * 4) : "memory");
	}
	METHOD void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif
};

// Layout of a factor in memory: entry i of its side (row of op(A), column of op(B)) at depth l is at [i·ld + l] or at [l·ld + i].
enum { ALONG_DEPTH, ALONG_SIDE, ALONG_SIDE_BY_4 /* with everything aligned to 16 bytes */ };

constexpr int DEPTH = 16; // of a tile: depth that a block multiplies between two barriers

// first_side and first_depth return the place in a tile of a thread's first piece. ALONG_DEPTH, a warp copies 4 entries × 8 depths at a time: whole memory
// sectors, and no bank conflicts if the tile's stride is 4 mod 32.
template <int SIDE>
DEVICE int first_side(int layout) {
	return layout == ALONG_DEPTH ? (WARP >> 1) * 4 + (LANE >> 3) : layout == ALONG_SIDE ? THREAD % SIDE : THREAD % (SIDE / 4) * 4;
}
template <int SIDE>
DEVICE int first_depth(int layout) {
	return layout == ALONG_DEPTH ? (WARP & 1) * 8 + (LANE & 7) : layout == ALONG_SIDE ? THREAD / SIDE : THREAD / (SIDE / 4);
}

// Factor iterates over the tiles of A or B: tile[l·STRIDE + i] is entry (first + i, depth + l) of the factor, and 0 outside of it.
// COUNT threads share the work. A thread's pieces of a tile are equally spaced, so that it keeps a single address.
template <int SIDE, int STRIDE, int COUNT>
struct Factor {
	const float* at; // this thread's first entry in the next tile
	int64_t step;    // distance to its next entry
	int layout, place; // place: index of the first entry in a tile
	int sides, depths; // entries left from there, in both directions

	METHOD void start(const float* x, int along, int64_t ld, int first, int side, int from, int to) {
		layout = along;
		const int i = first_side<SIDE>(layout), l = first_depth<SIDE>(layout);
		place = l * STRIDE + i, sides = side - first - i, depths = to - from - l;
		if (layout == ALONG_DEPTH)
			at = x + (first + i) * ld + from + l, step = COUNT / DEPTH * ld;
		else
			at = x + (from + l) * ld + first + i, step = (layout == ALONG_SIDE ? COUNT / SIDE : COUNT / (SIDE / 4)) * ld;
	}

	// load starts copying the next tile.
	METHOD void load(Copies& copies, float* tile) {
		float* const to = tile + place;
		if (layout == ALONG_DEPTH) {
			constexpr int APART = COUNT / DEPTH;
			const float* x = at;
			pieces<4, SIDE * DEPTH / COUNT, APART>(copies, to, x, depths > 0 ? (sides + APART - 1) / APART : 0, 4);
			at += DEPTH;
		} else if (layout == ALONG_SIDE) {
			constexpr int APART = COUNT / SIDE;
			pieces<4, DEPTH / APART, APART * STRIDE>(copies, to, at, sides > 0 ? (depths + APART - 1) / APART : 0, 4);
		} else {
			constexpr int APART = COUNT / (SIDE / 4);
			pieces<16, DEPTH / APART, APART * STRIDE>(copies, to, at, (depths + APART - 1) / APART, max(0, min(4, sides)) * 4);
		}
		depths -= DEPTH;
	}

	// pieces starts PARTS copies and moves x behind them. Only the first `inside` pieces exist.
	template <int BYTES, int PARTS, int APART>
	METHOD void pieces(Copies& copies, float* to, const float*& x, int inside, int valid) {
		piece<BYTES, PARTS, APART, 0>(copies, to, x, inside, valid);
	}
	template <int BYTES, int PARTS, int APART, int PART>
	METHOD void piece(Copies& copies, float* to, const float*& x, int inside, int valid) {
		if constexpr (PART < PARTS) {
			copies.copy<BYTES, PART * APART>(to, x, PART < inside ? valid : 0);
			x += step;
			piece<BYTES, PARTS, APART, PART + 1>(copies, to, x, inside, valid);
		}
	}
};

// GatheredFactor is a Factor whose rows in memory are rows of a larger matrix x: entry i at depth l is at x[rows[i]·ld + l] or x[rows[l]·ld + i].
// A row of −1 holds zeros. The tiles are those of a Factor of the gathered rows.
template <int SIDE, int STRIDE, int COUNT>
struct GatheredFactor {
	const float* at; // this thread's column in row 0
	const int* row;  // its first row in the next tile
	int64_t ld;
	int layout, place, sides, depths; // as in Factor

	METHOD void start(const float* x, const int* rows, int along, int64_t between, int first, int side, int from, int to) {
		layout = along, ld = between;
		const int i = first_side<SIDE>(layout), l = first_depth<SIDE>(layout);
		place = l * STRIDE + i, sides = side - first - i, depths = to - from - l;
		if (layout == ALONG_DEPTH)
			at = x + from + l, row = rows + first + i;
		else
			at = x + first + i, row = rows + from + l;
	}

	// load starts copying the next tile.
	METHOD void load(Copies& copies, float* tile) {
		float* const to = tile + place;
		if (layout == ALONG_DEPTH) {
			constexpr int APART = COUNT / DEPTH;
			pieces<4, SIDE * DEPTH / COUNT, APART, APART>(copies, to, depths > 0 ? sides : 0, 4);
			at += DEPTH;
		} else {
			if (layout == ALONG_SIDE) {
				constexpr int APART = COUNT / SIDE;
				pieces<4, DEPTH / APART, APART, APART * STRIDE>(copies, to, sides > 0 ? depths : 0, 4);
			} else {
				constexpr int APART = COUNT / (SIDE / 4);
				pieces<16, DEPTH / APART, APART, APART * STRIDE>(copies, to, depths, max(0, min(4, sides)) * 4);
			}
			row += DEPTH;
		}
		depths -= DEPTH;
	}

	// pieces starts PARTS copies from rows that lie BETWEEN rows apart. Only the first `inside` rows exist.
	template <int BYTES, int PARTS, int BETWEEN, int APART, int PART = 0>
	METHOD void pieces(Copies& copies, float* to, int inside, int valid) {
		if constexpr (PART < PARTS) {
			const int from = PART * BETWEEN < inside ? row[PART * BETWEEN] : -1;
			copies.copy<BYTES, PART * APART>(to, from < 0 ? at : at + from * ld, from < 0 ? 0 : valid);
			pieces<BYTES, PARTS, BETWEEN, APART, PART + 1>(copies, to, inside, valid);
		}
	}
};

// tf32 rounds to the 11 significant bits that tensor cores read; ties round away from 0.
DEVICE uint32_t tf32(float x) {
#ifdef EMULATED
	return x != x ? as_bits(x) : (as_bits(x) + 0x1000u) & 0xffffe000u;
#else
	uint32_t y;
	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
	return y;
#endif
}

#ifdef EMULATED
// all_lanes calls read with the values x of all lanes of the warp.
template <class Read> inline void all_lanes(uint32_t x, Read read) {
	uint32_t* const slots = emulated::here.slots;
	slots[LANE] = x;
	emulated::wait(emulated::shuffling | __LINE__);
	read(slots);
}
#endif

// multiply_tf32 adds a 16×8 by 8×8 product to c; the warp holds the matrices together. With g = LANE/4 and t = LANE%4:
//   a  (g, t) (g+8, t) (g, t+4) (g+8, t+4)      b  (t, g) (t+4, g)      c  (g, 2t) (g, 2t+1) (g+8, 2t) (g+8, 2t+1)
DEVICE void multiply_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifdef EMULATED
	const int g = LANE >> 2, t = LANE & 3;
	for (int half = 0; half < 2; half++) { // of the depths
		float top[4], bottom[4], left[4], right[4];
		all_lanes(a[2 * half], [&](const uint32_t* x) { for (int l = 0; l < 4; l++) top[l] = as_float(x[g * 4 + l]); });
		all_lanes(a[2 * half + 1], [&](const uint32_t* x) { for (int l = 0; l < 4; l++) bottom[l] = as_float(x[g * 4 + l]); });
		all_lanes(b[half], [&](const uint32_t* x) { for (int l = 0; l < 4; l++) left[l] = as_float(x[8 * t + l]), right[l] = as_float(x[8 * t + 4 + l]); });
		for (int l = 0; l < 4; l++) {
			c[0] = fma(top[l], left[l], c[0]), c[1] = fma(top[l], right[l], c[1]);
			c[2] = fma(bottom[l], left[l], c[2]), c[3] = fma(bottom[l], right[l], c[3]);
		}
	}
#else
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

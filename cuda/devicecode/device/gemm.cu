// gemm: products of row-major matrices, C = op(A)·op(B) + β·C, in batches, in float32 or on tensor cores in TF32.
//   a [m][k], or [k][m] transposed      b [k][n], or [n][k] transposed      c [m][n]      (matrix i of the batch at i·stride)
//   layout_a, layout_b   layouts of A and B in memory (gemm.cuh); ld_a, ld_b: distance between rows
//   β = 0 does not read c. k may be 0.
//   gemm_rows_… read A's rows in memory from a larger matrix, row source[i] for row i; −1 is a row of zeros. One matrix, no batch.
// Grid: x one tile of C, columns fastest, so that blocks that run together share rows of A in L2; y one part of k; z one matrix of the batch.
// One block per tile. Tiles of A and B of depth 16 are double-buffered in shared memory: the next pair is copied while this one is multiplied.
//   float32: 8×8 entries per thread, 4 shared loads of 16 bytes for 64 fma.    Kernel names give the tile: 128×128, 64×64, and 128×32 for few labels.
//   TF32:    64×32 or 32×32 per warp by m16n8k8, 24 or 16 shared loads for 16 or 8 products.
// Split k: with few tiles and a long sum (weight gradients: 300×200 over 65,536 rows) most of the device would be idle. So each part of k writes
// its own product to parts [part][batch][m][n], and gemm_sum adds the parts in order. The order of every sum depends on shapes only, so every
// run on every device gives the same bits, and in float32 so does the emulator.
// Epilogue: in float32, a program of elementwise steps (include/steps.cuh) may follow, whose accumulator begins as C's entry; then the steps write what is to
// be stored, C or not. A thread puts half of its entries at a time into shared memory, so that the steps need no register for the others.
// Bound: m·n·k fma, or (m·k + k·n + m·n)·4 bytes. 65,536×300·300×200 takes 3.9 G fma: 0.12 ms at 67 TFLOP/s, 131 MB: 0.03 ms at 4.3 TB/s;
// tiles of 128 compute 256 columns for 200, so expect about 0.2 ms; TF32 is bound by shared loads, about 0.05 ms. 65,536×200·200×25: 59 MB, 14 µs.
// Reference: plain loops in float64 in cuda/device/blas_test.go; nets' BLAS in the contract suite.
#include "gemm.cuh"
#include "steps.cuh"

struct __attribute__((aligned(8))) Pair { float x, y; };

struct Product {
	const float* a;
	const float* b;
	float* c;
	int m, n, k, layout_a, layout_b, from, to; // depths [from, to)
	int64_t ld_a, ld_b;
	float beta;
	const int* source; // of A's rows, if they are gathered
};

// place finds this block's matrices and depths. With several parts, C is the part's own product.
DEVICE Product place(const float* a, const float* b, float* c, float* parts, int m, int n, int k, int layout_a, int layout_b, int ld_a,
		int ld_b, int64_t stride_a, int64_t stride_b, int64_t stride_c, int batch, int part_depth, float beta) {
	Product p = {a + BLOCK_Z * stride_a, b + BLOCK_Z * stride_b, c + BLOCK_Z * stride_c, m, n, k, layout_a, layout_b, 0, k, ld_a, ld_b, beta, nullptr};
	if (BLOCKS_Y > 1) {
		p.c = parts + ((int64_t)BLOCK_Y * batch + BLOCK_Z) * m * n;
		p.from = BLOCK_Y * part_depth;
		p.to = min(k, p.from + part_depth);
		p.beta = 0.f;
	}
	return p;
}

template <int SIDE, int STRIDE, int COUNT>
DEVICE void start(Factor<SIDE, STRIDE, COUNT>& a, const Product& p, int row) {
	a.start(p.a, p.layout_a, p.ld_a, row, p.m, p.from, p.to);
}

template <int SIDE, int STRIDE, int COUNT>
DEVICE void start(GatheredFactor<SIDE, STRIDE, COUNT>& a, const Product& p, int row) {
	a.start(p.a, p.source, p.layout_a, p.ld_a, row, p.m, p.from, p.to);
}

// for_tiles copies the tiles of A and B, depth by depth, and passes each pair to multiply.
template <template <int, int, int> class FactorA, int M, int N, int PAD, int COUNT, class Multiply>
DEVICE void for_tiles(const Product& p, float* memory, int row, int column, Multiply multiply) {
	constexpr int A = DEPTH * (M + PAD), PAIR = A + DEPTH * (N + PAD);
	Copies copies;
	FactorA<M, M + PAD, COUNT> a;
	Factor<N, N + PAD, COUNT> b;
	start(a, p, row);
	b.start(p.b, p.layout_b, p.ld_b, column, p.n, p.from, p.to);
	int next = 0;
	for (int depth = p.from - DEPTH; depth < p.to; depth += DEPTH) {
		copies.wait();
		BARRIER(); // all copies have arrived, and no thread reads the other pair any more
		if (depth + DEPTH < p.to) {
			a.load(copies, memory + next);
			b.load(copies, memory + next + A);
		}
		next = PAIR - next;
		if (depth >= p.from) multiply(memory + next, memory + next + A);
	}
}

DEVICE void store(const Product& p, int row, int column, float x) {
	if (row >= p.m || column >= p.n) return;
	float* const c = p.c + (int64_t)row * p.n + column;
	*c = p.beta == 0.f ? x : fma(p.beta, *c, x);
}

DEVICE float of(const float4& x, int i) { return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w; }

// A thread computes 8×W entries: 2 × W/4 groups of 4×4, M/2 and N/2 apart.
template <template <int, int, int> class FactorA, int M, int N, int W>
DEVICE void multiply_float32(const Product& p, float* memory, STEPS_PARAMETERS) {
	constexpr int COUNT = M / 8 * N / W, PAD = 4;
	constexpr int WIDE = N / W < 8 ? N / W : 8; // a warp is WIDE threads across and 32/WIDE down
	constexpr int WARPS = N / W / WIDE;         // across
	const int across = (LANE % WIDE + WARP % WARPS * WIDE) * 4, down = (LANE / WIDE + WARP / WARPS * (32 / WIDE)) * 4;
	const int columns = (p.n + N - 1) / N, row = BLOCK / columns * M, column = BLOCK % columns * N;
	float c[8][W] = {};
	for_tiles<FactorA, M, N, PAD, COUNT>(p, memory, row, column, [&](const float* a, const float* b) __attribute__((always_inline)) {
#pragma unroll
		for (int l = 0; l < DEPTH; l++) {
			float4 x[2], y[W / 4];
#pragma unroll
			for (int i = 0; i < 2; i++) x[i] = *(const float4*)(a + l * (M + PAD) + i * M / 2 + down);
#pragma unroll
			for (int j = 0; j < W / 4; j++) y[j] = *(const float4*)(b + l * (N + PAD) + j * N / 2 + across);
#pragma unroll
			for (int i = 0; i < 8; i++)
#pragma unroll
				for (int j = 0; j < W; j++) c[i][j] = fma(of(x[i / 4], i % 4), of(y[j / 4], j % 4), c[i][j]);
		}
	});
	if (count > 0 && BLOCKS_Y == 1) {
		const Steps steps = LOAD_STEPS((uint64_t*)(memory + 2 * DEPTH * (M + PAD + N + PAD)));
		BARRIER(); // no thread reads the tiles any more
#pragma unroll 1
		for (int half = 0; half < 2; half++) {
			float* const own = memory + 4 * THREAD; // 4 entries, every 4·COUNT
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < W; j += 4)
#pragma unroll
					for (int q = 0; q < 4; q++) own[(i * W + j) * COUNT + q] = half ? c[i + 4][j + q] : c[i][j + q];
#pragma unroll 1
			for (int i = 0; i < W; i++) { // 4 rows of W/4 groups
				const int r = row + half * M / 2 + down + i / (W / 4), s = column + i % (W / 4) * N / 2 + across;
				if (r >= p.m || s >= p.n) continue;
				const int64_t at = (int64_t)r * p.n + s;
				const int exist = min(4, p.n - s);
				float z[4];
				for (int q = 0; q < 4; q++) {
					z[q] = own[4 * i * COUNT + q];
					if (p.beta != 0.f && q < exist) z[q] = fma(p.beta, p.c[at + q], z[q]);
				}
				take_steps(steps, (uint32_t)(BLOCK_Z * (int64_t)p.m * p.n + at), exist, z);
			}
		}
		return;
	}
	const bool by_4 = p.beta == 0.f && p.n % 4 == 0 && ((uint64_t)p.c & 15) == 0;
#pragma unroll
	for (int i = 0; i < 8; i++)
#pragma unroll
		for (int j = 0; j < W; j += 4) {
			const int r = row + i / 4 * M / 2 + down + i % 4, s = column + j / 4 * N / 2 + across;
			if (by_4) {
				if (r < p.m && s < p.n) *(float4*)(p.c + (int64_t)r * p.n + s) = {c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]};
			} else {
#pragma unroll
				for (int q = 0; q < 4; q++) store(p, r, s + q, c[i][j + q]);
			}
		}
}

template <template <int, int, int> class FactorA, int M, int N, int WARP_M, int WARP_N>
DEVICE void multiply_tf32(const Product& p, float* memory) {
	constexpr int COUNT = 32 * (M / WARP_M) * (N / WARP_N), PAD = 8; // with a stride of 8 mod 32, fragments have no bank conflicts
	const int g = LANE >> 2, t = LANE & 3;
	const int warp_row = WARP / (N / WARP_N) * WARP_M, warp_column = WARP % (N / WARP_N) * WARP_N;
	const int columns = (p.n + N - 1) / N, row = BLOCK / columns * M, column = BLOCK % columns * N;
	float c[WARP_M / 16][WARP_N / 8][4] = {};
	for_tiles<FactorA, M, N, PAD, COUNT>(p, memory, row, column, [&](const float* a, const float* b) __attribute__((always_inline)) {
#pragma unroll
		for (int l = 0; l < DEPTH; l += 8) {
			uint32_t x[WARP_M / 16][4], y[WARP_N / 8][2];
#pragma unroll
			for (int i = 0; i < WARP_M / 16; i++)
#pragma unroll
				for (int q = 0; q < 4; q++) x[i][q] = tf32(a[(l + t + q / 2 * 4) * (M + PAD) + warp_row + i * 16 + g + q % 2 * 8]);
#pragma unroll
			for (int j = 0; j < WARP_N / 8; j++)
#pragma unroll
				for (int q = 0; q < 2; q++) y[j][q] = tf32(b[(l + t + q * 4) * (N + PAD) + warp_column + j * 8 + g]);
#pragma unroll
			for (int i = 0; i < WARP_M / 16; i++)
#pragma unroll
				for (int j = 0; j < WARP_N / 8; j++) multiply_tf32(c[i][j], x[i], y[j]);
		}
	});
	const bool by_2 = p.n % 2 == 0 && ((uint64_t)p.c & 7) == 0;
#pragma unroll
	for (int i = 0; i < WARP_M / 16; i++)
#pragma unroll
		for (int j = 0; j < WARP_N / 8; j++)
#pragma unroll
			for (int q = 0; q < 4; q += 2) {
				const int r = row + warp_row + i * 16 + g + q * 4, s = column + warp_column + j * 8 + t * 2;
				if (by_2 && p.beta == 0.f) {
					if (r < p.m && s < p.n) *(Pair*)(p.c + (int64_t)r * p.n + s) = {c[i][j][q], c[i][j][q + 1]};
				} else {
					store(p, r, s, c[i][j][q]);
					store(p, r, s + 1, c[i][j][q + 1]);
				}
			}
}

#define TWICE_256 256, 2 /* threads per block, and least blocks per multiprocessor */
#define FOUR_TIMES_128 128, 4
#define PARAMETERS \
	const float *a, const float *b, float *c, float *parts, int m, int n, int k, int layout_a, int layout_b, int ld_a, int ld_b, int64_t stride_a, \
			int64_t stride_b, int64_t stride_c, int batch, int part_depth, float beta
#define STEPS program, count, rows, states, seed, arena, literals, weights, direction, gradient, features, boundary, edges, encoded, encoded_direction, \
		cotangent0, cotangent1, cotangent2, part0, part1, part2
#define PRODUCT place(a, b, c, parts, m, n, k, layout_a, layout_b, ld_a, ld_b, stride_a, stride_b, stride_c, batch, part_depth, beta)
#define GATHERED_PRODUCT gathered(PRODUCT, source)

DEVICE Product gathered(Product p, const int* source) {
	p.source = source;
	return p;
}

BOUNDED_KERNEL(gemm_128x128, 256)(PARAMETERS, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<Factor, 128, 128, 8>(PRODUCT, memory, STEPS);
}
EXPORT(gemm_128x128)

BOUNDED_KERNEL(gemm_64x64, 64)(PARAMETERS, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<Factor, 64, 64, 8>(PRODUCT, memory, STEPS);
}
EXPORT(gemm_64x64)

BOUNDED_KERNEL(gemm_128x32, FOUR_TIMES_128)(PARAMETERS, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<Factor, 128, 32, 4>(PRODUCT, memory, STEPS);
}
EXPORT(gemm_128x32)

BOUNDED_KERNEL(gemm_tf32_128x128, TWICE_256)(PARAMETERS) {
	SHARED(float, memory);
	multiply_tf32<Factor, 128, 128, 64, 32>(PRODUCT, memory);
}
EXPORT(gemm_tf32_128x128)

BOUNDED_KERNEL(gemm_tf32_64x64, 128)(PARAMETERS) {
	SHARED(float, memory);
	multiply_tf32<Factor, 64, 64, 32, 32>(PRODUCT, memory);
}
EXPORT(gemm_tf32_64x64)

BOUNDED_KERNEL(gemm_tf32_128x32, 128)(PARAMETERS) {
	SHARED(float, memory);
	multiply_tf32<Factor, 128, 32, 32, 32>(PRODUCT, memory);
}
EXPORT(gemm_tf32_128x32)

BOUNDED_KERNEL(gemm_rows_128x128, 256)(PARAMETERS, const int* source, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<GatheredFactor, 128, 128, 8>(GATHERED_PRODUCT, memory, STEPS);
}
EXPORT(gemm_rows_128x128)

BOUNDED_KERNEL(gemm_rows_64x64, 64)(PARAMETERS, const int* source, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<GatheredFactor, 64, 64, 8>(GATHERED_PRODUCT, memory, STEPS);
}
EXPORT(gemm_rows_64x64)

BOUNDED_KERNEL(gemm_rows_128x32, FOUR_TIMES_128)(PARAMETERS, const int* source, STEPS_PARAMETERS) {
	SHARED(float, memory);
	multiply_float32<GatheredFactor, 128, 32, 4>(GATHERED_PRODUCT, memory, STEPS);
}
EXPORT(gemm_rows_128x32)

BOUNDED_KERNEL(gemm_rows_tf32_128x128, TWICE_256)(PARAMETERS, const int* source) {
	SHARED(float, memory);
	multiply_tf32<GatheredFactor, 128, 128, 64, 32>(GATHERED_PRODUCT, memory);
}
EXPORT(gemm_rows_tf32_128x128)

BOUNDED_KERNEL(gemm_rows_tf32_64x64, 128)(PARAMETERS, const int* source) {
	SHARED(float, memory);
	multiply_tf32<GatheredFactor, 64, 64, 32, 32>(GATHERED_PRODUCT, memory);
}
EXPORT(gemm_rows_tf32_64x64)

BOUNDED_KERNEL(gemm_rows_tf32_128x32, 128)(PARAMETERS, const int* source) {
	SHARED(float, memory);
	multiply_tf32<GatheredFactor, 128, 32, 32, 32>(GATHERED_PRODUCT, memory);
}
EXPORT(gemm_rows_tf32_128x32)

// gemm_sum adds the parts of split products in order: c = Σ parts + β·c, matrix by matrix. With an epilogue, the matrices lie side by side.
//   parts [of][batch][size] float        c   float, matrix i at i·stride      size = m·n
// One thread for 4 entries of the epilogue, or per entry. Bound: reads of·batch·size·4 bytes.
BOUNDED_KERNEL(gemm_sum, 128)(const float* RESTRICT parts, float* c, int of, int64_t batch, int64_t size, int64_t stride, float beta, STEPS_PARAMETERS) {
	SHARED(uint64_t, shared);
	const int64_t all = batch * size, thread = (int64_t)BLOCK * THREADS + THREAD, threads = (int64_t)BLOCKS * THREADS;
	auto total = [&](int64_t i) {
		float sum = 0.f;
		for (int part = 0; part < of; part++) sum += parts[part * all + i];
		return sum;
	};
	if (count == 0) {
		for (int64_t i = thread; i < all; i += threads) {
			const float sum = total(i);
			float* const out = c + i / size * stride + i % size;
			*out = beta == 0.f ? sum : fma(beta, *out, sum);
		}
		return;
	}
	const Steps steps = LOAD_STEPS(shared);
	BARRIER();
	for (int64_t i = 4 * thread; i < all; i += 4 * threads) {
		const int exist = (int)(all - i < 4 ? all - i : 4);
		float z[4];
		for (int q = 0; q < 4; q++) {
			z[q] = q < exist ? total(i + q) : 0.f;
			if (beta != 0.f && q < exist) z[q] = fma(beta, c[i + q], z[q]);
		}
		take_steps(steps, (uint32_t)i, exist, z);
	}
}
EXPORT(gemm_sum)

// Convolutions of maps, channels last, by matrix products: patches copies the neighbourhoods of the result's cells to the rows of a matrix,
// unpatch, its adjoint, adds rows to where they came from, without atomics: each sum belongs to one thread, which adds its terms in order.
//   x [maps×H·W·C] float          maps; cells outside are zero
//   columns [cells×k·k·C] float   row (map, y, z), of H'·W' cells per map, column (i, j, c): x[map, s·y + i − p, s·z + j − p, c]
// One thread for each of n entries. Bound: patches reads x and writes columns once, unpatch the reverse. Reference: nets/graph/conv.go;
// checked by cuda/cudanets/conv_test.go.
#include "device.cuh"

// quotient returns n/d for n < 2³¹; by and shift are those of divisor in cuda/cudanets/elementwise.go. A division takes several times as long.
DEVICE uint32_t quotient(uint32_t n, uint32_t by, int shift) { return (uint32_t)((uint64_t)n * by >> shift); }

// For a cell and a row i of its neighbourhood, the k·C numbers lie side by side in x, as in columns: from number (s·z − p)·C of the line.
//   run, tap, across, down and their shifts: divisors k·C, k, W' and H'
KERNEL(patches)(const float* RESTRICT x, int H, int W, int C, int k, int s, int p, int H2, int W2, uint32_t run, int run_shift, uint32_t tap, int tap_shift,
	uint32_t across, int across_shift, uint32_t down, int down_shift, uint32_t n, float* RESTRICT columns) {
	uint32_t at = (uint32_t)BLOCK * THREADS + THREAD;
	if (at >= n) return;
	uint32_t runs = quotient(at, run, run_shift), cell = quotient(runs, tap, tap_shift), line = quotient(cell, across, across_shift),
			 map = quotient(line, down, down_shift);
	int row = s * (int)(line - map * H2) + (int)(runs - cell * k) - p;
	int place = (s * (int)(cell - line * W2) - p) * C + (int)(at - runs * (k * C));
	bool inside = row >= 0 && row < H && place >= 0 && place < W * C;
	columns[at] = inside ? x[((int64_t)map * H + row) * (W * C) + place] : 0.f;
}
EXPORT(patches)

// out [maps×H·W·C], n entries; the divisors are C, W and H.
KERNEL(unpatch)(const float* RESTRICT columns, int H, int W, int C, int k, int s, int p, int H2, int W2, uint32_t channel,
	int channel_shift, uint32_t across, int across_shift, uint32_t down, int down_shift, int accumulate, uint32_t n, float* RESTRICT out) {
	uint32_t at = (uint32_t)BLOCK * THREADS + THREAD;
	if (at >= n) return;
	uint32_t cell = quotient(at, channel, channel_shift), c = at - cell * C, line = quotient(cell, across, across_shift), map = quotient(line, down, down_shift);
	int row = (int)(line - map * H) + p, column = (int)(cell - line * W) + p, last_y = row / s, last_z = column / s;
	float sum = accumulate ? out[at] : 0.f;
	for (int i = row - last_y * s, y = last_y; i < k && y >= 0; i += s, y--) { // s·y + i = row
		if (y >= H2) continue;
		for (int j = column - last_z * s, z = last_z; j < k && z >= 0; j += s, z--)
			if (z < W2) sum += columns[((((int64_t)map * H2 + y) * W2 + z) * (k * k) + i * k + j) * C + c];
	}
	out[at] = sum;
}
EXPORT(unpatch)

// Convolutions of maps, channels last, by matrix products: patches copies the neighbourhoods of the result's cells to the rows of a matrix,
// unpatch, its adjoint, adds rows to where they came from, without atomics: each sum belongs to one thread, which adds its terms in order.
//   x [maps×H·W·C] float          maps; cells outside are zero
//   columns [cells×k·k·C] float   row (map, y, z), of H'·W' cells per map, column (i, j, c): x[map, s·y + i − p, s·z + j − p, c]
// One thread for each of n entries. Bound: patches reads x and writes columns once, unpatch the reverse. Reference: nets/graph/conv.go;
// checked by cuda/cudanets/conv_test.go.
#include "device.cuh"

KERNEL(patches)(const float* RESTRICT x, int H, int W, int C, int k, int s, int p, int H2, int W2, uint32_t n, float* RESTRICT columns) {
	uint32_t at = (uint32_t)BLOCK * THREADS + THREAD;
	if (at >= n) return;
	uint32_t tap = at / C, c = at - tap * C, cell = tap / (k * k), line = cell / W2, map = line / H2;
	int place = (int)(tap - cell * (k * k)), i = place / k, j = place - i * k;
	int row = s * (int)(line - map * H2) + i - p, column = s * (int)(cell - line * W2) + j - p;
	bool inside = row >= 0 && row < H && column >= 0 && column < W;
	columns[at] = inside ? x[(((int64_t)map * H + row) * W + column) * C + c] : 0.f;
}
EXPORT(patches)

// out [maps×H·W·C], n entries.
KERNEL(unpatch)(const float* RESTRICT columns, int H, int W, int C, int k, int s, int p, int H2, int W2, int accumulate, uint32_t n, float* RESTRICT out) {
	uint32_t at = (uint32_t)BLOCK * THREADS + THREAD;
	if (at >= n) return;
	uint32_t cell = at / C, c = at - cell * C, line = cell / W, map = line / H;
	int row = (int)(line - map * H) + p, column = (int)(cell - line * W) + p;
	float sum = accumulate ? out[at] : 0.f;
	for (int i = row % s; i < k && i <= row; i += s) { // s·y + i = row
		int y = (row - i) / s;
		if (y >= H2) continue;
		for (int j = column % s; j < k && j <= column; j += s) {
			int z = (column - j) / s;
			if (z < W2) sum += columns[((((int64_t)map * H2 + y) * W2 + z) * (k * k) + i * k + j) * C + c];
		}
	}
	out[at] = sum;
}
EXPORT(unpatch)

// Neighbours of cells. The positions of a chain are the cells of a grid of H×W, line by line.
//   chain [rows] int, offsets [B+1] int   the batch; chain −1 in padding
//   x [rows×cols] float                   cells
//   g [rows×width·width×cols] float       row (t, i, j): the cell i − ⌊width/2⌋ lines below t and j − ⌊width/2⌋ columns to its right
// One thread for each of n entries, which adds its terms in order. Bound: reads and writes every entry once. Reference: nets/graph/grid.go;
// checked by cuda/cudanets/conv_test.go.
#include "device.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

KERNEL(gather_grid)(const float* x, const int* chain, const int* offsets, int H, int W, int width, int cols, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t j = i / cols, t = j / (width * width);
	int place = (int)(j - t * (width * width)), half = width / 2;
	float value = 0;
	if (int b = chain[t]; b >= 0) {
		int own = (int)t - offsets[b], row = own / W + place / width - half, column = own % W + place % width - half;
		if (row >= 0 && row < H && column >= 0 && column < W) value = x[(int64_t)(offsets[b] + row * W + column) * cols + (i - j * cols)];
	}
	out[i] = value;
}
EXPORT(gather_grid)

// out [rows×cols]: each cell's sum over the places where gather_grid copies it.
KERNEL(scatter_grid)(const float* g, const int* chain, const int* offsets, int H, int W, int width, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	int half = width / 2;
	float sum = accumulate ? out[i] : 0.f;
	if (int b = chain[t]; b >= 0) {
		int own = (int)t - offsets[b], row = own / W, column = own % W;
		for (int y = max(0, row - half); y <= min(H - 1, row + half); y++)
			for (int z = max(0, column - half); z <= min(W - 1, column + half); z++) {
				int place = (row - y + half) * width + column - z + half;
				sum += g[((int64_t)(offsets[b] + y * W + z) * (width * width) + place) * cols + c];
			}
	}
	out[i] = sum;
}
EXPORT(scatter_grid)

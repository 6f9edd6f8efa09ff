// Edges of graphs. The edges of the batch are numbered in the order of its chains.
//   chain [rows] int, offsets [B+1] int, source [rows] int   the batch; chain and source (the position in the data) are −1 in padding
//   examples [B] int, edges [B+1] int      the chosen examples, and the first edge of each in the batch
//   table [examples+1] int                 first edge of each example of the data
//   ends [2·edges of the data] int         positions of the two ends of each edge, counted from the first of its example
//   from [positions of the data + 1], list int   the edges of the data of which each position is an end, in order: one list for each side
// One thread for each of n entries, which adds its terms in the order of the edges. Bound: reads and writes every entry once.
// Reference: nets/graph/edges.go, nets/graph/gather.go; checked by cuda/cudanets/edges_test.go.
#include "device.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

// first, second [E] int: the rows of the ends of each edge, −1 in padding.
KERNEL(end_rows)(int* second, const int* offsets, const int* examples, const int* edges, const int* table, const int* ends, int B, uint32_t n, int* first) {
	ENTRY_OR_RETURN(i, n);
	int u = -1, v = -1;
	if ((int)i < edges[B]) {
		int b = 0;
		for (int beyond = B; beyond - b > 1;) { // edges[b] ≤ i < edges[beyond]
			int middle = b + (beyond - b) / 2;
			if (edges[middle] <= (int)i) b = middle;
			else beyond = middle;
		}
		int64_t row = table[examples[b]] + (int)i - edges[b];
		u = offsets[b] + ends[2 * row];
		v = offsets[b] + ends[2 * row + 1];
	}
	first[i] = u;
	second[i] = v;
}
EXPORT(end_rows)

// out [rows×cols]: sum over the edges g [E×cols] of which each row is an end, on one side.
KERNEL(scatter_ends)(const float* g, const int* chain, const int* source, const int* examples, const int* edges, const int* table,
	const int* from, const int* list, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t t = i / cols, c = i - t * cols;
	float sum = accumulate ? out[i] : 0.f;
	if (int b = chain[t]; b >= 0) {
		int shift = edges[b] - table[examples[b]];
		for (int k = from[source[t]]; k < from[source[t] + 1]; k++) sum += g[(int64_t)(list[k] + shift) * cols + c];
	}
	out[i] = sum;
}
EXPORT(scatter_ends)

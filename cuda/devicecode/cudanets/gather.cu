// gather copies the rows of cols entries that an index names. scatter, its adjoint, adds rows to where they came from, without atomics:
// each sum belongs to one thread, which adds its terms in order. There are three kinds of index:
//   ids      row j is row ids[j] of a table, −1: zeros. The adjoint is in scatter.cu.
//   window   row (t, d) of rows×width is row t+d−⌊width/2⌋ if that is a position of the same chain, else zeros
//   pattern  row (e, j) of repetitions×period is row e·source+fixed[j], fixed −1: zeros
// chain [rows] int is −1 in padding. from [source rows] and list give, for each row of the source, the rows of one period that read it.
// One thread for each of n entries. Bound: reads and writes every entry once. Reference: nets/graph/gather.go; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

#define ENTRY_OR_RETURN(i, n) \
	uint32_t i = (uint32_t)BLOCK * THREADS + THREAD; \
	if (i >= (n)) return

KERNEL(gather_ids)(const float* table, const int* ids, int cols, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t j = i / cols;
	int row = ids[j];
	out[i] = row < 0 ? 0.f : table[(int64_t)row * cols + (i - j * cols)];
}
EXPORT(gather_ids)

KERNEL(gather_window)(const float* x, const int* chain, int rows, int width, int cols, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t j = i / cols, t = j / width;
	int s = (int)(t + (j - t * width)) - width / 2;
	bool inside = s >= 0 && s < rows && chain[s] >= 0 && chain[s] == chain[t];
	out[i] = inside ? x[(uint32_t)s * cols + (i - j * cols)] : 0.f;
}
EXPORT(gather_window)

KERNEL(scatter_window)(const float* g, const int* chain, int rows, int width, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	int s = (int)(i / cols), c = (int)(i - (uint32_t)s * cols), half = width / 2;
	float sum = accumulate ? out[i] : 0.f;
	if (chain[s] >= 0)
		for (int t = max(0, s - half); t <= min(rows - 1, s + half); t++)
			if (chain[t] == chain[s]) sum += g[((uint32_t)t * width + (s - t + half)) * cols + c];
	out[i] = sum;
}
EXPORT(scatter_window)

KERNEL(gather_pattern)(const float* x, const int* fixed, int period, int source, int cols, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t j = i / cols, e = j / period;
	int row = fixed[j - e * period];
	out[i] = row < 0 ? 0.f : x[(e * source + row) * cols + (i - j * cols)];
}
EXPORT(gather_pattern)

KERNEL(scatter_pattern)(const float* g, const int* from, const int* list, int period, int source, int cols, int accumulate, uint32_t n, float* out) {
	ENTRY_OR_RETURN(i, n);
	uint32_t j = i / cols, c = i - j * cols, e = j / source, row = j - e * source;
	float sum = accumulate ? out[i] : 0.f;
	for (int k = from[row]; k < from[row + 1]; k++) sum += g[(e * period + list[k]) * cols + c];
	out[i] = sum;
}
EXPORT(scatter_pattern)

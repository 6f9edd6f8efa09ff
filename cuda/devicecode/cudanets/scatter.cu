// scatter: adds rows of g to the rows of a table that ids name. ids are sorted, so equal ones form a run.
//   ids   [n] int     sorted; ids ≥ rows are padding       order [n] int   row of g of each
//   g     [n×cols] float                                           out [rows×cols] float, added to
//   parts [stretches×2×cols] float   sums of runs that cross stretches: of the run that continues from the previous stretch, and of the run
//                                    that continues in the next
// One block per stretch of consecutive ids, one thread per column. scatter_runs adds runs within a stretch to the table; no other block adds to
// those rows. Then scatter_spans adds, in order, the parts of each run that crosses stretches, in the block where the run starts. Both read
// rows ahead of the sum.
// Bound: reads g once. Reference: nets/graph/gather.go; checked by cuda/cudanets/executor_test.go.
#include "device.cuh"

#define AHEAD 8
#define SPANS_AHEAD 16

KERNEL(scatter_runs)(const int* ids, const int* order, const float* g, int n, int rows, int cols, int stretch, float* parts, float* out) {
	int lo = BLOCK * stretch, hi = min(n, lo + stretch);
	for (int c = BLOCK_Y * THREADS + THREAD; c < cols; c += BLOCKS_Y * THREADS) {
		float sum = 0.f;
		bool continues = lo > 0 && ids[lo - 1] == ids[lo];
		for (int first = lo; first < hi && ids[first] < rows; first += AHEAD) {
			float x[AHEAD];
			for (int k = 0; k < AHEAD; k++) x[k] = first + k < hi && ids[first + k] < rows ? g[(int64_t)order[first + k] * cols + c] : 0.f;
			for (int k = 0; k < AHEAD; k++) {
				int i = first + k;
				if (i >= hi || ids[i] >= rows) break;
				int id = ids[i];
				sum += x[k];
				bool last = i + 1 == n || ids[i + 1] != id;
				if (!last && i + 1 < hi) continue;
				if (continues) parts[(int64_t)(2 * BLOCK) * cols + c] = sum;
				else if (!last) parts[(int64_t)(2 * BLOCK + 1) * cols + c] = sum;
				else out[(int64_t)id * cols + c] += sum;
				sum = 0.f;
				continues = false;
			}
		}
	}
}
EXPORT(scatter_runs)

// continues tells whether a stretch begins with a row of the run of id.
DEVICE bool continues(const int* ids, int n, int stretch, int at, int id) { return at * stretch < n && ids[at * stretch] == id; }

KERNEL(scatter_spans)(const int* ids, int n, int rows, int cols, int stretch, const float* parts, float* out) {
	int lo = BLOCK * stretch, next = lo + stretch;
	if (next >= n) return;
	int id = ids[next - 1];
	bool startsHere = lo == 0 || ids[lo - 1] != id;
	if (id >= rows || !startsHere || ids[next] != id) return;
	for (int c = BLOCK_Y * THREADS + THREAD; c < cols; c += BLOCKS_Y * THREADS) {
		float sum = parts[(int64_t)(2 * BLOCK + 1) * cols + c];
		bool runs[SPANS_AHEAD], more;
		for (int k = 0; k < SPANS_AHEAD; k++) runs[k] = continues(ids, n, stretch, BLOCK + 1 + k, id);
		for (int first = BLOCK + 1;; first += SPANS_AHEAD) {
			float x[SPANS_AHEAD];
			for (int k = 0; k < SPANS_AHEAD; k++) x[k] = runs[k] ? parts[(int64_t)(2 * (first + k)) * cols + c] : 0.f;
			more = runs[SPANS_AHEAD - 1];
			for (int k = 0; k < SPANS_AHEAD; k++) runs[k] = more && continues(ids, n, stretch, first + SPANS_AHEAD + k, id); // loads while x arrives
			for (int k = 0; k < SPANS_AHEAD; k++) sum += x[k];
			if (!more) break;
		}
		out[(int64_t)id * cols + c] += sum;
	}
}
EXPORT(scatter_spans)

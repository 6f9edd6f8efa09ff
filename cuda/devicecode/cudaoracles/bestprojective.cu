// best_projective: the best projective tree with one root arc of every sentence.
//   offsets, pairs, score [P] float   of arcs with their best relations, as tree_scores leaves them
//   head [N] int                      out, see BEST_PARAMETERS
//   scratch                           double: 2 per pair and 3 per word, for sentences that room [doubles] of shared memory cannot hold
// One block per sentence. Ties go as on the CPU: to the tree whose root comes first, and then whose splits do, from the top down.
// Bound: n³/2 additions in float32, 2n dependent steps there and up to 2n back.
// Reference: oracles/tree/projective.go; checked by cuda/cudaoracles/besttrees_test.go.
#include "chart.cuh"

// Split is a warp's best way to divide a span.
struct Split {
	int at;
	float score;
};

// split returns the first s < terms with the largest x[s·dx] + y[s·dy], for all lanes of the calling warp.
DEVICE Split split(const float* x, int dx, const float* y, int dy, int terms) {
	Split best{terms, NEVER};
	for (int s = LANE; s < terms; s += 32) {
		float v = x[(int64_t)s * dx] + y[(int64_t)s * dy];
		if (v > best.score) best = Split{s, v};
	}
	first_largest(best.score, best.at);
	return best;
}

// load sets scores, less the largest of their dependent, so that float32 keeps the digits that tell trees apart.
DEVICE void load(const Chart<Best>& c, const float* score) {
	for (int d = WARP; d < c.n; d += THREADS / 32) {
		const float* row = score + (int64_t)d * c.n;
		float top = NEVER;
		for (int h = LANE; h < c.n; h += 32) top = max(top, row[h]);
		top = warp_max(top);
		for (int h = LANE; h < c.n; h += 32) c.score[(int64_t)h * c.stride + d] = top == NEVER ? NEVER : row[h] - top;
		if (LANE == 0) c.complete[(int64_t)d * c.stride + d] = 0.f;
	}
}

// trace writes the heads below a tree's root. stack [n] holds spans that remain: a head, and 2¹⁶ times their other end. One warp calls it.
DEVICE void trace(const Chart<Best>& c, int root, int* head, uint32_t* stack) {
	int n = c.n, step = c.stride, height = 0;
	auto push = [&](int h, int e) {
		if (h == e) return;
		if (LANE == 0) stack[height] = (uint32_t)h | (uint32_t)e << 16;
		height++;
	};
	if (LANE == 0) head[root] = root;
	push(root, 0);
	push(root, n - 1);
	while (height > 0) {
		WARP_BARRIER();
		uint32_t span = stack[--height];
		WARP_BARRIER(); // before the place is used again
		int h = (int)(span & 0xffff), e = (int)(span >> 16), d;
		const float* arc = c.arc + (int64_t)h * step;
		if (h < e) d = h + 1 + split(arc + h + 1, 1, c.complete + (int64_t)(h + 1) * step + e, step, e - h).at;
		else d = e + split(c.complete + (int64_t)e * step + e, step, arc + e, 1, h - e).at;
		if (LANE == 0) head[d] = h;
		push(d, e);
		int lo = min(h, d), hi = max(h, d); // the ends of the arc; between them, spans of both
		int middle = lo + split(c.complete + (int64_t)lo * step + lo, 1, c.complete + (int64_t)hi * step + lo + 1, 1, hi - lo).at;
		push(lo, middle);
		push(hi, middle + 1);
	}
}

#define TWICE_256 256, 2 /* threads per block, and least blocks per multiprocessor, for which there are 128 registers */

BOUNDED_KERNEL(best_projective, TWICE_256)(BEST_PARAMETERS) {
	SHARED(double, shared);
	Sentence s = sentence_at(offsets, pairs, BLOCK);
	int n = s.n, step = n | 1;
	if (n == 0) return;
	int64_t table = (int64_t)n * step;
	float* at = (float*)((3 * table + n + 1) / 2 <= room ? shared : scratch + 2 * s.pair + 3 * s.first);
	Chart<Best> c{n, step, at, at + table, at + 2 * table};
	load(c, score + s.pair);
	BARRIER();
	inside(c);
	if (WARP > 0) return;
	Split root{n, NEVER};
	for (int r = LANE; r < n; r += 32) {
		const float* row = c.complete + (int64_t)r * step;
		float v = row[0] + row[n - 1] + c.score[(int64_t)r * step + r];
		if (v > root.score) root = Split{r, v};
	}
	first_largest(root.score, root.at);
	if (root.score == NEVER) {
		for (int d = LANE; d < n; d += 32) head[s.first + d] = -1;
		return;
	}
	trace(c, root.at, head + s.first, (uint32_t*)(at + 3 * table));
}
EXPORT(best_projective)

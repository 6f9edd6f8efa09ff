// tree_sums: sums over all trees, projective or not, with one root arc, and the probabilities of arcs.
//   offsets, pairs, score [P] double   of arcs with their relations, as tree_relations leaves them
//   value [B] double      out: μ log Σ exp(score/μ); −∞ without an allowed tree
//   u_arc [P] float       out: the probability of every arc; null: values only, with the same bits
//   declined [B] int      out, of tree_sums: 0, or that float64 cannot hold NO_MARGINALS or NO_VALUE of a sentence; tree_sums_in_logs then computes it on logarithms
//   scratch               double: 4 per pair and 60 per word, for sentences that room [doubles] of shared memory cannot hold
// One block per sentence, of 2^k warps. Without a subtraction, so that all digits are right whatever the weights: see oracles/tree/matrixtree.go, whose
// elimination this is (Grassmann, Taksar and Heyman 1985; Tutte's matrix-tree theorem). Every token must be the last one once: from the matrix of a
// part of the sentence, one copy eliminates the right half and keeps the left, the other one the opposite. All parts of one level do that at once.
// Bound: about n³ multiply-adds in float64 (n³/3 for values only), and 2n dependent steps.
// Reference: oracles/tree/matrixtree.go, halving.go; checked by cuda/cudaoracles/trees_test.go.
#include "trees.cuh"

// leastLogTotal of oracles/tree/matrixtree.go, here for weights that become 0 below e^−700.
#define LEAST_LOG_TOTAL -640.0

#define NO_MARGINALS 1
#define NO_VALUE 2

// Matrix views the rates between the tokens of a part: that from i to j is at[i·stride + j], and that from i to the root is root[i·stride].
struct Matrix {
	double *at, *root;
	int stride;
};

// Halving lays out a sentence's memory: the start matrix [n][stride(0)], for every level a strip [n][stride(level)] for the second copies of its parts,
// reach [n][n], and vectors. Parts of level q have at most width(q) tokens.
struct Halving {
	int n, levels;
	double *start, *reach;
	double *norm, *last, *open, *factor; // [n] logarithms of rows' sums; r(d) at the end; one where no token was under the root before d; divisors on the way to token 0
	int* under; // [4n] by copy: the token that it found to be under the root, −1: none
	int* wrong; // [3] 0 if numbers left the range: on the way to token 0, elsewhere; and whether the value is right
};

DEVICE int width(const Halving& h, int level) { return (h.n + (1 << level) - 1) >> level; }
DEVICE int stride(const Halving& h, int level) { return (width(h, level) + 1) | 1; }

// Part is a range of tokens whose rates remain at some level.
struct Part {
	int lo, size;
	bool closed; // a token is known to be under the root
	Matrix from; // the first copy is made in place, the second one in the strip
	double* strip;
};

// enter goes from a part to its left or right half, which the first or second copy keeps.
DEVICE void enter(const Halving& h, Part& p, int level, int node, int side) {
	int half = (p.size + 1) / 2, step = stride(h, level);
	p.closed = p.closed || h.under[(2 << level) - 2 + 2 * node + side] >= 0;
	if (side == 0) {
		p.size = half;
	} else {
		double* row = p.strip + (int64_t)(p.lo + half) * step;
		p.from = Matrix{row + half, row + width(h, level), step};
		p.lo += half;
		p.size -= half;
	}
	p.strip += (int64_t)h.n * step;
}

DEVICE Part whole(const Halving& h) {
	int step = stride(h, 0);
	return Part{0, h.n, false, Matrix{h.start, h.start + h.n, step}, h.start + (int64_t)h.n * step};
}

// find returns a part of a level; its size is less than 2 if there is none to divide.
DEVICE Part find(const Halving& h, int level, int node) {
	Part p = whole(h);
	for (int q = 0; q < level && p.size > 1; q++) {
		int above = node >> (level - q);
		enter(h, p, q, above, (node >> (level - 1 - q)) & 1);
	}
	return p;
}

// find_token returns the part of a level that token d is in, and its number; of a lower level if a part ends there.
DEVICE Part find_token(const Halving& h, int level, int d, int& node) {
	Part p = whole(h);
	node = 0;
	for (int q = 0; q < level && p.size > 1; q++) {
		int side = d >= p.lo + (p.size + 1) / 2;
		enter(h, p, q, node, side);
		node = 2 * node + side;
	}
	return p;
}

// copy returns the matrix of the copy on a side of a part.
DEVICE Matrix copy_of(const Halving& h, const Part& p, int level, int side) {
	if (side == 0) return p.from;
	int step = stride(h, level);
	double* row = p.strip + (int64_t)p.lo * step;
	return Matrix{row, row + width(h, level), step};
}

// Range are the tokens that remain after the t-th elimination of a copy, of token j; j is −1 if the copy is done.
struct Range {
	int j, lo, hi;
};

DEVICE Range range_of(int size, int side, int t) {
	int half = (size + 1) / 2;
	if (side == 0) return t < size - half ? Range{size - 1 - t, 0, size - 1 - t} : Range{-1, 0, 0};
	return t < half ? Range{t, t + 1, size} : Range{-1, 0, 0};
}

// eliminate divides the row of token j by its sum, in one warp, as oracles/tree/halving.go does.
template <class R> DEVICE void divide(const Halving& h, const Part& p, const Matrix& m, Range x, int level, int copy) {
	double* row = m.at + (int64_t)x.j * m.stride;
	double sum = R::zero(), root = m.root[(int64_t)x.j * m.stride];
	int* under = h.under + (2 << level) - 2 + copy;
	bool closed = p.closed || *under >= 0;
	for (int i = x.lo + LANE; i < x.hi; i += 32) sum = R::plus(sum, row[i]);
	sum = sum_over<R>(sum);
	if (closed) sum = R::plus(sum, root);
	bool divides = sum > R::zero(), right = divides ? true : !closed && root > R::zero();
	WARP_BARRIER(); // all lanes have read what the first one writes
	if (divides) {
		for (int i = x.lo + LANE; i < x.hi; i += 32) row[i] = R::over(row[i], sum);
		double by = R::over(root, sum);
		if (LANE == 0) m.root[(int64_t)x.j * m.stride] = by;
		right = by < (double)INFINITE;
	} else if (right) {
		for (int i = x.lo + LANE; i < x.hi; i += 32) m.root[(int64_t)i * m.stride] = m.at[(int64_t)i * m.stride + x.j];
		if (LANE == 0) *under = x.j;
	}
	if (LANE > 0) return;
	if (copy == 0) h.factor[x.j] = divides ? sum : root;
	if (!right) atomic_min(h.wrong + (copy > 0), 0);
}

// halve divides all parts of a level. copies is 2 for each part, or 1 in all for values only. All threads of the block call it.
template <class R> DEVICE void halve(const Halving& h, int level, int copies) {
	int warps = THREADS / 32;
	if (copies > 1)
		for (int node = WARP; node < 1 << level; node += warps) {
			Part p = find(h, level, node);
			if (p.size < 2) continue;
			Matrix to = copy_of(h, p, level, 1);
			for (int i = 0; i < p.size; i++) {
				for (int j = LANE; j < p.size; j += 32) to.at[(int64_t)i * to.stride + j] = p.from.at[(int64_t)i * p.from.stride + j];
				if (LANE == 0) to.root[(int64_t)i * to.stride] = p.from.root[(int64_t)i * p.from.stride];
			}
		}
	BARRIER();
	int team = max(1, warps / copies), first = WARP / team, member = WARP % team, steps = (width(h, level) + 1) / 2;
	for (int t = 0; t < steps; t++) {
		if (member == 0)
			for (int copy = first; copy < copies; copy += warps) {
				Part p = find(h, level, copy >> 1);
				Range x = range_of(p.size, copy & 1, t);
				if (p.size > 1 && x.j >= 0) divide<R>(h, p, copy_of(h, p, level, copy & 1), x, level, copy);
			}
		BARRIER();
		for (int copy = first; copy < copies; copy += warps) {
			Part p = find(h, level, copy >> 1);
			Range x = range_of(p.size, copy & 1, t);
			if (p.size < 2 || x.j < 0 || h.under[(2 << level) - 2 + copy] == x.j) continue;
			Matrix m = copy_of(h, p, level, copy & 1);
			const double* row = m.at + (int64_t)x.j * m.stride;
			double root = m.root[(int64_t)x.j * m.stride];
			for (int i = x.lo + member; i < x.hi; i += team) {
				double* to = m.at + (int64_t)i * m.stride;
				double by = to[x.j];
				for (int c = x.lo + LANE; c < x.hi; c += 32) to[c] = R::add(to[c], by, row[c]);
				if (LANE == 0) m.root[(int64_t)i * m.stride] = R::add(m.root[(int64_t)i * m.stride], by, root);
			}
		}
		BARRIER();
	}
}

// follow computes what reaches the root from the tokens that a level eliminated, before each token that it kept. One thread per token that is the last.
template <class R> DEVICE void follow(const Halving& h, int level) {
	for (int d = THREAD; d < h.n; d += THREADS) {
		int node;
		Part p = find_token(h, level, d, node);
		if (p.size < 2) continue;
		int half = (p.size + 1) / 2, side = d >= p.lo + half, under = h.under[(2 << level) - 2 + 2 * node + side];
		Matrix m = copy_of(h, p, level, side);
		for (int t = (side == 0 ? p.size - half : half) - 1; t >= 0; t--) {
			Range x = range_of(p.size, side, t);
			double sum = R::one();
			if (under != x.j) {
				bool closed = p.closed || (side == 0 ? under > x.j : under >= 0 && under < x.j);
				const double* row = m.at + (int64_t)x.j * m.stride;
				sum = m.root[(int64_t)x.j * m.stride];
				if (!closed) sum = R::times(sum, h.open[d]);
				for (int i = x.lo; i < x.hi; i++) sum = R::add(sum, row[i], h.reach[(int64_t)(p.lo + i) * h.n + d]);
			}
			h.reach[(int64_t)(p.lo + x.j) * h.n + d] = sum;
		}
	}
	BARRIER();
}

// run computes a sentence. It returns, in all threads, what it could not compute; with keep, it leaves the value as it is.
template <class R> DEVICE int run(Halving& h, const double* score, double mu, float* u, double* value, bool keep) {
	int warps = THREADS / 32, n = h.n, step = stride(h, 0);
	for (int k = THREAD; k < 4 * n; k += THREADS) h.under[k] = -1;
	for (int k = THREAD; k < 2; k += THREADS) h.wrong[k] = 1;
	for (int d = WARP; d < n; d += warps) {
		const double* row = score + (int64_t)d * n;
		double* to = h.start + (int64_t)d * step;
		double norm = 0;
		if (!R::logs) {
			double top = largest_of(row, n), sum = 0;
			if (top > IMPOSSIBLE)
				for (int i = LANE; i < n; i += 32) sum += exponential((row[i] - top) / mu);
			norm = top > IMPOSSIBLE ? top / mu + logarithm(warp_sum(sum)) : IMPOSSIBLE;
		}
		for (int i = LANE; i < n; i += 32) {
			double x = row[i] / mu - norm, w = R::logs ? x : norm == IMPOSSIBLE ? 0.0 : exponential(x);
			to[i] = i == d ? R::zero() : w;
			if (i == d) to[n] = w;
		}
		if (LANE == 0) h.norm[d] = norm;
	}
	BARRIER();
	for (int level = 0; level < h.levels; level++) halve<R>(h, level, u ? 2 << level : 1);
	for (int d = THREAD; d < (u ? n : 1); d += THREADS) {
		int node;
		Part p = find_token(h, h.levels, d, node);
		double root = p.from.root[0];
		h.last[d] = root;
		h.open[d] = p.closed ? R::zero() : R::one();
		if (u) h.reach[(int64_t)d * n + d] = R::zero();
		if (!(root > R::zero() && root < (double)INFINITE)) atomic_min(h.wrong + (d > 0), 0);
	}
	BARRIER();
	bool right = h.wrong[0], others = h.wrong[1];
	double log = 0, base = 0;
	if (WARP == 0) {
		for (int d = LANE; d < n; d += 32) {
			base += h.norm[d];
			if (right) log += R::log(d == 0 ? h.last[0] : h.factor[d]);
		}
		log = warp_sum(log);
		base = warp_sum(base);
		if (LANE == 0) {
			right = right && (R::logs || log >= LEAST_LOG_TOTAL);
			if (!keep) *value = right ? mu * (base + log) : IMPOSSIBLE;
			h.wrong[2] = right;
		}
	}
	BARRIER();
	right = h.wrong[2];
	if (!right) return NO_VALUE;
	if (!u) return 0;
	if (!others) return NO_MARGINALS;
	for (int level = h.levels - 1; level >= 0; level--) follow<R>(h, level);
	for (int d = WARP; d < n; d += warps)
		for (int i = LANE; i < n; i += 32) {
			double x = score[(int64_t)d * n + i] / mu - h.norm[d], w = R::logs ? x : exponential(x);
			u[(int64_t)d * n + i] = (float)R::share(R::times(w, i == d ? h.open[d] : h.reach[(int64_t)i * n + d]), h.last[d]);
		}
	return 0;
}

template <class R> DEVICE void sums(const int* offsets, const int* pairs, const double* score, double mu, double* value, float* u_arc, int* declined, double* scratch,
	int room, double* shared) {
	Sentence s = sentence_at(offsets, pairs, BLOCK);
	int n = s.n;
	if (R::logs && !declined[BLOCK]) return;
	if (n == 0) {
		if (THREAD == 0) {
			value[BLOCK] = 0;
			declined[BLOCK] = 0;
		}
		return;
	}
	Halving h;
	h.n = n;
	h.levels = 0;
	while (1 << h.levels < n) h.levels++;
	int64_t size = (int64_t)n * stride(h, 0);
	for (int q = 0; q < h.levels; q++) size += (int64_t)n * stride(h, q);
	double* at = size + (int64_t)n * n + 6 * n + 2 <= room ? shared : scratch + 4 * s.pair + 60 * (int64_t)s.first;
	h.start = at;
	h.reach = at + size;
	h.norm = h.reach + (int64_t)n * n;
	h.last = h.norm + n;
	h.open = h.last + n;
	h.factor = h.open + n;
	h.under = (int*)(h.factor + n);
	h.wrong = h.under + 4 * n;
	float* u = u_arc ? u_arc + s.pair : u_arc;
	// The value must not depend on whether marginals are wanted.
	int lacks = run<R>(h, score + s.pair, mu, u, value + BLOCK, R::logs && declined[BLOCK] == NO_MARGINALS);
	if (!R::logs) {
		if (THREAD == 0) declined[BLOCK] = lacks;
	} else if (u && lacks) { // there is no tree
		for (int k = THREAD; k < n * n; k += THREADS) u[k] = 0.f;
	}
}

BOUNDED_KERNEL(tree_sums, 256)(SUMS_PARAMETERS) {
	SHARED(double, shared);
	sums<Weights>(offsets, pairs, score, mu, value, u_arc, declined, scratch, room, shared);
}
EXPORT(tree_sums)

#define ONCE_256 256, 1 /* threads per block, and least blocks per multiprocessor: with two, registers spill on sm_86 */

BOUNDED_KERNEL(tree_sums_in_logs, ONCE_256)(SUMS_PARAMETERS) {
	SHARED(double, shared);
	sums<Logs>(offsets, pairs, score, mu, value, u_arc, declined, scratch, room, shared);
}
EXPORT(tree_sums_in_logs)

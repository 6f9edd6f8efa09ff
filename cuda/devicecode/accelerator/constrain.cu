// constrain: writes −∞ to the potentials that constraints forbid, and finds potentials that are NaN or +∞.
//   x [N][W] float        node potentials (W = Y) or, with steps, per-position edge potentials (W = Y×Y); in and out
//   source, chain [N] int the position in the data and the chain of each row, −1: padding, left alone
//   offsets [B+1] int     of the batch
//   start, end, always [W] byte or null   what is forbidden in a chain's first row, in its last row, and in every row
//   shared [W][W] float or null, transition [W][W] byte or null   edge potentials that all chains share, and which of them are forbidden
//   bad [1] int           out: the least position in the data (mark, for shared edges) of a NaN or +∞, if it is below bad
// With steps, rows where chains start are left alone. Integer minima do not depend on their order.
// One block per 2048 entries or so. Bound: reads N·W·4 bytes. Reference: structured/chains/constraints.go, structured.Potentials.Finite;
// checked by cuda/accelerator/objective_test.go.
#include "rows.cuh"

KERNEL(constrain)(float* RESTRICT x, const int* RESTRICT source, const int* RESTRICT chain, const int* RESTRICT offsets,
	const uint8_t* RESTRICT start, const uint8_t* RESTRICT end, const uint8_t* RESTRICT always, float* RESTRICT shared,
	const uint8_t* RESTRICT transition, int N, int W, int rows, int steps, int mark, int* bad) {
	FOR_ROWS(N + (shared ? W : 0), W, rows) {
		if (t >= N) {
			int e = (t - N) * W + y;
			if (!(shared[e] < INFINITE)) atomic_min(bad, mark);
			if (transition && transition[e]) shared[e] = NEVER;
			continue;
		}
		int p = source[t];
		if (p < 0) continue;
		int b = chain[t];
		bool starts = offsets[b] == t;
		if (steps && starts) continue;
		if (!(x[i] < INFINITE)) atomic_min(bad, p);
		if ((always && always[y]) || (start && starts && start[y]) || (end && offsets[b + 1] == t + 1 && end[y])) x[i] = NEVER;
	}
}
EXPORT(constrain)

// best_spanning: the best tree with one root arc, projective or not, of every sentence (Chu and Liu 1965; Edmonds 1967; Tarjan 1977).
//   offsets, pairs, score [P] float   of arcs with their best relations, as tree_scores leaves them
//   head [N] int                      out, see BEST_PARAMETERS
//   scratch                           double: 2 per pair and 10 per word, for sentences that room [doubles] of shared memory cannot hold
// One warp per sentence. It contracts cycles along one growing path in float64, and ties go as on the CPU: see oracles/tree/contraction.go, whose steps these are.
// Bound: latency; at most 2n searches of a row for its largest number, and as many rows in contractions.
// Reference: oracles/tree/contraction.go; checked by cuda/cudaoracles/besttrees_test.go.
#include "trees.cuh"

// States of an outermost node: not visited, on the path, or connected to the root permanently.
#define UNSEEN 0
#define ON_PATH 1
#define CONNECTED 2

// Contraction holds nodes: tokens, and cycles of nodes that became one. Fewer than 2n are used.
struct Contraction {
	int n;
	double *row;  // [2n][n] by token as head: the score of the node's arc, less the scores of the arcs inside that it replaces; −∞ for the node's own tokens
	double *root; // [2n] the same for the root as head
	double *best; // [2n] largest of row, when it was on the path
	int *head;    // [2n] the head with that score; at the end that of every node's arc, −1: the root
	int *parent;  // [2n] the cycle that contains the node, −1: none
	int *member, *sibling; // [2n] the first member of a cycle, and the next member of the same cycle; −1: none
	int *state;   // [2n]
	int *node;    // [n] the outermost node that contains a token
	int *path;    // [n]
	int nodes, length, top; // counts of nodes and of the path; the node that the root enters, −1: none
};

DEVICE Contraction contraction(int n, double* at) {
	Contraction c;
	c.n = n;
	c.row = at;
	c.root = c.row + 2 * (int64_t)n * n;
	c.best = c.root + 2 * n;
	c.head = (int*)(c.best + 2 * n);
	c.parent = c.head + 2 * n;
	c.member = c.parent + 2 * n;
	c.sibling = c.member + 2 * n;
	c.state = c.sibling + 2 * n;
	c.node = c.state + 2 * n;
	c.path = c.node + n;
	c.nodes = n;
	c.length = 0;
	c.top = -1;
	return c;
}

DEVICE void load(Contraction& c, const float* score) {
	int n = c.n;
	for (int d = 0; d < n; d++) {
		for (int h = LANE; h < n; h += 32) {
			double v = score[(int64_t)d * n + h];
			c.row[(int64_t)d * n + h] = h == d ? IMPOSSIBLE : v;
			if (h == d) c.root[d] = v;
		}
	}
	for (int d = LANE; d < n; d += 32) {
		c.parent[d] = c.member[d] = -1;
		c.state[d] = UNSEEN;
		c.node[d] = d;
	}
	WARP_BARRIER();
}

DEVICE void push(Contraction& c, int node) {
	WARP_BARRIER(); // all lanes have read the node's state
	if (LANE == 0) {
		c.path[c.length] = node;
		c.state[node] = ON_PATH;
	}
	c.length++;
	WARP_BARRIER();
}

// contract makes one node of the path from a node to its end, and returns it.
DEVICE int contract(Contraction& c, int from) {
	int added = c.nodes++, n = c.n, begin = c.length;
	while (c.path[--begin] != from) {
	}
	for (int h = LANE; h <= n; h += 32) { // h = n: the root
		double most = IMPOSSIBLE;
		for (int k = begin; k < c.length; k++) {
			int m = c.path[k];
			most = max(most, (h == n ? c.root[m] : c.row[(int64_t)m * n + h]) - c.best[m]);
		}
		*(h == n ? c.root + added : c.row + (int64_t)added * n + h) = most;
	}
	for (int k = begin + LANE; k < c.length; k += 32) {
		int m = c.path[k];
		c.parent[m] = added;
		c.sibling[m] = k + 1 < c.length ? c.path[k + 1] : -1;
	}
	if (LANE == 0) {
		c.member[added] = from;
		c.parent[added] = -1;
	}
	c.length = begin;
	WARP_BARRIER();
	for (int d = LANE; d < n; d += 32) {
		if (c.parent[c.node[d]] != added) continue;
		c.node[d] = added;
		c.row[(int64_t)added * n + d] = IMPOSSIBLE;
	}
	WARP_BARRIER();
	return added;
}

// connect follows best heads from a node until it meets a connected node, and contracts the cycles that it closes. A node without a possible head gets the
// root; connect returns false if a second node would need it.
DEVICE bool connect(Contraction& c, int node) {
	int n = c.n;
	push(c, node);
	for (;;) {
		int at = c.path[c.length - 1], h = n;
		const double* row = c.row + (int64_t)at * n;
		double most = IMPOSSIBLE;
		for (int k = LANE; k < n; k += 32) {
			if (row[k] > most) {
				most = row[k];
				h = k;
			}
		}
		first_largest(most, h);
		if (h == n) {
			if (c.top >= 0 || !(c.root[at] > IMPOSSIBLE)) return false;
			c.top = at;
			break;
		}
		if (LANE == 0) {
			c.head[at] = h;
			c.best[at] = most;
		}
		WARP_BARRIER();
		int to = c.node[h];
		if (c.state[to] == CONNECTED) break;
		if (c.state[to] == ON_PATH) to = contract(c, to);
		push(c, to);
	}
	for (int k = LANE; k < c.length; k += 32) c.state[c.path[k]] = CONNECTED;
	c.length = 0;
	WARP_BARRIER();
	return true;
}

// expand gives the arc that enters a cycle to the member that it enters; the arcs of the others stay. Members come before their cycles.
DEVICE void expand(Contraction& c) {
	int n = c.n;
	if (LANE == 0) c.head[c.top] = -1;
	WARP_BARRIER();
	for (int at = c.nodes - 1; at >= n; at--) {
		int h = c.head[at], m = c.member[at];
		auto score = [&](int node) { return h < 0 ? c.root[node] : c.row[(int64_t)node * n + h]; };
		double whole = score(at);
		while (c.sibling[m] >= 0 && score(m) - c.best[m] != whole) m = c.sibling[m];
		WARP_BARRIER();
		if (LANE == 0) c.head[m] = h;
		WARP_BARRIER();
	}
}

BOUNDED_KERNEL(best_spanning, 32)(BEST_PARAMETERS) {
	SHARED(double, shared);
	Sentence s = sentence_at(offsets, pairs, BLOCK);
	int n = s.n;
	if (n == 0) return;
	int64_t needed = 2 * (int64_t)n * n + 10 * n;
	Contraction c = contraction(n, needed <= room ? shared : scratch + 2 * s.pair + 10 * (int64_t)s.first);
	load(c, score + s.pair);
	bool found = true;
	for (int d = 0; d < n && found; d++) {
		if (c.state[c.node[d]] == UNSEEN) found = connect(c, c.node[d]);
	}
	if (found) expand(c);
	for (int d = LANE; d < n; d += 32) head[s.first + d] = !found ? -1 : c.head[d] < 0 ? d : c.head[d];
}
EXPORT(best_spanning)

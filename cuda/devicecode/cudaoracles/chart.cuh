// Eisner's tables of one sentence (Eisner 1996), over any semiring, for a block of threads: a warp computes a span, and all spans of one width are
// computed at once. Reference: oracles/tree/chart.go.
#pragma once

#include "trees.cuh"

// Chart holds tables [n][stride] of spans, by their head h and their other end e.
//   complete[h][e]   spans that contain all descendants of h between h and e; one on the diagonal
//   arc[h][d]        spans between a head and its dependent
//   score[h][d]      scores of arcs; on the diagonal those of the root's
template <class R> struct Chart {
	int n, stride;
	typename R::number *score, *complete, *arc;
};

// inside computes complete and arc from score and the diagonal of complete. All threads of the block call it.
template <class R> DEVICE void inside(const Chart<R>& c) {
	typedef typename R::number number;
	int n = c.n, step = c.stride;
	for (int w = 1; w < n; w++) {
		for (int i = WARP; i < n - w; i += THREADS / 32) {
			int j = i + w;
			number *complete_i = c.complete + (int64_t)i * step, *complete_j = c.complete + (int64_t)j * step;
			number *arc_i = c.arc + (int64_t)i * step, *arc_j = c.arc + (int64_t)j * step;
			number joined = dot<R>(complete_i + i, 1, complete_j + i + 1, 1, w);
			if (LANE == 0) {
				arc_i[j] = R::times(joined, c.score[(int64_t)i * step + j]);
				arc_j[i] = R::times(joined, c.score[(int64_t)j * step + i]);
			}
			WARP_BARRIER();
			number right = dot<R>(arc_i + i + 1, 1, complete_i + step + j, step, w);
			number left = dot<R>(complete_i + i, step, arc_j + i, 1, w);
			if (LANE == 0) {
				complete_i[j] = right;
				complete_j[i] = left;
			}
		}
		BARRIER();
	}
}

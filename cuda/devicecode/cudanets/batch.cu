// batch: the chain, data position and gold label of each row of a ragged batch, from the batch's examples and offsets.
//   examples [B] int, offsets [B+1] int   the batch: −1 and no rows beyond its last chain        (B, N: capacities)
//   data_offsets [n+1] int, labels [ΣT] int or null, weights [n] float or null                    the data set
//   source, chain, gold [N] int, weight [B] float   out; −1, and weight 0, in padding
// One thread per row, which finds its chain by bisection, and per chain. Bound: writes 12·N bytes.
// Reference: structured/batch.go; checked by cuda/resident/batch_test.go.
#include "device.cuh"

KERNEL(batch)(const int* RESTRICT examples, const int* RESTRICT offsets, int B, int N, const int* RESTRICT data_offsets, const int* RESTRICT labels,
	const float* RESTRICT weights, int* RESTRICT source, int* RESTRICT chain, int* RESTRICT gold, float* RESTRICT weight) {
	int k = BLOCK * THREADS + THREAD;
	if (k < B) {
		int i = examples[k];
		weight[k] = i < 0 ? 0.f : weights ? weights[i] : 1.f;
	}
	if (k >= N) return;
	int b = -1, from = -1, label = -1;
	if (k < offsets[B]) {
		b = 0;
		for (int beyond = B; beyond - b > 1;) { // offsets[b] ≤ k < offsets[beyond]
			int middle = b + (beyond - b) / 2;
			if (offsets[middle] <= k) b = middle;
			else beyond = middle;
		}
		from = data_offsets[examples[b]] + k - offsets[b];
		if (labels) label = max(labels[from], -1);
	}
	chain[k] = b;
	source[k] = from;
	gold[k] = label;
}
EXPORT(batch)

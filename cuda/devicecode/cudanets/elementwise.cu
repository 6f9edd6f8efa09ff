// elementwise: a run of elementwise instructions on the same n entries, in one pass (include/steps.cuh).
// Up to 256 threads; a thread takes 4 neighbouring entries at a time, and reads and writes them at once where their address is a multiple of 16 bytes.
// Shared memory: the steps and the spaces' addresses.
// Bound: reads every operand and writes every stored result once. Reference: nets/graph/elementwise.go, nets/graph/dropout.go; checked by
// cuda/cudanets/executor_test.go and cuda/cudanets/functions_test.go.
#include "steps.cuh"

BOUNDED_KERNEL(elementwise, 256)(uint32_t n, STEPS_PARAMETERS) {
	SHARED(uint64_t, shared);
	Steps steps = LOAD_STEPS(shared);
	BARRIER();
	for (uint32_t first = 4 * (BLOCK * THREADS + THREAD); first < n; first += 4 * BLOCKS * THREADS) {
		float z[4] = {};
		take_steps(steps, first, n - first < 4 ? n - first : 4, z);
	}
}
EXPORT(elementwise)

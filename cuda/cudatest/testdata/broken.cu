// Faulty kernels, for the tests of the emulated device. Their PTX, broken.ptx, only names them.
//   x [n] float
#include "device.cuh"

// Correct: the sum of x over each block's threads, in shared memory.
KERNEL(right)(float* x, float value, int64_t n) {
	SHARED(float, s);
	s[THREAD] = THREAD < n ? (float)THREAD : 0.f;
	BARRIER();
	for (int m = THREADS >> 1; m > 0; m >>= 1) {
		if (THREAD < m) s[THREAD] += s[THREAD + m];
		BARRIER();
	}
	float w = warp_sum((float)LANE);
	uint32_t few = ballot(LANE < 2);
	if (THREAD == 0) x[BLOCK] = s[0] + value * w + (float)few;
}
EXPORT(right)

KERNEL(barriers)(float* x, float value, int64_t n) {
	for (int64_t i = 0; i < n; i++) BARRIER();
}
EXPORT(barriers)

KERNEL(shuffles)(float* x, float value, int64_t n) {
	float s = (float)THREAD;
	for (int64_t i = 0; i < n; i++) s += shuffle_xor(s, 1);
	x[THREAD] = s;
}
EXPORT(shuffles)

KERNEL(overrun)(float* x, float value, int64_t n) {
	if (BLOCK == 1 && THREAD == 5) x[n + 40] = value;
}
EXPORT(overrun)

KERNEL(overrun_by_one)(float* x, float value, int64_t n) {
	if (BLOCK == 1 && THREAD == 5) x[n] = value;
}
EXPORT(overrun_by_one)

KERNEL(null)(float* x, float value, int64_t n) {
	float* p = (float*)(n - n);
	if (THREAD == 3) p[0] = value;
}
EXPORT(null)

KERNEL(uninitialised)(float* x, float value, int64_t n) {
	SHARED(float, s);
	x[THREAD] = s[THREAD];
}
EXPORT(uninitialised)

KERNEL(much_shared)(float* x, float value, int64_t n) {
	SHARED(float, s);
	s[16 + THREAD] = value;
}
EXPORT(much_shared)

KERNEL(divergent)(float* x, float value, int64_t n) {
	if (THREAD != 7) BARRIER();
	x[THREAD] = value;
}
EXPORT(divergent)

KERNEL(divergent_warps)(float* x, float value, int64_t n) {
	if (WARP) BARRIER();
	else WARP_BARRIER();
	BARRIER();
	x[THREAD] = value;
}
EXPORT(divergent_warps)

KERNEL(divergent_shuffle)(float* x, float value, int64_t n) {
	if (THREAD < 20) value = warp_sum(value);
	x[THREAD] = value;
}
EXPORT(divergent_shuffle)

KERNEL(missing_lane)(float* x, float value, int64_t n) {
	x[THREAD] = warp_sum(value);
}
EXPORT(missing_lane)

// Thread t reads what thread t-1 wrote, without a barrier between.
KERNEL(missing_barrier)(float* x, float value, int64_t n) {
	SHARED(float, s);
	s[THREAD] = (float)THREAD;
	x[THREAD] = THREAD ? s[THREAD - 1] : 0.f;
}
EXPORT(missing_barrier)

KERNEL(blocks_meet)(float* x, float value, int64_t n) {
	if (THREAD == 0) x[0] = (float)BLOCK;
}
EXPORT(blocks_meet)

KERNEL(divides)(float* x, float value, int64_t n) {
	x[THREAD] = (float)(100 / (THREAD - 9));
}
EXPORT(divides)

KERNEL(misaligned)(float* x, float value, int64_t n) {
	double* d = (double*)(x + 1);
	d[THREAD] = value;
}
EXPORT(misaligned)

KERNEL(outside)(float* x, float value, int64_t n) {
	float local[8];
	for (int i = 0; i < 8; i++) local[i] = value;
	x[THREAD] = local[THREAD];
}
EXPORT(outside)

DEVICE float endless(float x) {
	volatile char much[200 << 10];
	much[THREAD] = 1;
	return x + much[THREAD];
}
KERNEL(much_stack)(float* x, float value, int64_t n) { x[THREAD] = endless(value); }
EXPORT(much_stack)

// Correct if x and y are different arrays.
KERNEL(copies)(float* RESTRICT x, float value, const float* RESTRICT y) { x[THREAD] = y[THREAD] + value; }
EXPORT(copies)

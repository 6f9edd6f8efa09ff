// What kernels for sparse inputs are written with.
#pragma once

#include "device.cuh"

// warp_nonzero reports whether any of W numbers is not zero, to all lanes of a warp.
DEVICE bool warp_nonzero(const float* x, int W) {
	bool any = false;
	for (int y = LANE; y < W; y += 32) any = any || x[y] != 0.f;
	return ballot(any) != 0;
}

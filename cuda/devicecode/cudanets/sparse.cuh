// Shared by kernels for sparse inputs.
#pragma once

#include "device.cuh"

// warp_nonzero reports, to all lanes of a warp, whether any of W numbers is not zero.
DEVICE bool warp_nonzero(const float* x, int W) {
	bool any = false;
	for (int y = LANE; y < W; y += 32) any = any || x[y] != 0.f;
	return ballot(any) != 0;
}

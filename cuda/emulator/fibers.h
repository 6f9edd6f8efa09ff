// How kernels run: one fiber per CUDA thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "place.h"

namespace emulated {

struct Grid {
	unsigned x, y, z;
	uint64_t blocks() const { return (uint64_t)x * y * z; }
};

// A device may run threads and blocks in any order. Tests use several orders.
enum class Order { forward, reverse, random };

struct Settings {
	Order order = Order::forward;
	unsigned seed = 1;
	int workers = 1;     // OS threads that share the blocks,
	bool always = false; // even of small launches
};

enum class Fault { none, address, alignment, launch };

// Outcome of a launch; the report names the kernel, block and thread, and what happened.
struct Outcome {
	Fault fault = Fault::none;
	std::string report;
};

const Kernel* kernel_named(const std::string& name);

// run runs the kernel for every thread of every block, and returns when all have ended or one has failed.
Outcome run(const Kernel* kernel, const unsigned long long* arguments, Grid grid, int threads, size_t shared, const Settings& settings);

} // namespace emulated

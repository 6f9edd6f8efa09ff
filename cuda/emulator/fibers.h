// How kernels run: a fiber a CUDA thread.
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

// The order in which threads and blocks run is nobody's business on a device. Tests run in several.
enum class Order { forward, reverse, random };

struct Settings {
	Order order = Order::forward;
	unsigned seed = 1;
	int workers = 1;     // operating system's threads that share the blocks,
	bool always = false; // of small launches, too
};

enum class Fault { none, address, alignment, launch };

// Outcome of a launch; the report names kernel, block, thread and what happened.
struct Outcome {
	Fault fault = Fault::none;
	std::string report;
};

const Kernel* kernel_named(const std::string& name);

// run runs the kernel for every thread of every block, and returns when all have ended or one has failed.
Outcome run(const Kernel* kernel, const unsigned long long* arguments, Grid grid, int threads, size_t shared, const Settings& settings);

} // namespace emulated

// A worker runs blocks, one after another, on the OS thread that calls it.
#pragma once

#include "fibers.h"
#include "switch.h"

#include <setjmp.h>

#include <atomic>
#include <mutex>

namespace emulated {

const int most_threads = 1024;
const int warp_size = 32;
const size_t most_shared = 227 << 10;

// Launch is the state that the workers of a launch share.
struct Launch {
	const Kernel* kernel;
	const unsigned long long* arguments;
	Grid grid;
	int threads;
	size_t shared;
	Settings settings;

	std::atomic<uint64_t> next{0}; // next block to run
	std::atomic<bool> failed{false};
	std::mutex mutex;
	Outcome outcome; // of the first block that failed

	std::string described() const;
	void fail(Fault fault, const std::string& what);
};

struct Worker {
	Worker();
	void run(Launch& launch); // runs blocks until none are left

	// The rest is for fibers.cpp, faults.cpp and races.cpp.
	void make_fibers(int n);
	void arrange(uint64_t index);
	void block(uint64_t index);
	Site warp(int start);
	[[noreturn]] void disagree(int a, int b);
	[[noreturn]] void escape(const std::string& what);
	std::string where() const;
	std::string of_signal() const;

	Launch* launch = nullptr;
	Stack scheduler;
	int position = 0, end = 0;     // of the running thread, and of its warp
	bool waited = false;           // a thread has waited since the block began
	int fibers = 0;                // created so far
	char* stacks[most_threads];    // lowest mapped address of each
	Site site[most_threads];       // where the thread at each position waits
	Stack at[most_threads];        // where it continues
	Stack beginning[most_threads]; // prepared start of each fiber
	int thread[most_threads];      // thread at each position
	int warps[most_threads / warp_size];
	unsigned slots[2][warp_size + 1];
	char* shared_end;
	sigjmp_buf way_out;
	// For races.cpp. A phase starts at the beginning of a block and at each barrier of it; phases are counted over all blocks. Turns of a warp
	// start at its barriers.
	uint64_t phase = 0, block_phase = 0, first_phase = 0; // the current one, and those in which the block and the launch began
	uint32_t turns[most_threads / warp_size] = {};
	void (*at_end_of_block)() = nullptr;
	// Set by the signal handler.
	int signal = 0;
	uintptr_t address = 0;
	const void* instruction = nullptr;
};

// catch_signals installs handlers that turn faults in a running kernel into errors, and pass other signals to the previous handlers.
void catch_signals();

// source_of returns the source line of an instruction of this library if addr2line is installed, else its offset in the library.
std::string source_of(const void* instruction);

extern bool one_worker; // use a single worker, whatever the settings
// signal_stack gives this thread a stack for signal handlers, if it has none.
void signal_stack();

} // namespace emulated

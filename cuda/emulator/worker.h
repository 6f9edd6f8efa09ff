// A worker runs blocks, one after another, on the thread of the operating system that it is called on.
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

// Launch is what the workers of one share.
struct Launch {
	const Kernel* kernel;
	const unsigned long long* arguments;
	Grid grid;
	int threads;
	size_t shared;
	Settings settings;

	std::atomic<uint64_t> next{0}; // block to run
	std::atomic<bool> failed{false};
	std::mutex mutex;
	Outcome outcome; // of the first that failed

	std::string described() const;
	void fail(Fault fault, const std::string& what);
};

struct Worker {
	Worker();
	void run(Launch& launch); // blocks until there are no more

	// The rest is for fibers.cpp and faults.cpp.
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
	bool waited = false;           // since the block began
	int fibers = 0;                // made so far
	char* stacks[most_threads];    // their lowest mapped addresses
	Site site[most_threads];       // where the thread at a position waits
	Stack at[most_threads];        // where it goes on
	Stack beginning[most_threads]; // of a fiber
	int thread[most_threads];      // at a position
	int warps[most_threads / warp_size];
	unsigned slots[2][warp_size + 1];
	char* shared_end;
	sigjmp_buf way_out;
	// For races.cpp: phases of all blocks are counted, where a block begins and where its barrier is passed; a warp's turns, where its is.
	uint64_t phase = 0, block_phase = 0, first_phase = 0; // now, and when the block and the launch began
	uint32_t turns[most_threads / warp_size] = {};
	void (*at_end_of_block)() = nullptr;
	// What a signal said.
	int signal = 0;
	uintptr_t address = 0;
	const void* instruction = nullptr;
};

// catch_signals makes errors of a running kernel end it; other signals go to who had them before.
void catch_signals();

// source_of names the line of an instruction of this library where there is addr2line, otherwise its place in the library.
std::string source_of(const void* instruction);

extern bool one_worker; // whatever the settings
// signal_stack gives this thread a stack to take signals on, where it has none.
void signal_stack();

} // namespace emulated

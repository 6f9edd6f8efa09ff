// The threads of a block, as fibers.
//
// A warp's threads run in turn, each until it waits or ends. When all wait at the same site, they continue. When the warp waits at a block's
// barrier or has ended, the next warp runs, and after all warps the block continues. So a block needs no queue, and a wait costs one stack
// switch. A thread starts on the stack of the previous one if that has ended: threads that never wait are plain calls.
#include "worker.h"
#include "memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace emulated {

__thread Place here __attribute__((tls_model("initial-exec")));

static const size_t stack_bytes = 64 << 10;
static const Site ended = ~0ull;

static Worker* worker() { return (Worker*)here.worker; }

// next_thread moves to the next position of the warp and returns false after the last.
static bool next_thread(Worker* w) {
	if (++w->position == w->end) return false;
	here.thread = w->thread[w->position];
	return true;
}

void wait(Site site) {
	Worker* w = worker();
	Stack* from = &w->at[w->position];
	w->site[w->position] = site;
	w->waited = true;
	switch_stack(from, next_thread(w) ? w->at[w->position] : w->scheduler);
}

// run_threads is the body of every fiber. It starts threads as long as the previous ones ended without waiting.
static void run_threads() {
	Worker* w = worker();
	Stack self;
	for (;;) {
		w->launch->kernel->run(w->launch->arguments);
		w->site[w->position] = ended;
		if (!next_thread(w)) switch_stack(&self, w->scheduler);
		if (w->at[w->position] != w->beginning[w->position]) switch_stack(&self, w->at[w->position]);
	}
}

Worker::Worker() {
	size_t page = (size_t)getpagesize(), room = (most_shared + page - 1) / page * page;
	char* p = (char*)mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + page, room, PROT_READ | PROT_WRITE)) abort();
	shared_end = p + page + room;
}

// make_fibers creates the first n fibers. Their stacks end in unmapped pages and start at different page offsets, so that the processor's
// caches can hold many of them.
void Worker::make_fibers(int n) {
	size_t page = (size_t)getpagesize();
	for (; fibers < n; fibers++) {
		char* low = (char*)mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (low == MAP_FAILED || mprotect(low, page, PROT_NONE)) abort();
		stacks[fibers] = low + page;
		beginning[fibers] = at[fibers] = prepared(low + page + stack_bytes - (size_t)(fibers % 64) * 64, run_threads);
	}
}

static uint64_t mixed(uint64_t x) { // splitmix64
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void arrange_range(int* to, int n, Order order, uint64_t seed) {
	for (int i = 0; i < n; i++) to[i] = order == Order::reverse ? n - 1 - i : i;
	if (order != Order::random) return;
	if (n == warp_size) { // fast path: an odd step visits every lane
		for (int i = 0; i < n; i++) to[i] = (int)((seed | 1) * (uint64_t)i + (seed >> 8)) & (warp_size - 1);
		return;
	}
	for (int i = n - 1; i > 0; i--) std::swap(to[i], to[(seed = mixed(seed)) % (uint64_t)(i + 1)]);
}

// arrange chooses the order of the block's warps, and of the threads in each.
void Worker::arrange(uint64_t index) {
	Order order = launch->settings.order;
	uint64_t seed = mixed(launch->settings.seed ^ mixed(index));
	int n = (launch->threads + warp_size - 1) / warp_size;
	arrange_range(warps, n, order, seed);
	for (int v = 0; v < n; v++) {
		int start = v * warp_size, lanes = std::min(warp_size, launch->threads - start);
		arrange_range(thread + start, lanes, order, mixed(seed + (uint64_t)v));
		for (int i = start; i < start + lanes; i++) thread[i] += start;
	}
}

void Worker::run(Launch& l) {
	launch = &l;
	Place outer = here; // restored at the end, so that the thread's next launch starts clean
	here.worker = this;
	here.threads = l.threads;
	here.blocks = (int)l.grid.x;
	here.blocks_y = (int)l.grid.y;
	here.blocks_z = (int)l.grid.z;
	here.shared = shared_end - (l.shared + 15) / 16 * 16;
	make_fibers(l.threads);
	memcpy(at, beginning, sizeof at[0] * (size_t)l.threads);
	waited = false;
	first_phase = phase + 1;
	arrange(0);
	if (!sigsetjmp(way_out, 0)) {
		here.running = 1;
		uint64_t n = l.grid.blocks(), i;
		while (!l.failed.load(std::memory_order_relaxed) && (i = l.next.fetch_add(1, std::memory_order_relaxed)) < n) block(i);
	} else if (signal) {
		here.running = 0;
		Fault fault = signal == SIGSEGV || signal == SIGBUS ? Fault::address : signal == SIGILL ? Fault::alignment : Fault::launch;
		l.fail(fault, where() + of_signal());
	}
	here = outer;
}

void Worker::block(uint64_t index) {
	const Launch& l = *launch;
	uint64_t n = l.grid.blocks(), i = index;
	if (l.settings.order == Order::reverse) i = n - 1 - index;
	if (l.settings.order == Order::random) {
		uint64_t step = mixed(l.settings.seed) % n; // the next number coprime to n visits every block
		while (std::__gcd(step, n) != 1) step++;
		i = (uint64_t)(((unsigned __int128)index * step + l.settings.seed) % n);
		arrange(i);
	}
	here.block = (int)(i % l.grid.x);
	here.block_y = (int)(i / l.grid.x % l.grid.y);
	here.block_z = (int)(i / l.grid.x / l.grid.y);
	poison(here.shared, (size_t)(shared_end - here.shared));
	if (waited) {
		memcpy(at, beginning, sizeof at[0] * (size_t)l.threads);
		waited = false;
	}

	block_phase = ++phase;
	int n_warps = (l.threads + warp_size - 1) / warp_size;
	for (Site common = block_barrier; common != ended;) {
		for (int k = 0; k < n_warps; k++) {
			Site s = warp(warps[k] * warp_size);
			if (k == 0) common = s;
			if (s != common) disagree(warps[0] * warp_size, warps[k] * warp_size);
		}
		phase++;
	}
	if (at_end_of_block) at_end_of_block();
}

// warp runs a warp until it ends or waits for the block, and returns the site at which it waits.
Site Worker::warp(int start) {
	end = std::min(start + warp_size, launch->threads);
	here.lanes = end - start;
	for (;;) {
		here.slots = here.slots == slots[0] ? slots[1] : slots[0]; // this turn reads what the last turn wrote to the other set
		here.slots[warp_size] = 0;
		position = start;
		here.thread = thread[start];
		switch_stack(&scheduler, at[start]);
		Site s = site[start];
		for (int i = start; i < end; i++) {
			if (site[i] != s) disagree(start, start);
		}
		if (s == ended || (s & kinds) == block_barrier) return s;
		if ((s & kinds) == warp_barrier) turns[start / warp_size]++;
	}
}

} // namespace emulated

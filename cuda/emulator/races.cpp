// Detects races: two threads access the same memory, at least one of them writes, and no barrier separates them. It is linked only into
// build/libcuda-races.so, whose kernels are compiled with -fsanitize=thread: the compiler then calls __tsan_read4 and similar functions before
// every access. They are defined here.
//
// Blocks run one after another here, so every access belongs to a phase, the time between two barriers of a block. Two accesses in a phase
// are ordered if they are by the same thread, or by the same warp with a warp barrier between. Accesses of two blocks are never ordered.
// Shuffles and votes order nothing, since CUDA does not promise it. Writing the value that is already there is harmless.
#include "memory.h"
#include "worker.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

namespace emulated {

namespace {

// Access is the last access of its kind to a word.
struct Access {
	uint64_t phase = 0;
	uint32_t turn = 0; // barriers of the warp so far
	uint16_t thread = 0;
	uint8_t bytes = 0; // of the word, one bit each
	bool atomic = false;
	const void* at = nullptr; // instruction
};

struct Word {
	Access write, read, other; // other: a read by another thread than that of read
};

const size_t page_bytes = 4096;
struct Page {
	Word words[page_bytes / 4];
};

std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages;
uint64_t launch_of_pages;
uintptr_t last_number;
Page* last_page;

// Suspect is a write that is a race only if it changes the memory.
struct Suspect {
	uintptr_t at = 0;
	size_t bytes = 0;
	char before[4];
	Access now, earlier;
	const char* did; // what the earlier access did
} suspect;

Worker* worker() { return (Worker*)here.worker; }

Word& word(uintptr_t at) {
	uintptr_t number = at / page_bytes;
	Worker* w = worker();
	if (launch_of_pages != w->first_phase) { // forget accesses of other launches
		launch_of_pages = w->first_phase;
		if (pages.size() > 2000) pages.clear();
		last_page = nullptr;
	}
	if (!last_page || number != last_number) {
		auto& p = pages[number];
		if (!p) p = std::make_unique<Page>();
		last_number = number;
		last_page = p.get();
	}
	return last_page->words[at % page_bytes / 4];
}

bool is_shared(uintptr_t at) {
	Worker* w = worker();
	return at < (uintptr_t)w->shared_end && at >= (uintptr_t)w->shared_end - most_shared;
}

// unordered reports whether nothing orders an earlier access before one by the running thread.
bool unordered(const Access& a, uint8_t bytes, bool shared) {
	Worker* w = worker();
	if (!(a.bytes & bytes) || a.phase < w->first_phase) return false;
	if (a.phase < w->block_phase) return !shared; // by another block
	if (a.phase < w->phase || a.thread == here.thread) return false;
	return a.thread / warp_size != here.thread / warp_size || a.turn == w->turns[here.thread / warp_size];
}

std::string what(uintptr_t at) {
	if (!is_shared(at)) return nearby(at);
	return "byte " + std::to_string(at - (uintptr_t)here.shared) + " of the block's shared memory";
}

std::string told(uintptr_t at, const Access& now, const char* does, const Access& earlier, const char* did) {
	std::string who = "thread " + std::to_string(earlier.thread);
	if (earlier.phase < worker()->block_phase) who += " of another block";
	return "thread " + std::to_string(now.thread) + " " + does + " (" + source_of(now.at) + ") what " + who + " " + did + " (" + source_of(earlier.at) + ") with no barrier between: " + what(at);
}

// check_suspect reports the last suspicious write, which has happened by now, if it changed the memory.
void check_suspect() {
	if (!suspect.at) return;
	uintptr_t at = suspect.at;
	suspect.at = 0;
	if (memcmp((const void*)at, suspect.before, suspect.bytes)) worker()->escape(told(at, suspect.now, "writes", suspect.earlier, suspect.did));
}

void note(uintptr_t at, size_t bytes, bool writes, bool atomic, const void* instruction) {
	if (!here.running || at - (uintptr_t)&here < sizeof here || at - (uintptr_t)here.worker < sizeof(Worker)) return; // not the kernel's memory
	char mark;
	bool shared = is_shared(at);
	if (!shared && at - (uintptr_t)&mark + (64 << 10) < (128 << 10)) return; // the thread's own stack
	check_suspect();
	Worker* w = worker();
	w->at_end_of_block = check_suspect;
	for (uintptr_t end = at + bytes; at < end;) {
		uintptr_t next = std::min(end, at / 4 * 4 + 4);
		uint8_t mask = (uint8_t)(((1u << (next - at)) - 1) << at % 4);
		Word& s = word(at);
		Access now;
		now.phase = w->phase;
		now.turn = w->turns[here.thread / warp_size];
		now.thread = (uint16_t)here.thread;
		now.bytes = mask;
		now.atomic = atomic;
		now.at = instruction;
		if (!writes) {
			if (unordered(s.write, mask, shared)) w->escape(told(at, now, "reads", s.write, "wrote"));
			if (s.read.thread != now.thread || s.read.phase != now.phase) s.other = s.read;
			s.read = now;
		} else {
			for (const Access* a : {&s.write, &s.read, &s.other}) {
				if (suspect.at || !unordered(*a, mask, shared) || (atomic && a->atomic)) continue;
				suspect.at = at;
				suspect.bytes = next - at;
				memcpy(suspect.before, (const void*)at, suspect.bytes);
				suspect.now = now;
				suspect.earlier = *a;
				suspect.did = a == &s.write ? "wrote" : "read";
			}
			s.write = now;
		}
		at = next;
	}
}

struct OneWorker {
	OneWorker() { one_worker = true; }
} one;

} // namespace

} // namespace emulated

using emulated::note;

#define HOOK extern "C" __attribute__((visibility("hidden")))
#define CALLER ((const char*)__builtin_return_address(0) - 1)

HOOK void __tsan_init() {}
#define ACCESSES(n) \
	HOOK void __tsan_read##n(void* at) { note((uintptr_t)at, n, false, false, CALLER); } \
	HOOK void __tsan_write##n(void* at) { note((uintptr_t)at, n, true, false, CALLER); } \
	HOOK void __tsan_unaligned_read##n(void* at) { note((uintptr_t)at, n, false, false, CALLER); } \
	HOOK void __tsan_unaligned_write##n(void* at) { note((uintptr_t)at, n, true, false, CALLER); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
HOOK void __tsan_read_range(void* at, size_t n) { note((uintptr_t)at, n, false, false, CALLER); }
HOOK void __tsan_write_range(void* at, size_t n) { note((uintptr_t)at, n, true, false, CALLER); }

#define ATOMICS(bits, T) \
	HOOK T __tsan_atomic##bits##_load(const volatile T* at, int) { return *at; } \
	HOOK T __tsan_atomic##bits##_fetch_add(volatile T* at, T x, int) { note((uintptr_t)at, sizeof(T), true, true, CALLER); T old = *at; *at = old + x; return old; } \
	HOOK T __tsan_atomic##bits##_fetch_or(volatile T* at, T x, int) { note((uintptr_t)at, sizeof(T), true, true, CALLER); T old = *at; *at = old | x; return old; } \
	HOOK T __tsan_atomic##bits##_exchange(volatile T* at, T x, int) { note((uintptr_t)at, sizeof(T), true, true, CALLER); T old = *at; *at = x; return old; } \
	HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T x, int, int) { \
		note((uintptr_t)at, sizeof(T), true, true, CALLER); \
		T old = *at; \
		if (old == *expected) { *at = x; return 1; } \
		*expected = old; \
		return 0; \
	}
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long long)

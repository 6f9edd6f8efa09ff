// The interface between a kernel's threads, compiled with shim.h, and fibers.cpp, which runs them. It includes no headers and uses no
// standard library types, because kernels would see them.
#pragma once

struct Space; // of cuda/devicecode/include/steps.cuh

namespace emulated {

// Place is the position of the running thread, and what it shares with others.
struct Place {
	int thread, threads, block, block_y, block_z, blocks, blocks_y, blocks_z;
	char* shared;     // the block's
	unsigned* slots;  // the warp's: one number per lane for shuffles, then the bits of a vote. Two sets alternate
	int lanes;        // in this warp: fewer than 32 at the end of a block
	int running;      // a kernel is running; signals then concern it
	void* worker;
};
extern __thread Place here __attribute__((tls_model("initial-exec")));

// A site says where in the source a thread waits, and for what; threads that wait for each other must be at the same site. It holds the
// lower half of the address of the file's name (the upper half is the same for all constants here), then the kind, then the line.
typedef unsigned long long Site;
enum : unsigned { block_barrier = 1u << 24, warp_barrier = 2u << 24, shuffling = 3u << 24, voting = 4u << 24, kinds = 255u << 24 };
inline Site site(unsigned kind, unsigned line, const char* file) { return (Site)file << 32 | kind | line; }
void wait(Site site);
void no_such_lane(int lane, Site site) __attribute__((noreturn, cold));

__attribute__((no_sanitize("thread"))) inline unsigned exchange(unsigned x, int lane, Site site) {
	unsigned* slots = here.slots;
	slots[here.thread & 31] = x;
	wait(site);
	lane &= 31;
	if (lane >= here.lanes) no_such_lane(lane, site);
	return slots[lane];
}

__attribute__((no_sanitize("thread"))) inline unsigned vote(bool x, Site site) {
	unsigned* slots = here.slots;
	slots[32] |= (unsigned)x << (here.thread & 31);
	wait(site);
	return slots[32];
}

// Kernel describes a kernel that EXPORT registers.
struct Parameter {
	int bytes;
	bool pointer, written; // written: a pointer to non-const data
	bool shared;           // other parameters may be the same array
};
struct Kernel {
	const char* name;
	const char* stamp; // first line of the PTX at the time of compilation
	void (*run)(const unsigned long long* arguments);
	int parameters;
	const Parameter* parameter;
	Kernel* next;
	Kernel(const char* name, const char* stamp, void (*run)(const unsigned long long*), int parameters, const Parameter* parameter);
};

template <class T> struct IsPointer { enum { yes = 0, written = 0, shared = 0 }; };
template <class T> struct IsPointer<T*> { enum { yes = 1, written = 1, shared = 0 }; };
template <class T> struct IsPointer<const T*> { enum { yes = 1, written = 0, shared = 0 }; };
template <> struct IsPointer<::Space*> { enum { yes = 1, written = 1, shared = 1 }; };
template <int... I> struct Indices {};
template <int N, int... I> struct UpTo : UpTo<N - 1, N - 1, I...> {};
template <int... I> struct UpTo<0, I...> { typedef Indices<I...> All; };

// Entry unpacks the arguments of a kernel, by the types of its parameters.
template <class F, F f> struct Entry;
template <class... P, void (*f)(P...)> struct Entry<void (*)(P...), f> {
	enum { parameters = sizeof...(P) };
	static constexpr Parameter parameter[parameters + 1] = {{sizeof(P), IsPointer<P>::yes != 0, IsPointer<P>::written != 0, IsPointer<P>::shared != 0}..., {0, false, false, false}};
	template <int... I> static void call(const unsigned long long* arguments, Indices<I...>) { f(*(const P*)(arguments + I)...); }
	static void run(const unsigned long long* arguments) { call(arguments, typename UpTo<parameters>::All()); }
};

} // namespace emulated

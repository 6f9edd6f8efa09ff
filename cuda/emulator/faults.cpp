// Errors that end a kernel early, and their reports.
#include "memory.h"
#include "worker.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace emulated {

static std::string triple(unsigned x, unsigned y, unsigned z, bool flat) {
	if (flat) return std::to_string(x);
	return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string Launch::described() const {
	return std::string(kernel->name) + "<<<" + triple(grid.x, grid.y, grid.z, grid.y == 1 && grid.z == 1) + ", " + std::to_string(threads) + ", " + std::to_string(shared) + ">>>";
}

void Launch::fail(Fault fault, const std::string& what) {
	std::lock_guard<std::mutex> hold(mutex);
	if (!failed.exchange(true)) outcome = {fault, described() + ": " + what};
}

std::string Worker::where() const {
	return "block " + triple((unsigned)here.block, (unsigned)here.block_y, (unsigned)here.block_z, launch->grid.y == 1 && launch->grid.z == 1);
}

void Worker::escape(const std::string& what) {
	here.running = 0;
	signal = 0;
	launch->fail(Fault::launch, where() + ": " + what);
	siglongjmp(way_out, 1);
}

static std::string line_of(Site site) {
	static const char* near = "";
	if (site >> 32 == 0) return "line " + std::to_string(site & ~kinds & 0xffffffff); // of an unknown file
	std::string file = (const char*)(((uintptr_t)near & ~0xffffffffull) | site >> 32);
	return file.substr(file.rfind('/') + 1) + ":" + std::to_string(site & ~kinds & 0xffffffff);
}

void no_such_lane(int lane, Site site) {
	((Worker*)here.worker)->escape("thread " + std::to_string(here.thread) + ": the shuffle at " + line_of(site) + " reads lane " + std::to_string(lane) + ", the warp has " + std::to_string(here.lanes) + " threads");
}

// those lists the threads of two warps that are at the site: "threads 0-15, 31".
static std::string those(const Worker& w, int a, int b, Site site) {
	std::vector<int> at;
	for (int start : {a, b}) {
		for (int i = start; i < std::min(start + warp_size, w.launch->threads); i++) {
			if (w.site[i] == site) at.push_back(w.thread[i]);
		}
		if (a == b) break;
	}
	std::sort(at.begin(), at.end());
	std::string s = at.size() == 1 ? "thread" : "threads";
	for (size_t i = 0; i < at.size();) {
		size_t j = i;
		while (j + 1 < at.size() && at[j + 1] == at[j] + 1) j++;
		s += (i ? ", " : " ") + std::to_string(at[i]) + (j > i ? "-" + std::to_string(at[j]) : "");
		i = j + 1;
	}
	return s;
}

static std::string doing(Site site) {
	switch (site & kinds) {
	case block_barrier: return "at the barrier, " + line_of(site);
	case warp_barrier: return "at the warp's barrier, " + line_of(site);
	case shuffling: return "at the shuffle, " + line_of(site);
	case voting: return "at the vote, " + line_of(site);
	}
	return "ended";
}

// disagree reports that the threads of the warps that begin at positions a and b are not all at one site.
void Worker::disagree(int a, int b) {
	Site s = site[a], other = s;
	for (int start : {a, b}) {
		for (int i = start; other == s && i < std::min(start + warp_size, launch->threads); i++) other = site[i];
	}
	escape("threads diverge: " + those(*this, a, b, s) + " " + doing(s) + "; " + those(*this, a, b, other) + " " + doing(other));
}

std::string source_of(const void* instruction) {
	Dl_info info;
	if (!dladdr(instruction, &info)) return "?";
	char text[512];
	snprintf(text, sizeof text, "%s +0x%llx", info.dli_fname, (unsigned long long)((const char*)instruction - (const char*)info.dli_fbase));
	std::string place = text, lines;
	snprintf(text, sizeof text, "addr2line -i -e '%s' 0x%llx 2>/dev/null", info.dli_fname, (unsigned long long)((const char*)instruction - (const char*)info.dli_fbase));
	FILE* of = popen(text, "r"); // an inlined function comes before its caller
	while (of && fgets(text, sizeof text, of)) {
		std::string line = text;
		line = line.substr(line.rfind('/') + 1);
		line = line.substr(0, line.find_first_of(" \n"));
		if (line[0] != '?' && line.compare(0, 7, "place.h") && line.compare(0, 6, "shim.h")) lines += (lines.empty() ? "" : " in ") + line;
	}
	if (of) pclose(of);
	return lines.empty() ? place : lines;
}

std::string Worker::of_signal() const {
	std::string s = ", thread " + std::to_string(here.thread) + ": ";
	char text[64];
	uintptr_t shared = (uintptr_t)here.shared, page = (uintptr_t)getpagesize();
	if (signal == SIGFPE) {
		s += "division of an integer by zero";
	} else if (signal == SIGILL) { // a check inserted by the compiler
		s += "a misaligned address, an index outside of a local array, or a shift by too many bits";
	} else if (signal != SIGSEGV && signal != SIGBUS) {
		s += "signal " + std::to_string(signal);
	} else {
		snprintf(text, sizeof text, "illegal address 0x%llx, ", (unsigned long long)address);
		s += text;
		std::string what;
		for (int i = 0; i < fibers; i++) {
			if (address < (uintptr_t)stacks[i] && address >= (uintptr_t)stacks[i] - page) what = "the thread's stack is full";
		}
		if (address >= (uintptr_t)shared_end && address < (uintptr_t)shared_end + page) {
			what = std::to_string(address - shared) + " bytes after the beginning of the block's shared memory of " + std::to_string(launch->shared) + " bytes";
		}
		s += what.empty() ? nearby(address) : what;
	}
	if (instruction) s += " (" + source_of(instruction) + ")";
	return s;
}

static struct sigaction before[65];

static void on_signal(int number, siginfo_t* info, void* context) {
	if (here.running) {
		Worker* w = (Worker*)here.worker;
		here.running = 0;
		w->signal = number;
		w->address = (uintptr_t)info->si_addr;
		w->instruction = (const void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
		if (((ucontext_t*)context)->uc_mcontext.gregs[REG_TRAPNO] == 13) w->address = ~(uintptr_t)0; // the processor reports no address if it is not canonical
		pthread_sigmask(SIG_SETMASK, &((ucontext_t*)context)->uc_sigmask, nullptr);
		siglongjmp(w->way_out, 1);
	}
	const struct sigaction& next = before[number];
	if (next.sa_flags & SA_SIGINFO) {
		next.sa_sigaction(number, info, context);
	} else if (next.sa_handler == SIG_DFL) {
		sigaction(number, &next, nullptr); // the signal recurs when this returns
	} else if (next.sa_handler != SIG_IGN) {
		next.sa_handler(number);
	}
}

void catch_signals() {
	static bool done = false;
	if (done) return;
	done = true;
	for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
		struct sigaction ours = {};
		ours.sa_sigaction = on_signal;
		ours.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_RESTART;
		sigfillset(&ours.sa_mask);
		sigaction(number, &ours, &before[number]);
	}
}

void signal_stack() {
	static __thread bool done __attribute__((tls_model("initial-exec")));
	if (done) return;
	done = true;
	stack_t s;
	if (sigaltstack(nullptr, &s) || !(s.ss_flags & SS_DISABLE)) return;
	static const size_t bytes = 64 << 10;
	s = {};
	s.ss_sp = malloc(bytes); // for the lifetime of the thread
	s.ss_size = bytes;
	sigaltstack(&s, nullptr);
}

} // namespace emulated

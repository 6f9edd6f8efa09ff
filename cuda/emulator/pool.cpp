// Blocks of a launch, shared among OS threads if that pays off.
#include "worker.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

namespace emulated {

static Kernel*& first_kernel() {
	static Kernel* first;
	return first;
}

Kernel::Kernel(const char* name, const char* stamp, void (*run)(const unsigned long long*), int parameters, const Parameter* parameter)
	: name(name), stamp(stamp), run(run), parameters(parameters), parameter(parameter), next(first_kernel()) {
	first_kernel() = this;
}

const Kernel* kernel_named(const std::string& name) {
	for (Kernel* k = first_kernel(); k; k = k->next) {
		if (name == k->name) return k;
	}
	return nullptr;
}

// Pool holds the helper threads; the launching thread works, too. Launches run one at a time.
class Pool {
public:
	void start(Launch& launch, int helpers) {
		std::lock_guard<std::mutex> hold(mutex_);
		while (started_ < helpers) {
			std::thread(&Pool::help, this, started_++).detach();
		}
		launch_ = &launch;
		wanted_ = helpers;
		wake_.notify_all();
	}
	void finish() {
		std::unique_lock<std::mutex> hold(mutex_);
		launch_ = nullptr; // helpers that have not started need not start
		idle_.wait(hold, [this] { return busy_ == 0; });
	}

private:
	void help(int number) {
		sigset_t all;
		sigfillset(&all);
		for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, s);
		pthread_sigmask(SIG_SETMASK, &all, nullptr);
		signal_stack();
		Worker* worker = new Worker;
		Launch* last = nullptr;
		for (;;) {
			std::unique_lock<std::mutex> hold(mutex_);
			wake_.wait(hold, [&] { return launch_ && launch_ != last && number < wanted_; });
			Launch* l = launch_;
			busy_++;
			hold.unlock();
			worker->run(*l);
			hold.lock();
			last = launch_ == l ? l : nullptr;
			if (--busy_ == 0) idle_.notify_all();
		}
	}

	std::mutex mutex_;
	std::condition_variable wake_, idle_;
	Launch* launch_ = nullptr;
	int started_ = 0, wanted_ = 0, busy_ = 0;
};

static int64_t nanoseconds() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

bool one_worker = false;

Outcome run(const Kernel* kernel, const unsigned long long* arguments, Grid grid, int threads, size_t shared, const Settings& settings) {
	static Pool* pool = new Pool; // never deleted, because its threads outlive static objects
	static Worker* own = new Worker;
	static std::map<const Kernel*, double> cost; // nanoseconds per thread in the last launch
	catch_signals();
	signal_stack();
	Launch launch;
	launch.kernel = kernel;
	launch.arguments = arguments;
	launch.grid = grid;
	launch.threads = threads;
	launch.shared = shared;
	launch.settings = settings;
	double total = (double)grid.blocks() * threads, &each = cost[kernel];
	bool helped = !one_worker && settings.workers > 1 && grid.blocks() > 1 && (settings.always || total * each > 100e3); // waking helpers takes about 20 µs
	int64_t begin = nanoseconds();
	if (helped) pool->start(launch, settings.workers - 1);
	own->run(launch);
	if (helped) pool->finish();
	each = (double)(nanoseconds() - begin) * (helped ? settings.workers : 1) / total;
	return launch.outcome;
}

} // namespace emulated

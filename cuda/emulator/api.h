// Shared by the calls of the driver's interface. The interface is NVIDIA's; the emulator implements the calls that dsp makes.
#pragma once

#include "fibers.h"
#include "memory.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

typedef int CUresult;
enum : CUresult {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_ECC_UNCORRECTABLE = 214,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_MISALIGNED_ADDRESS = 716,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
};

typedef uintptr_t CUdeviceptr;

namespace emulated {

// Operation is enqueued work. If it waits for something, it returns CUDA_ERROR_NOT_READY and is called again.
typedef std::function<CUresult()> Operation;

struct Graph {
	std::shared_ptr<std::vector<Operation>> operations = std::make_shared<std::vector<Operation>>(); // shared with launches that have not run yet
};

struct Stream {
	bool capturing = false, invalid = false;
	bool relaxed = false; // during a capture, allows calls that do not concern streams
	Graph* graph = nullptr; // being captured
	std::deque<Operation> pending; // work that has not run
};

struct Event {
	int64_t time = 0; // nanoseconds
	Stream* stream = nullptr; // of the last record
	long records = 0, reached = 0; // records enqueued and run
};

struct Function {
	const Kernel* kernel;
	int most_threads;     // per block
	size_t shared_limit = 48 << 10;
};

struct Module {
	std::map<std::string, std::unique_ptr<Function>> functions;
};

// Context is a device's primary context: its memory and everything else it owns.
struct Context {
	int ordinal = 0, retained = 0;
	CUresult lost = CUDA_SUCCESS;
	long launches_left = 0; // until the device is lost; 0: never
	CUresult loss = CUDA_SUCCESS;
	size_t total = 0; // bytes of memory
	bool late = false; // streams run nothing before somebody waits for it
	Settings settings;
	Memory memory;
	Stream legacy; // the default stream, which always exists
	std::set<Stream*> streams;
	std::set<Event*> events;
	std::set<Module*> modules;
	std::set<Function*> functions;
	std::set<Graph*> graphs, executables;
	std::map<void*, size_t> host; // pinned memory
	~Context();

	// lose makes every later call return the code, and adds the report to the code's error string.
	CUresult lose(CUresult code, const std::string& report);
	// enqueue runs the operation, now or when somebody waits for it, or records it if the stream is capturing.
	CUresult enqueue(void* stream, Operation operation);
	// advance runs a stream's pending work up to a record of an event, without one to its end. CUDA_ERROR_NOT_READY: it waits for something.
	CUresult advance(Stream* s, const Event* to = nullptr, long record = 0);
	CUresult advance_all();
	Stream* stream(void* handle); // null: no such stream
	bool lives(Stream* s) const { return s == &legacy || streams.count(s) > 0; }
	bool capturing() const;
	// not_capturing returns the error of calls that are not allowed during a capture, and invalidates the capture.
	CUresult not_capturing();
	CUresult launch(Function* f, Grid grid, int threads, size_t shared, const std::vector<unsigned long long>& arguments);
};

// Call is held during a call, so that calls run one at a time. It returns the error of calls that cannot run.
struct Call {
	Call(); // requires a current context that is not lost
	struct Early {};
	explicit Call(Early); // does not
	std::unique_lock<std::mutex> hold;
	CUresult code = CUDA_SUCCESS;
	Context* context = nullptr;
	// until calls look until it no longer returns CUDA_ERROR_NOT_READY. Meanwhile other calls can run.
	CUresult until(const Operation& look);
};

std::string setting(const char* name, const char* otherwise);
int64_t nanoseconds();

} // namespace emulated

#define API extern "C" __attribute__((visibility("default"))) CUresult
#define SERVED(call) emulated::Call call; if (call.code != CUDA_SUCCESS) return call.code

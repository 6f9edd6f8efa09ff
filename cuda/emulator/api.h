// Shared by the calls of the driver's interface. The interface is NVIDIA's; the emulator implements the calls that dsp makes.
#pragma once

#include "fibers.h"
#include "memory.h"

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

typedef std::function<CUresult()> Operation;

struct Graph {
	std::vector<Operation> operations;
};

struct Stream {
	bool capturing = false, invalid = false;
	bool relaxed = false; // during a capture, allows calls that do not concern streams
	Graph* graph = nullptr; // being captured
};

struct Event {
	int64_t time = 0; // nanoseconds
	bool recorded = false;
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
	// enqueue runs the operation now, or records it if the stream is capturing.
	CUresult enqueue(void* stream, Operation operation);
	Stream* stream(void* handle); // null: no such stream
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
	std::lock_guard<std::mutex> hold;
	CUresult code = CUDA_SUCCESS;
	Context* context = nullptr;
};

std::string setting(const char* name, const char* otherwise);
int64_t nanoseconds();

} // namespace emulated

#define API extern "C" __attribute__((visibility("default"))) CUresult
#define SERVED(call) emulated::Call call; if (call.code != CUDA_SUCCESS) return call.code

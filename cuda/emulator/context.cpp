// Devices, contexts and errors.
#include "api.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated {

static std::mutex mutex;
static bool initialised = false;
// contexts are by ordinal; null: not retained. The end of a process leaves them alone: what they use may have ended before.
static auto& contexts = *new std::vector<std::unique_ptr<Context>>;
static std::string last_report;
static CUresult last_report_of = CUDA_SUCCESS;
static __thread int current = -1;

std::string setting(const char* name, const char* otherwise) {
	const char* v = getenv(name);
	return v && *v ? v : otherwise;
}

int64_t nanoseconds() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

Call::Call(Early) : hold(mutex) {
	if (!initialised) code = CUDA_ERROR_NOT_INITIALIZED;
}

Call::Call() : hold(mutex) {
	if (!initialised) {
		code = CUDA_ERROR_NOT_INITIALIZED;
	} else if (current < 0 || !contexts[(size_t)current]) {
		code = CUDA_ERROR_INVALID_CONTEXT;
	} else {
		context = contexts[(size_t)current].get();
		code = context->lost;
	}
}

// open reads the device's settings. It reads them again for every context, because a test may change them.
static Context* open(int ordinal) {
	Context* c = new Context;
	c->ordinal = ordinal;
	c->total = strtoull(setting("DSP_EMULATED_MEMORY", "2147483648").c_str(), nullptr, 10);
	std::string lose = setting("DSP_EMULATED_LOSE", "");
	c->launches_left = strtol(lose.c_str(), nullptr, 10);
	size_t colon = lose.find(':');
	c->loss = colon == std::string::npos ? CUDA_ERROR_LAUNCH_FAILED : atoi(lose.c_str() + colon + 1);
	std::string order = setting("DSP_EMULATED_ORDER", "forward");
	c->settings.order = order == "reverse" ? Order::reverse : order.compare(0, 6, "random") == 0 ? Order::random : Order::forward;
	c->settings.seed = order.size() > 7 ? (unsigned)atoi(order.c_str() + 7) : 1; // random:SEED
	long cores = std::min(sysconf(_SC_NPROCESSORS_ONLN), 4l);
	c->late = setting("DSP_EMULATED_STREAMS", "") == "late";
	std::string threads = setting("DSP_EMULATED_THREADS", "");
	c->settings.always = !threads.empty();
	c->settings.workers = threads.empty() ? (int)cores : std::max(1, atoi(threads.c_str()));
	return c;
}

Context::~Context() {
	for (Stream* s : streams) {
		delete s->graph;
		delete s;
	}
	for (Event* e : events) delete e;
	for (Module* m : modules) delete m;
	for (Graph* g : graphs) delete g;
	for (Graph* g : executables) delete g;
	for (auto& h : host) free(h.first);
}

CUresult Context::lose(CUresult code, const std::string& report) {
	lost = last_report_of = code;
	last_report = report;
	fprintf(stderr, "emulated device: %s\n", report.c_str());
	return code;
}

static int devices() { return atoi(setting("DSP_EMULATED_DEVICES", "1").c_str()); }

struct Error {
	CUresult code;
	const char *name, *sentence;
};
static const Error errors[] = {
	{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
	{CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
	{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "stream capture was not ended in the same stream as it began"},
	{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "dependency on an uncaptured implicit stream"},
};

// Attributes by number. There are few multiprocessors, so that kernels that depend on their number launch few blocks.
static const std::map<int, int> attributes = {
	{1, 1024}, {2, 1024}, {3, 1024}, {4, 64},       // threads per block, in each direction
	{5, 2147483647}, {6, 65535}, {7, 65535},        // blocks per grid, in each direction
	{8, 48 << 10}, {97, 227 << 10}, {111, 1 << 10}, // shared memory per block: default, with opt-in, reserved
	{9, 64 << 10}, {10, 32}, {12, 64 << 10},        // constant memory, warp size, registers per block
	{13, 1000000}, {16, 4}, {19, 1}, {31, 1},       // clock in kHz, multiprocessors, maps host memory, concurrent kernels
	{36, 1000000}, {37, 64}, {38, 4 << 20},         // memory clock and bus width, L2 cache
	{39, 2048}, {40, 1}, {41, 1},                   // threads per multiprocessor, copy engines, unified addressing
	{75, 9}, {76, 0},                               // compute capability
	{81, 228 << 10}, {82, 64 << 10}, {106, 32},     // per multiprocessor: shared memory, registers, blocks
};

} // namespace emulated

using namespace emulated;

API cuInit(unsigned) {
	Call call((Call::Early()));
	initialised = true;
	contexts.resize((size_t)std::max(1, devices()));
	return devices() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

API cuDriverGetVersion(int* version) {
	*version = 12040;
	return CUDA_SUCCESS;
}

API cuGetErrorName(CUresult code, const char** name) {
	for (const Error& e : errors) {
		if (e.code == code) {
			*name = e.name;
			return CUDA_SUCCESS;
		}
	}
	*name = nullptr;
	return CUDA_ERROR_INVALID_VALUE;
}

// The error string of the code with which the device was lost includes the report. The string is valid until the next call.
API cuGetErrorString(CUresult code, const char** sentence) {
	Call call((Call::Early()));
	for (const Error& e : errors) {
		if (e.code != code) continue;
		*sentence = e.sentence;
		if (code != CUDA_SUCCESS && code == last_report_of) {
			static std::set<std::string>* told = new std::set<std::string>;
			*sentence = told->insert(std::string(e.sentence) + ": " + last_report).first->c_str();
		}
		return CUDA_SUCCESS;
	}
	*sentence = nullptr;
	return CUDA_ERROR_INVALID_VALUE;
}

API cuDeviceGetCount(int* count) {
	Call call((Call::Early()));
	if (call.code == CUDA_SUCCESS) *count = devices();
	return call.code;
}

static CUresult known(int ordinal) {
	if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
	if (devices() > (int)contexts.size()) contexts.resize((size_t)devices()); // a test has added some
	return ordinal >= 0 && (size_t)ordinal < contexts.size() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API cuDeviceGet(int* device, int ordinal) {
	Call call((Call::Early()));
	*device = ordinal;
	return known(ordinal);
}

API cuDeviceGetName(char* name, int bytes, int device) {
	if (bytes > 0) snprintf(name, (size_t)bytes, "dsp emulated device");
	return known(device);
}

API cuDeviceGetUuid(unsigned char* uuid, int device) {
	memset(uuid, 0, 16);
	uuid[15] = (unsigned char)device;
	return known(device);
}

API cuDeviceTotalMem_v2(size_t* bytes, int device) {
	Call call((Call::Early()));
	if (known(device) != CUDA_SUCCESS) return known(device);
	std::unique_ptr<Context> c(open(device));
	*bytes = c->total;
	return CUDA_SUCCESS;
}

API cuDeviceGetAttribute(int* value, int attribute, int device) {
	auto a = attributes.find(attribute);
	*value = a == attributes.end() ? 0 : a->second;
	return known(device);
}

API cuDeviceComputeCapability(int* major, int* minor, int device) {
	*major = 9;
	*minor = 0;
	return known(device);
}

API cuDevicePrimaryCtxRetain(void** context, int device) {
	Call call((Call::Early()));
	if (known(device) != CUDA_SUCCESS) return known(device);
	auto& c = contexts[(size_t)device];
	if (!c) c.reset(open(device));
	c->retained++;
	*context = c.get();
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
	Call call((Call::Early()));
	if (known(device) != CUDA_SUCCESS) return known(device);
	auto& c = contexts[(size_t)device];
	if (!c) return CUDA_ERROR_INVALID_CONTEXT;
	if (--c->retained == 0) c.reset();
	return CUDA_SUCCESS;
}
API cuDevicePrimaryCtxRelease(int device) { return cuDevicePrimaryCtxRelease_v2(device); }

API cuDevicePrimaryCtxReset_v2(int device) {
	Call call((Call::Early()));
	if (known(device) != CUDA_SUCCESS) return known(device);
	contexts[(size_t)device].reset();
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
	Call call((Call::Early()));
	if (known(device) != CUDA_SUCCESS) return known(device);
	*flags = 0;
	*active = contexts[(size_t)device] != nullptr;
	return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) { return known(device); }

API cuCtxSetCurrent(void* context) {
	Call call((Call::Early()));
	if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
	current = -1;
	for (size_t i = 0; context && i < contexts.size(); i++) {
		if (contexts[i].get() == context) current = (int)i;
	}
	return context && current < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

API cuCtxGetCurrent(void** context) {
	Call call((Call::Early()));
	*context = current >= 0 && initialised ? contexts[(size_t)current].get() : nullptr;
	return call.code;
}

// What is in the memory of no device is the host's, of which the driver knows what it has pinned.
API cuPointerGetAttribute(void* value, int attribute, CUdeviceptr at) {
	Call call((Call::Early()));
	for (auto& c : contexts) {
		bool device = c && c->memory.holds(at, 1), pinned = c && c->host.count((void*)at);
		if (!device && !pinned) continue;
		// CU_POINTER_ATTRIBUTE_MEMORY_TYPE: CU_MEMORYTYPE_DEVICE or _HOST
		if (attribute == 2) *(unsigned*)value = device ? 2 : 1;
		else if (attribute == 9) *(int*)value = c->ordinal; // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
		else return CUDA_ERROR_INVALID_VALUE;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

API cuCtxGetDevice(int* device) {
	SERVED(call);
	*device = call.context->ordinal;
	return CUDA_SUCCESS;
}

API cuCtxSynchronize() {
	SERVED(call);
	if (CUresult r = call.context->not_capturing()) return r;
	return call.until([&] { return call.context->advance_all(); });
}

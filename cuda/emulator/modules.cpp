// Modules, functions and launches. Only the names and parameters of the entries of a module's PTX are used: the kernels themselves are
// compiled into this library.
#include "api.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated {

static const size_t most_shared = 227 << 10;

// sizes reads the sizes in bytes of an entry's parameters, starting after its opening parenthesis.
static std::vector<int> sizes(const std::string& ptx, size_t from) {
	std::vector<int> bytes;
	size_t end = ptx.find(')', from);
	for (size_t p = from; (p = ptx.find(".param .", p)) < end; p++) {
		size_t digits = p + strlen(".param .") + 1;
		bytes.push_back(atoi(ptx.c_str() + digits) / 8);
	}
	return bytes;
}

static thread_local std::string log; // of the module being loaded

static CUresult refuse(CUresult code, const std::string& why) {
	fprintf(stderr, "emulated device: %s\n", why.c_str());
	log += why + "\n";
	return code;
}

// read finds the entries of PTX, and their kernels. A kernel that this library lacks is reported when it is looked up.
static CUresult read(const std::string& ptx, Module* m) {
	if (ptx.find(".version") == std::string::npos) return CUDA_ERROR_INVALID_IMAGE;
	std::string stamp = ptx.substr(0, ptx.find('\n'));
	static const std::string entry = ".visible .entry ";
	for (size_t p = 0; (p = ptx.find(entry, p)) != std::string::npos; p++) {
		size_t begin = p + entry.size(), open = ptx.find('(', begin), close = ptx.find(')', begin), body = ptx.find('{', begin);
		std::string name = ptx.substr(begin, open - begin);
		const Kernel* k = kernel_named(name);
		if (!k) {
			refuse(CUDA_ERROR_NOT_FOUND, "no kernel " + name + " in this library: make emulator");
			continue;
		}
		std::vector<int> bytes = sizes(ptx, open);
		bool same = bytes.size() == (size_t)k->parameters;
		for (int i = 0; same && i < k->parameters; i++) same = bytes[(size_t)i] == k->parameter[i].bytes;
		if (!same || (*k->stamp && stamp != k->stamp)) {
			return refuse(CUDA_ERROR_INVALID_PTX, "the PTX of kernel " + name + " is not of the source that this library was made of: make kernels emulator");
		}
		auto f = std::make_unique<Function>();
		f->kernel = k;
		f->most_threads = 1024;
		size_t bound = ptx.find(".maxntid", close);
		if (bound < body) f->most_threads = atoi(ptx.c_str() + bound + strlen(".maxntid"));
		m->functions[name] = std::move(f);
	}
	return CUDA_SUCCESS;
}

// shared_parameters names two parameters that are the same array, one of which is written. Parameters promise not to alias (RESTRICT), except spaces (steps.cuh), so
// a device may read such an array through a cache that does not see the writes.
static std::string shared_parameters(const Kernel* k, const std::vector<unsigned long long>& arguments) {
	for (int i = 0; i < k->parameters; i++) {
		for (int j = 0; j < i; j++) {
			const Parameter &a = k->parameter[j], &b = k->parameter[i];
			if (a.pointer && b.pointer && !a.shared && !b.shared && (a.written || b.written) && arguments[(size_t)i] && arguments[(size_t)i] == arguments[(size_t)j])
				return std::string(k->name) + ": parameters " + std::to_string(j) + " and " + std::to_string(i) + " are one array, which is written";
		}
	}
	return "";
}

CUresult Context::launch(Function* f, Grid grid, int threads, size_t shared, const std::vector<unsigned long long>& arguments) {
	if (lost) return lost;
	if (launches_left > 0 && --launches_left == 0) return lose(loss, std::string(f->kernel->name) + ": lost as DSP_EMULATED_LOSE wants it");
	std::string both = shared_parameters(f->kernel, arguments);
	if (!both.empty()) return lose(CUDA_ERROR_LAUNCH_FAILED, both);
	Outcome o = run(f->kernel, arguments.data(), grid, threads, shared, settings);
	switch (o.fault) {
	case Fault::none: break;
	case Fault::address: return lose(CUDA_ERROR_ILLEGAL_ADDRESS, o.report);
	case Fault::alignment: return lose(CUDA_ERROR_MISALIGNED_ADDRESS, o.report);
	case Fault::launch: return lose(CUDA_ERROR_LAUNCH_FAILED, o.report);
	}
	for (int i = 0; i < f->kernel->parameters; i++) {
		if (!f->kernel->parameter[i].pointer) continue;
		std::string damage = memory.damage(arguments[(size_t)i], false);
		if (!damage.empty()) return lose(CUDA_ERROR_ILLEGAL_ADDRESS, std::string(f->kernel->name) + ", parameter " + std::to_string(i) + ": " + damage);
	}
	return CUDA_SUCCESS;
}

} // namespace emulated

using namespace emulated;

API cuModuleLoadData(void** module, const void* image) {
	SERVED(call);
	if (CUresult r = call.context->not_capturing()) return r;
	if (!image) return CUDA_ERROR_INVALID_VALUE;
	auto m = std::make_unique<Module>();
	if (CUresult r = read((const char*)image, m.get())) return r;
	for (auto& f : m->functions) call.context->functions.insert(f.second.get());
	call.context->modules.insert(m.get());
	*module = m.release();
	return CUDA_SUCCESS;
}

// Of the options, only the location of the error log is used.
API cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
	enum { error_log_buffer = 5, error_log_buffer_size = 6 };
	log.clear();
	CUresult r = cuModuleLoadData(module, image);
	char* to = nullptr;
	size_t bytes = 0;
	for (unsigned i = 0; i < count; i++) {
		if (options[i] == error_log_buffer) to = (char*)values[i];
		if (options[i] == error_log_buffer_size) bytes = (size_t)values[i];
	}
	if (to && bytes) snprintf(to, bytes, "%s", log.c_str());
	return r;
}

API cuModuleUnload(void* module) {
	SERVED(call);
	Module* m = (Module*)module;
	if (!call.context->modules.erase(m)) return CUDA_ERROR_INVALID_HANDLE;
	for (auto& f : m->functions) call.context->functions.erase(f.second.get());
	delete m;
	return CUDA_SUCCESS;
}

API cuModuleGetFunction(void** function, void* module, const char* name) {
	SERVED(call);
	if (!call.context->modules.count((Module*)module)) return CUDA_ERROR_INVALID_HANDLE;
	auto f = ((Module*)module)->functions.find(name);
	if (f == ((Module*)module)->functions.end()) return CUDA_ERROR_NOT_FOUND;
	*function = f->second.get();
	return CUDA_SUCCESS;
}

// The function attributes that are implemented.
enum { max_threads_per_block = 0, shared_size_bytes = 1, num_regs = 4, max_dynamic_shared_size_bytes = 8 };

API cuFuncSetAttribute(void* function, int attribute, int value) {
	SERVED(call);
	Function* f = (Function*)function;
	if (!call.context->functions.count(f)) return CUDA_ERROR_INVALID_HANDLE;
	if (attribute != max_dynamic_shared_size_bytes) return CUDA_SUCCESS; // other attributes are hints
	if (value < 0 || (size_t)value > most_shared) return CUDA_ERROR_INVALID_VALUE;
	f->shared_limit = std::max<size_t>((size_t)value, 48 << 10);
	return CUDA_SUCCESS;
}

API cuFuncGetAttribute(int* value, int attribute, void* function) {
	SERVED(call);
	Function* f = (Function*)function;
	if (!call.context->functions.count(f)) return CUDA_ERROR_INVALID_HANDLE;
	switch (attribute) {
	case max_threads_per_block: *value = f->most_threads; break;
	case num_regs: *value = 32; break;
	case max_dynamic_shared_size_bytes: *value = (int)f->shared_limit; break;
	default: *value = 0;
	}
	return CUDA_SUCCESS;
}

API cuFuncSetCacheConfig(void*, int) { return CUDA_SUCCESS; }

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
	SERVED(call);
	if (!call.context->functions.count((Function*)function)) return CUDA_ERROR_INVALID_HANDLE;
	if (threads <= 0) return CUDA_ERROR_INVALID_VALUE;
	*blocks = std::min({2048 / threads, 32, shared ? (int)(most_shared / shared) : 32});
	return CUDA_SUCCESS;
}

API cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared, void* stream, void** parameters, void** extra) {
	SERVED(call);
	Context* c = call.context;
	Function* f = (Function*)function;
	if (!c->functions.count(f)) return CUDA_ERROR_INVALID_HANDLE;
	uint64_t threads = (uint64_t)block_x * block_y * block_z;
	if (threads == 0 || threads > (uint64_t)f->most_threads || block_z > 64) return CUDA_ERROR_INVALID_VALUE;
	if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_x > 2147483647u || grid_y > 65535 || grid_z > 65535) return CUDA_ERROR_INVALID_VALUE;
	if (shared > f->shared_limit) return CUDA_ERROR_INVALID_VALUE;
	if (block_y != 1 || block_z != 1 || extra) return refuse(CUDA_ERROR_NOT_SUPPORTED, std::string(f->kernel->name) + ": blocks have one dimension here");
	if (!parameters && f->kernel->parameters) return CUDA_ERROR_INVALID_VALUE;
	std::vector<unsigned long long> arguments((size_t)f->kernel->parameters + 1);
	for (int i = 0; i < f->kernel->parameters; i++) memcpy(&arguments[(size_t)i], parameters[i], (size_t)f->kernel->parameter[i].bytes);
	Grid grid = {grid_x, grid_y, grid_z};
	return c->enqueue(stream, [=] { return c->launch(f, grid, (int)threads, shared, arguments); });
}

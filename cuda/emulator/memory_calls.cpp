// Memory: allocation, copies, fills. All memory is the host's, so one copy function serves all directions. Copies to or from the device are
// checked.
#include "api.h"

#include <cstdlib>
#include <cstring>

using namespace emulated;

API cuMemAlloc_v2(CUdeviceptr* at, size_t bytes) {
	SERVED(call);
	Context& c = *call.context;
	if (CUresult r = c.not_capturing()) return r;
	if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
	if (bytes > c.total || c.memory.used() > c.total - bytes) return CUDA_ERROR_OUT_OF_MEMORY;
	void* p = c.memory.allocate(bytes);
	*at = (CUdeviceptr)p;
	return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API cuMemFree_v2(CUdeviceptr at) {
	SERVED(call);
	Context& c = *call.context;
	if (CUresult r = c.not_capturing()) return r;
	if (at == 0) return CUDA_SUCCESS;
	if (CUresult r = call.until([&] { return c.advance_all(); })) return r;
	std::string damage = c.memory.damage(at, true);
	if (!c.memory.release(at)) return CUDA_ERROR_INVALID_VALUE;
	return damage.empty() ? CUDA_SUCCESS : c.lose(CUDA_ERROR_ILLEGAL_ADDRESS, "seen when it was freed: some kernel " + damage);
}

API cuMemAllocAsync(CUdeviceptr* at, size_t bytes, void*) { return cuMemAlloc_v2(at, bytes); }
API cuMemFreeAsync(CUdeviceptr at, void*) { return cuMemFree_v2(at); }

API cuMemGetInfo_v2(size_t* free, size_t* total) {
	SERVED(call);
	*total = call.context->total;
	*free = call.context->total - call.context->memory.used();
	return CUDA_SUCCESS;
}

API cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* bytes, CUdeviceptr at) {
	SERVED(call);
	return call.context->memory.range(at, begin, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API cuMemHostAlloc(void** at, size_t bytes, unsigned) {
	SERVED(call);
	*at = malloc(bytes ? bytes : 1);
	if (!*at) return CUDA_ERROR_OUT_OF_MEMORY;
	memset(*at, 0xa5, bytes); // makes reads before the first write visible
	call.context->host[*at] = bytes;
	return CUDA_SUCCESS;
}
API cuMemAllocHost_v2(void** at, size_t bytes) { return cuMemHostAlloc(at, bytes, 0); }

API cuMemFreeHost(void* at) {
	SERVED(call);
	if (CUresult r = call.until([&] { return call.context->advance_all(); })) return r;
	if (!call.context->host.erase(at)) return CUDA_ERROR_INVALID_VALUE;
	free(at);
	return CUDA_SUCCESS;
}

API cuMemHostRegister_v2(void*, size_t, unsigned) {
	SERVED(call);
	return CUDA_SUCCESS;
}
API cuMemHostUnregister(void*) {
	SERVED(call);
	return CUDA_SUCCESS;
}

enum { to_device = 1, from_device = 2 };

static CUresult copy(Context& c, uintptr_t to, uintptr_t from, size_t bytes, int checked) {
	if (bytes == 0) return CUDA_SUCCESS;
	if ((checked & to_device) && !c.memory.holds(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
	if ((checked & from_device) && !c.memory.holds(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
	memmove((void*)to, (const void*)from, bytes);
	return CUDA_SUCCESS;
}

static CUresult copy_now(uintptr_t to, uintptr_t from, size_t bytes, int checked) {
	SERVED(call);
	if (call.context->capturing()) {
		call.context->not_capturing();
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return copy(*call.context, to, from, bytes, checked);
}

static CUresult copy_in(void* stream, uintptr_t to, uintptr_t from, size_t bytes, int checked) {
	SERVED(call);
	Context* c = call.context;
	return c->enqueue(stream, [=] { return copy(*c, to, from, bytes, checked); });
}

API cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) { return copy_now(to, (uintptr_t)from, bytes, to_device); }
API cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) { return copy_now((uintptr_t)to, from, bytes, from_device); }
API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return copy_now(to, from, bytes, to_device | from_device); }
API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return copy_now(to, from, bytes, 0); }
API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* stream) { return copy_in(stream, to, (uintptr_t)from, bytes, to_device); }
API cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) { return copy_in(stream, (uintptr_t)to, from, bytes, from_device); }
API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) { return copy_in(stream, to, from, bytes, to_device | from_device); }
API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) { return copy_in(stream, to, from, bytes, 0); }

template <class T> static CUresult fill(Context& c, CUdeviceptr at, T value, size_t n) {
	if (n == 0) return CUDA_SUCCESS;
	if (at % sizeof(T) || !c.memory.holds(at, n * sizeof(T))) return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) ((T*)at)[i] = value;
	return CUDA_SUCCESS;
}

template <class T> static CUresult fill_now(CUdeviceptr at, T value, size_t n) {
	SERVED(call);
	if (call.context->capturing()) {
		call.context->not_capturing();
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	return fill(*call.context, at, value, n);
}

template <class T> static CUresult fill_in(void* stream, CUdeviceptr at, T value, size_t n) {
	SERVED(call);
	Context* c = call.context;
	return c->enqueue(stream, [=] { return fill(*c, at, value, n); });
}

API cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t n) { return fill_now(at, value, n); }
API cuMemsetD16_v2(CUdeviceptr at, unsigned short value, size_t n) { return fill_now(at, value, n); }
API cuMemsetD32_v2(CUdeviceptr at, unsigned value, size_t n) { return fill_now(at, value, n); }
API cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t n, void* stream) { return fill_in(stream, at, value, n); }
API cuMemsetD16Async(CUdeviceptr at, unsigned short value, size_t n, void* stream) { return fill_in(stream, at, value, n); }
API cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t n, void* stream) { return fill_in(stream, at, value, n); }

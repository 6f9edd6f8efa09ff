// The static libcuda.a that gorgonia.org/cu is linked with instead of a driver. It has one trampoline per call, a jump through a slot. The
// slots return "no device" until driver_load has found a driver and filled them, so that one program runs with and without a driver and
// builds without CUDA. The trampolines are hidden, so that a driver cannot bind to them instead of its own functions.
#include "cuda.h"

#include <dlfcn.h>

#ifndef __x86_64__
#error "the trampolines are written for x86-64"
#endif

#define HIDDEN __attribute__((visibility("hidden")))

static CUresult no_device(void) { return CUDA_ERROR_NO_DEVICE; }

#define CALL(name, symbol, parameters) \
	HIDDEN void* slot_##name = (void*)no_device; \
	__asm__(".pushsection .text\n" \
		".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" \
		#name ": endbr64\n\tjmp *slot_" #name "(%rip)\n" \
		".size " #name ", .-" #name "\n.popsection");
#include "calls.h"
#undef CALL

static const struct {
	void** slot;
	const char* symbol;
} calls[] = {
#define CALL(name, symbol, parameters) {&slot_##name, #symbol},
#include "calls.h"
#undef CALL
};

HIDDEN CUresult cuInit(unsigned flags) {
	(void)flags;
	return CUDA_SUCCESS;
}

HIDDEN CUresult driver_load(const char** why) {
	const char* path = getenv("DSP_CUDA_LIBRARY");
	void* library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	*why = library ? NULL : dlerror();
	if (!library) return CUDA_ERROR_NO_DEVICE;
	CUresult (*init)(unsigned) = (CUresult (*)(unsigned))dlsym(library, "cuInit");
	if (!init) {
		*why = "it is no CUDA driver: it has no cuInit";
		return CUDA_ERROR_NO_DEVICE;
	}
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		void* call = dlsym(library, calls[i].symbol);
		if (call) *calls[i].slot = call;
	}
	return init(0);
}

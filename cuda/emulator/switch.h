// Switching of stacks within one OS thread, for x86-64 only, like the trampolines of package driver.
#pragma once

#include <cstdint>

namespace emulated {

typedef void* Stack; // where the callee-saved registers are stored, below the address at which to continue

// switch_stack continues where `to` was left. It returns when another switch goes to the stack now stored in *from.
extern "C" __attribute__((visibility("hidden"))) void switch_stack(Stack* from, Stack to);
extern "C" __attribute__((visibility("hidden"))) void start_of_fiber();

// prepared returns a stack that starts with f when switched to; f must not return. f does not change the prepared contents, so the same
// stack can start f again later.
inline Stack prepared(char* high, void (*f)()) {
	uintptr_t* top = (uintptr_t*)((uintptr_t)high & ~(uintptr_t)15);
	*--top = 0;
	*--top = (uintptr_t)start_of_fiber;
	*--top = 0;            // rbp
	*--top = (uintptr_t)f; // rbx
	for (int i = 0; i < 4; i++) *--top = 0;
	return top;
}

} // namespace emulated

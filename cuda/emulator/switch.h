// A switch of stacks within one thread of the operating system, for x86-64, as the trampolines of package driver are.
#pragma once

#include <cstdint>

namespace emulated {

typedef void* Stack; // where the registers that calls preserve lie, below the address to go on at

// switch_stack goes on where `to` was left, and comes back when somebody switches to what is now kept in *from.
extern "C" __attribute__((visibility("hidden"))) void switch_stack(Stack* from, Stack to);
extern "C" __attribute__((visibility("hidden"))) void start_of_fiber();

// prepared returns the stack to switch to that begins with f, which must not return. f leaves what is prepared as it is, so the
// same stack can begin again with f later.
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

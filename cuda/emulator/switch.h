// A switch of stacks within one thread of the operating system.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

// switch_stack goes on where `to` was left, and comes back when somebody switches to what is now kept in *from.
namespace emulated {

#if defined(__x86_64__)

typedef void* Stack; // where the registers that calls preserve lie, below the address to go on at

extern "C" void emulated_switch_stack(Stack* from, Stack to);
extern "C" void emulated_start_of_fiber();

// prepared returns the stack to switch to that begins with f, which must not return. f leaves what is prepared as it is, so the
// same stack can begin again with f later.
inline Stack prepared(char* low, char* high, void (*f)()) {
	uintptr_t* top = (uintptr_t*)((uintptr_t)high & ~(uintptr_t)15);
	*--top = 0;
	*--top = (uintptr_t)emulated_start_of_fiber;
	*--top = 0;            // rbp
	*--top = (uintptr_t)f; // rbx
	for (int i = 0; i < 4; i++) *--top = 0;
	(void)low;
	return top;
}

inline void switch_stack(Stack* from, Stack to) { emulated_switch_stack(from, to); }

#else

typedef ucontext_t* Stack;

inline Stack prepared(char* low, char* high, void (*f)()) {
	ucontext_t* c = new ucontext_t; // lives as long as the stack: for ever
	getcontext(c);
	c->uc_stack.ss_sp = low;
	c->uc_stack.ss_size = (size_t)(high - low);
	c->uc_link = nullptr;
	makecontext(c, f, 0);
	return c;
}

inline void switch_stack(Stack* from, Stack to) {
	ucontext_t self;
	*from = &self;
	swapcontext(&self, to);
}

#endif

} // namespace emulated

// The switch of stacks for x86-64. It jumps to where it goes on instead of returning there: the processor predicts returns by the calls
// before, which were another stack's.
#if defined(__x86_64__)

asm(R"(
.text
.hidden emulated_switch_stack
.globl emulated_switch_stack
.type emulated_switch_stack, @function
emulated_switch_stack:
	.cfi_startproc
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	popq %rcx
	jmp *%rcx
	.cfi_endproc
.size emulated_switch_stack, .-emulated_switch_stack
.hidden emulated_start_of_fiber
.globl emulated_start_of_fiber
.type emulated_start_of_fiber, @function
emulated_start_of_fiber:
	subq $72, %rsp
	call *%rbx
	hlt
.size emulated_start_of_fiber, .-emulated_start_of_fiber
)");

#endif

// The switch jumps to its target instead of returning: the processor would mispredict a return, because the matching call was made on another
// stack. A fiber starts below what was prepared for its start.
asm(R"(
.text
.hidden switch_stack
.globl switch_stack
.type switch_stack, @function
switch_stack:
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
.size switch_stack, .-switch_stack
.hidden start_of_fiber
.globl start_of_fiber
.type start_of_fiber, @function
start_of_fiber:
	subq $72, %rsp
	call *%rbx
	hlt
.size start_of_fiber, .-start_of_fiber
)");

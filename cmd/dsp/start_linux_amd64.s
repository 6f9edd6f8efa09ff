// start: where a program that make builds begins, before Go's runtime. It is linked with -E main.start.
//
// The runtime reserves 1.1 GiB of addresses before any Go code runs, and ends in a trace of its own where a limit (ulimit -v) leaves less. So the limit
// is looked at here: below 1.75 GiB, with which small commands work, the user gets a sentence and exit code 1.
// The runtime also ends in a trace where it gets no threads. So under a limit of processes (ulimit -u) as many as it
// needs to begin are started here and ended; without them there is another sentence. Those of a user who is not limited
// are none of its concern, so it is tried rather than counted. Registers and stack are left as the runtime expects them.

#include "textflag.h"

DATA short<>+0(SB)/8, $"dsp: the"
DATA short<>+8(SB)/8, $" limit o"
DATA short<>+16(SB)/8, $"f addres"
DATA short<>+24(SB)/8, $"s space "
DATA short<>+32(SB)/8, $"(ulimit "
DATA short<>+40(SB)/8, $"-v) is b"
DATA short<>+48(SB)/8, $"elow 1.7"
DATA short<>+56(SB)/8, $"5 GiB, o"
DATA short<>+64(SB)/8, $"f which "
DATA short<>+72(SB)/8, $"Go's run"
DATA short<>+80(SB)/8, $"time tak"
DATA short<>+88(SB)/8, $"es 1.1 b"
DATA short<>+96(SB)/8, $"efore it"
DATA short<>+104(SB)/8, $" begins;"
DATA short<>+112(SB)/8, $" raise i"
DATA short<>+120(SB)/8, $"t (ulimi"
DATA short<>+128(SB)/8, $"t -v unl"
DATA short<>+136(SB)/8, $"imited),"
DATA short<>+144(SB)/8, $" and lim"
DATA short<>+152(SB)/8, $"it memor"
DATA short<>+160(SB)/8, $"y by a c"
DATA short<>+168(SB)/8, $"ontrol g"
DATA short<>+176(SB)/8, $"roup\n\x00\x00\x00"
GLOBL short<>(SB), RODATA|NOPTR, $184

DATA few<>+0(SB)/8, $"dsp: few"
DATA few<>+8(SB)/8, $"er than "
DATA few<>+16(SB)/8, $"8 more t"
DATA few<>+24(SB)/8, $"hreads a"
DATA few<>+32(SB)/8, $"re allow"
DATA few<>+40(SB)/8, $"ed, whic"
DATA few<>+48(SB)/8, $"h Go's r"
DATA few<>+56(SB)/8, $"untime n"
DATA few<>+64(SB)/8, $"eeds to "
DATA few<>+72(SB)/8, $"begin; r"
DATA few<>+80(SB)/8, $"aise the"
DATA few<>+88(SB)/8, $" limit ("
DATA few<>+96(SB)/8, $"ulimit -"
DATA few<>+104(SB)/8, $"u), or e"
DATA few<>+112(SB)/8, $"nd other"
DATA few<>+120(SB)/8, $" process"
DATA few<>+128(SB)/8, $"es\n\x00\x00\x00\x00\x00"
GLOBL few<>(SB), RODATA|NOPTR, $136

DATA second<>+0(SB)/8, $1
DATA second<>+8(SB)/8, $0
GLOBL second<>(SB), RODATA|NOPTR, $16

TEXT ·start(SB),NOSPLIT|NOFRAME,$0
	MOVL  $97, AX         // getrlimit(RLIMIT_AS, below the stack)
	MOVL  $9, DI
	LEAQ  -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE   begin
	MOVQ  -64(SP), AX     // the soft limit; all ones: none
	MOVQ  $0x70000000, CX // 1.75 GiB
	CMPQ  AX, CX
	JCC   threads
	LEAQ  short<>(SB), SI
	MOVL  $181, DX
	JMP   refuse
threads:
	MOVL  $97, AX         // getrlimit(RLIMIT_NPROC, below the stack)
	MOVL  $6, DI
	LEAQ  -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE   begin
	CMPQ  -64(SP), $4096  // a larger limit is not worth the trial
	JCC   begin
	XORL  R12, R12        // how many were started; their numbers are below the stack
more:
	MOVL  $56, AX         // clone(CLONE_VM): it has this stack, and does not use it
	MOVL  $0x100, DI
	XORL  SI, SI
	XORL  DX, DX
	XORL  R10, R10
	XORL  R8, R8
	SYSCALL
	TESTQ AX, AX
	JEQ   child
	JLT   tried
	MOVL  AX, -128(SP)(R12*4)
	INCL  R12
	CMPL  R12, $8
	JLT   more
tried:
	MOVL  R12, R13        // those that are still to be ended
end:
	TESTL R13, R13
	JEQ   ended
	DECL  R13
	MOVL  $62, AX         // kill(child, SIGKILL)
	MOVL  -128(SP)(R13*4), DI
	MOVL  $9, SI
	SYSCALL
	MOVL  $61, AX         // wait4(child, nil, __WALL, nil)
	MOVL  -128(SP)(R13*4), DI
	XORL  SI, SI
	MOVL  $0x40000000, DX
	XORL  R10, R10
	SYSCALL
	JMP   end
ended:
	CMPL  R12, $8
	JEQ   begin
	LEAQ  few<>(SB), SI
	MOVL  $131, DX
refuse:
	MOVL  $1, AX          // write(2, the sentence, its length)
	MOVL  $2, DI
	SYSCALL
	MOVL  $231, AX        // exit_group(1)
	MOVL  $1, DI
	SYSCALL
child:
	MOVL  $35, AX         // nanosleep(a second), until it is killed
	LEAQ  second<>(SB), DI
	XORL  SI, SI
	SYSCALL
	MOVL  $60, AX         // exit(0), where nobody is left to kill it
	XORL  DI, DI
	SYSCALL
begin:
	JMP   _rt0_amd64_linux(SB)

// start: where a program that make builds begins, before Go's runtime. It is linked with -E main.start.
//
// The runtime reserves 1.1 GiB of addresses before any Go code runs, and ends in a trace of its own where a limit (ulimit -v) leaves less. So the limit
// is looked at here: below 1.75 GiB, with which small commands work, the user gets a sentence and exit code 1. Registers and stack are left as the runtime expects them.

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
	JCC   begin
	MOVL  $1, AX          // write(2, short, 181)
	MOVL  $2, DI
	LEAQ  short<>(SB), SI
	MOVL  $181, DX
	SYSCALL
	MOVL  $231, AX        // exit_group(1)
	MOVL  $1, DI
	SYSCALL
begin:
	JMP   _rt0_amd64_linux(SB)

#include "textflag.h"

// The innermost loops of products of integers: a tile of C, rows × 3 vectors, stays in registers while the groups of four entries of k run.
// Each takes a *tile8, see int8.go, and reads its fields by their offsets: CX counts groups down, SI is a, DI is b, DX is start and then
// columns, BX is rows, AX is c and R12 the bytes between its rows, R13 is from. Row i of A is at SI + i·R8; R9, R10 and R11 are 3, 5 and 7
// times R8. After the loop DI is the bytes between the rows of from.

#define LOAD8 \
	MOVQ t+0(FP), AX   \
	MOVQ 0(AX), CX     \
	MOVQ 8(AX), SI     \
	MOVQ 32(AX), R8    \
	MOVQ 40(AX), DI    \
	MOVQ 64(AX), DX    \
	LEAQ (R8)(R8*2), R9  \
	LEAQ (R8)(R8*4), R10 \
	LEAQ (R9)(R8*4), R11

#define FINISH8 \
	MOVQ t+0(FP), AX   \
	MOVQ 88(AX), BX    \
	MOVQ 112(AX), DX   \
	MOVQ 136(AX), R13  \
	MOVQ 160(AX), DI   \
	MOVQ 192(AX), R12  \
	MOVQ 168(AX), AX   \
	SHLQ $2, DI        \
	SHLQ $2, R12

// AVX-512 with VNNI: 8 rows, vectors of 16. Z24 to Z26 hold b.

#define DOT3(mem, x, c0, c1, c2) \
	VPBROADCASTD mem, x   \
	VPDPBUSD Z24, x, c0   \
	VPDPBUSD Z25, x, c1   \
	VPDPBUSD Z26, x, c2

#define START3(c0, c1, c2) \
	VMOVDQU32 (DX), c0    \
	VMOVDQU32 64(DX), c1  \
	VMOVDQU32 128(DX), c2

#define SCALE3(row, c0, c1, c2) \
	VBROADCASTSS row, Z27   \
	VCVTDQ2PS c0, c0        \
	VCVTDQ2PS c1, c1        \
	VCVTDQ2PS c2, c2        \
	VMULPS Z27, c0, c0      \
	VMULPS Z27, c1, c1      \
	VMULPS Z27, c2, c2      \
	VMULPS Z24, c0, c0      \
	VMULPS Z25, c1, c1      \
	VMULPS Z26, c2, c2      \
	VADDPS (R13), c0, c0    \
	VADDPS 64(R13), c1, c1  \
	VADDPS 128(R13), c2, c2 \
	ADDQ DI, R13            \
	VMOVUPS c0, (AX)        \
	VMOVUPS c1, 64(AX)      \
	VMOVUPS c2, 128(AX)     \
	ADDQ R12, AX

// func tileVNNI(t *tile8)
TEXT ·tileVNNI(SB), NOSPLIT, $0-8
	LOAD8
	START3(Z0, Z1, Z2)
	START3(Z3, Z4, Z5)
	START3(Z6, Z7, Z8)
	START3(Z9, Z10, Z11)
	START3(Z12, Z13, Z14)
	START3(Z15, Z16, Z17)
	START3(Z18, Z19, Z20)
	START3(Z21, Z22, Z23)

loop:
	VMOVDQU32 (DI), Z24
	VMOVDQU32 64(DI), Z25
	VMOVDQU32 128(DI), Z26
	DOT3((SI), Z27, Z0, Z1, Z2)
	DOT3((SI)(R8*1), Z28, Z3, Z4, Z5)
	DOT3((SI)(R8*2), Z29, Z6, Z7, Z8)
	DOT3((SI)(R9*1), Z30, Z9, Z10, Z11)
	DOT3((SI)(R8*4), Z31, Z12, Z13, Z14)
	DOT3((SI)(R10*1), Z27, Z15, Z16, Z17)
	DOT3((SI)(R9*2), Z28, Z18, Z19, Z20)
	DOT3((SI)(R11*1), Z29, Z21, Z22, Z23)
	ADDQ $4, SI
	ADDQ $192, DI
	DECQ CX
	JNZ  loop
	FINISH8
	VMOVUPS (DX), Z24
	VMOVUPS 64(DX), Z25
	VMOVUPS 128(DX), Z26
	SCALE3((BX), Z0, Z1, Z2)
	SCALE3(4(BX), Z3, Z4, Z5)
	SCALE3(8(BX), Z6, Z7, Z8)
	SCALE3(12(BX), Z9, Z10, Z11)
	SCALE3(16(BX), Z12, Z13, Z14)
	SCALE3(20(BX), Z15, Z16, Z17)
	SCALE3(24(BX), Z18, Z19, Z20)
	SCALE3(28(BX), Z21, Z22, Z23)
	VZEROUPPER
	RET

// AVX2: 4 rows, vectors of 8. Y14 has ones. The sum of two products of bytes fits into 16 bits, because weights have 7 bits.

#define BYTES(mem, b, c) \
	VPMADDUBSW mem, b, Y13  \
	VPMADDWD Y14, Y13, Y13  \
	VPADDD Y13, c, c

#define PAIRS3(mem, c0, c1, c2) \
	VPBROADCASTD mem, Y12    \
	BYTES((DI), Y12, c0)     \
	BYTES(32(DI), Y12, c1)   \
	BYTES(64(DI), Y12, c2)

#define BEGIN3(c0, c1, c2) \
	VMOVDQU (DX), c0    \
	VMOVDQU 32(DX), c1  \
	VMOVDQU 64(DX), c2

#define WEIGH3(row, c0, c1, c2) \
	VBROADCASTSS row, Y12   \
	VCVTDQ2PS c0, c0        \
	VCVTDQ2PS c1, c1        \
	VCVTDQ2PS c2, c2        \
	VMULPS Y12, c0, c0      \
	VMULPS Y12, c1, c1      \
	VMULPS Y12, c2, c2      \
	VMULPS (DX), c0, c0     \
	VMULPS 32(DX), c1, c1   \
	VMULPS 64(DX), c2, c2   \
	VADDPS (R13), c0, c0    \
	VADDPS 32(R13), c1, c1  \
	VADDPS 64(R13), c2, c2  \
	ADDQ DI, R13            \
	VMOVUPS c0, (AX)        \
	VMOVUPS c1, 32(AX)      \
	VMOVUPS c2, 64(AX)      \
	ADDQ R12, AX

// func tileBytes(t *tile8)
TEXT ·tileBytes(SB), NOSPLIT, $0-8
	LOAD8
	VPCMPEQW Y14, Y14, Y14
	VPSRLW   $15, Y14, Y14
	BEGIN3(Y0, Y1, Y2)
	BEGIN3(Y3, Y4, Y5)
	BEGIN3(Y6, Y7, Y8)
	BEGIN3(Y9, Y10, Y11)

loop:
	PAIRS3((SI), Y0, Y1, Y2)
	PAIRS3((SI)(R8*1), Y3, Y4, Y5)
	PAIRS3((SI)(R8*2), Y6, Y7, Y8)
	PAIRS3((SI)(R9*1), Y9, Y10, Y11)
	ADDQ $4, SI
	ADDQ $96, DI
	DECQ CX
	JNZ  loop
	FINISH8
	WEIGH3((BX), Y0, Y1, Y2)
	WEIGH3(4(BX), Y3, Y4, Y5)
	WEIGH3(8(BX), Y6, Y7, Y8)
	WEIGH3(12(BX), Y9, Y10, Y11)
	VZEROUPPER
	RET

// Rounding of n entries, a multiple of 16. SI is x, CX counts blocks of 16 down.

// func largestBits(x *float32, n int) uint32
TEXT ·largestBits(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	SHRQ $4, CX
	VPCMPEQD Y1, Y1, Y1
	VPSRLD   $1, Y1, Y1
	VPXOR    Y0, Y0, Y0
	VPXOR    Y4, Y4, Y4

loop:
	VPAND   (SI), Y1, Y2
	VPAND   32(SI), Y1, Y3
	VPMAXSD Y2, Y0, Y0
	VPMAXSD Y3, Y4, Y4
	ADDQ    $64, SI
	DECQ    CX
	JNZ     loop
	VPMAXSD Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPMAXSD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPMAXSD X1, X0, X0
	VMOVD   X0, AX
	MOVL    AX, ret+16(FP)
	VZEROUPPER
	RET

// func roundBytes(to *uint8, x *float32, n int, scale float32)
TEXT ·roundBytes(SB), NOSPLIT, $0-28
	MOVQ to+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS scale+24(FP), Y0
	SHRQ $4, CX
	VPCMPEQD Y1, Y1, Y1
	VPSRLD   $31, Y1, Y1
	VPSLLD   $7, Y1, Y1

loop:
	VMULPS (SI), Y0, Y2
	VMULPS 32(SI), Y0, Y3
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPADDD Y1, Y2, Y2
	VPADDD Y1, Y3, Y3
	VPACKUSDW Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X3
	VPACKUSWB X3, X2, X2
	VPSHUFD $0xd8, X2, X2
	VMOVDQU X2, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

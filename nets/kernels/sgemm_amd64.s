#include "textflag.h"

// The innermost loops of the matrix product: a tile of C, rows × (1, 2 or 3) vectors, stays in registers while k runs.
// Each takes a *tile, see sgemm_amd64.go: CX counts k down, SI is a and BX its step, DI is b and DX its step, AX is c and
// R12 the bytes between its rows, R13 is from. Row i of A is at SI + i·R8; R9, R10 and R11 are 3, 5 and 7 times R8. After the
// loop DI is the bytes between the rows of from.

#define LOAD \
	MOVQ t+0(FP), AX   \
	MOVQ 0(AX), CX     \
	MOVQ 8(AX), SI     \
	MOVQ 16(AX), R8    \
	MOVQ 24(AX), BX    \
	MOVQ 32(AX), DI    \
	MOVQ 40(AX), DX    \
	MOVQ 56(AX), R12   \
	MOVQ 64(AX), R13   \
	MOVQ 48(AX), AX    \
	LEAQ (R8)(R8*2), R9  \
	LEAQ (R8)(R8*4), R10 \
	LEAQ (R9)(R8*4), R11

#define ZERO8(a, b, c, d, e, f, g, h) \
	VPXORQ a, a, a \
	VPXORQ b, b, b \
	VPXORQ c, c, c \
	VPXORQ d, d, d \
	VPXORQ e, e, e \
	VPXORQ f, f, f \
	VPXORQ g, g, g \
	VPXORQ h, h, h

#define NEXT(loop) \
	ADDQ BX, SI \
	ADDQ DX, DI \
	DECQ CX     \
	JNZ  loop

// AVX-512: 8 rows, vectors of 16. Z24 to Z26 hold b.

#define ROW3(mem, x, c0, c1, c2) \
	VBROADCASTSS mem, x     \
	VFMADD231PS Z24, x, c0  \
	VFMADD231PS Z25, x, c1  \
	VFMADD231PS Z26, x, c2

#define ROW2(mem, x, c0, c1) \
	VBROADCASTSS mem, x     \
	VFMADD231PS Z24, x, c0  \
	VFMADD231PS Z25, x, c1

#define ROW1(mem, x, c0) \
	VBROADCASTSS mem, x    \
	VFMADD231PS Z24, x, c0

#define ADD3(c0, c1, c2) \
	VADDPS (R13), c0, c0    \
	VADDPS 64(R13), c1, c1  \
	VADDPS 128(R13), c2, c2 \
	ADDQ DI, R13            \
	STORE3(c0, c1, c2)

#define ADD2(c0, c1) \
	VADDPS (R13), c0, c0   \
	VADDPS 64(R13), c1, c1 \
	ADDQ DI, R13           \
	STORE2(c0, c1)

#define ADD1(c0) \
	VADDPS (R13), c0, c0 \
	ADDQ DI, R13         \
	STORE1(c0)

#define STORE3(c0, c1, c2) \
	VMOVUPS c0, (AX)    \
	VMOVUPS c1, 64(AX)  \
	VMOVUPS c2, 128(AX) \
	ADDQ R12, AX

#define STORE2(c0, c1) \
	VMOVUPS c0, (AX)   \
	VMOVUPS c1, 64(AX) \
	ADDQ R12, AX

#define STORE1(c0) \
	VMOVUPS c0, (AX) \
	ADDQ R12, AX

// func tile512x3(t *tile)
TEXT ·tile512x3(SB), NOSPLIT, $0-8
	LOAD
	ZERO8(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ZERO8(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)
	ZERO8(Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23)

loop:
	VMOVUPS (DI), Z24
	VMOVUPS 64(DI), Z25
	VMOVUPS 128(DI), Z26
	ROW3((SI), Z27, Z0, Z1, Z2)
	ROW3((SI)(R8*1), Z28, Z3, Z4, Z5)
	ROW3((SI)(R8*2), Z29, Z6, Z7, Z8)
	ROW3((SI)(R9*1), Z30, Z9, Z10, Z11)
	ROW3((SI)(R8*4), Z31, Z12, Z13, Z14)
	ROW3((SI)(R10*1), Z27, Z15, Z16, Z17)
	ROW3((SI)(R9*2), Z28, Z18, Z19, Z20)
	ROW3((SI)(R11*1), Z29, Z21, Z22, Z23)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	ADD3(Z0, Z1, Z2)
	ADD3(Z3, Z4, Z5)
	ADD3(Z6, Z7, Z8)
	ADD3(Z9, Z10, Z11)
	ADD3(Z12, Z13, Z14)
	ADD3(Z15, Z16, Z17)
	ADD3(Z18, Z19, Z20)
	ADD3(Z21, Z22, Z23)
	VZEROUPPER
	RET

store:
	STORE3(Z0, Z1, Z2)
	STORE3(Z3, Z4, Z5)
	STORE3(Z6, Z7, Z8)
	STORE3(Z9, Z10, Z11)
	STORE3(Z12, Z13, Z14)
	STORE3(Z15, Z16, Z17)
	STORE3(Z18, Z19, Z20)
	STORE3(Z21, Z22, Z23)
	VZEROUPPER
	RET

// func tile512x2(t *tile)
TEXT ·tile512x2(SB), NOSPLIT, $0-8
	LOAD
	ZERO8(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	ZERO8(Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

loop:
	VMOVUPS (DI), Z24
	VMOVUPS 64(DI), Z25
	ROW2((SI), Z27, Z0, Z1)
	ROW2((SI)(R8*1), Z28, Z2, Z3)
	ROW2((SI)(R8*2), Z29, Z4, Z5)
	ROW2((SI)(R9*1), Z30, Z6, Z7)
	ROW2((SI)(R8*4), Z31, Z8, Z9)
	ROW2((SI)(R10*1), Z27, Z10, Z11)
	ROW2((SI)(R9*2), Z28, Z12, Z13)
	ROW2((SI)(R11*1), Z29, Z14, Z15)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	ADD2(Z0, Z1)
	ADD2(Z2, Z3)
	ADD2(Z4, Z5)
	ADD2(Z6, Z7)
	ADD2(Z8, Z9)
	ADD2(Z10, Z11)
	ADD2(Z12, Z13)
	ADD2(Z14, Z15)
	VZEROUPPER
	RET

store:
	STORE2(Z0, Z1)
	STORE2(Z2, Z3)
	STORE2(Z4, Z5)
	STORE2(Z6, Z7)
	STORE2(Z8, Z9)
	STORE2(Z10, Z11)
	STORE2(Z12, Z13)
	STORE2(Z14, Z15)
	VZEROUPPER
	RET

// func tile512x1(t *tile)
TEXT ·tile512x1(SB), NOSPLIT, $0-8
	LOAD
	ZERO8(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)

loop:
	VMOVUPS (DI), Z24
	ROW1((SI), Z27, Z0)
	ROW1((SI)(R8*1), Z28, Z1)
	ROW1((SI)(R8*2), Z29, Z2)
	ROW1((SI)(R9*1), Z30, Z3)
	ROW1((SI)(R8*4), Z31, Z4)
	ROW1((SI)(R10*1), Z27, Z5)
	ROW1((SI)(R9*2), Z28, Z6)
	ROW1((SI)(R11*1), Z29, Z7)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	ADD1(Z0)
	ADD1(Z1)
	ADD1(Z2)
	ADD1(Z3)
	ADD1(Z4)
	ADD1(Z5)
	ADD1(Z6)
	ADD1(Z7)
	VZEROUPPER
	RET

store:
	STORE1(Z0)
	STORE1(Z1)
	STORE1(Z2)
	STORE1(Z3)
	STORE1(Z4)
	STORE1(Z5)
	STORE1(Z6)
	STORE1(Z7)
	VZEROUPPER
	RET

// AVX2 with FMA: 4 rows, vectors of 8. Y12 to Y14 hold b.

#define ZERO4(a, b, c, d) \
	VXORPS a, a, a \
	VXORPS b, b, b \
	VXORPS c, c, c \
	VXORPS d, d, d

#define HALF3(mem, c0, c1, c2) \
	VBROADCASTSS mem, Y15     \
	VFMADD231PS Y12, Y15, c0  \
	VFMADD231PS Y13, Y15, c1  \
	VFMADD231PS Y14, Y15, c2

#define HALF2(mem, c0, c1) \
	VBROADCASTSS mem, Y15     \
	VFMADD231PS Y12, Y15, c0  \
	VFMADD231PS Y13, Y15, c1

#define HALF1(mem, c0) \
	VBROADCASTSS mem, Y15    \
	VFMADD231PS Y12, Y15, c0

#define PUT3(c0, c1, c2) \
	VMOVUPS c0, (AX)   \
	VMOVUPS c1, 32(AX) \
	VMOVUPS c2, 64(AX) \
	ADDQ R12, AX

#define PUT2(c0, c1) \
	VMOVUPS c0, (AX)   \
	VMOVUPS c1, 32(AX) \
	ADDQ R12, AX

#define PUT1(c0) \
	VMOVUPS c0, (AX) \
	ADDQ R12, AX

#define PLUS3(c0, c1, c2) \
	VADDPS (R13), c0, c0   \
	VADDPS 32(R13), c1, c1 \
	VADDPS 64(R13), c2, c2 \
	ADDQ DI, R13           \
	PUT3(c0, c1, c2)

#define PLUS2(c0, c1) \
	VADDPS (R13), c0, c0   \
	VADDPS 32(R13), c1, c1 \
	ADDQ DI, R13           \
	PUT2(c0, c1)

#define PLUS1(c0) \
	VADDPS (R13), c0, c0 \
	ADDQ DI, R13         \
	PUT1(c0)

// func tile256x3(t *tile)
TEXT ·tile256x3(SB), NOSPLIT, $0-8
	LOAD
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)
	ZERO4(Y8, Y9, Y10, Y11)

loop:
	VMOVUPS (DI), Y12
	VMOVUPS 32(DI), Y13
	VMOVUPS 64(DI), Y14
	HALF3((SI), Y0, Y1, Y2)
	HALF3((SI)(R8*1), Y3, Y4, Y5)
	HALF3((SI)(R8*2), Y6, Y7, Y8)
	HALF3((SI)(R9*1), Y9, Y10, Y11)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	PLUS3(Y0, Y1, Y2)
	PLUS3(Y3, Y4, Y5)
	PLUS3(Y6, Y7, Y8)
	PLUS3(Y9, Y10, Y11)
	VZEROUPPER
	RET

store:
	PUT3(Y0, Y1, Y2)
	PUT3(Y3, Y4, Y5)
	PUT3(Y6, Y7, Y8)
	PUT3(Y9, Y10, Y11)
	VZEROUPPER
	RET

// func tile256x2(t *tile)
TEXT ·tile256x2(SB), NOSPLIT, $0-8
	LOAD
	ZERO4(Y0, Y1, Y2, Y3)
	ZERO4(Y4, Y5, Y6, Y7)

loop:
	VMOVUPS (DI), Y12
	VMOVUPS 32(DI), Y13
	HALF2((SI), Y0, Y1)
	HALF2((SI)(R8*1), Y2, Y3)
	HALF2((SI)(R8*2), Y4, Y5)
	HALF2((SI)(R9*1), Y6, Y7)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	PLUS2(Y0, Y1)
	PLUS2(Y2, Y3)
	PLUS2(Y4, Y5)
	PLUS2(Y6, Y7)
	VZEROUPPER
	RET

store:
	PUT2(Y0, Y1)
	PUT2(Y2, Y3)
	PUT2(Y4, Y5)
	PUT2(Y6, Y7)
	VZEROUPPER
	RET

// func tile256x1(t *tile)
TEXT ·tile256x1(SB), NOSPLIT, $0-8
	LOAD
	ZERO4(Y0, Y1, Y2, Y3)

loop:
	VMOVUPS (DI), Y12
	HALF1((SI), Y0)
	HALF1((SI)(R8*1), Y1)
	HALF1((SI)(R8*2), Y2)
	HALF1((SI)(R9*1), Y3)
	NEXT(loop)
	TESTQ R13, R13
	JZ    store
	MOVQ  t+0(FP), DI
	MOVQ  72(DI), DI
	PLUS1(Y0)
	PLUS1(Y1)
	PLUS1(Y2)
	PLUS1(Y3)
	VZEROUPPER
	RET

store:
	PUT1(Y0)
	PUT1(Y1)
	PUT1(Y2)
	PUT1(Y3)
	VZEROUPPER
	RET

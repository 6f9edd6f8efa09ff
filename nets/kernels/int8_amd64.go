package kernels

import (
	"golang.org/x/sys/cpu"

	"github.com/dsp-go/dsp/structured/sys/instructions"
)

//go:noescape
func tileVNNI(t *tile8)

//go:noescape
func tileBytes(t *tile8)

//go:noescape
func largestBits(x *float32, n int) uint32

//go:noescape
func roundBytes(to *uint8, x *float32, n int, scale float32)

var (
	vnniInt8 = int8Loops{"AVX-512 VNNI", 8, 48, tileVNNI, largestVector, roundVector}
	avx2Int8 = int8Loops{"AVX2", 4, 24, tileBytes, largestVector, roundVector}
)

// availableInt8 returns the loops that this processor can run, the fastest first.
func availableInt8() []*int8Loops {
	all := []*int8Loops{&plainInt8}
	if instructions.AVX2() {
		all = append([]*int8Loops{&avx2Int8}, all...)
	}
	if instructions.AVX512() && cpu.X86.HasAVX512VNNI {
		all = append([]*int8Loops{&vnniInt8}, all...)
	}
	return all
}

// vectorEntries is how many entries the loops of roundings take at a time.
const vectorEntries = 16

func largestVector(x []float32) uint32 {
	whole := len(x) / vectorEntries * vectorEntries
	rest := largestPlain(x[whole:])
	if whole == 0 {
		return rest
	}
	return max(rest, largestBits(&x[0], whole))
}

func roundVector(to []uint8, x []float32, scale float32) {
	_ = to[:len(x)]
	whole := len(x) / vectorEntries * vectorEntries
	roundPlain(to[whole:], x[whole:], scale)
	if whole > 0 {
		roundBytes(&to[0], &x[0], whole, scale)
	}
}

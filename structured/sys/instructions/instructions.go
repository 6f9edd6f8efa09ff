// Package instructions says which instruction sets kernels may use: those that the processor has, up to the one that
// the environment variable DSP_KERNELS names (plain, avx2 or avx512). So tests and measurements run the kernels of
// other processors, and two machines can give the same bits.
package instructions

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
)

// set is an instruction set; each contains those before it.
type set int

const (
	plain set = iota
	avx2
	avx512
)

var names = map[string]set{"plain": plain, "avx2": avx2, "avx512": avx512}

// chosen is what kernels may use. A wrong choice counts as none; Check tells.
var chosen = min(has(), wanted(os.Getenv("DSP_KERNELS")))

func has() set {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return plain
	case x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

func wanted(name string) set {
	if s, ok := names[name]; ok {
		return s
	}
	return avx512
}

// AVX2 reports whether kernels may use AVX2 and FMA.
func AVX2() bool { return chosen >= avx2 }

// AVX512 reports whether kernels may use AVX-512: F, CD, BW, DQ and VL.
func AVX512() bool { return chosen >= avx512 }

// Available returns the kernels that may be used, the fastest first. Those that the program was compiled without are
// nil.
func Available[K any](ofPlain, ofAVX2, ofAVX512 *K) []*K {
	return available(chosen, ofPlain, ofAVX2, ofAVX512)
}

func available[K any](most set, kernels ...*K) (all []*K) {
	for s := most; s >= plain; s-- {
		if k := kernels[s]; k != nil {
			all = append(all, k)
		}
	}
	return all
}

// Check returns an error if DSP_KERNELS names no instruction set, or one that the processor lacks.
func Check() error { return check(os.Getenv("DSP_KERNELS"), has()) }

func check(name string, has set) error {
	s, ok := names[name]
	switch {
	case name == "":
	case !ok:
		return fmt.Errorf("DSP_KERNELS=%s: expected plain, avx2 or avx512", name)
	case s > has:
		return fmt.Errorf("DSP_KERNELS=%s: this processor lacks it; without DSP_KERNELS dsp uses the best that is there",
			name)
	}
	return nil
}

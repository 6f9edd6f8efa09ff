package main

import (
	"debug/elf"
	"os"
	"testing"
)

// What the instructions of a loop are decides whether it is reported.
func TestMixedLoops(t *testing.T) {
	const (
		wideLoad  = "\xc5\xfc\x10\x00"             // vmovups (%rax),%ymm0
		zmmAdd    = "\x62\xf1\x7c\x48\x58\xc0"     // vaddps %zmm0,%zmm0,%zmm0
		movss     = "\xf3\x0f\x10\x0b"             // movss (%rbx),%xmm1
		convert   = "\xf3\x45\x0f\x5a\xc9"         // cvtss2sd %xmm9,%xmm9
		movq      = "\x66\x48\x0f\x6e\xc9"         // movq %rcx,%xmm1
		vmovss    = "\xc5\xfa\x10\x0b"             // vmovss (%rbx),%xmm1
		clear     = "\xc5\xf8\x77"                 // vzeroupper
		add       = "\x48\x83\xc0\x20"             // add $0x20,%rax
		prefetch  = "\x0f\x18\x88\x00\x01\x00\x00" // prefetcht0 0x100(%rax)
		mask      = "\xc5\xfc\x41\xc9"             // kandw %k1,%k0,%k1
		narrowAdd = "\xc5\xf8\x58\xc0"             // vaddps %xmm0,%xmm0,%xmm0
	)
	for _, c := range []struct {
		what, before, body string
		loops, mixed       int
	}{
		{"a scalar is loaded", "", wideLoad + movss + add, 1, 1},
		{"a scalar is converted", "", zmmAdd + convert, 1, 1},
		{"a number comes from an integer register", "", wideLoad + movq, 1, 1},
		{"a scalar is loaded by AVX", "", wideLoad + vmovss + add, 1, 0},
		{"only integers are there beside vectors", "", wideLoad + add + prefetch, 1, 0},
		{"the upper halves are cleared", "", wideLoad + clear + movss, 1, 0},
		{"the scalar comes before the loop", movss, wideLoad + add, 1, 0},
		{"vectors have 128 bits", "", narrowAdd + movss, 0, 0},
		{"masks are no vectors", "", mask + movss, 0, 0},
	} {
		body := c.body
		code := c.before + body + "\xeb" + string([]byte{byte(-len(body) - 2)}) + "\xc3" // jmp to the start of body; ret
		all, err := instructions([]byte(code))
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if mixed, loops := mixedLoops(all); len(mixed) != c.mixed || loops != c.loops {
			t.Errorf("%s: %d of %d loops are mixed, expected %d of %d", c.what, len(mixed), loops, c.mixed, c.loops)
		}
	}
}

// Every function of a Go program is read to its end, assembly of the runtime and of package crypto included.
func TestWholeProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil || f.Machine != elf.EM_X86_64 {
		t.Skip("not on Linux for amd64")
	}
	f.Close()
	if _, loops, err := scan(self, ""); err != nil || loops == 0 {
		t.Errorf("%d loops, error %v", loops, err)
	}
}

func TestUnknownInstruction(t *testing.T) {
	for _, code := range []string{"\x06", "\x0f\x04", "\x0f", "\xc5\xfc\x10", "\xe9\x00\x00"} {
		if in, err := decode([]byte(code)); err == nil {
			t.Errorf("% x is read as %+v", code, in)
		}
	}
}

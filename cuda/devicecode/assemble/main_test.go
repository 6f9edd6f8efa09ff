package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/devicecode"
)

// spills are the kernels with registers in memory, by architecture: some bytes in loops over other work. Elsewhere none
// may spill.
var spills = map[string][]string{
	"sm_80": {"attention_push", "forward_large_4"},
	"sm_86": {"forward_large_4"},
	"sm_89": {"forward_large_4"},
}

// No kernel needs more registers than there are: what is spilled goes through memory.
func TestNoKernelSpills(t *testing.T) {
	ptxas, err := find()
	if err != nil {
		t.Skip(err)
	}
	modules, err := filepath.Glob("../ptx/*.ptx")
	if err != nil || len(modules) == 0 {
		t.Fatalf("modules: %v, %v", modules, err)
	}
	set, err := devicecode.Read(os.DirFS("../ptx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, architecture := range devicecode.Architectures {
		kernels, spilling := 0, []string(nil)
		for _, module := range modules {
			used, err := assemble(ptxas, architecture, module, os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range used {
				if kernels++; u.stores+u.loads+u.stack > 0 {
					spilling = append(spilling, u.kernel)
					t.Logf("%s, %s: spills %d bytes and loads %d, and has a stack of %d", architecture, u.kernel,
						u.stores, u.loads, u.stack)
				}
				if u.occupy(); u.blocks == 0 {
					t.Errorf("%s, %s: a block of %d threads with %d registers each does not fit a multiprocessor", architecture,
						u.kernel, u.threads, u.registers)
				}
			}
		}
		slices.Sort(spilling)
		if want := spills[architecture]; !slices.Equal(spilling, want) {
			t.Errorf("%s: %v spill, want %v", architecture, spilling, want)
		}
		if want := len(set.Names()); kernels != want {
			t.Errorf("%s: ptxas reported %d kernels of %d", architecture, kernels, want)
		}
	}
}

func TestUsages(t *testing.T) {
	const said = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'align_targets' for 'sm_90'
ptxas info    : Function properties for align_targets
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
ptxas info    : Compiling entry function 'spills' for 'sm_90'
ptxas info    : Function properties for spills
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 512 bytes smem
`
	used, err := usages(said)
	want := []usage{{kernel: "align_targets", registers: 40},
		{kernel: "spills", registers: 255, shared: 512, stack: 16, stores: 8, loads: 4}}
	if err != nil || !slices.Equal(used, want) {
		t.Errorf("%+v, %v; expected %+v", used, err, want)
	}
	if _, err := usages(strings.ReplaceAll(said, "registers", "something")); err == nil {
		t.Error("no error without registers")
	}
}

// The CUDA occupancy calculator gives these.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct{ registers, threads, blocks, occupancy int }{
		{32, 1024, 2, 100}, {64, 256, 4, 50}, {127, 256, 2, 25}, {255, 128, 2, 12}, {16, 32, 32, 50}, {40, 256, 6, 75},
	} {
		u := usage{registers: c.registers, threads: c.threads}
		if u.occupy(); u.blocks != c.blocks || u.occupancy != c.occupancy {
			t.Errorf("%d registers, %d threads: %d blocks, %d %%; expected %d, %d %%", c.registers, c.threads, u.blocks,
				u.occupancy, c.blocks, c.occupancy)
		}
	}
}

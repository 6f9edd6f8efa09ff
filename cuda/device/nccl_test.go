package device_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
)

// never is no reason to end a wait.
func never() error { return nil }

// asRanks calls do as each rank of a group of devices, at the same time, and returns their errors.
func asRanks(t *testing.T, devices []*device.Device, do func(rank int, c *device.Communicator) error) error {
	t.Helper()
	n, why, err := device.OpenNCCL(true)
	if err != nil || n == nil {
		t.Fatal(why, err)
	}
	group, err := n.NewIdentifier()
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(devices))
	var all sync.WaitGroup
	for rank, d := range devices {
		all.Go(func() {
			c, err := d.Join(n, len(devices), rank, group, never)
			if err == nil {
				err = do(rank, c)
			}
			errs[rank] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Each rank gets what all have, in their order, whatever the size, exchange after exchange, and also where a rank comes
// late.
func TestAllGather(t *testing.T) {
	for _, streams := range []string{"now", "late"} {
		for ranks := 1; ranks <= 3; ranks++ {
			t.Run(fmt.Sprintf("%s, %d ranks", streams, ranks), func(t *testing.T) {
				t.Setenv("DSP_EMULATED_STREAMS", streams)
				devices := cudatest.Several(t, ranks)
				cudatest.Must(t, asRanks(t, devices, func(rank int, c *device.Communicator) error {
					d := devices[rank]
					for exchange, n := range []int{1, 5, 40000, 16384} { // of which a slot of the emulator holds 16384
						number := func(rank, i int) float32 { return float32(1000*exchange+100*rank) + float32(i%97) }
						mine := make([]float32, n)
						for i := range mine {
							mine[i] = number(rank, i)
						}
						from, to := device.NewFrom(d, mine, "mine"), device.New[float32](d, ranks*n, "all")
						time.Sleep(time.Duration(rank) * time.Millisecond)
						c.AllGather(to, from)
						if err := c.Wait(never); err != nil {
							return err
						}
						got := cudatest.Downloaded(d, to)
						for k, x := range got {
							if want := number(k/n, k%n); x != want {
								return fmt.Errorf("rank %d, %d numbers: %v at %d, want %v", rank, n, x, k, want)
							}
						}
					}
					return nil
				}))
				for _, d := range devices {
					cudatest.Must(t, d.Close())
				}
			})
		}
	}
}

// A rank that is gone holds up nobody whose group says so. The device is of no more use.
func TestAllGatherWithoutARank(t *testing.T) {
	devices := cudatest.Several(t, 2)
	gone := errors.New("rank 1 is gone")
	err := asRanks(t, devices, func(rank int, c *device.Communicator) error {
		if rank == 1 {
			return nil
		}
		d, looks := devices[0], 0
		to := device.New[float32](d, 6, "all")
		c.AllGather(to, device.NewFrom(d, []float32{1, 2, 3}, "mine"))
		return c.Wait(func() error {
			if looks++; looks < 3 {
				return nil
			}
			return gone
		})
	})
	if !errors.Is(err, gone) || !errors.Is(devices[0].Err(), gone) {
		t.Errorf("%v; the device: %v", err, devices[0].Err())
	}
	if err := devices[0].Close(); !errors.Is(err, gone) {
		t.Errorf("closing: %v", err)
	}
}

// Ranks that wait for others to join stop when their group says so. A process of its own does that: the library still
// waits in the device's context, which therefore stays until the process ends.
func TestJoinWithoutARank(t *testing.T) {
	const asChild = "DSP_TEST_JOIN_WITHOUT_A_RANK"
	if os.Getenv(asChild) == "" {
		cudatest.Several(t, 1) // or the test is skipped
		child := exec.Command(os.Args[0], "-test.run=^TestJoinWithoutARank$")
		child.Env = append(os.Environ(), asChild+"=1")
		if said, err := child.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS") {
			t.Errorf("%v\n%s", err, said)
		}
		return
	}
	d := cudatest.Several(t, 1)[0]
	n, _, err := device.OpenNCCL(true)
	cudatest.Must(t, err)
	group, err := n.NewIdentifier()
	cudatest.Must(t, err)
	gone := errors.New("rank 1 is gone")
	if _, err := d.Join(n, 2, 0, group, func() error { return gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
	if err := d.Close(); !errors.Is(err, gone) {
		t.Errorf("closing: %v", err)
	}
	// the emulator's file, whose name the last rank would have removed
	cudatest.Must(t, os.Remove(strings.TrimRight(string(group[:]), "\x00")))
}

// Wrong uses are told: one device for two ranks, sizes that differ, and memory that is too small.
func TestWrongExchanges(t *testing.T) {
	t.Run("one device", func(t *testing.T) {
		d := cudatest.Several(t, 1)[0]
		err := asRanks(t, []*device.Device{d, d}, func(int, *device.Communicator) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "ncclInvalidUsage") {
			t.Error(err)
		}
	})
	t.Run("other sizes", func(t *testing.T) {
		devices := cudatest.Several(t, 2)
		err := asRanks(t, devices, func(rank int, c *device.Communicator) error {
			n := 3 + rank
			c.AllGather(device.New[float32](devices[rank], 2*n, "all"),
				device.NewFrom(devices[rank], make([]float32, n), "mine"))
			return c.Wait(never)
		})
		if err == nil || !strings.Contains(err.Error(), "where another rank has") {
			t.Error(err)
		}
	})
	t.Run("too few elements", func(t *testing.T) {
		d := cudatest.Several(t, 1)[0]
		err := asRanks(t, []*device.Device{d}, func(_ int, c *device.Communicator) error {
			c.AllGather(device.New[float32](d, 2, "all"), device.NewFrom(d, make([]float32, 3), "mine"))
			return c.Wait(never)
		})
		if err == nil || !strings.Contains(err.Error(), "1 ranks gather 3 elements each in 2") {
			t.Error(err)
		}
	})
}

// The variable names the library or turns it off; a real one does not work on emulated devices.
func TestOpenNCCL(t *testing.T) {
	if !device.Built {
		t.Skip("built without the tag gpu")
	}
	for _, c := range []struct {
		file      string
		emulated  bool
		why, says string
	}{
		{"off", false, "DSP_NCCL_LIBRARY=off", ""},
		{"", true, "a real NCCL cannot use an emulated device", ""},
		{filepath.Join(t.TempDir(), "nothing.so"), false, "", "DSP_NCCL_LIBRARY: "},
		{buildFake(t, "int ncclGetVersion(int* v) { return 0; }"), false, "", "ncclGetErrorString"},
	} {
		t.Setenv("DSP_NCCL_LIBRARY", c.file)
		n, why, err := device.OpenNCCL(c.emulated)
		if n != nil || why != c.why || (err == nil) != (c.says == "") || err != nil &&
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, %q, %v", c.file, n, why, err)
		}
	}
	stubs := []string{"ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitRank", "ncclAllGather",
		"ncclCommGetAsyncError", "ncclCommAbort", "ncclCommDestroy"}
	for code, want := range map[int]string{2708: "NCCL 2.7.8", 22105: "NCCL 2.21.5"} {
		source := fmt.Sprintf("int ncclGetVersion(int* v) { *v = %d; return 0; }\n", code)
		for _, name := range slices.Sorted(slices.Values(stubs)) {
			source += "int " + name + "(void) { return 3; }\n"
		}
		t.Setenv("DSP_NCCL_LIBRARY", buildFake(t, source))
		n, why, err := device.OpenNCCL(false)
		if n == nil || n.Version() != want {
			t.Errorf("%v, %q, %v; want %s", n, why, err, want)
		}
	}
}

// Ranks connect when they join, unless the user says otherwise: the library finds the variable when it is loaded.
func TestRanksConnectWhenTheyJoin(t *testing.T) {
	if !device.Built {
		t.Skip("built without the tag gpu")
	}
	const variable = "NCCL_RUNTIME_CONNECT"
	source := "#include <stdlib.h>\nstatic int set;\n" +
		"__attribute__((constructor)) static void load(void) { const char* x = getenv(\"" + variable +
		"\"); set = x ? atoi(x) : 9; }\n" +
		"int ncclGetVersion(int* v) { *v = 22200 + set; return 0; }\n"
	for _, name := range []string{"ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitRank", "ncclAllGather",
		"ncclCommGetAsyncError", "ncclCommAbort", "ncclCommDestroy"} {
		source += "int " + name + "(void) { return 3; }\n"
	}
	for _, c := range []struct {
		given bool
		want  string
	}{{false, "NCCL 2.22.0"}, {true, "NCCL 2.22.1"}} {
		t.Setenv(variable, "1") // restores what was there before
		if !c.given {
			cudatest.Must(t, os.Unsetenv(variable))
		}
		t.Setenv("DSP_NCCL_LIBRARY", buildFake(t, source))
		if n, why, err := device.OpenNCCL(false); n == nil || n.Version() != c.want {
			t.Errorf("given %v: %v, %q, %v; want %s", c.given, n, why, err, c.want)
		}
	}
}

// A library that is not named may be missing, or not be one that works; then dsp does without, and says which of the
// two it is.
func TestUnnamedNCCL(t *testing.T) {
	if !device.Built {
		t.Skip("built without the tag gpu")
	}
	const asChild = "DSP_TEST_UNNAMED_NCCL"
	if os.Getenv(asChild) != "" {
		n, why, err := device.OpenNCCL(false)
		fmt.Printf("found %v: %s, %v\n", n != nil, why, err)
		return
	}
	old, broken, none := t.TempDir(), t.TempDir(), t.TempDir()
	cudatest.Must(t, os.Rename(buildFake(t, "int ncclGetVersion(int* v) { return 0; }"),
		filepath.Join(old, "libnccl.so.2")))
	cudatest.Must(t, os.WriteFile(filepath.Join(broken, "libnccl.so.2"), []byte("no library"), 0o644))
	for folder, want := range map[string]string{
		old:    "found false: libnccl.so.2 has no function ncclGetErrorString; NCCL 2.4 or later is needed, <nil>",
		broken: "found false: " + filepath.Join(broken, "libnccl.so.2") + ": file too short, <nil>",
		none:   "found false: libnccl.so.2 not found, <nil>",
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestUnnamedNCCL$")
		child.Env = append(os.Environ(), asChild+"=1", "LD_LIBRARY_PATH="+folder, "DSP_NCCL_LIBRARY=")
		if said, err := child.CombinedOutput(); err != nil || !strings.Contains(string(said), want+"\n") {
			if folder == none && strings.HasPrefix(string(said), "found true") {
				continue // this machine has one
			}
			t.Errorf("%v\n%s, want %s", err, said, want)
		}
	}
}

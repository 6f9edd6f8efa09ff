// Package cudatest opens a device for tests: the emulated one with make test-gpu, a real one with DSP_CUDA_TEST=device.
// Without either, tests that need a device are skipped.
package cudatest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/device"
)

// Device returns a device for the test. The test fails if the device ends with an error.
func Device(t testing.TB) *device.Device {
	t.Helper()
	d := open(t, 0)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("the device at the end: %v", err)
		}
	})
	return d
}

// Emulated returns an emulated device configured by environment variables, such as "DSP_EMULATED_MEMORY=1000000". The
// test must check for errors itself. On a real device the test is skipped.
//
//	DSP_EMULATED_MEMORY   bytes of memory, 2 GiB by default
//	DSP_EMULATED_DEVICES  number of devices, 1 by default
//	DSP_EMULATED_LOSE     number of the launch, from 1, that loses the device; :CODE sets the result code, 719 by default
//	DSP_EMULATED_DEATH    RANK:N, the rank whose process is killed in its exchange N, from 1, between devices
//	DSP_EMULATED_ORDER    forward, reverse or random:SEED, the order in which threads and blocks run
//	DSP_EMULATED_STREAMS  late: work runs only when somebody waits for it; otherwise at once
//	DSP_EMULATED_THREADS  OS threads that run blocks; by default several for a large launch
func Emulated(t testing.TB, settings ...string) *device.Device {
	t.Helper()
	if onDevice() {
		t.Skip("for the emulated device only")
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
	d := open(t, 0)
	t.Cleanup(func() { d.Close() })
	return d
}

// Several returns n emulated devices, cuda:0 and so on, as Emulated does. The library of the emulator is also their
// NCCL.
func Several(t testing.TB, n int) (all []*device.Device) {
	t.Helper()
	if onDevice() {
		t.Skip("for emulated devices only")
	}
	t.Setenv("DSP_EMULATED_DEVICES", strconv.Itoa(n))
	t.Setenv("DSP_NCCL_LIBRARY", os.Getenv("DSP_CUDA_LIBRARY"))
	for ordinal := range n {
		d := open(t, ordinal)
		t.Cleanup(func() { d.Close() })
		all = append(all, d)
	}
	return all
}

var settings = []string{"DSP_EMULATED_DEVICES", "DSP_EMULATED_MEMORY", "DSP_EMULATED_LOSE", "DSP_EMULATED_ORDER",
	"DSP_EMULATED_STREAMS", "DSP_EMULATED_THREADS"}

func onDevice() bool { return os.Getenv("DSP_CUDA_TEST") == "device" }

func open(t testing.TB, ordinal int) *device.Device {
	t.Helper()
	if !built {
		t.Skip("built without the tag gpu")
	}
	library := os.Getenv("DSP_CUDA_LIBRARY")
	if library == "" && !onDevice() {
		t.Skip("no device: make test-gpu emulates one, DSP_CUDA_TEST=device uses a real one")
	}
	// go test repeats a test when a file that it opened has changed; it cannot see which files the library opens.
	if _, err := os.Stat(library); library != "" && err != nil {
		t.Fatalf("DSP_CUDA_LIBRARY: %v (make emulator)", err)
	}
	for _, name := range settings {
		os.Getenv(name)
	}
	d, err := device.Open(ordinal)
	if err != nil {
		t.Fatal(err)
	}
	if onDevice() && d.Info().Emulated() {
		t.Fatal("DSP_CUDA_TEST=device and DSP_CUDA_LIBRARY=" + library + " contradict each other; set one")
	}
	return d
}

// Package cudatest opens a device for tests: the emulated one with make test-gpu, a real one with DSP_CUDA_TEST=device.
// Without either, tests that need a device are skipped.
package cudatest

import (
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/device"
)

// Device returns a device for the test. The test fails if the device ends with an error.
func Device(t testing.TB) *device.Device {
	t.Helper()
	d := open(t)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("the device at the end: %v", err)
		}
	})
	return d
}

// Emulated returns an emulated device configured by environment variables, such as "DSP_EMULATED_MEMORY=1000000". The test must check
// for errors itself. On a real device the test is skipped.
//
//	DSP_EMULATED_MEMORY   bytes of memory, 2 GiB by default
//	DSP_EMULATED_DEVICES  number of devices, 1 by default
//	DSP_EMULATED_LOSE     number of the launch, from 1, that loses the device; :CODE sets the result code, 719 by default
//	DSP_EMULATED_ORDER    forward, reverse or random:SEED, the order in which threads and blocks run
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
	d := open(t)
	t.Cleanup(func() { d.Close() })
	return d
}

var settings = []string{"DSP_EMULATED_MEMORY", "DSP_EMULATED_LOSE", "DSP_EMULATED_ORDER", "DSP_EMULATED_THREADS"}

func onDevice() bool { return os.Getenv("DSP_CUDA_TEST") == "device" }

func open(t testing.TB) *device.Device {
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
	d, err := device.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if onDevice() && d.Info().Emulated() {
		t.Fatal("DSP_CUDA_TEST=device and DSP_CUDA_LIBRARY=" + library + " contradict each other; set one")
	}
	return d
}

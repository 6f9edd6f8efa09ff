// Package cudatest opens a device for tests: the emulated one with make test-gpu, a real one where DSP_CUDA_TEST=device.
// Elsewhere the tests that need one are skipped.
package cudatest

import (
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/device"
)

// Device returns a device for the test. The test fails where an error stuck to it.
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

// Emulated returns an emulated device that is set up by environment variables, as in "DSP_EMULATED_MEMORY=1000000". Errors are the test's
// business. On a real device the test is skipped.
//
//	DSP_EMULATED_MEMORY   bytes there are, 2 GiB by default
//	DSP_EMULATED_DEVICES  how many there are, 1 by default
//	DSP_EMULATED_LOSE     which launch, the first being 1, finds the device lost; :CODE after it is the result, 719 by default
//	DSP_EMULATED_ORDER    forward, reverse or random:SEED, in which threads and blocks run
//	DSP_EMULATED_THREADS  of the operating system that run blocks; by default several where a launch is large
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
	// Go runs a test again when what it looked at has changed; it does not see what the library looks at.
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
		t.Fatal("DSP_CUDA_TEST=device with DSP_CUDA_LIBRARY=" + library + ": which?")
	}
	return d
}

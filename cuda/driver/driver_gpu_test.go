//go:build gpu && linux && amd64

package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestReason prints why there is no driver, for TestWhyThereIsNone: a process loads the driver only once.
func TestReason(t *testing.T) {
	if os.Getenv("DSP_TEST_REASON") == "" {
		t.Skip("a helper process of TestWhyThereIsNone")
	}
	_, err := Load()
	fmt.Println("reason:", err)
}

func TestWhyThereIsNone(t *testing.T) {
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for library, want := range map[string]string{
		"/not/there.so": "DSP_CUDA_LIBRARY=/not/there.so: /not/there.so: cannot open shared object file: No " +
			"such file or directory",
		"libc.so.6": "DSP_CUDA_LIBRARY=libc.so.6: it is no CUDA driver: it has no cuInit",
		"":          "libcuda.so.1 not found: no NVIDIA driver",
	} {
		cmd := exec.Command(test, "-test.run=^TestReason$")
		cmd.Env = append(os.Environ(), "DSP_TEST_REASON=1", "DSP_CUDA_LIBRARY="+library)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if library == "" && strings.Contains(string(out), "reason: <nil>") {
			continue // this machine has a driver
		}
		if !strings.Contains(string(out), "reason: "+want+"\n") {
			t.Errorf("with %q: %s, expected %s", library, out, want)
		}
	}
}

// opened returns the driver with a current context.
func opened(t *testing.T) Driver {
	library := os.Getenv("DSP_CUDA_LIBRARY")
	if library == "" && os.Getenv("DSP_CUDA_TEST") != "device" {
		t.Skip("no device: make test-gpu emulates one, DSP_CUDA_TEST=device uses a real one")
	}
	if library != "" {
		os.Stat(library) // tells go test not to reuse a result from another library
	}
	d, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	t.Cleanup(func() {
		if err := errors.Join(d.SetCurrent(0), d.Release(0)); err != nil {
			t.Error(err)
		}
		runtime.UnlockOSThread()
	})
	if err := d.SetCurrent(c); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestErrorsCarryNameCallAndLog(t *testing.T) {
	d := opened(t)
	check := func(err error, name, call string) *Error {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Name != name || e.Call != call {
			t.Errorf("%v, expected %s of %s", err, name, call)
			return &Error{}
		}
		return e
	}
	_, err := d.Allocate(0)
	check(err, "CUDA_ERROR_INVALID_VALUE", "cuMemAlloc") // through cu
	const empty = ".version 7.8\n.target sm_80\n.address_size 64\n"
	m, err := d.LoadModule(empty)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = d.Function(m, "nothing")
	check(err, "CUDA_ERROR_NOT_FOUND", "cuModuleGetFunction")
	if err := d.UnloadModule(m); err != nil {
		t.Error(err)
	}
	_, err = d.LoadModule(empty + ".visible .entry fill(\n\t.param .u33 x\n)\n{\nret;\n}\n")
	e := check(err, "CUDA_ERROR_INVALID_PTX", "cuModuleLoadDataEx") // through calls_gpu.go
	if e.Log == "" || !strings.HasSuffix(e.Error(), "\n"+e.Log) {
		t.Errorf("%+v has no log", e)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.EndCapture(s); err == nil {
		t.Error("a capture ended that had not begun")
	} else if e, _ := errors.AsType[*Error](err); e == nil || e.Call != "cuStreamEndCapture" {
		t.Errorf("%v, expected one of cuStreamEndCapture", err)
	}
	if err := d.CloseStream(s); err != nil {
		t.Error(err)
	}
}

func TestCopiesThroughPinnedMemory(t *testing.T) {
	d := opened(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := d.NewStream()
	must(err)
	p, err := d.AllocateHost(64)
	must(err)
	x, err := d.Allocate(64)
	must(err)
	y, err := d.Allocate(64)
	must(err)
	host := unsafe.Slice((*byte)(p), 64)
	for i := range host {
		host[i] = byte(i)
	}
	must(d.CopyIn(x, p, 64, s))
	must(d.Copy(y, x, 64, s))
	must(d.Zero(y+8, 8, s))
	must(d.Wait(s))
	clear(host)
	must(d.CopyOut(p, y, 64, s))
	must(d.Wait(s))
	for i, b := range host {
		if want := byte(i); i >= 8 && i < 16 && b != 0 || (i < 8 || i >= 16) && b != want {
			t.Errorf("byte %d is %d", i, b)
		}
	}
	free, total, err := d.MemoryInfo()
	if must(err); free > total-128 {
		t.Errorf("%d of %d bytes are free, with 128 lent", free, total)
	}
	must(errors.Join(d.Free(x), d.Free(y), d.FreeHost(p), d.CloseStream(s)))
}

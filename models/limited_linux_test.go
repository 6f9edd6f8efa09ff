package models

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// The limits of a test that reads what was made to take memory and time: addresses in bytes, of which the runtime
// reserves 1.1 GiB, and seconds of processor time.
const (
	mostAddresses = 4 << 30
	mostSeconds   = 60
)

// limited reports whether the test runs in a process of its own with limits, and otherwise runs it in one. A fault then
// fails the test rather than take the memory of the machine, or the time of all tests.
func limited(t *testing.T) bool {
	t.Helper()
	const variable = "DSP_TEST_LIMITED"
	if os.Getenv(variable) == t.Name() {
		if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: mostSeconds, Max: mostSeconds}); err != nil {
			t.Fatal(err)
		}
		if testing.Short() { // the race detector, under which tests are short, reserves more addresses than that
			return true
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: mostAddresses, Max: mostAddresses}); err != nil {
			t.Fatal(err)
		}
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.3000s", err, out)
	}
	return false
}

//go:build !cgo

package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() { linkFlags["dsp"] = []string{"-E", "main.start"} } // as make build does

// Where the address space is limited to less than small commands need, the program says so in a sentence, before Go's
// runtime would end in a trace of its own. With a little more it starts.
func TestLimitOfAddresses(t *testing.T) {
	t.Parallel()
	path, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	within := func(kib, verb string) outcome {
		return runOf(t, nil, "sh", "", "-c", "ulimit -v "+kib+`; exec "$0" "$@"`, path, verb)
	}
	within("1500000", "info").refused(exitFailed, "dsp: the limit of address space (ulimit -v) is below 1.75 GiB", "raise it")
	if o := within("2500000", "--version").ok(); !strings.HasPrefix(o.stdout, "dsp ") {
		t.Errorf("--version prints %q", o.stdout)
	}
}

// Where a user may have few threads (ulimit -u), the program says so in a sentence, however few they are, and leaves no
// process behind.
func TestLimitOfThreads(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("limits of threads are tried as a user without any")
	}
	nobody := 1_000_000 + os.Getpid() // of this run alone: limits count a user's processes of the whole machine
	path, err := builtProgram()
	if err != nil {
		t.Fatal(err)
	}
	// Others may not read the folders of the tests.
	dir, err := os.MkdirTemp("/tmp", "dsp-threads")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "dsp")
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(program, content, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	as := []string{"setpriv", fmt.Sprint("--reuid=", nobody), fmt.Sprint("--regid=", nobody), "--clear-groups", "prlimit"}
	if out, err := exec.Command(as[0], append(as[1:], "--nproc=1", "true")...).CombinedOutput(); err != nil {
		t.Skipf("%v: %v %s", as, err, out)
	}
	if out, err := exec.Command(program, "--version").CombinedOutput(); err != nil {
		t.Skipf("programs in %s do not run: %v %s", dir, err, out)
	}
	for limit, want := range map[int]string{
		1: "fewer than 8 more threads are allowed", 4: "fewer than 8", 7: "fewer than 8", 8: "fewer than 8", 12: "expected at least 16", 200: "",
	} {
		for _, verb := range []string{"serve", "predict"} {
			o := runOf(t, nil, as[0], "", append(as[1:], fmt.Sprint("--nproc=", limit), program, verb, "--model", "none")...)
			if want == "" {
				o.refused(exitBadInput, "none")
			} else {
				o.refused(exitFailed, want, "ulimit -u")
			}
		}
	}
	if out, _ := exec.Command("ps", "-o", "pid=", "-u", fmt.Sprint(nobody)).Output(); len(out) > 0 {
		t.Errorf("processes were left behind: %s", out)
	}
}

//go:build !cgo

package endtoend

import (
	"strings"
	"testing"
)

func init() { linkFlags["dsp"] = []string{"-E", "main.start"} } // as make build does

// Where the address space is limited to less than small commands need, the program says so in a sentence, before Go's runtime would end in a trace of its own.
// With a little more it starts.
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

// Package clitest runs command lines of dsp in tests of programs that add to it.
package clitest

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
)

// Run runs a command line, in the test's own process, and returns its exit code and what it printed.
func Run(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	to, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	was, out, failed := os.Args, os.Stdout, os.Stderr
	defer func() { os.Args, os.Stdout, os.Stderr = was, out, failed }()
	os.Args, os.Stdout, os.Stderr = append([]string{"dsp"}, args...), to, to
	code = cli.Main()
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(to)
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text)
}

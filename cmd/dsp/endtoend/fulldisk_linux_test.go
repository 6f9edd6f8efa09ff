package endtoend

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Measures, tables and helps that do not reach their file, for the disk is full, are a failure.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	data := write(t, "x.conll", sentences)
	for _, args := range [][]string{
		{"eval", "--model", tagger(t), "--data", data},
		{"eval", "--model", tagger(t), "--data", data, "--errors", "1"},
		{"eval", "--gold", data, "--predicted", data},
		{"selftest", "--list"},
		{"selftest", "--only", "^chain max"},
		{"--help"}, {"--version"}, {"train", "--help"},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Command(binary, args...)
		cmd.Stdout, cmd.Stderr = full, &stderr
		err = cmd.Run()
		if full.Close(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: %v, %s", strings.Join(args, " "), err, stderr.String())
		}
	}
}

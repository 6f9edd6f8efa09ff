package cli

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts anew: read what changed in them before you commit")

// asProgram makes this test's file the program.
const asProgram = "DSP_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// A transcript is a session at a terminal: each line that begins with $ is a command of the shell, and what follows is
// all that it printed, with its exit code where that is not 0. All commands of a transcript run in one folder. Data and
// models have fixed seeds, so that every number that a user reads is held here: which numbers are right is shown by
// other tests, and that each verb prints them, in these words, by this one.
func TestTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the program a hundred times")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("last digits of models depend on the processor, and commands of the shell on the system")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "dsp")); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, bin, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			differ(t, file, strings.Split(string(want), "\n"), strings.Split(got, "\n"))
		})
	}
}

// differ fails a test where lines are not those of a file, and shows the first that differ.
func differ(t *testing.T, file string, want, got []string) {
	t.Helper()
	const shown = 6
	k := 0
	for k < min(len(want), len(got)) && want[k] == got[k] {
		k++
	}
	if k < max(len(want), len(got)) {
		some := func(lines []string) string {
			return strings.Join(lines[min(k, len(lines)):min(k+shown, len(lines))], "\n")
		}
		t.Errorf("%s:%d: expected\n%s\nfound\n%s\ngo test ./cmd/dsp/cli -update writes it anew",
			file, k+1, some(want), some(got))
	}
}

// varies is what depends on the machine or the moment: times, and memory.
var varies = regexp.MustCompile(`\b[0-9.]+(?:e-?[0-9]+)? (ms|s|MiB|GiB|kB|MB)\b` +
	`|("\w*seconds"|"peak_memory"):[0-9.e+-]+|seconds=[0-9.e+-]+`)

// replay runs the commands of a transcript and returns it with what they print.
func replay(t *testing.T, bin, transcript string) string {
	t.Helper()
	dir := t.TempDir()
	var out strings.Builder
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "#") || line == "\n" {
			out.WriteString(line)
			continue
		}
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue // printed
		}
		c := exec.Command("sh", "-c", command)
		c.Dir = dir
		c.Env = append(os.Environ(), asProgram+"=1", "DSP_CURVES=off", "DSP_KERNELS=plain", "DSP_BLAS=own", "LC_ALL=C",
			"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		printed, err := c.CombinedOutput()
		out.WriteString(line)
		printed = varies.ReplaceAll(printed, []byte("$2*$1"))
		for text := range bytes.Lines(printed) {
			if bytes.HasPrefix(text, []byte("still at work")) { // on a slow machine
				continue
			}
			if len(text) == 1 || text[0] == '#' || text[0] == '$' {
				out.WriteByte('|') // not to be taken for what is not printed
			}
			out.Write(text)
		}
		if len(printed) > 0 && printed[len(printed)-1] != '\n' {
			out.WriteByte('\n')
		}
		if err != nil {
			out.WriteString("exit " + strings.TrimPrefix(err.Error(), "exit status ") + "\n")
		}
	}
	return out.String()
}

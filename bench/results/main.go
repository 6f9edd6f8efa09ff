// Command results runs the commands of pages in docs/results again, and writes what they print into the pages' tables.
//
//	go run ./bench/results NAME...
//
// A page shows a command as an indented block. The tables below it are those that the command prints, in their order,
// each between two comments:
//
//	<!-- table -->
//	<!-- end -->
//
// With a table stands what it was measured on, and when. A page is written when all of its commands have ended well.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/dsp-go/dsp/structured/sys/host"
)

const (
	begin = "<!-- table -->"
	end   = "<!-- end -->"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("expected the names of pages, as: make results crfsuite"))
	}
	for _, name := range os.Args[1:] {
		path := filepath.Join("docs", "results", name+".md")
		if err := update(path, about()); err != nil {
			fail(fmt.Errorf("%s: %w", path, err))
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "results:", err)
	os.Exit(1)
}

// update runs the commands of a page and writes its tables.
func update(path, about string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := rewritten(string(page), about, run)
	if err != nil {
		return err
	}
	return host.WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// run runs a script and returns what it prints. A variable that is not set, such as that of a folder of data, is an
// error.
func run(script string) (string, error) {
	var out bytes.Buffer
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, os.Stderr), os.Stderr
	err := cmd.Run()
	return out.String(), err
}

// rewritten returns a page with the tables that its commands print when run runs them.
func rewritten(page, about string, run func(script string) (string, error)) (string, error) {
	var to, command []string
	var tables []string // that the last command printed and no place has taken
	ran, inside, places := false, false, 0
	for _, line := range strings.SplitAfter(page, "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch text := strings.TrimSpace(line); {
		case inside && text == end:
			inside = false
			to = append(to, line)
		case inside:
		case text == begin:
			if len(command) == 0 {
				return "", fmt.Errorf("a table without a command above it")
			}
			if !ran {
				out, err := run(strings.Join(command, ""))
				if err != nil {
					return "", fmt.Errorf("%s: %w", strings.TrimSpace(command[0]), err)
				}
				tables, ran = tablesIn(out), true
			}
			if len(tables) == 0 {
				return "", fmt.Errorf("%s prints fewer tables than the page has places for", strings.TrimSpace(command[0]))
			}
			to = append(to, line, about+"\n\n"+tables[0])
			tables, inside, places = tables[1:], true, places+1
		default:
			if indented && ran {
				command, ran = nil, false
			}
			if indented {
				command = append(command, code)
			}
			to = append(to, line)
		}
	}
	if inside || places == 0 {
		return "", fmt.Errorf("expected tables between %s and %s", begin, end)
	}
	return strings.Join(to, ""), nil
}

// tablesIn returns the tables of Markdown in a text.
func tablesIn(text string) []string {
	return regexp.MustCompile(`(?m)(?:^\|.*\n)+`).FindAllString(text+"\n", -1)
}

// about says what a table was measured on, and when.
func about() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(text); m != nil {
			name = string(m[1])
		}
		if bytes.Contains(text, []byte(" avx512f ")) {
			name += " (AVX-512)"
		}
	}
	return fmt.Sprintf("%s, %d cores, %s.", name, runtime.NumCPU(), time.Now().Format(time.DateOnly))
}
